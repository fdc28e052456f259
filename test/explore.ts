/**
 * Looks for failures that the committed seeds do not find: all crash points once, then fresh seeds until the minutes are over. A seed that fails
 * is written into `test/seeds/seeds.json`, to be committed; the next plain run of the test fails with it.
 *
 *   npm run explore -- MINUTES [WORD...]   with words only files whose path contains one of them; 0 minutes for the crash points alone
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { exploredFiles, leastExplored, seedOfFailure, withFailure } from './seeds/exploration.ts'
import { ROOT, readSeeds, repetition, SEEDS_FILE } from './seeds/seeds.ts'

const [given = '', ...words] = process.argv.slice(2)
const minutes = Number(given)
if (given === '' || !(minutes >= 0)) {
  console.error('how many minutes: npm run explore -- MINUTES [WORD...]')
  process.exit(2)
}

const isChosen = (file: string): boolean =>
  words.length === 0 || words.some((word) => file.includes(word))
const { seeded, crashing } = exploredFiles()
const crashes = crashing.filter(isChosen)
/** Milliseconds that were spent on each file that has not failed. */
const spent = new Map(seeded.filter(isChosen).map((file) => [file, 0]))
let runs = 0
let failed = 0

const crashed = crashes.length
await Promise.all(Array.from({ length: availableParallelism() }, crash))
if (crashed > 0) console.log(`all crash points of ${crashed} files: ${failed} failed`)
const end = Date.now() + minutes * 60_000
await Promise.all(Array.from({ length: availableParallelism() }, explore))
const missed = [...spent].flatMap(([file, milliseconds]) => (milliseconds === 0 ? [file] : []))
if (minutes > 0 && missed.length > 0)
  console.log(`no time for ${missed.length} of ${seeded.length} files: ${missed.join(', ')}`)
console.log(`${runs} runs, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function crash(): Promise<void> {
  // The last ones need servers, and take longest.
  for (let file = crashes.pop(); file !== undefined; file = crashes.pop()) {
    const began = Date.now()
    const output = await failureOf(file, { BACKPORCH_CRASH_POINTS: 'all' })
    if (output !== undefined)
      report(`${output}\nBACKPORCH_CRASH_POINTS=all node --test ${file} fails`)
    else
      console.log(`all crash points of ${file} pass, ${Math.round((Date.now() - began) / 1000)} s`)
  }
}

async function explore(): Promise<void> {
  while (Date.now() < end) {
    const file = leastExplored(spent)
    if (file === undefined) return
    const began = Date.now()
    const before = spent.get(file) ?? 0
    // The others take other files meanwhile.
    spent.set(file, Number.MAX_SAFE_INTEGER)
    if (await hasFailed(file, randomInt(2 ** 31))) spent.delete(file)
    else spent.set(file, before + Date.now() - began)
  }
}

async function hasFailed(file: string, number: number): Promise<boolean> {
  const output = await failureOf(file, { BACKPORCH_SEED: String(number) })
  if (output === undefined) return false
  if ((await failureOf(file, {})) !== undefined)
    report(`${output}\nnode --test ${file} fails with the committed seeds too: none is written`)
  else {
    const seed = seedOfFailure(output, number)
    writeFileSync(SEEDS_FILE, `${JSON.stringify(withFailure(readSeeds(), file, seed), null, 2)}\n`)
    report(
      `${output}\nwritten into test/seeds/seeds.json: ${file} ${JSON.stringify(seed)}\n${repetition(file, number)}`,
    )
  }
  return true
}

function report(text: string): void {
  failed += 1
  console.log(`${text}\n`)
}

/** @returns what it printed of failing tests; undefined where it passes */
async function failureOf(
  file: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  runs += 1
  const child = spawn(process.execPath, ['--test', file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
      ...process.env,
      ...environment,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return code === 0 ? undefined : output.slice(output.lastIndexOf('failing tests:')).slice(-20_000)
}
