import type {
  ClusterIdentity,
  ClusterReader,
  Inventory,
  InventoryQuestion,
  ObjectList,
  ServedKind,
} from '@backporch/cluster/cluster'
import type { Failure } from '@backporch/kyaml/failure'
import type { LiveView, Prediction, Resource, WantedObject } from '@backporch/kyaml/resource'

class CurrentReader implements ClusterReader {
  readonly name: string
  current: ClusterReader

  constructor(first: ClusterReader) {
    this.name = first.name
    this.current = first
  }

  identify(signal: AbortSignal): Promise<ClusterIdentity> {
    return this.current.identify(signal)
  }

  findServedKind(apiVersion: string, kind: string, signal: AbortSignal): Promise<ServedKind> {
    return this.current.findServedKind(apiVersion, kind, signal)
  }

  readLive(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView> {
    return this.current.readLive(wanted, signal)
  }

  list(group: string, kind: string, signal: AbortSignal): Promise<ObjectList> {
    return this.current.list(group, kind, signal)
  }

  readInventories(
    refs: readonly InventoryQuestion[],
    signal: AbortSignal,
  ): Promise<readonly (Inventory | Failure | undefined)[]> {
    return this.current.readInventories(refs, signal)
  }

  predict(resource: Resource, fieldManager: string, signal: AbortSignal): Promise<Prediction> {
    return this.current.predict(resource, fieldManager, signal)
  }
}

export class CurrentReaders {
  private readonly readers = new Map<string, CurrentReader>()

  /** The same reader for the same cluster, over the new connection. */
  getReader(reader: ClusterReader): CurrentReader {
    const known = this.readers.get(reader.name) ?? new CurrentReader(reader)
    known.current = reader
    this.readers.set(reader.name, known)
    return known
  }
}
