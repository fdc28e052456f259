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
  /** RFC 3339 UTC. */
  readonly at: string
}

export interface TurnGit extends Omit<TurnView, 'policies' | 'proposals'> {
  readonly ledger: LedgerContent
  /** By cluster name. */
  readonly lost: ReadonlyMap<string, readonly LostUnit[]>
  readonly endedBranches: readonly EndedBranch[]
  /** By `formatRefusalName`. */
  readonly refused?: ReadonlyMap<string, Failure>
  /** Of the base branch; empty if there is none, and if git alone is the forge. */
  readonly codeOwners: string
}

export type LostUnit = Omit<UnobservedUnit, 'code'>

export interface TurnClusters {
  readonly observed: readonly { readonly cluster: string; readonly identity: ClusterIdentity }[]
  readonly notObserved: readonly NotObserved[]
  readonly units: readonly ObservedUnit[]
  readonly inGit: readonly Observation[]
}

export interface TurnForge extends Pick<TurnView, 'proposals'> {
  readonly dialect: ForgeDialect
  /** Whether the forge has pages; otherwise git alone is the forge. */
  readonly hosted: boolean
  readonly ticks: DashboardTicks
  readonly requests: readonly ProposalRequests[]
  readonly unobservedProposals: readonly UnobservedProposal[]
}

export interface TurnClock {
  /** RFC 3339 UTC. */
  readonly present: string
  /** RFC 3339 UTC: of a cluster; undefined without one. */
  readonly observedAt: string | undefined
  /** RFC 3339 UTC: by this process; undefined without one, and if every turn writes. */
  readonly ledgerPushedAt: string | undefined
}

export interface TurnPurpose {
  readonly resolutionRequest: ResolutionSelectors | undefined
  /** What only a proposal needs is not determined. */
  readonly observations: boolean
  readonly settles: boolean
  readonly whole: boolean
  /** Their other packages are unchanged since a turn last covered them. */
  readonly watched?: ReadonlySet<string>
  readonly version: string
}

export interface TurnObservation {
  readonly git: TurnGit
  readonly cluster: TurnClusters
  readonly forge: TurnForge
  readonly policy: PolicySet
  readonly clock: TurnClock
  readonly purpose: TurnPurpose
  readonly answers: ReadonlyMap<ObservedUnit, UnitAnswers>
}
