/**
 * Proves the promises: breaks the source once for each of them, in a copy of the tree, and sees whether the check of that promise fails.
 * It is run by hand, once for each release candidate; `promises.test.ts` holds what it wrote against the list.
 *
 *   node test/hostile/scoreboard.ts [P1 P7 ...]   prints a line for each mutant; exit 1 when one survives
 *   node test/hostile/scoreboard.ts --write       all of them, and writes docs/reliability.md
 *   node test/hostile/scoreboard.ts --write P10   of P10 and of mutants that the page does not have; the others stay as they are there
 */
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutate, PROMISES, type Promised } from './promises.ts'
import { detectedBy, type Proven, scoreboardText } from './scoreboard-text.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const words = process.argv.slice(2)
const writes = words.includes('--write')
const ids = words.filter((word) => word !== '--write')
const page = join(root, 'docs/reliability.md')
const before = writes && ids.length > 0 ? readFileSync(page, 'utf8') : ''
const copy = copyOfTree()
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))

const proven: Proven[] = []
for (const promised of PROMISES) {
  const isWanted = ids.length === 0 || ids.includes(promised.id)
  for (const mutant of promised.mutants) {
    const known = isWanted ? undefined : detectedBy(before, mutant)
    if (known !== undefined) proven.push({ id: promised.id, mutant, killed: known })
    if (known !== undefined || !(isWanted || writes)) continue
    const killed = await isKilled(promised, mutant)
    proven.push({ id: promised.id, mutant, killed })
    console.log(
      `${promised.id} ${killed === undefined ? 'SURVIVED' : 'killed'}: ${mutant.breaks}${killed === undefined ? '' : ` (${killed})`}`,
    )
    if (killed === undefined) process.exitCode = 1
  }
}
if (writes) writeFileSync(page, scoreboardText(PROMISES, proven))

/** @returns the name of the first test that fails, or undefined where all pass */
async function isKilled({ checks }: Promised, mutant: Mutant): Promise<string | undefined> {
  const path = join(copy, mutant.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, mutate(original, mutant))
  try {
    const output = await runTests(mutant.by === undefined ? checks : [mutant.by])
    const closing = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/.exec(output)
    if (closing === null || closing[3] !== undefined)
      throw new Error(
        `the tests of ${mutant.breaks} did not run to their end:\n${output.slice(-3_000)}`,
      )
    if (closing[2] === '0') return undefined
    return (
      /^✖ \S+: (?:.* > )?(.+)$/m.exec(output)?.[1] ?? 'an error that came after the end of its test'
    )
  } finally {
    writeFileSync(path, original)
  }
}

function runTests(files: readonly string[]): Promise<string> {
  const env = { ...process.env, BACKPORCH_CRASH_POINTS: 'all' }
  const child = spawn(process.execPath, ['test/run.ts', ...files], {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer): void => {
    output += chunk.toString('utf8')
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve) => child.on('close', () => resolve(output)))
}

function copyOfTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-mutants-'))
  for (const entry of readdirSync(root)) {
    if (entry === '.git' || entry === 'dist') continue
    if (entry !== 'node_modules')
      cpSync(join(root, entry), join(folder, entry), { recursive: true })
  }
  linkModules(join(folder, 'node_modules'))
  return folder
}

/** Libraries of ours are those of the copy: the tree's own would not be broken. */
function linkModules(folder: string): void {
  const ours = '@backporch'
  mkdirSync(join(folder, ours), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== ours) symlinkSync(join(root, 'node_modules', name), join(folder, name))
  for (const name of readdirSync(join(root, 'node_modules', ours)))
    symlinkSync(readlinkSync(join(root, 'node_modules', ours, name)), join(folder, ours, name))
}
