/** What `npm run explore` runs, and what it keeps of a failure. */
import { readImportGraph } from '../run/import-graph.ts'
import { type CommittedSeeds, ROOT, type Seed } from './seeds.ts'

export interface Explored {
  /** Test files that draw from seeds. */
  readonly seeded: readonly string[]
  /** Test files that run a part of their crash points. */
  readonly crashing: readonly string[]
}

const SEEDS = ['test/seeds/seeds.ts', 'test/seeds/fast-check.ts']
const CRASH_POINTS = 'test/seeds/crash-points.ts'

/** Those that need no server come first. */
export function exploredFiles(): Explored {
  const graph = readImportGraph(ROOT, ['src', 'functions', 'test', 'bench'])
  const files = graph.files
    .filter((file) => /\.test\.ts$|\/run-[^/]+\.ts$/.test(file) && !file.startsWith('test/seeds/'))
    .sort((left, right) => Number(needsServer(left)) - Number(needsServer(right)))
  const using = (modules: readonly string[]): string[] =>
    files.filter((file) => modules.some((each) => graph.closureOf(file).has(each)))
  return { seeded: using(SEEDS), crashing: using([CRASH_POINTS]) }
}

function needsServer(file: string): boolean {
  return /\.(?:live|gitea|flux)\.test\.ts$|^test\/gitea\/|\/run-/.test(file)
}

/** @param spent time on each file. @returns the one with the least; of equals the first */
export function leastExplored(spent: ReadonlyMap<string, number>): string | undefined {
  const least = Math.min(...spent.values())
  return [...spent].find(([, time]) => time === least)?.[0]
}

/** @param output of a run with the seed that failed */
export function seedOfFailure(output: string, seed: number): Seed {
  const paths = [...output.matchAll(/\{ seed: (-?\d+), path: "([\d:]+)"/g)].filter(
    ([, found]) => Number(found) === seed,
  )
  // Of several properties, the one that needs the most runs.
  const [path] = paths
    .map(([, , found = '']) => found)
    .sort((left, right) => Number.parseInt(right, 10) - Number.parseInt(left, 10))
  return path === undefined ? { seed } : { seed, path }
}

export function withFailure(
  { base, failed }: CommittedSeeds,
  file: string,
  seed: Seed,
): CommittedSeeds {
  const all = { ...failed, [file]: [...(failed[file] ?? []), seed] }
  return {
    base,
    failed: Object.fromEntries(
      Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1)),
    ),
  }
}
