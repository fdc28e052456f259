/**
 * The points at which a program is killed, or answered wrong, are many and do not depend on each other. A push runs a quarter of them, chosen by
 * the hash of the tree `src/` of the commit: later commits that leave `src/` alone run the same quarter, and changes of `src/` go through
 * all of them. Without git, and with BACKPORCH_CRASH_POINTS=all, all of them run.
 */
import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'

/** Points that a push runs. The test says which part they are. */
export function quarterOf<Point>(t: TestContext, points: readonly Point[]): readonly Point[] {
  return shareOf(t, points, 4)
}

/** The same for points that are too slow for a quarter of them. */
export function shareOf<Point>(
  t: TestContext,
  points: readonly Point[],
  parts: number,
): readonly Point[] {
  if (points.length === 0) return points
  const tree = sourceTree()
  const chosen = tree === undefined ? points : partOf(points, parts, tree)
  const part =
    tree === undefined
      ? 'all'
      : `part ${numberOf(parts, tree) + 1} of ${parts}, by the hash ${tree.slice(0, 8)} of src/`
  t.diagnostic(`${chosen.length} of ${points.length} points: ${part}`)
  return chosen
}

/**
 * One of as many points as there are parts, and another one each time: of four things that happen at each write, each quarter has all.
 * @param tree the hash, in hex
 */
export function partOf<Point>(
  points: readonly Point[],
  parts: number,
  tree: string,
): readonly Point[] {
  return points.filter(
    (_, index) => (index + Math.floor(index / parts)) % parts === numberOf(parts, tree),
  )
}

function numberOf(parts: number, tree: string): number {
  return Number.parseInt(tree.slice(0, 8), 16) % parts
}

let known: { readonly tree: string | undefined } | undefined

function sourceTree(): string | undefined {
  if (process.env['BACKPORCH_CRASH_POINTS'] === 'all') return undefined
  known ??= { tree: committedTree(import.meta.dirname) }
  return known.tree
}

/** @returns the hash of `src/` at HEAD; undefined where there is no git, or no commit */
export function committedTree(folder: string): string | undefined {
  const { stdout } = spawnSync('git', ['rev-parse', '--quiet', '--verify', 'HEAD:src'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return /^[0-9a-f]{40,64}$/m.exec(stdout ?? '')?.[0]
}
