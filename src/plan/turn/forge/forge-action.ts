/** The writes of a turn on a forge, as values. Each is a desired state, so that a second run writes nothing. */
import type { CheckRun } from '@backporch/forge/check-run'
import type {
  CommitStatus,
  KnownProposal,
  OpenedProposal,
  WantedProposal,
} from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'

/** A commit, or the head of a branch (full ref name) as the push of the turn leaves it. */
export type CommitTarget = ObjectId | { readonly headOf: string }

export interface ProposalAction {
  readonly kind: 'proposal'
  readonly wanted: Omit<WantedProposal, 'commit'>
  readonly known: KnownProposal | undefined
  /** Actions that need the number or the address of the proposal. */
  readonly whenOpened: (opened: OpenedProposal) => readonly ForgeAction[]
}

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
  /** The forge left it open after its branch went. */
  | { readonly kind: 'close-proposal'; readonly proposal: KnownProposal }
  /** No write: the turn begins again where the forge has an end of the proposal by now. */
  | { readonly kind: 'stays-open'; readonly proposal: KnownProposal }
