/** The request of a turn, in the parts of design §4. */
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
import type { TurnCache } from './turn-cache.ts'

export interface FleetPorts {
  readonly repository: PackageRepository
  readonly clusters: readonly ClusterReader[]
  readonly forge: Forge
  /** Without it the turn settles nothing. */
  readonly openWriter?: (cluster: string) => Promise<OpenedWriter>
}

export interface TurnPorts extends Omit<FleetPorts, 'clusters'> {
  readonly cluster: ClusterReader
}

/** None means the placed packages, or all. */
export interface UnitSelection {
  readonly packages: readonly string[]
  readonly folders?: readonly string[]
  readonly labels?: LabelSelector | undefined
  /** By cluster name; excludes all other clusters. */
  readonly only?: OnlyUnits | undefined
  readonly watched?: ReadonlySet<string>
}

export type OnlyUnits = ReadonlyMap<string, ReadonlySet<string> | 'all'>

export interface GitPart {
  /** Undefined means the remote's default. */
  readonly branch: string | undefined
  /** Just read, used once: the first observation requests none. */
  readonly takeRefs?: () => RepositoryRefs | undefined
  readonly bot: BotIdentity
}

export interface ClusterPart {
  readonly audit?: AuditSource | undefined
  readonly unmanaged?: boolean
  /** Milliseconds per cluster: one that usually takes much less gets less. */
  readonly deadline?: number | undefined
}

/** Takes precedence over the repository's policies. */
export interface PolicyPart {
  /** Also takes precedence over the marks of the objects. */
  readonly fieldManager: string | undefined
  readonly operator?: PolicySet | undefined
}

export interface Meanwhile {
  hasChanged(): boolean
  /** Once proposals had their time: the others wait for the next turn, which plans them again. */
  shouldGiveWay(): boolean
}

export interface ForgePart {
  /** Without it the turn answers no request: no command, no ticked checkbox. */
  readonly requestedActions?: RequestedActionSource | undefined
  /** Without it nothing is left to a next turn. */
  readonly meanwhile?: Meanwhile
  readonly resolutionRequest?: ResolutionSelectors | undefined
  readonly version: string
}

/** `rehearse` ends where `apply` does, and writes nothing. */
type TurnMode = 'apply' | 'rehearse' | 'read'

export interface ObserveRequest {
  readonly mode: TurnMode
  readonly units: UnitSelection
  readonly git: GitPart
  readonly cluster: ClusterPart
  readonly policy: PolicyPart
  /** A recording has its own time, and an unreachable cluster has none. */
  readonly clock: Pick<Clock, 'now'>
  readonly key: RedactionKey
  readonly renderer: PackageRenderer
  readonly between?: TurnCache | undefined
  readonly onProgress?: (step: string) => void
}

export interface TurnRequest extends ObserveRequest {
  readonly forge: ForgePart
}
