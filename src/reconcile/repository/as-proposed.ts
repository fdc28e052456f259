/** Compares a merge with what was proposed. Other merged content is never settled automatically. */
import { mergeContent } from '@backporch/git-store/merge-content'
import type { FileChange, PackageRepository } from '@backporch/git-store/package-repository'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { MergeCommit } from '../../plan/observation/observation.ts'
import { computeHash, computePushedContent } from '../../record/pushed-branch.ts'
import { hasSameContent, listChangesBetween } from './changes-between.ts'
import { type RepositoryView, readPushed } from './repository-view.ts'

interface MergedText {
  readonly refs: readonly string[]
  readonly text: string
  readonly mergeCommit: MergeCommit
}

/**
 * By the record, by the head commit that the forge or a merge commit names, and by the merge
 * commit's changes, because a merge may include edits.
 * @returns a part of a sentence; undefined if the content is the same
 */
export async function explainAltered(
  view: RepositoryView,
  { refs, text, mergeCommit }: MergedText,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pushed = await readPushed(view, refs, signal)
  const commits = [...pushed.values()].flatMap(({ spec }) => spec.commits)
  if (commits.length === 0) return 'the ledger does not know what was proposed'
  const record = computeHash(new TextEncoder().encode(text))
  if (!commits.some(({ records }) => records.includes(record)))
    return 'its record is not one that backporch pushed'
  const isOurs = (id: string): boolean => commits.some(({ commit }) => commit === id)
  const head = refs
    .map((ref) => view.proposals.get(ref))
    .find((proposal) => proposal?.state === 'merged')?.commit
  if (head !== undefined && !isOurs(head))
    return `${head.slice(0, 7)}, which was merged, is not a commit that backporch pushed`
  if (isOurs(mergeCommit.commit)) return undefined
  const { parents } = await view.repository.commit(mergeCommit.commit, signal)
  const landed = await listChangesBetween(view.repository, parents[0], mergeCommit.commit, signal)
  const { content } = computePushedContent(landed)
  if (commits.some((known) => known.content === content)) return undefined
  // The base branch may have changed the same files.
  const merged = parents.slice(1).find(isOurs) ?? head
  const isMerge =
    merged !== undefined &&
    (await isMergeOf(view.repository, merged, { onto: parents[0], landed }, signal))
  return isMerge ? undefined : 'its files are not those that backporch pushed'
}

/**
 * It changes only what the commit changes against its own parent, in files that may have changed
 * since.
 * @param onto the base branch before it
 */
async function isMergeOf(
  repository: PackageRepository,
  merged: ObjectId,
  { onto, landed }: { readonly onto: ObjectId | undefined; readonly landed: readonly FileChange[] },
  signal: AbortSignal,
): Promise<boolean> {
  let base: ObjectId | undefined
  try {
    base = (await repository.commit(merged, signal)).parents[0]
  } catch (thrown) {
    // The forge squashed it, reports this commit, and has deleted it since.
    if (convertToFailure(thrown).code === 'BP4006') return true
    throw thrown
  }
  const proposed = await listChangesBetween(repository, base, merged, signal)
  const paths = new Set(proposed.map(({ path }) => path))
  if (onto === undefined || base === undefined || landed.some(({ path }) => !paths.has(path)))
    return false
  const after = new Map(landed.map(({ path, content }) => [path, content]))
  for (const { path, content } of proposed) {
    const before = await readContentAt(repository, onto, path, signal)
    const is = after.has(path) ? (after.get(path) ?? null) : before
    if (hasSameContent(is, content)) continue
    // The merge kept a removal of the base branch.
    if (is === null) return false
    const then = await readContentAt(repository, base, path, signal)
    if (!hasSameContent(is, mergeContent({ base: then, ours: before, theirs: content })))
      return false
  }
  return true
}

export async function readContentAt(
  repository: PackageRepository,
  commit: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const file = (await repository.list(commit, path, signal)).find((one) => one.path === '')
  if (file === undefined) return null
  return (await repository.read([file.id], signal)).get(file.id) ?? null
}
