/**
 * Where chance in tests comes from: one base seed for everything, and for each test file the seeds with which it failed once (`seeds.json`).
 * A push runs all of them, and no other.
 *
 *   BACKPORCH_SEED=N     runs seed N alone, in place of the committed ones
 *   BACKPORCH_EFFORT=N   makes N times as many runs, acts and kills with each seed; 1 unless given
 */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type TestContext, type TestOptions, test } from 'node:test'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const SEEDS_FILE = join(ROOT, 'test', 'seeds', 'seeds.json')

export interface Seed {
  readonly seed: number
  /** Where fast-check found the counterexample. Its first number is the run; a property makes no more runs than that with this seed. */
  readonly path?: string
}

export interface CommittedSeeds {
  readonly base: number
  /** By the path of the test file in the repository. */
  readonly failed: Readonly<Record<string, readonly Seed[]>>
}

export function readSeeds(): CommittedSeeds {
  return JSON.parse(readFileSync(SEEDS_FILE, 'utf8')) as CommittedSeeds
}

const committed = readSeeds()

export const EFFORT = numberOf('BACKPORCH_EFFORT') ?? 1

/** @param file an absolute path or `file:` URL: `import.meta.filename` */
export function seedsOf(
  file: string,
  { base, failed }: CommittedSeeds = committed,
): readonly Seed[] {
  const given = numberOf('BACKPORCH_SEED')
  return given === undefined ? [{ seed: base }, ...(failed[pathOf(file)] ?? [])] : [{ seed: given }]
}

/** As many numbers from each seed of the file, for what is made from a number. */
export function numbersOf(file: string, count: number): readonly number[] {
  return seedsOf(file).flatMap(({ seed }) =>
    Array.from({ length: count * EFFORT }, (_, index) => seed + index),
  )
}

/** The command that repeats a failure. */
export function repetition(file: string, seed: number): string {
  return `repeat it: BACKPORCH_SEED=${seed} node --test ${pathOf(file)}`
}

/** A test for each seed of the file. The base seed is not in its name. A failure says how to repeat it. */
export function testEachSeed(
  file: string,
  name: string,
  options: TestOptions,
  work: (t: TestContext, seed: number) => Promise<void> | void,
): void {
  for (const { seed } of seedsOf(file)) {
    test(seed === committed.base ? name : `${name}, seed ${seed}`, options, async (t) => {
      try {
        await work(t, seed)
      } catch (thrown) {
        t.diagnostic(repetition(file, seed))
        throw thrown
      }
    })
  }
}

/** The path in the repository, with slashes. */
export function pathOf(file: string): string {
  return relative(ROOT, file.startsWith('file:') ? fileURLToPath(file) : file).replaceAll(sep, '/')
}

function numberOf(variable: string): number | undefined {
  const text = process.env[variable]
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`${variable} is no whole number: ${text}`)
  return number
}
