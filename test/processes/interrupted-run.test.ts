/** A run of tests is interrupted while its tests have programs, programs that stand still, and servers: nothing of it is left. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitUntil } from '../waiting/wait-until.ts'

/** Processes that have it in their environment are of this run. */
const MARK = 'BACKPORCH_TEST_INTERRUPTED_RUN'

const urlOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/** A test that starts everything, says so, and waits for ever. */
function textOf(ready: string, mark: string): string {
  return `
    import { spawn } from 'node:child_process'
    import { readFileSync, writeFileSync } from 'node:fs'
    import { test } from 'node:test'
    import { boundCommand } from ${urlOf('bound-command.ts')}
    import { startGuard } from ${urlOf('../controlplane/start-guard.ts')}
    import { waitUntil } from ${urlOf('../waiting/wait-until.ts')}
    test('waits for ever', async () => {
      spawn(...boundCommand('sleep', ['1000']), { stdio: 'ignore' })
      const { pid } = spawn(...boundCommand('sleep', ['1001']), { stdio: 'ignore' })
      await waitUntil('the program runs', () => readFileSync('/proc/' + pid + '/cmdline', 'utf8').startsWith('sleep'))
      process.kill(pid, 'SIGSTOP')
      const guard = await startGuard('interrupted')
      const environment = { PATH: process.env.PATH, ${MARK}: ${JSON.stringify(mark)} }
      await guard.start({ name: 'server', command: ['sleep', '1002'], directory: guard.directory, environment })
      writeFileSync(${JSON.stringify(ready)}, '')
      await new Promise(() => setInterval(() => undefined, 1_000))
    })`
}

/** As the runner of all tests: a process that orders another one to test a file. */
function runnerOf(file: string): string {
  return `
    import { WorkerProcess } from ${urlOf('../run/worker-process.ts')}
    const worker = new WorkerProcess(${JSON.stringify(import.meta.dirname)})
    await worker.test({ file: ${JSON.stringify(file)}, environment: {} }, () => undefined, new AbortController().signal)`
}

/** Lines of process id and command. */
function processesOf(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOurs =
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${MARK}=${mark}`)
      return isOurs
        ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`]
        : []
    } catch {
      return [] // it ended meanwhile, or is of another user
    }
  })
}

/** The runner is the leader of a process group, as a terminal makes it. */
async function startRun(
  t: TestContext,
): Promise<{ readonly runner: ChildProcess; readonly pid: number; readonly left: () => string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-interrupted-'))
  const mark = randomUUID()
  const [file, runnerFile, ready] = ['waits.test.mjs', 'runner.mjs', 'ready'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  t.after(() => {
    for (const line of processesOf(mark)) process.kill(Number.parseInt(line, 10), 'SIGKILL')
    rmSync(folder, { recursive: true })
  })
  writeFileSync(file, textOf(ready, mark))
  writeFileSync(runnerFile, runnerOf(file))
  const { NODE_TEST_CONTEXT: _ours, ...environment } = process.env
  const env = { ...environment, [MARK]: mark }
  const runner = spawn(process.execPath, [runnerFile], { env, stdio: 'ignore', detached: true })
  const left = (): string[] => processesOf(mark)
  await waitUntil('the test has started everything', () => existsSync(ready), {
    describe: () => left().join('\n'),
  })
  assert.ok(runner.pid !== undefined)
  for (const part of [
    'runner.mjs',
    'worker.ts',
    'sleep 1000',
    'sleep 1001',
    'guard-process.ts',
    'sleep 1002',
  ])
    assert.ok(
      left().some((line) => line.includes(part)),
      `${part} runs\n${left().join('\n')}`,
    )
  return { runner, pid: runner.pid, left }
}

for (const [how, interrupt] of [
  ['is killed', (pid: number) => process.kill(pid, 'SIGKILL')],
  ['gets SIGINT', (pid: number) => process.kill(pid, 'SIGINT')],
  ['gets Ctrl-C, as all processes of its terminal', (pid: number) => process.kill(-pid, 'SIGINT')],
] as const) {
  test(`a run that ${how} leaves no process`, async (t) => {
    const { pid, left } = await startRun(t)
    interrupt(pid)
    await waitUntil('no process of the run is left', () => left().length === 0, {
      describe: () => left().join('\n'),
    })
  })
}
