/** Requests on open proposals, as a turn observed them: commands in comments, ticked boxes and clicked buttons. */
import type { RequestedAction } from '@backporch/forge/check-run'
import type { ForgeComment, KnownProposal } from '@backporch/forge/hosted-forge'
import type { Failure } from '@backporch/kyaml/failure'
import type { PolicyFile } from '../../../policy/parse-policy.ts'
import type { CommentCommands } from '../../../proposal/text/comment-command.ts'
import type { Tick } from '../../../proposal/text/ticks.ts'
import type { Change } from '../../../record/documents/change.ts'
import type { PolicyUnit } from './comment-policy.ts'
import type { Commenter } from './comment-rights.ts'

/** An open proposal, with the unit that it is about. */
export interface RequestedUnit extends PolicyUnit {
  readonly proposal: KnownProposal
  readonly packageName: string
  /** Commit of its branch; empty where the branch is gone. */
  readonly head: string
  /** As the body numbers them, from 1. */
  readonly numbered: readonly Change[]
  /** What boxes of its body are bound to: of the record, and of all records of a joint proposal. */
  readonly drifts: readonly string[]
}

export interface Requester extends Commenter {
  /** Id of the comment or of the requested action. */
  readonly comment: string
  /** RFC 3339 UTC: when it was written. What lasts for a while lasts from then on, however often it is done. */
  readonly at: string
}

export interface CommentRequest {
  readonly comment: ForgeComment
  readonly commands: CommentCommands
  readonly requester: Requester
  /** Why nothing of it is done. */
  readonly refusal: Failure | undefined
  /** Whether the requester may command here. */
  readonly mayCommand: boolean
}

export interface RequestedActionRequest {
  readonly requestedAction: RequestedAction
  readonly requester: Requester
}

/** A request that could not be read now, or not be done: it is found again by the next turn. */
export interface WaitingRequest {
  /** Login; empty where unknown. */
  readonly by: string
  /** The request, in one line. */
  readonly line: string
  readonly failure: Failure
}

export interface ProposalRequests {
  readonly unit: RequestedUnit
  readonly ticks: readonly Tick[]
  /** Oldest text first, and those of people who may command before all others. */
  readonly comments: readonly CommentRequest[]
  readonly requestedActions: readonly RequestedActionRequest[]
  /** The current comment about commands; empty where there is none. */
  readonly answered: string
  /** CODEOWNERS of the base branch; empty where there is none. */
  readonly codeOwners: string
  /** The current policies of the base branch; empty where no request is about them. */
  readonly policyFiles: readonly PolicyFile[]
  readonly unread: readonly WaitingRequest[]
}
