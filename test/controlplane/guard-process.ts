/**
 * A process of its own that owns other processes and one directory, and outlives whoever started it just long enough
 * to clean up: when its standard input ends, it kills what it started, removes the directory, and exits 0.
 *
 * The kernel ends that input however the starter ended, `SIGKILL` included, which no exit handler in the starter could
 * do. Run by `startGuard`; not imported.
 *
 *   node guard-process.ts DIRECTORY
 *
 * Input: one `GuardOrder` as JSON a line. Output: one `GuardNews` as JSON a line.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Start a process under `name`. `log` is appended to; `environment` is the whole environment. */
export interface GuardOrder {
  readonly name: string
  readonly command: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly log: string
}

export type GuardUpdate =
  | { readonly event: 'ready' }
  | { readonly event: 'started'; readonly name: string; readonly pid: number }
  | { readonly event: 'not started'; readonly name: string; readonly why: string }
  | { readonly event: 'exited'; readonly name: string; readonly how: string }

const KILL_WAIT_MS = 60_000

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: guard-process.ts DIRECTORY')
const running = new Set<ChildProcess>()
let ending = false

// Made here and not by the starter: a directory made before anybody guards it could be left behind.
mkdirSync(directory, { recursive: true, mode: 0o700 })
// The starter may be gone when there is news; then nobody needs it.
process.stdout.on('error', () => {})
const orders = createInterface({ input: process.stdin })
orders.on('line', (line) => obey(line))
orders.on('close', end)
process.stdin.on('error', end)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
report({ event: 'ready' })

function obey(line: string): void {
  if (ending) return
  let order: GuardOrder
  try {
    order = JSON.parse(line)
  } catch {
    return // the starter was killed in the middle of a line; the end of input follows
  }
  const [program = '', ...args] = order.command
  const log = openSync(order.log, 'a')
  // `detached` makes the child the leader of a process group, so that its own children can be killed with it. Its
  // standard input is held open here: a child that watches it ends even when this guard is killed.
  const child = spawn(program, args, {
    cwd: order.directory,
    env: order.environment,
    detached: true,
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  child.stdin?.on('error', () => {})
  child.on('error', (error) => {
    if (child.pid === undefined)
      report({ event: 'not started', name: order.name, why: error.message })
  })
  if (child.pid === undefined) return
  running.add(child)
  report({ event: 'started', name: order.name, pid: child.pid })
  child.on('exit', (code, signal) => {
    running.delete(child)
    report({ event: 'exited', name: order.name, how: signal ?? `code ${code}` })
    if (ending && running.size === 0) removeAndExit()
  })
}

function report(updates: GuardUpdate): void {
  process.stdout.write(`${JSON.stringify(updates)}\n`)
}

function end(): void {
  if (ending) return
  ending = true
  if (running.size === 0) removeAndExit()
  // The data is thrown away, so nothing is gained by letting the servers close it in order.
  for (const child of running) killGroup(child)
  // A process in uninterruptible sleep cannot be killed; leave it to the kernel rather than wait for ever.
  setTimeout(removeAndExit, KILL_WAIT_MS)
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

function removeAndExit(): never {
  if (directory !== undefined)
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  process.exit(0)
}
