/** Follows autoscalers, because an autoscaler explains differences of another object. */
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

  handleChange(
    kind: string,
    id: ResourceId,
    object: JsonObject,
    isListed: boolean,
  ): ReadonlySet<string> {
    const key = this.computeKey(id)
    const target = readScaler(object)?.target
    if (target === undefined) return this.handleGone(key)
    const before = this.scalers.get(key)
    const now = {
      kind,
      mark: this.verdicts.chooseMark('report', object).join(' '),
      target: this.verdicts.computeHash(target),
    }
    this.scalers.set(key, now)
    const isKnown =
      before === undefined ? isListed && !this.listedOnce.has(kind) : before.mark === now.mark
    return isKnown
      ? NOBODY
      : this.findUnits([now.target, ...(before === undefined ? [] : [before.target])])
  }

  handleDeletion(id: ResourceId): ReadonlySet<string> {
    return this.handleGone(this.computeKey(id))
  }

  /** @param seen hashes of the complete list's ids */
  finishList(kind: string, seen: ReadonlySet<string>): ReadonlySet<string> {
    if (!SCALERS.has(kind)) return NOBODY
    this.listedOnce.add(kind)
    return new Set([
      ...this.handleGoneOf(kind, (key) => !seen.has(key)),
      ...(this.unread.delete(kind) ? this.findDrifted() : []),
    ])
  }

  /** A kind that is not served has no objects. */
  handleUnreadable(kind: string, { code }: Failure): ReadonlySet<string> {
    if (!SCALERS.has(kind)) return NOBODY
    if (code === 'BP3009') return this.handleGoneOf(kind, () => true)
    this.unread.add(kind)
    return this.findDrifted()
  }

  private handleGoneOf(kind: string, isGone: (key: string) => boolean): ReadonlySet<string> {
    const gone = [...this.scalers].filter(([key, scaler]) => scaler.kind === kind && isGone(key))
    return new Set(gone.flatMap(([key]) => [...this.handleGone(key)]))
  }

  private handleGone(key: string): ReadonlySet<string> {
    const before = this.scalers.get(key)
    this.scalers.delete(key)
    return before === undefined ? NOBODY : this.findUnits([before.target])
  }

  private findUnits(targets: readonly Uint32Array[]): ReadonlySet<string> {
    const { table } = this.verdicts
    return new Set(
      targets.flatMap((target) =>
        table.find(target).map((at) => this.verdicts.getUnitAt(table.getRow(at).unit)),
      ),
    )
  }

  private findDrifted(): ReadonlySet<string> {
    const { table } = this.verdicts
    const rows = [...table.listPositions()].map((at) => table.getRow(at))
    return new Set(
      rows.flatMap(({ state, unit }) =>
        unpackState(state).verdict === 'drifted' ? [this.verdicts.getUnitAt(unit)] : [],
      ),
    )
  }

  private computeKey(id: ResourceId): string {
    return this.verdicts.computeHash(id).join(' ')
  }
}

const NOBODY: ReadonlySet<string> = new Set()
