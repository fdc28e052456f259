/**
 * Loaded before the program (`node --import`): counts every side effect that it has on the world and, when told to, kills
 * the process with SIGKILL right before or right after one of them. Also stops the clock, so that two runs can be compared.
 *
 *   BACKPORCH_COUNT=<file>       writes the names of the side effects there, one per line
 *   BACKPORCH_DIE_AT=<n>:before  kills before the n-th (from 1); `after` right after it was done
 */
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const log = process.env['BACKPORCH_COUNT']
const [wanted = '0', when = 'before'] = (process.env['BACKPORCH_DIE_AT'] ?? '').split(':')
const WRITES = [
  'writeFile',
  'rename',
  'link',
  'mkdir',
  'rm',
  'unlink',
  'copyFile',
  'symlink',
  'appendFile',
  'chmod',
  'truncate',
] as const
let count = 0

type Call = (...args: unknown[]) => unknown
const promises = fs.promises as unknown as Record<string, Call>
const writeNow = fs.writeFileSync
const append = fs.appendFileSync

for (const name of WRITES) {
  const original = promises[name]
  if (original === undefined) continue
  promises[name] = async (...args: unknown[]) => {
    const after = step(`${name}`)
    const answer = await original.apply(fs.promises, args)
    after()
    return answer
  }
}

// What is written to git (receive-pack) is the side effect that everybody sees.
const spawn = childProcess.spawn as unknown as Call
childProcess.spawn = ((...args: unknown[]) => {
  const command = JSON.stringify([args[0], args[1]])
  if (!command.includes('receive-pack')) return spawn.apply(childProcess, args)
  const after = step('receive-pack')
  const child = spawn.apply(childProcess, args) as childProcess.ChildProcess
  child.once('exit', after)
  return child
}) as typeof childProcess.spawn
syncBuiltinESMExports()

/** One side effect. @returns what to call when it is done */
function step(name: string): () => void {
  count += 1
  const mine = count
  if (log !== undefined) append(log, `${name}\n`)
  if (mine === Number(wanted) && when === 'before') die()
  return () => {
    if (mine === Number(wanted) && when === 'after') die()
  }
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // SIGKILL is delivered before this returns; the loop is for the type.
  for (;;) writeNow('/dev/null', '')
}

// 2026-11-21 12:00:00 UTC: decisions are dated, and the dates have to be the same in both runs.
const fixed = Date.UTC(2026, 10, 21, 12, 0, 0)
const RealDate = Date
const frozen = class extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    super(args.length === 0 ? fixed : (args[0] as number))
  }
  static override now(): number {
    return fixed
  }
}
globalThis.Date = frozen as DateConstructor
