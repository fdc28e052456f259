/** Who makes our commits. */
import type { CommitView } from '../ports/package-repository.ts'
import type { PushedBranch } from '../record/pushed-branch.ts'

/** Email of the identity that makes our commits; a branch with a commit by another identity is foreign. */
export interface BotIdentity {
  readonly email: string
  /** Committers of what people merge in the pages of a forge: no persons either. */
  readonly forges?: readonly string[]
}

/** One commit with the bot as its author, which anyone can write. An amended or rebased one keeps its author: the committer shows it. */
export function claimsBot({ author, committer, parents }: CommitView, { email }: BotIdentity): boolean {
  return author.email === email && committer.email === email && parents.length === 1
}

/** Whether the ledger has the commit as the last one that we pushed to its branch; undefined where it has none. */
export function isLastPushed(commit: string, pushed: PushedBranch | undefined): boolean | undefined {
  const last = pushed?.spec.commits.at(-1)?.commit
  return last === undefined ? undefined : last === commit
}

/** By the ledger and, where a key was given, by the signature too; by the signature alone where the ledger knows nothing of the branch. */
export function isProven({ id, signed }: CommitView, pushed: PushedBranch | undefined): boolean {
  return signed !== false && (isLastPushed(id, pushed) ?? signed === true)
}
