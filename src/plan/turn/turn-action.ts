/**
 * The actions of a turn, in execution order. They are plain values, so a plan can be stored as
 * JSON. Every action can be repeated: it does not write again what exists already.
 */
import type { RequestedAction } from '@backporch/forge/check-run'
import type { ForgeComment, OpenedProposal } from '@backporch/forge/hosted-forge'
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { GitWrites, LedgerWrites, PlannedCommit } from '../observation/action.ts'
import type { Unit } from '../observation/observation.ts'
import type { PolicyUnit } from '../unit/commands/comment-policy.ts'
import type { PlannedAnswer } from '../unit/commands/plan-requests.ts'
import type { WaitingRequest } from '../unit/commands/proposal-requests.ts'
import type { PendingSettle } from '../unit/pending-settles.ts'
import type { ForgeAction, IssuesAction, ProposalAction } from './forge/forge-action.ts'
import type { ClusterLedgerWrites } from './ledger/cluster-writes.ts'

export interface EndedBranch {
  readonly ref: string
  readonly commit: ObjectId
}

export interface SettleAction {
  readonly cluster: string
  readonly pending: readonly PendingSettle[]
}

export type OnFailure = 'end' | 'report'

/** How an action names a unit. */
export type ActionUnit = Pick<Unit, 'cluster' | 'packagePath'>

/** A commit with its files as texts; `null` deletes one. */
export interface TextCommit extends Omit<PlannedCommit, 'changes'> {
  readonly changes: readonly { readonly path: string; readonly content: string | null }[]
}

export interface TextWrites extends Omit<GitWrites, 'commits'> {
  readonly commits: readonly TextCommit[]
}

/** What a push writes of one unit. */
export interface PushedUnit extends ActionUnit {
  readonly writes: TextWrites
  /** Full ref name of the joint branch that the unit is on; the commit may be in the writes of another unit. */
  readonly joint?: string
  /**
   * What the ledger gets where the refs of the unit stay as they are: because the remote refuses them, or until a later turn. Absent where none
   * moves, and in a decision, of which nothing is written then.
   */
  readonly unmoved?: { readonly refused: LedgerWrites; readonly later: LedgerWrites }
  /** What people decided and what they asked for is not left to a later turn. */
  readonly isAwaited: boolean
}

/**
 * One push of all refs. If a rule refuses one, the ledger and the other units are pushed without
 * it.
 */
export interface PushAction {
  /** A person waits: nothing is written of what is refused. */
  readonly isDecision: boolean
  /** Those that write something. */
  readonly units: readonly PushedUnit[]
  readonly clusters: readonly ClusterLedgerWrites[]
  /** What people decided about units that could not be observed. */
  readonly decided: readonly PushedUnit[]
  readonly onFailure: OnFailure
}

/** A refusal concerns the turn only if every proposal is refused. */
export interface ProposeAction {
  readonly unit: ActionUnit
  /** Somebody asked for it, and the answer says that it is done: it is not left to a later turn. */
  readonly isAsked: boolean
  readonly action: ProposalAction
}

/** The answers to the requests on one proposal. */
export interface AnswerAction {
  readonly unit: PolicyUnit
  /** False where the unit could not be planned: then no answer depends on the push. */
  readonly isPlanned: boolean
  /** Why nothing of the unit is pushed in this turn. */
  readonly refused?: FailureDetail
  readonly proposal: OpenedProposal & { readonly number: number }
  /** CODEOWNERS of the base branch; empty where there is none. */
  readonly codeOwners: string
  /** The current comment about commands; empty where there is none. */
  readonly answered: string
  readonly answers: readonly PlannedAnswer[]
  /** Comments that are answered. */
  readonly comments: readonly ForgeComment[]
  readonly requestedActions: readonly {
    readonly requestedAction: RequestedAction
    readonly done: boolean
  }[]
  readonly waiting: readonly (Omit<WaitingRequest, 'failure'> & {
    readonly failure: FailureDetail
  })[]
}

export type TurnAction =
  | { readonly kind: 'forge'; readonly write: ForgeAction; readonly onRefusal: OnFailure }
  | {
      readonly kind: 'acknowledge'
      readonly proposal: Pick<AnswerAction['proposal'], 'number' | 'label'>
      readonly comments: readonly ForgeComment[]
    }
  /** Nothing depends on it: a failed deletion is harmless. */
  | { readonly kind: 'delete-branch'; readonly branch: EndedBranch }
  | ({ readonly kind: 'answer' } & AnswerAction)
  /** A rule that refuses it blocks nothing: the ledger has the decision. */
  | {
      readonly kind: 'land'
      readonly ref: string
      readonly commit: TextCommit & { readonly base: ObjectId }
    }
  /** Last: planned on the live state, and authorised by the base branch, of that time. */
  | ({ readonly kind: 'settle' } & SettleAction)
  | ({ readonly kind: 'push' } & PushAction)
  | ({ readonly kind: 'propose' } & ProposeAction)
  /** The numbers find proposals wherever their branch moves. Does not rewrite existing ones. */
  | { readonly kind: 'keep-numbers' }
  | ({ readonly kind: 'issues' } & IssuesAction)
