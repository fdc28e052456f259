/** The request for a turn, and what it works with. */
import type { ResolutionSelectors } from '../plan/commands/resolution-request.ts'
import type { RequestedActionSource } from '../ports/check-run.ts'
import type { ClusterReader, OpenedWriter } from '../ports/cluster.ts'
import type { Forge } from '../ports/hosted-forge.ts'
import type { PackageRepository } from '../ports/package-repository.ts'
import type { ObserveRequest } from './observe/observe-units.ts'

interface WritePorts {
  /** A turn without it settles nothing. @param cluster its name */
  readonly openWriter?: (cluster: string) => Promise<OpenedWriter>
}

export interface TurnPorts extends WritePorts {
  readonly repository: PackageRepository
  readonly cluster: ClusterReader
  readonly forge: Forge
}

/** Several clusters that run packages of one repository. */
export interface FleetPorts extends WritePorts {
  readonly repository: PackageRepository
  readonly clusters: readonly ClusterReader[]
  readonly forge: Forge
}

export interface TurnRequest extends ObserveRequest {
  readonly resolutionRequest: ResolutionSelectors | undefined
  /** The source of clicked buttons. A turn without it answers no request: no command, no ticked box. */
  readonly requestedActions?: RequestedActionSource | undefined
  /** RFC 3339 UTC: reminders of the units' open proposals pause until then. */
  readonly snoozeUntil?: string
  /** Version of backporch, for the texts of proposals. */
  readonly version: string
  /** Plans and writes nothing. */
  readonly dryRun: boolean
}
