import type { WatchedKind, WatchObserver } from '@backporch/cluster/cluster-watch'
import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'

/** A controller manager puts it into each namespace, some time after that was made. */
export const NOT_OURS = 'kube-root-ca.crt'

/** An observer that keeps what it was told, and what is there according to that. */
export class RecordingObserver implements WatchObserver {
  /** `listing ConfigMap`, `changed a 5`, `deleted a 7`, `listed ConfigMap`, `unreadable ConfigMap BP3003`. */
  readonly told: string[] = []
  /** By `kind/namespace/name`. */
  readonly objects = new Map<string, JsonObject>()
  readonly failures: Failure[] = []
  private readonly there = new Map<string, Set<string>>()

  beginList({ kind }: WatchedKind): void {
    this.told.push(`listing ${kind}`)
    this.there.set(kind, new Set())
  }

  handleChange({ kind }: WatchedKind, object: JsonObject): void {
    if (getMetadataText(object, 'name') === NOT_OURS) return
    this.told.push(
      `changed ${getMetadataText(object, 'name')} ${getMetadataText(object, 'resourceVersion')}`,
    )
    this.objects.set(keyOf(kind, object), object)
    this.there.get(kind)?.add(keyOf(kind, object))
  }

  handleDeletion({ kind }: WatchedKind, object: JsonObject): void {
    this.told.push(
      `deleted ${getMetadataText(object, 'name')} ${getMetadataText(object, 'resourceVersion')}`,
    )
    this.objects.delete(keyOf(kind, object))
  }

  finishList({ kind }: WatchedKind): void {
    this.told.push(`listed ${kind}`)
    const there = this.there.get(kind)
    for (const key of this.objects.keys())
      if (key.startsWith(`${kind}/`) && there?.has(key) !== true) this.objects.delete(key)
    this.there.delete(kind)
  }

  handleUnreadable({ kind }: WatchedKind, failure: Failure): void {
    this.told.push(`unreadable ${kind} ${failure.code}`)
    this.failures.push(failure)
  }

  /** How often a line was told. */
  count(line: string): number {
    return this.told.filter((one) => one === line).length
  }

  /** Changes and deletions, with those of lists. */
  events(): readonly string[] {
    return this.told.filter((line) => /^(changed|deleted) /.test(line))
  }
}

function keyOf(kind: string, object: JsonObject): string {
  return `${kind}/${getMetadataText(object, 'namespace')}/${getMetadataText(object, 'name')}`
}
