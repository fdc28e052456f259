/** Finds the commit that brought a record onto the base branch, for any merge style, also after the branch was deleted. */
import type { CommitView, PackageRepository } from '@backporch/git-store/package-repository'
import { parseKptAnnotations, workspaceIn } from '@backporch/kpt/kptfile'
import type { ObjectId } from '@backporch/kyaml/files'
import type { MergeCommit } from '../../plan/observation/observation.ts'
import { decidedByIn } from '../../record/commit-message.ts'
import { earlierRecordPath, presentRecordPath } from '../../record/record-paths.ts'
import { type BotIdentity, isBot } from './bot-identity.ts'

/** Commits of the base branch that are searched. The turn after a decision searches it, so it is near the tip. */
const MOST_STEPS = 1_000

interface MergedProposal {
  /** Of its record, from the root. */
  readonly path: string
  readonly packageName: string
  readonly bot: BotIdentity
}

/**
 * Walks the first parents of `base` to the first commit whose tree has the file. The commit to tag is one whose message has the
 * `kpt:` line of the package, because Porch reads the workspace there: the merge that `approve` made, what a squash or a rebase made of
 * the proposal, or the proposal's own commit below a merge commit; where a person wrote another message, it is the merge commit itself.
 * @returns undefined when the commit lies further back than the search
 */
export async function findMergeCommit(
  repository: PackageRepository,
  base: CommitView,
  merged: MergedProposal,
  signal: AbortSignal,
): Promise<MergeCommit | undefined> {
  let commit = base
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const [first] = commit.parents
    if (first === undefined || !(await hasRecord(repository, first, merged.path, signal)))
      return describe(repository, commit, merged, signal)
    commit = await repository.commit(first, signal)
  }
  return undefined
}

/** Under its name of today, or the one of an earlier version: a move is no merge. */
async function hasRecord(
  repository: PackageRepository,
  commit: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const name of new Set([path, presentRecordPath(path), earlierRecordPath(path)]))
    if ((await repository.list(commit, name, signal)).length > 0) return true
  return false
}

async function describe(
  repository: PackageRepository,
  mergeCommit: CommitView,
  { packageName, bot }: MergedProposal,
  signal: AbortSignal,
): Promise<MergeCommit> {
  const merged = await Promise.all(
    mergeCommit.parents.slice(1).map((id) => repository.commit(id, signal)),
  )
  const named = [mergeCommit, ...merged].find(
    ({ message }) =>
      workspaceIn(parseKptAnnotations(message).annotations, packageName) !== undefined,
  )
  const { at } = mergeCommit.author
  return {
    commit: mergeCommit.id,
    published: (named ?? mergeCommit).id,
    named: named !== undefined,
    at: `${new Date(at * 1000).toISOString().slice(0, 19)}Z`,
    by: deciderOf(mergeCommit, bot),
  }
}

/**
 * The message names the person who made `approve` merge: the author is the account that it ran with. A squash or a rebase has our account as
 * its author, and the person as its committer.
 */
function deciderOf({ message, author, committer }: CommitView, bot: BotIdentity): string {
  const decided = decidedByIn(message)
  if (decided !== undefined) return decided
  const person = [committer, author].find(
    ({ email }) => !isBot(email, bot) && !bot.forges?.includes(email),
  )
  return person === undefined ? '' : `${person.name} <${person.email}>`
}
