/**
 * fast-check with the seeds of the test file that calls it. Tests import it in place of the library:
 * `import * as fc from './fast-check.ts'`.
 */
import { getCallSites } from 'node:util'
import type {
  Arbitrary,
  IAsyncProperty,
  IProperty,
  IRawProperty,
  Parameters,
  StringConstraints,
} from 'fast-check'
import * as library from 'fast-check'
import { EFFORT, repetition, type Seed, seedsOf } from './seeds.ts'

export * from 'fast-check'

const DEFAULT_RUNS = 100
const SURROGATES = { from: 0xd800, count: 0x800 }
/** Every code point that is a character, as the unit `binary` has them; the library makes a map of all of them, which takes a second in each process. */
const CODE_POINT = library.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count),
  (text) => {
    if (typeof text !== 'string' || [...text].length !== 1) throw new Error('no character')
    const point = text.codePointAt(0) ?? 0
    return point < SURROGATES.from ? point : point - SURROGATES.count
  },
)

export function string(constraints: StringConstraints = {}): Arbitrary<string> {
  return library.string(
    constraints.unit === 'binary' ? { ...constraints, unit: CODE_POINT } : constraints,
  )
}

/** Checks the property with each seed, one after the other. A failure says how to repeat it. */
export function assert<Ts>(property: IAsyncProperty<Ts>, parameters?: Parameters<Ts>): Promise<void>
export function assert<Ts>(property: IProperty<Ts>, parameters?: Parameters<Ts>): void
export function assert<Ts>(
  property: IRawProperty<Ts>,
  parameters: Parameters<Ts> = {},
): Promise<void> | void {
  const file = callingFile()
  return assertWith({ file, seeds: seedsOf(file) }, property, parameters)
}

export interface SeededFile {
  readonly file: string
  readonly seeds: readonly Seed[]
}

export function assertWith<Ts>(
  seeded: SeededFile,
  property: IRawProperty<Ts>,
  parameters: Parameters<Ts>,
): Promise<void> | void {
  return property.isAsync()
    ? assertAsync(seeded, property, parameters)
    : assertNow(seeded, property, parameters)
}

async function assertAsync<Ts>(
  { file, seeds }: SeededFile,
  property: IRawProperty<Ts>,
  parameters: Parameters<Ts>,
): Promise<void> {
  for (const one of seeds) {
    try {
      await library.assert(property, { ...parameters, ...withSeed(one, parameters.numRuns) })
    } catch (thrown) {
      throw repeatable(thrown, file, one)
    }
  }
}

function assertNow<Ts>(
  { file, seeds }: SeededFile,
  property: IRawProperty<Ts>,
  parameters: Parameters<Ts>,
): void {
  for (const one of seeds) {
    try {
      library.assert(property, { ...parameters, ...withSeed(one, parameters.numRuns) })
    } catch (thrown) {
      throw repeatable(thrown, file, one)
    }
  }
}

/** Values from each seed. Where the parameters have a seed, values from that one alone. */
export function sample<Ts>(
  generator: IRawProperty<Ts> | Arbitrary<Ts>,
  parameters: Parameters<Ts> = {},
): Ts[] {
  if (parameters.seed !== undefined) return library.sample(generator, parameters)
  return seedsOf(callingFile()).flatMap(({ seed }) =>
    library.sample(generator, { ...parameters, seed }),
  )
}

/** A seed that failed once makes as many runs as it took to fail. */
function withSeed(
  { seed, path }: Seed,
  runs = DEFAULT_RUNS,
): { readonly seed: number; readonly numRuns: number } {
  return { seed, numRuns: path === undefined ? runs * EFFORT : Number.parseInt(path, 10) + 1 }
}

/** What fast-check throws has the counterexample, the seed and the path in its message. */
function repeatable(thrown: unknown, file: string, { seed }: Seed): Error {
  const { message, cause } = thrown instanceof Error ? thrown : new Error(String(thrown))
  return new Error(`${message}\n${repetition(file, seed)}`, { cause })
}

function callingFile(): string {
  const site = getCallSites().find(({ scriptName }) => scriptName !== import.meta.url)
  if (site === undefined) throw new Error('no file calls this')
  return site.scriptName
}
