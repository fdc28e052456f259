/** What `npm run explore` runs, and what it keeps of a failure. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommittedSeeds, pathOf, ROOT, type Seed } from './seeds.ts'

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
  const files = ['src', 'test', 'functions', 'bench']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules') && /\.test\.ts$|^run-.+\.ts$/.test(entry.name))
    .map((entry) => pathOf(join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('test/seeds/'))
    .sort((left, right) => Number(needsServer(left)) - Number(needsServer(right)) || (left < right ? -1 : 1))
  const reached = new Map(files.map((file) => [file, reachedFrom(file)]))
  const using = (modules: readonly string[]): string[] => files.filter((file) => modules.some((module) => reached.get(file)?.has(module)))
  return { seeded: using(SEEDS), crashing: using([CRASH_POINTS]) }
}

function needsServer(file: string): boolean {
  return /\.(?:live|gitea|flux)\.test\.ts$|^test\/gitea\/|\/run-/.test(file)
}

/** Modules of `test/` that a file imports, and those import. What the modules of this folder import does not count. */
function reachedFrom(file: string, reached = new Set<string>()): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), 'utf8')
  for (const [, name = ''] of text.matchAll(/^(?:import|export|\}) .*\bfrom '(\.[^']+\.ts)'$/gm)) {
    const imported = join(dirname(file), name)
    if (!imported.startsWith('test/') || reached.has(imported)) continue
    reached.add(imported)
    if (dirname(imported) !== 'test/seeds') reachedFrom(imported, reached)
  }
  return reached
}

/** @param spent time on each file. @returns the one with the least; of equals the first */
export function leastExplored(spent: ReadonlyMap<string, number>): string | undefined {
  const least = Math.min(...spent.values())
  return [...spent].find(([, time]) => time === least)?.[0]
}

/** @param output of a run with the seed that failed */
export function seedOfFailure(output: string, seed: number): Seed {
  const paths = [...output.matchAll(/\{ seed: (-?\d+), path: "([\d:]+)"/g)].filter(([, found]) => Number(found) === seed)
  // Of several properties, the one that needs the most runs.
  const [path] = paths.map(([, , found = '']) => found).sort((left, right) => Number.parseInt(right, 10) - Number.parseInt(left, 10))
  return path === undefined ? { seed } : { seed, path }
}

export function withFailure({ base, failed }: CommittedSeeds, file: string, seed: Seed): CommittedSeeds {
  const all = { ...failed, [file]: [...(failed[file] ?? []), seed] }
  return { base, failed: Object.fromEntries(Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1))) }
}
