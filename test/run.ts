/**
 * `npm test`: every tier in one pool, one closing line. A file that cannot run here says why; in CI that is a failure, because a test that did not
 * run has shown nothing.
 *
 * node test/run.ts               everything
 * node test/run.ts src/kyaml/krm       only files whose path contains one of the words
 * node test/run.ts --tier=unit   only files of the tier, with words or without
 * node test/run.ts --changed     only files that depend on what differs from the base branch
 * node test/run.ts --record      also writes how long each file took, which is the order of the next run
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findAffected, listChangedFiles } from './run/changed-files.ts'
import { readCpuSeconds } from './run/cpu-seconds.ts'
import { readImportGraph } from './run/import-graph.ts'
import { getNeeds } from './run/needs.ts'
import { type Job, Pool } from './run/pool.ts'
import { Progress } from './run/progress.ts'
import { isAlone, isWaiting, type Need, needsOf, TIERS, type Tier, tierOf } from './run/tiers.ts'

interface TestFile extends Job {
  readonly tier: Tier
  readonly needs: ReadonlySet<Need>
}

/** From so many files on it pays to bundle the program first. */
const MANY_FILES = 30
/** Places for files that wait for servers, beside one for each core. */
const WAITING_PLACES = 3
/** Tests make many small files, which takes a tenth of the time in a file system in memory. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4_000_000_000
/** Seconds of a file that has none on record. */
const UNKNOWN_SECONDS = 3
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const durationsFile = join(root, 'test', 'run', 'durations.json')

const { values: flags, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { tier: { type: 'string' }, changed: { type: 'boolean' }, record: { type: 'boolean' } },
})
if (flags.tier !== undefined && !TIERS.some((tier) => tier === flags.tier))
  throw new Error(
    `there is no tier ${JSON.stringify(flags.tier)}: the tiers are ${TIERS.join(', ')}`,
  )

// Half of a short test's time is the reading of TypeScript: Node keeps what it made of it, for this run and the next.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'backporch-test-compile-cache')
// Programs in Go (kubectl, kpt, the servers) collect their garbage less often: a fifth less CPU for a short one, and there is memory enough.
process.env['GOGC'] ??= '400'

const ci =
  process.env['CI'] !== undefined && process.env['CI'] !== '' && process.env['CI'] !== 'false'
const began = performance.now()
const elapsed = (): number => (performance.now() - began) / 1_000
const files = chooseFiles()
// Each run has temporary files of its own, and leaves none.
const scratch = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'backporch-run-'))
process.env['TMPDIR'] = scratch
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const isTerminal = process.stdout.isTTY === true && !ci
const progress = new Progress(files, {
  out: process.stdout,
  isTerminal,
  failsSkipped: ci,
  elapsed,
  building: () => needs.buildProgress(),
})
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort(signal))

const needs = getNeeds(new Set(files.flatMap((file) => [...file.needs])), {
  root,
  scratch,
  report: (message) => progress.say(message),
  changed: () => pool.lookAgain(),
  signal: stop.signal,
})
const pool: Pool<TestFile> = new Pool(files, {
  root,
  places: { computing: Math.min(2, availableParallelism()), waiting: WAITING_PLACES },
  isReady: ({ needs: needed }) => {
    const states = [...needed].map((need) => needs.stateOf(need).state)
    return states.includes('missing') ? 'never' : states.includes('coming') ? 'later' : 'now'
  },
  environment: () => needs.environment,
  signal: stop.signal,
  events: {
    began: ({ file }) => progress.began(file),
    tested: ({ tier, file }, result) => progress.tested(tier, file, result),
    ended: ({ tier, file }, result) => progress.ended(tier, file, result),
    failedLate: (text) => progress.failedLate(text),
  },
})
await pool.run()
await needs.stop()
tellWhatDidNotRun()
const { passed, failed, skipped, cpuSeconds } = progress.end()
const whole = readCpuSeconds()
console.log(
  `${Math.round(elapsed())} s of wall, ${Math.round(whole)} s of CPU: tests ${Math.round(cpuSeconds)} s, servers, builds and processes ${Math.round(whole - cpuSeconds)} s`,
)
if (flags.record) recordDurations()
const isEmpty = passed + failed + skipped === 0
if (isEmpty) console.log('no test was found')
if (stop.signal.aborted) console.log(`interrupted by ${String(stop.signal.reason)}`)
console.log(
  `${passed} passed, ${failed + Number(isEmpty)} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`,
)
process.exitCode = stop.signal.aborted ? 130 : failed > 0 || isEmpty ? 1 : 0
// A server's connection that is still open must not keep the run from ending.
setTimeout(() => process.exit(), 2_000).unref()

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > ENOUGH_BYTES
  } catch {
    return false
  }
}

/** Longest first, so that no long one is left alone at the end. */
function chooseFiles(): TestFile[] {
  const graph = readImportGraph(root, ['src', 'functions', 'test', 'bench'])
  const durations = readDurations()
  const all = graph.files.filter((file) => file.endsWith('.test.ts'))
  // A word that matches nothing is a path that moved: the tests that were meant would not run.
  const unmatched = words.filter((word) => !all.some((file) => file.includes(word)))
  if (unmatched.length > 0) throw new Error(`no test file has ${unmatched.join(', ')} in its path`)
  const affected = flags.changed ? findAffected(all, listChangedFiles(root), graph) : all
  const chosen = affected
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .filter((file) => flags.tier === undefined || tierOf(file) === flags.tier)
  return chosen
    .map((file) => {
      const needed = new Set(needsOf(file, graph))
      if (chosen.length < MANY_FILES) needed.delete('bundle')
      return {
        file,
        tier: tierOf(file),
        needs: needed,
        isWaiting: isWaiting(tierOf(file)),
        isAlone: isAlone(graph.textOf(file)),
      }
    })
    .sort(
      (one, other) =>
        (durations[other.file]?.[0] ?? UNKNOWN_SECONDS) -
        (durations[one.file]?.[0] ?? UNKNOWN_SECONDS),
    )
}

/** Of files that take long: seconds, and CPU seconds. */
function readDurations(): Record<string, readonly [seconds: number, cpuSeconds: number]> {
  return JSON.parse(readFileSync(durationsFile, 'utf8')) as ReturnType<typeof readDurations>
}

/** Whole seconds, one line for each file: a recording differs from the one before only where a test changed. */
function recordDurations(): void {
  const now = [...progress.durations].map(
    ([file, { seconds, cpuSeconds }]) =>
      [file, [Math.round(seconds), Math.round(cpuSeconds)]] as const,
  )
  const recorded = Object.entries({ ...readDurations(), ...Object.fromEntries(now) })
    .filter(([file, [seconds]]) => seconds > UNKNOWN_SECONDS && existsSync(join(root, file)))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const lines = recorded.map(([file, times]) => `  ${JSON.stringify(file)}: [${times.join(', ')}]`)
  writeFileSync(durationsFile, `{\n${lines.join(',\n')}\n}\n`)
}

function tellWhatDidNotRun(): void {
  for (const tier of TIERS) {
    const missing = files.filter(
      (file) =>
        file.tier === tier &&
        [...file.needs].some((need) => needs.stateOf(need).state === 'missing'),
    )
    const reasons = new Set(
      missing.flatMap((file) =>
        [...file.needs].flatMap((need) => {
          const state = needs.stateOf(need)
          return state.state === 'missing' ? [state.why] : []
        }),
      ),
    )
    if (missing.length > 0)
      progress.notRun(
        tier,
        missing.map(({ file }) => file),
        [...reasons].join('; '),
      )
  }
}
