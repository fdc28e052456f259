import type { RequestedAction } from '@backporch/forge/check-run'
import type { ForgeComment, KnownProposal } from '@backporch/forge/hosted-forge'
import type { Failure } from '@backporch/kyaml/failure'
import type { PolicyFile } from '../../../policy/parse-policy.ts'
import type { CommentCommands } from '../../../proposal/text/comment-command.ts'
import type { Tick } from '../../../proposal/text/ticks.ts'
import type { Change } from '../../../record/documents/change.ts'
import type { PolicyUnit } from './comment-policy.ts'
import type { Commenter } from './comment-rights.ts'

export interface RequestedUnit extends PolicyUnit {
  readonly proposal: KnownProposal
  readonly packageName: string
  /** Empty if the branch was deleted. */
  readonly head: string
  /** From 1, as in the body. */
  readonly numbered: readonly Change[]
  /** The body's checkboxes are bound to these: of all records of a joint proposal. */
  readonly drifts: readonly string[]
}

export interface Requester extends Commenter {
  readonly comment: string
  /** RFC 3339 UTC: durations count from the writing, however often the request is executed. */
  readonly at: string
}

export interface CommentRequest {
  readonly comment: ForgeComment
  readonly commands: CommentCommands
  readonly requester: Requester
  readonly refusal: Failure | undefined
  readonly mayCommand: boolean
}

export interface RequestedActionRequest {
  readonly requestedAction: RequestedAction
  readonly requester: Requester
}

export interface WaitingRequest {
  /** Undefined for a ticked box. */
  readonly by: string | undefined
  readonly line: string
  readonly failure: Failure
}

export interface ProposalRequests {
  readonly unit: RequestedUnit
  readonly ticks: readonly Tick[]
  /** Oldest text first, after those of people who may command. */
  readonly comments: readonly CommentRequest[]
  readonly requestedActions: readonly RequestedActionRequest[]
  /** Empty if there is none. */
  readonly answered: string
  /** Of the base branch; empty if there is none. */
  readonly codeOwners: string
  /** Of the base branch; empty if no request concerns them. */
  readonly policyFiles: readonly PolicyFile[]
  readonly unread: readonly WaitingRequest[]
}
