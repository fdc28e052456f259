/**
 * A process that tests one file after the other, as the runner orders: most of a short file's time is the start of a process, which reads and
 * compiles the modules of `src/`. Each file is a test of its own, and the tests of the file are its subtests, so hooks hold for their file only.
 */
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readCpuSeconds } from './cpu-seconds.ts'
import { READING, type WorkerMessage, type WorkerOrder } from './messages.ts'

/** After its last test a process ends by itself, unless a test left a server or a timer. Connections that are kept alive end in less. */
const PATIENCE_MS = 15_000
/** Tests replace the clock. */
const now = performance.now.bind(performance)
const orders: WorkerOrder[] = []
let wake: () => void = () => undefined
process.on('message', (order: WorkerOrder) => {
  orders.push(order)
  wake()
})
// The runner is gone, and nobody reads what is found.
process.on('disconnect', () => process.exit(1))

const environment = { ...process.env }
const folder = process.cwd()

while (true) {
  const { file, environment: added } = await nextOrder()
  if (file === undefined) break
  Object.assign(process.env, added)
  const began = now()
  const cpuBefore = readCpuSeconds()
  await test(file, (t) => loadTests(t, file))
  const cpuSeconds = readCpuSeconds() - cpuBefore
  restoreProcess()
  tell({
    event: 'ended',
    seconds: (now() - began) / 1_000,
    cpuSeconds,
    memory: process.memoryUsage.rss(),
  })
}
// Open until the end: errors that came after the end of their test are told last.
process.channel?.unref()
setTimeout(() => {
  tell({
    event: 'diagnostic',
    text: `Error: tests of this process left something open: ${process.getActiveResourcesInfo().join(', ')}`,
  })
  setTimeout(() => process.exit(1), 100)
}, PATIENCE_MS).unref()

/** As in a process of its own, no test begins before the whole file is read. */
async function loadTests(t: TestContext, file: string): Promise<void> {
  let isRead: () => void = () => undefined
  const reading = t.test(READING, () => new Promise<void>((resolve) => (isRead = resolve)))
  try {
    await import(pathToFileURL(file).href)
  } finally {
    isRead()
    await reading
  }
}

async function nextOrder(): Promise<WorkerOrder> {
  for (;;) {
    const order = orders.shift()
    if (order !== undefined) return order
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

/** What one file sets in the environment is not there for the next one. */
function restoreProcess(): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(folder)
}

function tell(message: WorkerMessage): void {
  process.send?.(message)
}
