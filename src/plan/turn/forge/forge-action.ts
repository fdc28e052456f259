/** Writes to a forge. Each is a desired state, so a second run writes nothing. */
import type { CheckRun } from '@backporch/forge/check-run'
import type { CommitStatus, KnownProposal, WantedProposal } from '@backporch/forge/hosted-forge'
import type { FailureCode } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { LedgerFile } from '../../observation/action.ts'

/** A commit, or the head of a branch (full ref name) after the turn's push. */
export type CommitTarget = ObjectId | { readonly headOf: string }

export interface ProposalAction {
  readonly kind: 'proposal'
  readonly wanted: Omit<WantedProposal, 'commit'>
  readonly known: KnownProposal | undefined
  /** Written once the proposal is open, in this order. */
  readonly followedBy: readonly FollowUp[]
}

/** A proposal of one cluster that went into a joint one; the push of the turn takes its branch away. */
export interface MovedProposal {
  /** Number of the proposal. */
  readonly proposal: number
  /** Full ref name of its branch. */
  readonly ref: string
  readonly commit: ObjectId
  /** Clusters of the joint proposal. */
  readonly clusters: number
}

/** What follows a proposal. A comment on it has its number, and one on a proposal that moved into it names it. */
export type FollowUp =
  | Extract<ForgeAction, { readonly kind: 'statuses' | 'check-run' }>
  | { readonly kind: 'comment-on-it'; readonly topic: string; readonly body: string }
  | ({ readonly kind: 'moved' } & MovedProposal)

export type ForgeAction =
  | ProposalAction
  | {
      readonly kind: 'statuses'
      readonly commit: CommitTarget
      readonly statuses: readonly CommitStatus[]
    }
  | { readonly kind: 'check-run'; readonly commit: CommitTarget; readonly run: CheckRun }
  | {
      readonly kind: 'comment'
      readonly proposal: number
      readonly topic: string
      readonly body: string
    }
  | {
      readonly kind: 'issue'
      readonly topic: string
      readonly title: string
      readonly body: string
      readonly labels: readonly string[]
    }
  | { readonly kind: 'close-issue'; readonly topic: string }
  /** The forge left it open after its branch was deleted. */
  | { readonly kind: 'close-proposal'; readonly proposal: KnownProposal }
  /** No write: the turn restarts if the forge has ended the proposal in the meantime. */
  | { readonly kind: 'stays-open'; readonly proposal: KnownProposal }

/** What the issues of a repository need beside its ledger, its policies and its proposals. */
export interface IssuesAction {
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
  /** Version of backporch. */
  readonly version: string
  /** The storm that this turn found. */
  readonly storm: { readonly fleet: boolean; readonly clusters: readonly string[] } | undefined
  /** Clusters of which nothing could be observed. */
  readonly notObserved: readonly { readonly cluster: string; readonly code: FailureCode }[]
  /** What the ledger would get, in a turn that leaves its push to a later one. */
  readonly unpushed: readonly LedgerFile[]
}
