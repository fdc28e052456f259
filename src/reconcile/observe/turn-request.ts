/** The request for a turn, in the parts of design §4, and what it works with. */
import type { AuditSource } from '@backporch/cluster/audit'
import type { ClusterReader, OpenedWriter } from '@backporch/cluster/cluster'
import type { RequestedActionSource } from '@backporch/forge/check-run'
import type { Forge } from '@backporch/forge/hosted-forge'
import type { PackageRepository, RepositoryRefs } from '@backporch/git-store/package-repository'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { LabelSelector } from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import type { ResolutionSelectors } from '../../plan/unit/commands/resolution-request.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import type { BotIdentity } from '../repository/bot-identity.ts'
import type { BetweenTurns } from './between-turns.ts'

export interface FleetPorts {
  readonly repository: PackageRepository
  readonly clusters: readonly ClusterReader[]
  readonly forge: Forge
  /** A turn without it settles nothing. @param cluster its name */
  readonly openWriter?: (cluster: string) => Promise<OpenedWriter>
}

export interface TurnPorts extends Omit<FleetPorts, 'clusters'> {
  readonly cluster: ClusterReader
}

/** Packages as named on the command line; none means the placed ones, or all. */
export interface UnitSelection {
  readonly packages: readonly string[]
  /** Folders without a Kptfile that are compared too. */
  readonly folders?: readonly string[]
  /** Of these packages, only the ones whose Kptfile has such labels. */
  readonly labels?: LabelSelector | undefined
  /** By name of the cluster: of these packages, only the ones with these paths, and no other cluster at all. */
  readonly only?: OnlyUnits | undefined
  /** Names of clusters whose changes are watched. */
  readonly watched?: ReadonlySet<string>
}

/** `all`: every package of the cluster. */
export type OnlyUnits = ReadonlyMap<string, ReadonlySet<string> | 'all'>

export interface GitPart {
  /** Base branch, short; undefined takes the remote's default. */
  readonly branch: string | undefined
  /** Refs that were read just now, used once: the first observation requests none. */
  readonly takeRefs?: () => RepositoryRefs | undefined
  readonly bot: BotIdentity
}

export interface ClusterPart {
  /** Where the audit log comes from, which names users. */
  readonly audit?: AuditSource | undefined
  /** Searches the namespaces of the packages for unmanaged objects. */
  readonly unmanaged?: boolean
  /** Milliseconds for the observation of one cluster, at most: one that usually takes much less gets less. Undefined without an end. */
  readonly deadline?: number | undefined
}

/** Options of the run, which win over the policies of the repository. */
export interface PolicyPart {
  /** Field manager of the syncer; wins over the marks of the objects too. */
  readonly fieldManager: string | undefined
  readonly operator?: PolicySet | undefined
}

export interface Meanwhile {
  /** Whether something changed that no turn is about. */
  hasChanged(): boolean
  /** The same, once proposals had their time: the others wait for the next turn, which plans them anew. */
  givesWay(): boolean
}

export interface ForgePart {
  /** The source of clicked buttons. A turn without it answers no request: no command, no ticked box. */
  readonly requestedActions?: RequestedActionSource | undefined
  /** What changes while the turn writes. Without it nothing is left to a next turn. */
  readonly meanwhile?: Meanwhile
  readonly resolutionRequest?: ResolutionSelectors | undefined
  /** Version of backporch, for the texts of proposals. */
  readonly version: string
}

/** `read` ends with the plan; `rehearse` ends where `apply` does, and writes nothing. */
type TurnMode = 'apply' | 'rehearse' | 'read'

export interface ObserveRequest {
  readonly mode: TurnMode
  readonly units: UnitSelection
  readonly git: GitPart
  readonly cluster: ClusterPart
  readonly policy: PolicyPart
  /** The present time: a recording has a time of its own, and a cluster that cannot be reached has none. */
  readonly clock: Pick<Clock, 'now'>
  readonly key: RedactionKey
  readonly renderer: PackageRenderer
  /** State of a process with more than one turn. */
  readonly between?: BetweenTurns | undefined
  readonly onProgress?: (step: string) => void
}

export interface TurnRequest extends ObserveRequest {
  readonly forge: ForgePart
}
