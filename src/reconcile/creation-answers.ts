/**
 * What servers said to making objects that are not there, kept over turns: while nothing about such an object changes, it costs no dry run
 * in every turn (docs/adr/0037-what-a-turn-remembers.md). An answer is of one cluster and server version, one field manager, one
 * resource id and one content. What else decides it (policies, quotas, rights) changes without a trace, so it expires.
 */
import { createHash } from 'node:crypto'
import type { Prediction } from '../krm/live-view.ts'
import type { Resource } from '../krm/resource.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { ClusterIdentity } from '../ports/cluster.ts'

/** What the answers are of. `cluster` is its name. */
export interface CreationGround {
  readonly cluster: string
  readonly identity: Pick<ClusterIdentity, 'uid' | 'version' | 'observedAt' | 'recorded'>
  readonly manager: string
}

export interface CreationAnswer {
  /** Undefined: the server would make the object. */
  readonly refusal: Extract<Prediction, { state: 'refused' }> | undefined
}

interface Kept extends CreationAnswer {
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Milliseconds. What blocks an object is what people wait for to end. */
const KEPT = { possible: 1_800_000, refused: 300_000 }
/** Answers, the oldest of which go first. */
const MOST = 50_000

export class CreationAnswers {
  private readonly kept = new Map<string, Kept>()

  recall(ground: CreationGround, resource: Resource): CreationAnswer | undefined {
    const key = keyOf(ground, resource)
    const found = this.kept.get(key)
    if (found === undefined || found.until > timeOf(ground)) return found
    this.kept.delete(key)
    return undefined
  }

  /** Nobody could say: not kept. Of a namespace that is gone, or about to be, nothing that was said before counts. */
  keep(ground: CreationGround, resource: Resource, prediction: Prediction): void {
    if (prediction.state === 'unproven' || ground.identity.recorded) return
    const refusal = prediction.state === 'refused' ? prediction : undefined
    const namespace = `${ground.cluster}/${resource.id.namespace}`
    if (refusal?.reason === 'NamespaceTerminating' || refusal?.reason === 'NamespaceMissing') this.forget(namespace)
    else {
      const key = keyOf(ground, resource)
      const until = timeOf(ground) + (refusal === undefined ? KEPT.possible : KEPT.refused) * spread(key)
      this.kept.delete(key)
      this.kept.set(key, { refusal, namespace, until })
      for (const oldest of this.kept.keys()) {
        if (this.kept.size <= MOST) break
        this.kept.delete(oldest)
      }
    }
  }

  private forget(namespace: string): void {
    for (const [key, kept] of this.kept) if (kept.namespace === namespace) this.kept.delete(key)
  }
}

function timeOf({ identity }: CreationGround): number {
  return Date.parse(identity.observedAt)
}

/** Between 0.75 and 1.25, another one for each object, so that what was asked in one turn is not asked again in one turn. */
function spread(key: string): number {
  return 0.75 + Number.parseInt(key.slice(0, 4), 16) / 0x1_ffff
}

/** The content of a Secret goes into the hash, and the hash never leaves the process. */
function keyOf({ cluster, identity, manager }: CreationGround, { id, apiVersion, object }: Resource): string {
  const parts = [cluster, identity.uid, identity.version, manager, apiVersion, resourceKey(id), object]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
