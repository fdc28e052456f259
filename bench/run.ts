/**
 * Benchmarks. Nothing here is a test: machines differ, and a table says so.
 *
 * node bench/run.ts detection     [--objects 1200] [--per-package 120] [--rounds 5] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts accuracy [words of case names] [--write docs/accuracy.md]
 * node bench/run.ts cost          [--objects 1200] [--per-package 120] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts start         [other launchers] [--rounds 15] [--write docs/performance.md]
 * node bench/run.ts render        [--objects 12000] [--rounds 3] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts watch         [--objects 1200] [--per-package 12] [--rounds 200] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts idle          [--objects 1200] [--per-package 12] [--rounds 3] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts restart       [--objects 10000] [--per-package 100] [--rounds 3] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts pull-request  [--objects 250] [--per-package 10] [--rounds 24] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts fleet         [--objects 10000] [--seed 1] [--write docs/performance.md]   objects: clusters
 * node bench/run.ts memory        [--objects 80000] [--per-package 12] [--rounds 3] [--seed 1] [--write docs/performance.md]
 * node bench/run.ts many-edits    [--objects 240] [--per-package 4] [--rounds 150] [--seed 1] [--write docs/performance.md]   rounds: seconds of edits
 * node bench/run.ts repository    [--objects 350] [--rounds 3] [--seed 1] [--write docs/performance.md]   objects: commits of 1 MiB each
 * node bench/run.ts adopt         [--objects 147] [--rounds 3] [--write docs/performance.md]   objects: units
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withSection } from './table.ts'

interface Options {
  readonly objects: number
  readonly objectsPerPackage: number
  readonly rounds: number
  readonly seed: number
}

interface Benchmark {
  readonly defaults: Options
  readonly heading: (options: Options) => string
  readonly run: (options: Options, report: (line: string) => void) => Promise<string>
  /** The flags that it accepts besides `--write`; all if undefined. */
  readonly flags?: readonly (keyof typeof FLAGS)[]
  /** It takes words. */
  readonly words?: boolean
}

