/**
 * Judges a change as it arrives, without observing the whole unit. The judges are kept for the
 * units that were observed last.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { getResourceKey, readResource } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { ObjectVerdict, SyncerManager } from '../../../drift/compare/drift.ts'
import type { ObservedObject } from '../../../drift/detect/object-comparison.ts'

export type JudgedObject = Omit<ObservedObject, 'prediction' | 'live'>

type LiveObject = Omit<ObservedObject, 'prediction'>

interface Judge {
  judge(object: LiveObject, signal: AbortSignal): Promise<ObjectVerdict>
}

interface UnitJudge {
  readonly objects: readonly JudgedObject[]
  readonly at: (observedAt: string) => Judge
  readonly syncer: SyncerManager | undefined
  readonly syncerOf: (object: LiveObject) => SyncerManager | undefined
}

interface ObjectJudgement {
  readonly verdict: ObjectVerdict
  readonly isOfSyncer: boolean
}

interface RetainedUnit extends Omit<UnitJudge, 'objects'> {
  readonly objects: ReadonlyMap<string, JudgedObject>
}

/**
 * Of all units of all clusters, half a kilobyte each: a limit per cluster would not limit a fleet.
 */
const MOST = 20_000
const UNITS = new LRUCache<string, RetainedUnit>({ maxSize: MOST })
let clusters = 0
/** More changes are left to the observation of their units. */
const AT_ONCE = 16

export class RetainedJudges {
  private readonly cluster: number
  private active = 0

  constructor() {
    clusters += 1
    this.cluster = clusters
  }

  keep(unit: string, { objects, ...judge }: UnitJudge): void {
    const byKey = new Map(objects.map((object) => [getResourceKey(object.desired.id), object]))
    UNITS.set(this.getPlace(unit), { ...judge, objects: byKey }, { size: Math.max(1, byKey.size) })
  }

  /**
   * Undefined if the unit is unknown, the object is a Secret or not part of it, or too many are
   * being judged.
   * @param observedAt RFC 3339 UTC
   */
  async judge(
    unit: string,
    live: JsonObject,
    observedAt: string,
    signal: AbortSignal,
  ): Promise<ObjectJudgement | undefined> {
    const read = readResource(live)
    const known = UNITS.get(this.getPlace(unit))
    if ('problem' in read || known === undefined || this.active >= AT_ONCE) return undefined
    // Only an observation reads a Secret's content.
    if (isSecret(read.id)) return undefined
    const object = known.objects.get(getResourceKey(read.id))
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

  static clear(): void {
    UNITS.clear()
  }

  private getPlace(unit: string): string {
    return `${this.cluster} ${unit}`
  }
}
