/** Everything that a turn writes, in this order. Every action may be repeated: it writes nothing that exists already. */
import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import type { PlannedCommit } from '../observation/action.ts'
import type { AnsweredRequests } from '../unit/commands/plan-requests.ts'
import type { ProposalRequests } from '../unit/commands/proposal-requests.ts'
import type { PendingSettle } from '../unit/pending-settles.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import type { ForgeAction } from './forge/forge-action.ts'
import type { ProposalPlan } from './forge/plan-proposals.ts'
import type { ClusterLedgerWrites } from './ledger/cluster-writes.ts'

/** A branch whose proposal ended, in its present state. */
export interface EndedBranch {
  /** Full ref name. */
  readonly ref: string
  readonly commit: ObjectId
}

/** Merged decisions that are brought to one cluster. */
export interface SettleAction {
  readonly cluster: string
  readonly pending: readonly PendingSettle[]
}

/** What a failure does: it ends the turn, or the turn reports it, and the other writes of its kind and after it are left out. */
export type OnFailure = 'end' | 'report'

export type TurnAction =
  | { readonly kind: 'forge'; readonly write: ForgeAction; readonly onRefusal: OnFailure }
  /** Reports to people that their commands were read, and checks that these are unchanged. */
  | { readonly kind: 'acknowledge'; readonly requests: ProposalRequests }
  /** Nothing depends on it: one that cannot be deleted now does no harm. */
  | { readonly kind: 'delete-branch'; readonly branch: EndedBranch }
  /** After all that is written elsewhere. */
  | { readonly kind: 'answer'; readonly answered: AnsweredRequests }
  /** Records of decisions through Porch go onto the base branch. A rule that refuses it holds up nothing: the ledger has the decision. */
  | {
      readonly kind: 'land'
      readonly ref: string
      readonly commit: PlannedCommit & { readonly base: ObjectId }
    }
  /** Last of all: each write is planned on what is live by then, and authorised by what the base branch has by then. */
  | ({ readonly kind: 'settle' } & SettleAction)
  /** One push of all refs. Where a rule refuses one of them, the ledger and the other units are pushed without it. */
  | {
      readonly kind: 'push'
      /** Somebody waits for the outcome: of what is refused nothing is written. */
      readonly isDecision: boolean
      readonly units: readonly UnitResult[]
      readonly clusters: readonly ClusterLedgerWrites[]
      readonly decided: readonly DecidedUnit[]
      readonly onFailure: OnFailure
    }
  /** A refusal of the forge concerns this unit, and the turn only where every proposal is refused. */
  | ({ readonly kind: 'propose' } & ProposalPlan)
  /** The ledger gets the numbers of the proposals, by which they are found wherever their branch goes. One that it has is not written. */
  | { readonly kind: 'keep-numbers' }
  /** Issues name proposals by their number, and what is in git of units whose push was refused. */
  | {
      readonly kind: 'issues'
      readonly writes: (
        units: readonly UnitResult[],
        opened: ReadonlyMap<string, OpenedProposal>,
      ) => readonly ForgeAction[]
    }