const FLAGS = {
  objects: 'objects',
  'per-package': 'objectsPerPackage',
  rounds: 'rounds',
  seed: 'seed',
} as const

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  detection: {
    defaults: { objects: 1200, objectsPerPackage: 120, rounds: 5, seed: 1 },
    heading: ({ objects }) => `## Detection, ${objects} objects`,
    run: async (options, report) =>
      (await import('./detection.ts')).benchDetection(options, report),
  },
  accuracy: {
    defaults: { objects: 1, objectsPerPackage: 1, rounds: 1, seed: 1 },
    heading: () => '## The corpus, live',
    run: async (_options, report) => (await import('./accuracy.ts')).benchAccuracy(words, report),
    flags: [],
    words: true,
  },
  cost: {
    defaults: { objects: 1200, objectsPerPackage: 120, rounds: 1, seed: 1 },
    heading: ({ objects }) => `## What ownership proves, ${objects} objects`,
    run: async (options, report) => (await import('./cost.ts')).benchCost(options, report),
  },
  render: {
    defaults: { objects: 12_000, objectsPerPackage: 12, rounds: 3, seed: 1 },
    heading: () => '## Rendering a package',
    run: async (options, report) => (await import('./render.ts')).benchRender(options, report),
  },
  start: {
    defaults: { objects: 1, objectsPerPackage: 1, rounds: 15, seed: 1 },
    heading: () => '## Start',
    run: async (options, report) => (await import('./start.ts')).benchStart(options, words, report),
    flags: ['rounds'],
    words: true,
  },
  watch: {
    defaults: { objects: 1200, objectsPerPackage: 12, rounds: 200, seed: 1 },
    heading: ({ objects }) => `## The watch, ${objects} objects`,
    run: async (options, report) => (await import('./watch.ts')).benchWatch(options, report),
  },
  idle: {
    defaults: { objects: 1200, objectsPerPackage: 12, rounds: 3, seed: 1 },
    heading: () => '## While nothing changes',
    run: async (options, report) => (await import('./idle.ts')).benchIdle(options, report),
  },
  restart: {
    defaults: { objects: 10_000, objectsPerPackage: 100, rounds: 3, seed: 1 },
    heading: ({ objects }) => `## A restart, ${objects} objects`,
    run: async (options, report) => (await import('./restart.ts')).benchRestart(options, report),
  },
  'pull-request': {
    defaults: { objects: 250, objectsPerPackage: 10, rounds: 24, seed: 1 },
    heading: () => '## From a live change to its pull request',
    run: async (options, report) =>
      (await import('./live-change-to-pull-request.ts')).benchPullRequest(options, report),
  },
  'many-edits': {
    defaults: { objects: 240, objectsPerPackage: 4, rounds: 150, seed: 1 },
    heading: () => '## Five edits a second in 60 packages',
    run: async (options, report) =>
      (await import('./many-edits.ts')).benchManyEdits(options, report),
  },
  repository: {
    defaults: { objects: 350, objectsPerPackage: 3, rounds: 3, seed: 1 },
    heading: () => '## A repository with a long history',
    run: async (options, report) =>
      (await import('./repository.ts')).benchRepository(options, report),
  },
  memory: {
    defaults: { objects: 80_000, objectsPerPackage: 12, rounds: 3, seed: 1 },
    heading: () => '## Memory',
    run: async (options, report) => (await import('./memory.ts')).benchMemory(options, report),
  },
  adopt: {
    defaults: { objects: 147, objectsPerPackage: 1, rounds: 3, seed: 1 },
    heading: () => '## Adopt beside diff',
    run: async (options, report) => (await import('./adopt.ts')).benchAdopt(options, report),
    flags: ['objects', 'rounds'],
  },
  fleet: {
    defaults: { objects: 10_000, objectsPerPackage: 12, rounds: 1, seed: 1 },
    heading: () => '## A fleet in one process (simulated)',
    run: async (options, report) => (await import('./fleet.ts')).benchFleet(options, report),
    flags: ['objects', 'seed'],
  },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    objects: { type: 'string' },
    'per-package': { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    write: { type: 'string' },
  },
})
const [name = '', ...words] = positionals
const benchmark = BENCHMARKS[name]
if (benchmark === undefined || (words.length > 0 && benchmark.words !== true)) {
  const names = Object.keys(BENCHMARKS).join('|')
  console.error(
    `usage: npm run bench -- ${names} [--objects N] [--per-package N] [--rounds N] [--seed N] [--write FILE]`,
  )
  process.exit(2)
}
const options: Options = {
  objects: wholeNumber('objects', benchmark.defaults.objects),
  objectsPerPackage: wholeNumber('per-package', benchmark.defaults.objectsPerPackage),
  rounds: wholeNumber('rounds', benchmark.defaults.rounds),
  seed: wholeNumber('seed', benchmark.defaults.seed),
}
const table = await benchmark.run(options, (line) => console.error(line))
const flags = benchmark.flags ?? (Object.keys(FLAGS) as (keyof typeof FLAGS)[])
const command = [
  'npm run bench --',
  name,
  ...words,
  ...flags.map((flag) => `--${flag} ${options[FLAGS[flag]]}`),
].join(' ')
const body = `${table}\n\nMeasured on ${new Date().toISOString().slice(0, 10)} with \`${command}\`.`
console.log(body)
if (values.write !== undefined) {
  const before = existsSync(values.write) ? readFileSync(values.write, 'utf8') : '# Performance\n'
  writeFileSync(values.write, withSection(before, benchmark.heading(options), body))
}

function wholeNumber(flag: keyof typeof FLAGS, otherwise: number): number {
  const value = values[flag] === undefined ? otherwise : Number(values[flag])
  if (Number.isSafeInteger(value) && value > 0) return value
  console.error(`--${flag} wants a whole number above 0`)
  process.exit(2)
}
