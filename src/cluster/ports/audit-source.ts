import type { AuditedWrite, ResourceId } from '@backporch/kyaml/resource'

export interface AuditAnswer {
  /** Includes writes to collections; by `getResourceKey`, oldest first. */
  readonly writes: ReadonlyMap<string, readonly AuditedWrite[]>
  /** Unread parts of the log, without anything from an event. */
  readonly notes: readonly string[]
}

export interface AuditSource {
  /** @throws Failure when the log cannot be read at all */
  writesTo(
    cluster: string,
    wanted: readonly ResourceId[],
    signal: AbortSignal,
  ): Promise<AuditAnswer>
}
