/** An autoscaler explains differences of another object. */
import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import { readScaler, SCALER_KINDS } from '../../../drift/noise/scaler.ts'
import type { ClusterVerdicts } from './cluster-verdicts.ts'
import { unpackState } from './row-state.ts'

const MOST_SCALERS = 20_000

interface KnownScaler {
  readonly kind: string
  readonly mark: string
  readonly target: Uint32Array
}

export const SCALERS: ReadonlySet<string> = new Set(
  SCALER_KINDS.map(([group, kind]) => `${group}/${kind}`),
)

/** Each method returns the units with another explanation. Kinds are as in `SCALERS`. */
export class FollowedScalers {
  private readonly verdicts: ClusterVerdicts
  /** With `max` the cache would preallocate all entries. */
  private readonly scalers = new LRUCache<string, KnownScaler>({
    maxSize: MOST_SCALERS,
    sizeCalculation: () => 1,
  })
  /** Objects that a later list adds are new. */
  private readonly listedOnce = new Set<string>()
  private readonly unread = new Set<string>()

  constructor(verdicts: ClusterVerdicts) {
    this.verdicts = verdicts
  }

  changed(
    kind: string,
    id: ResourceId,
    object: JsonObject,
    isListed: boolean,
  ): ReadonlySet<string> {
    const key = this.keyOf(id)
    const target = readScaler(object)?.target
    if (target === undefined) return this.gone(key)
    const before = this.scalers.get(key)
    const now = {
      kind,
      mark: this.verdicts.markFor('report', object).join(' '),
      target: this.verdicts.hashOf(target),
    }
    this.scalers.set(key, now)
    const isKnown =
      before === undefined ? isListed && !this.listedOnce.has(kind) : before.mark === now.mark
    return isKnown
      ? NOBODY
      : this.unitsOf([now.target, ...(before === undefined ? [] : [before.target])])
  }

  deleted(id: ResourceId): ReadonlySet<string> {
    return this.gone(this.keyOf(id))
  }

  /** @param seen hashes of the complete list's ids */
  listed(kind: string, seen: ReadonlySet<string>): ReadonlySet<string> {
    if (!SCALERS.has(kind)) return NOBODY
    this.listedOnce.add(kind)
    return new Set([
      ...this.goneOf(kind, (key) => !seen.has(key)),
      ...(this.unread.delete(kind) ? this.drifted() : []),
    ])
  }

  /** A kind that is not served has no objects. */
  unreadable(kind: string, { code }: Failure): ReadonlySet<string> {
    if (!SCALERS.has(kind)) return NOBODY
    if (code === 'BP3009') return this.goneOf(kind, () => true)
    this.unread.add(kind)
    return this.drifted()
  }

  private goneOf(kind: string, isGone: (key: string) => boolean): ReadonlySet<string> {
    const gone = [...this.scalers].filter(([key, scaler]) => scaler.kind === kind && isGone(key))
    return new Set(gone.flatMap(([key]) => [...this.gone(key)]))
  }

  private gone(key: string): ReadonlySet<string> {
    const before = this.scalers.get(key)
    this.scalers.delete(key)
    return before === undefined ? NOBODY : this.unitsOf([before.target])
  }

  private unitsOf(targets: readonly Uint32Array[]): ReadonlySet<string> {
    const { table } = this.verdicts
    return new Set(
      targets.flatMap((target) =>
        table.find(target).map((at) => this.verdicts.unitAt(table.row(at).unit)),
      ),
    )
  }

  private drifted(): ReadonlySet<string> {
    const { table } = this.verdicts
    const rows = [...table.positions()].map((at) => table.row(at))
    return new Set(
      rows.flatMap(({ state, unit }) =>
        unpackState(state).verdict === 'drifted' ? [this.verdicts.unitAt(unit)] : [],
      ),
    )
  }

  private keyOf(id: ResourceId): string {
    return this.verdicts.hashOf(id).join(' ')
  }
}

const NOBODY: ReadonlySet<string> = new Set()
