/** Merges two commits in memory, from their trees and their merge base. */
import { mergeContent } from '@backporch/git-store/merge-content'
import type {
  CommitView,
  FileChange,
  PackageRepository,
  TreeFile,
} from '@backporch/git-store/package-repository'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'

const MOST_COMMITS = 10_000

interface MergedTree {
  readonly tree: readonly TreeFile[]
  readonly from: ObjectId | undefined
  /** The tree has the head's version. */
  readonly conflicts: readonly string[]
  readonly why: string | undefined
}

/**
 * Like git, takes each side's changed lines per file.
 * @throws Failure BP40xx if a commit cannot be read
 */
export async function mergeCommits(
  repository: PackageRepository,
  base: ObjectId,
  head: ObjectId,
  signal: AbortSignal,
): Promise<MergedTree> {
  const [ours, theirs] = [
    await repository.list(base, '', signal),
    await repository.list(head, '', signal),
  ]
  const found = await findMergeBase(repository, [base, head], signal)
  if ('why' in found) return { tree: theirs, from: undefined, conflicts: [], why: found.why }
  const { from } = found
  if (from === base) return { tree: theirs, from, conflicts: [], why: undefined }
  if (from === head) return { tree: ours, from, conflicts: [], why: undefined }
  const since = indexByPath(await repository.list(from, '', signal))
  const [mine, other] = [indexByPath(ours), indexByPath(theirs)]
  const tree: TreeFile[] = []
  const both: FileSides[] = []
  for (const path of new Set([...mine.keys(), ...other.keys()])) {
    const sides = { path, since: since.get(path), mine: mine.get(path), other: other.get(path) }
    const taken =
      isSame(sides.other, sides.since) || isSame(sides.mine, sides.other) ? sides.mine : sides.other
    if (
      !isSame(sides.mine, sides.since) &&
      !isSame(sides.other, sides.since) &&
      !isSame(sides.mine, sides.other)
    )
      both.push(sides)
    else if (taken !== undefined) tree.push(taken)
  }
  const { files, conflicts } = await mergeFiles(repository, both, signal)
  return {
    tree: [...tree, ...files].sort((left, right) => (left.path < right.path ? -1 : 1)),
    from,
    conflicts,
    why: undefined,
  }
}

interface FileSides {
  readonly path: string
  readonly since: TreeFile | undefined
  readonly mine: TreeFile | undefined
  readonly other: TreeFile | undefined
}

async function mergeFiles(
  repository: PackageRepository,
  both: readonly FileSides[],
  signal: AbortSignal,
): Promise<{ readonly files: readonly TreeFile[]; readonly conflicts: readonly string[] }> {
  const files: TreeFile[] = []
  const conflicts: string[] = []
  const written: (FileChange & { readonly mode: TreeFile['mode'] })[] = []
  for (const { path, since, mine, other } of both) {
    const content = await mergeFile(repository, [since, mine, other], signal)
    if (content !== null && mine !== undefined && other !== undefined)
      written.push({ path, content, mode: isModeOf(since, other) ? mine.mode : other.mode })
    else {
      conflicts.push(path)
      if (other !== undefined) files.push(other)
    }
  }
  if (written.length === 0) return { files, conflicts }
  // No ref ever names this commit.
  const commit = await repository.write({
    parents: [],
    base: undefined,
    changes: written,
    message: 'merged lines\n',
    at: 0,
  })
  const ids = indexByPath(await repository.list(commit, '', signal))
  const merged = written.flatMap(({ path, mode }) =>
    ids.get(path) === undefined ? [] : [{ path, mode, id: (ids.get(path) as TreeFile).id }],
  )
  return { files: [...files, ...merged], conflicts }
}

async function mergeFile(
  repository: PackageRepository,
  [since, mine, other]: readonly [TreeFile | undefined, TreeFile | undefined, TreeFile | undefined],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (since === undefined || mine === undefined || other === undefined) return null
  if ([since, mine, other].some(({ mode }) => !mode.startsWith('100'))) return null
  const blobs = await repository.read([since.id, mine.id, other.id], signal)
  const [base = null, ours = null, theirs = null] = [since, mine, other].map(
    ({ id }) => blobs.get(id) ?? null,
  )
  return mergeContent({ base, ours, theirs })
}

/** Whether a side left the mode as it was. */
function isModeOf(since: TreeFile | undefined, side: TreeFile): boolean {
  return since?.mode === side.mode
}

/** Reached from the first side, from the second, and from a commit that both sides reach. */
const [FIRST, SECOND, BELOW] = [1, 2, 4]

/**
 * Paints both histories as git does (commit-reach.c, `paint_down_to_common`), newest commit first,
 * until only ancestors of common commits are open. Of two common commits, one may be an ancestor of
 * the other where a clock was wrong, so the ancestors are then followed as well.
 * @returns the newest by its date where several remain; git merges them first
 */
async function findMergeBase(
  repository: PackageRepository,
  sides: readonly [ObjectId, ObjectId],
  signal: AbortSignal,
): Promise<{ readonly from: ObjectId } | { readonly why: string }> {
  const reached = new Map<ObjectId, number>()
  const open: { readonly commit: CommitView; readonly mark: number }[] = []
  const common = new Map<ObjectId, CommitView>()
  try {
    for (const [index, id] of sides.entries())
      open.push({ commit: await repository.commit(id, signal), mark: index + 1 })
    for (let steps = 0; steps < MOST_COMMITS; steps += 1) {
      if (common.size < 2 && open.every(({ mark }) => (mark & BELOW) !== 0)) break
      const next = takeNewest(open)
      if (next === undefined) break
      const { commit, mark } = next
      const before = reached.get(commit.id) ?? 0
      const after = before | mark
      if (after === before) continue
      reached.set(commit.id, after)
      if ((after & BELOW) !== 0) common.delete(commit.id)
      else if (after === (FIRST | SECOND)) common.set(commit.id, commit)
      const passed = after === (FIRST | SECOND) ? after | BELOW : after
      for (const parent of commit.parents)
        open.push({ commit: await repository.commit(parent, signal), mark: passed })
    }
    const [newest] = [...common.values()].sort(
      (left, right) => right.committer.at - left.committer.at,
    )
    if (newest !== undefined) return { from: newest.id }
    return open.length === 0
      ? { why: 'the head and the base branch have no commit in common' }
      : { why: `the merge base is not among the last ${MOST_COMMITS}` }
  } catch (thrown) {
    signal.throwIfAborted()
    const { code, why } = convertToFailure(thrown)
    // A clone may have only the newest commits.
    if (code !== 'BP4011' && code !== 'BP4006') throw thrown
    return { why: `the merge base cannot be read: ${why}` }
  }
}

function takeNewest<Open extends { readonly commit: CommitView }>(open: Open[]): Open | undefined {
  const newest = open.reduce(
    (last, { commit }, at) =>
      commit.committer.at > (open[last]?.commit.committer.at ?? -1) ? at : last,
    0,
  )
  return open.splice(newest, 1)[0]
}

function indexByPath(tree: readonly TreeFile[]): ReadonlyMap<string, TreeFile> {
  return new Map(tree.map((file) => [file.path, file]))
}

function isSame(one: TreeFile | undefined, other: TreeFile | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode
}
