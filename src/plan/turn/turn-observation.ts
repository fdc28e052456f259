/** Everything that a turn knows before it plans: values alone, so that one can be written by hand. */
import type { ClusterIdentity } from '@backporch/cluster/cluster'
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { DashboardTicks } from '../../proposal/text/dashboard-ticks.ts'
import type { LedgerContent } from '../observation/ledger-after.ts'
import type { Observation } from '../observation/observation.ts'
import type { UnitAnswers } from '../observation/turn-questions.ts'
import type { TurnView } from '../observation/turn-view.ts'
import type { ProposalRequests } from '../unit/commands/proposal-requests.ts'
import type { ResolutionSelectors } from '../unit/commands/resolution-request.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import type { UnobservedUnit } from '../unit/unobserved.ts'
import type { UnobservedProposal } from './forge/plan-proposals.ts'
import type { EndedBranch } from './turn-action.ts'

export type ObservedUnit =
  | {
      readonly state: 'observed'
      readonly observation: Observation
      readonly notes: readonly Note[]
    }
  | (UnitResult & { readonly state: 'failed' })

export interface NotObserved {
  readonly cluster: string
  readonly failures: readonly [Failure, ...Failure[]]
  /** RFC 3339 UTC: when it was observed. */
  readonly at: string
}

export interface TurnGit extends Omit<TurnView, 'policies' | 'proposals'> {
  /** As it was before the turn. */
  readonly ledger: LedgerContent
  /** By name of the cluster: what the ledger has of the units that could not be observed there. */
  readonly lost: ReadonlyMap<string, readonly LostUnit[]>
  /** Branches that are left of changes of the policy. */
  readonly endedBranches: readonly EndedBranch[]
  /** By `refusalName`: why refs are not pushed now. */
  readonly refused?: ReadonlyMap<string, Failure>
  /** CODEOWNERS of the base branch; empty where there is none, and where git alone is the forge. */
  readonly codeOwners: string
}

/** `unit` is what a first report names. */
export type LostUnit = Omit<UnobservedUnit, 'code'>

export interface TurnClusters {
  /** Those that could be observed. */
  readonly observed: readonly { readonly cluster: string; readonly identity: ClusterIdentity }[]
  readonly notObserved: readonly NotObserved[]
  /** Of all clusters, in their order; whose their branches are is known. */
  readonly units: readonly ObservedUnit[]
  /** Units that could not be observed, as git and the forge have them; none in a turn that writes nothing. */
  readonly inGit: readonly Observation[]
}

export interface TurnForge extends Pick<TurnView, 'proposals'> {
  readonly dialect: ForgeDialect
  /** Whether it has pages: git alone is the forge otherwise. */
  readonly hosted: boolean
  /** Ticked boxes of the dashboard. */
  readonly ticks: DashboardTicks
  readonly requests: readonly ProposalRequests[]
  /** Open proposals all of whose clusters could not be observed. */
  readonly unobservedProposals: readonly UnobservedProposal[]
}

export interface TurnClock {
  /** RFC 3339 UTC. */
  readonly present: string
  /** RFC 3339 UTC: the latest observation of a cluster; empty where there is none. */
  readonly observedAt: string
  /** RFC 3339 UTC: the last push of the ledger by this process; empty where there was none, and where every turn writes. */
  readonly ledgerPushedAt: string
}

/** What the turn is for. */
export interface TurnPurpose {
  /** The resolution requested on the command line. */
  readonly resolutionRequest: ResolutionSelectors | undefined
  /** Nothing comes of the plan: what only a proposal needs is not found out. */
  readonly observations: boolean
  /** Whether merged commits are brought to clusters. */
  readonly settles: boolean
  /** Whether the turn is about every package of its clusters. */
  readonly whole: boolean
  /** Clusters whose changes are watched: their other packages are as they were when a turn was about them last. */
  readonly watched?: ReadonlySet<string>
  /** Version of backporch, for the texts of proposals. */
  readonly version: string
}

export interface TurnObservation {
  readonly git: TurnGit
  readonly cluster: TurnClusters
  readonly forge: TurnForge
  readonly policy: PolicySet
  readonly clock: TurnClock
  readonly purpose: TurnPurpose
  /** What functions, programs and branches answered; none of a unit that is not named. */
  readonly answers: ReadonlyMap<ObservedUnit, UnitAnswers>
}
