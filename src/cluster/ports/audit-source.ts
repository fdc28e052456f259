/** Where the API server's audit log comes from: a file, or a webhook that it is sent to. */
import type { AuditedWrite, ResourceId } from '@backporch/kyaml/resource'

export interface AuditAnswer {
  /** Writes to each object, and to collections that it may have been in, by `resourceKey`; in the order of their answers, oldest first. */
  readonly writes: ReadonlyMap<string, readonly AuditedWrite[]>
  /** For people: what of the log could not be read. Nothing of an event is in it. */
  readonly notes: readonly string[]
}

export interface AuditSource {
  /**
   * What the log still has about these objects of a cluster.
   * @throws Failure when the log cannot be read at all
   */
  writesTo(
    cluster: string,
    wanted: readonly ResourceId[],
    signal: AbortSignal,
  ): Promise<AuditAnswer>
}
