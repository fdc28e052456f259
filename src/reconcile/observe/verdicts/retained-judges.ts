/**
 * What it takes to judge one object of a unit again, without an observation of the whole unit: a change is judged as it comes. Of the units that
 * were observed last; of the others, the next observation judges.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { readResource, resourceKey } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { ObjectVerdict, SyncerManager } from '../../../drift/compare/drift.ts'
import type { ObservedObject } from '../../../drift/detect/object-comparison.ts'

/** Of one object, as git and the server have it, without its live state. */
export type JudgedObject = Omit<ObservedObject, 'prediction' | 'live'>

type LiveObject = Omit<ObservedObject, 'prediction'>

interface Judge {
  judge(object: LiveObject, signal: AbortSignal): Promise<ObjectVerdict>
}

interface UnitJudge {
  readonly objects: readonly JudgedObject[]
  /** @param observedAt RFC 3339 UTC */
  readonly at: (observedAt: string) => Judge
  /** Of the unit. */
  readonly syncer: SyncerManager | undefined
  /** The syncer that one object shows. */
  readonly syncerOf: (object: LiveObject) => SyncerManager | undefined
}

/** `isOfSyncer`: the object alone shows the syncer that the unit was judged with. */
interface ObjectJudgement {
  readonly verdict: ObjectVerdict
  readonly isOfSyncer: boolean
}

interface RetainedUnit extends Omit<UnitJudge, 'objects'> {
  readonly objects: ReadonlyMap<string, JudgedObject>
}

/** Objects of all units of all clusters. Each takes half a kilobyte, so that a limit for each cluster would be none for a fleet. */
const MOST = 20_000
const UNITS = new LRUCache<string, RetainedUnit>({ maxSize: MOST })
let clusters = 0
/** More changes at once are left to the observation of their units. */
const AT_ONCE = 16

export class RetainedJudges {
  private readonly cluster: number
  private active = 0

  constructor() {
    clusters += 1
    this.cluster = clusters
  }

  /** @param unit package path */
  keep(unit: string, { objects, ...judge }: UnitJudge): void {
    const byKey = new Map(objects.map((object) => [resourceKey(object.desired.id), object]))
    UNITS.set(this.placeOf(unit), { ...judge, objects: byKey }, { size: Math.max(1, byKey.size) })
  }

  /** Undefined where the unit is not known, the object is none of it or a Secret, or too many are judged. @param observedAt RFC 3339 UTC */
  async judge(
    unit: string,
    live: JsonObject,
    observedAt: string,
    signal: AbortSignal,
  ): Promise<ObjectJudgement | undefined> {
    const read = readResource(live)
    const known = UNITS.get(this.placeOf(unit))
    if ('problem' in read || known === undefined || this.active >= AT_ONCE) return undefined
    // A Secret is watched without its content: only an observation reads that.
    if (isSecret(read.id)) return undefined
    const object = known.objects.get(resourceKey(read.id))
    if (object === undefined || object.desired.apiVersion !== read.apiVersion) return undefined
    this.active += 1
    try {
      const seen = {
        ...object,
        live: { state: 'present', object: live, metadataOnly: false },
      } as const
      const verdict = await known.at(observedAt).judge(seen, signal)
      return { verdict, isOfSyncer: known.syncerOf(seen)?.manager === known.syncer?.manager }
    } finally {
      this.active -= 1
    }
  }

  /** Of all clusters. */
  static clear(): void {
    UNITS.clear()
  }

  private placeOf(unit: string): string {
    return `${this.cluster} ${unit}`
  }
}
