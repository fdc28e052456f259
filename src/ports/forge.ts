/** Where people review. The local forge is git alone; GitHub and Gitea stand behind the same port. */
import type { ObjectId } from '../package/object-id.ts'
import type { CommitDraft, RefUpdate } from './package-repository.ts'

/** A proposal as it shall stand: one per branch, whoever asks how often. */
export interface WantedProposal {
  /** Full ref name of the pushed branch. */
  readonly ref: string
  readonly commit: ObjectId
  /** Short name of the branch that it is to be merged into. */
  readonly baseBranch: string
  readonly title: string
}

export interface OpenedProposal {
  /** What people call it: `#418`, or the name of the branch where git is the forge. */
  readonly label: string
  /** Empty where there is no page to look at. */
  readonly url: string
}

/** A decision to merge, with what belongs to it. */
export interface ProposalMerge {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly base: { readonly ref: string; readonly commit: ObjectId }
  /** The merge commit; its parents are base and proposal. */
  readonly merge: CommitDraft
  /** Full name of the revision's tag. */
  readonly tag: string
  /** Refs that move along: the ledger. */
  readonly along: readonly RefUpdate[]
}

export interface ProposalClose {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly along: readonly RefUpdate[]
}

export interface Forge {
  /** Opens or updates; the same branch twice is one proposal. */
  ensureProposal(wanted: WantedProposal, signal: AbortSignal): Promise<OpenedProposal>
  /** Merges, tags and deletes the branch. @returns the merge commit. @throws Failure BP4002, BP4003 as a push does */
  merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId>
  /** Closes without a merge. @throws Failure BP4002, BP4003 as a push does */
  close(decision: ProposalClose, signal: AbortSignal): Promise<void>
}
