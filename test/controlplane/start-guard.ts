import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { GuardOrder, GuardUpdate } from './guard-process.ts'

/** A process that a guard started. */
export interface GuardedProcess {
  readonly name: string
  readonly pid: number
  /** Path of the file with its standard output and error. */
  readonly log: string
  /** Resolves with how it ended: `code 1`, `SIGKILL`. Never rejects. */
  readonly exit: Promise<string>
}

/** Owner of processes and of one directory; see `guard-process.ts`. */
export interface Guard {
  readonly pid: number
  /** Removed, with all in it, when the guard stops or its starter ends. */
  readonly directory: string
  /** Starts a process; its log is `<directory>/<name>.log`. Rejects when it cannot be started. */
  start(order: Omit<GuardOrder, 'log'>): Promise<GuardedProcess>
  /** From now on a starter with nothing else to do ends, and the guard with it. Before this, the guard keeps it alive. */
  unref(): void
  /** Kills everything started, removes the directory, resolves when both are done. Safe to call again. */
  stop(): Promise<void>
}

/** Longer than the guard itself waits. */
const STOP_WAIT_MS = 120_000
// Options meant for the starter alone: a debugger port can be opened once, and the test runner's channel is not ours.
const STARTER_ONLY = ['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'NODE_V8_COVERAGE']

/**
 * Starts a guard with a new directory below the system's temporary one, named `backporch-<purpose>-<random>`.
 *
 * The guard is not in its starter's process group: Ctrl-C ends the starter, and the guard notices and cleans up.
 */
export async function startGuard(purpose: string): Promise<Guard> {
  const directory = join(tmpdir(), `backporch-${purpose}-${randomBytes(6).toString('hex')}`)
  const script = fileURLToPath(new URL('guard-process.ts', import.meta.url))
  const environment = Object.entries(process.env).filter(([name]) => !STARTER_ONLY.includes(name))
  const child = spawn(process.execPath, ['--no-warnings', script, directory], {
    cwd: tmpdir(),
    env: Object.fromEntries(environment),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const updates = listen(child)
  await updates.first((item) => item.event === 'ready')
  const { pid } = child
  if (pid === undefined) throw new Error('a guard said it was ready but has no process id')

  return {
    pid,
    directory,
    start: (order) =>
      startProcess(child, updates, { ...order, log: join(directory, `${order.name}.log`) }),
    unref: () => {
      child.unref()
      for (const stream of child.stdio) if (stream instanceof Socket) stream.unref()
    },
    stop: () => stopGuard(child, updates),
  }
}

async function startProcess(
  child: ChildProcess,
  updates: Update,
  order: GuardOrder,
): Promise<GuardedProcess> {
  const started = updates.first(
    (item) => item.event !== 'ready' && item.event !== 'exited' && item.name === order.name,
  )
  const exited = updates.first((item) => item.event === 'exited' && item.name === order.name)
  const exit = exited.then(
    (item) => (item.event === 'exited' ? item.how : item.event),
    () => 'the end of its guard',
  )
  child.stdin?.write(`${JSON.stringify(order)}\n`)
  const answer = await started
  if (answer.event === 'not started')
    throw new Error(`cannot start ${order.command[0]}: ${answer.why}`)
  if (answer.event !== 'started')
    throw new Error(`the guard answered '${answer.event}' to an order to start`)
  return { name: order.name, pid: answer.pid, log: order.log, exit }
}

async function stopGuard(child: ChildProcess, updates: Update): Promise<void> {
  child.ref()
  child.stdin?.end()
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS)
  const end = await updates.end
  clearTimeout(late)
  if (end !== 'code 0')
    throw new Error(`a guard ended with ${end} and may have left processes behind`)
}

interface Update {
  /** The first item from now on that `wanted` accepts. Rejects when the guard ends before. */
  first(wanted: (item: GuardUpdate) => boolean): Promise<GuardUpdate>
  /** How the guard ended. */
  readonly end: Promise<string>
}

function listen(child: ChildProcess): Update {
  const waiting = new Set<{
    wanted(item: GuardUpdate): boolean
    take(item: GuardUpdate): void
    lose(why: Error): void
  }>()
  let complaint = ''
  let ended: string | undefined
  child.stdin?.on('error', () => {}) // the guard ended; `end` tells
  child.stderr?.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-4_000)
  })
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const item: GuardUpdate = JSON.parse(line)
      for (const one of waiting) {
        if (!one.wanted(item)) continue
        waiting.delete(one)
        one.take(item)
      }
    })
  }
  const end = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, signal) => resolve(signal ?? `code ${code}`))
  })
  const gone = () => new Error(`a guard ended with ${ended}. ${complaint}`)
  void end.then((how) => {
    ended = how
    for (const one of waiting) one.lose(gone())
    waiting.clear()
  })
  const first: Update['first'] = (wanted) =>
    new Promise((take, lose) => {
      if (ended === undefined) waiting.add({ wanted, take, lose })
      else lose(gone())
    })
  return { first, end }
}
