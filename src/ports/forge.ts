/** Where people review. The local forge is git alone; GitHub and Gitea implement the same port. */
import type { CommitDraft, RefUpdate } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'

/** A decision to merge, with what belongs to it. */
export interface ProposalMerge {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly base: { readonly ref: string; readonly commit: ObjectId }
  /** The merge commit; its parents are base and proposal. */
  readonly merge: CommitDraft
  /** The same, where it is made already because git alone is the forge: the ledger names it. */
  readonly commit?: ObjectId | undefined
  /** Full name of the revision's tag; undefined where it gets none. */
  readonly tag: string | undefined
  /** Refs that move along: the ledger. */
  readonly along: readonly RefUpdate[]
}

export interface ProposalClose {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly along: readonly RefUpdate[]
}
