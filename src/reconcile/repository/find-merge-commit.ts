/**
 * Finds the commit that merged a proposal, for any merge style, even after the branch was deleted.
 */
import type { CommitView, PackageRepository } from '@backporch/git-store/package-repository'
import { findAnnotatedWorkspace, parseKptAnnotations } from '@backporch/kpt/kptfile'
import type { ObjectId } from '@backporch/kyaml/files'
import type { MergeCommit } from '../../plan/observation/observation.ts'
import { parseDecidedBy } from '../../record/commit-message.ts'
import { convertToEarlierPath, convertToPresentPath } from '../../record/record-paths.ts'
import { type BotIdentity, isBot } from './bot-identity.ts'

/** The turn after a decision searches, so the commit is near the tip. */
const MOST_STEPS = 1_000

interface MergedProposal {
  readonly path: string
  readonly packageName: string
  readonly bot: BotIdentity
}

/**
 * Walks the first parents of `base`. The commit to tag has the package's `kpt:` line in its
 * message, because Porch reads the workspace there: `approve`'s merge, the squash or rebase, or the
 * proposal's own commit below a merge commit. If a person wrote another message, it is the merge
 * commit itself.
 * @returns undefined beyond the search limit
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

/** Also an earlier version's name: a move is not a merge. */
async function hasRecord(
  repository: PackageRepository,
  commit: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const name of new Set([path, convertToPresentPath(path), convertToEarlierPath(path)]))
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
      findAnnotatedWorkspace(parseKptAnnotations(message).annotations, packageName) !== undefined,
  )
  const { at } = mergeCommit.author
  return {
    commit: mergeCommit.id,
    published: (named ?? mergeCommit).id,
    named: named !== undefined,
    at: `${new Date(at * 1000).toISOString().slice(0, 19)}Z`,
    by: getDecider(mergeCommit, bot),
  }
}

/**
 * `approve`'s message names the person; its author is the account that ran it. A squash or rebase
 * has Backporch's account as author, and the person as committer.
 */
function getDecider(
  { message, author, committer }: CommitView,
  bot: BotIdentity,
): string | undefined {
  const decided = parseDecidedBy(message)
  if (decided !== undefined) return decided
  const person = [committer, author].find(
    ({ email }) => !isBot(email, bot) && !bot.forges?.includes(email),
  )
  return person === undefined ? undefined : `${person.name} <${person.email}>`
}
