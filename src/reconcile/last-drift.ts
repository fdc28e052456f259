/**
 * What the turn before found different, for whoever lives over turns: a difference that is as it was stays the same object, so that what was
 * computed from it, its keyed hashes and its text, is not computed anew (`itemFingerprint`, `showChange`). It decides nothing: a turn
 * without it comes to the same plan.
 */
import type { ObjectVerdict } from '../drift/drift.ts'
import { resourceKey } from '../krm/resource-id.ts'

/** Differences of all units. */
const MOST = 50_000

type Differences = Pick<ObjectVerdict, 'items' | 'setAside'>

export class LastDrift {
  readonly #units = new Map<string, { readonly objects: ReadonlyMap<string, Differences>; readonly count: number }>()
  readonly #most: number
  #held = 0

  constructor(most = MOST) {
    this.#most = most
  }

  /** How many differences are held. */
  get held(): number {
    return this.#held
  }

  /**
   * The verdicts with the differences of the turn before where they are equal; these are held for the next turn in their place.
   * @param unit its cluster and package
   */
  unchanged(unit: string, verdicts: readonly ObjectVerdict[]): readonly ObjectVerdict[] {
    const before = this.#units.get(unit)
    const objects = new Map<string, Differences>()
    const now = verdicts.map((verdict) => {
      if (verdict.items.length === 0 && verdict.setAside.length === 0) return verdict
      const key = resourceKey(verdict.id)
      const known = before?.objects.get(key)
      const { items, setAside } = verdict
      const same = known !== undefined && isSame(known.items, items) && isSame(known.setAside, setAside)
      objects.set(key, same ? known : { items, setAside })
      return same ? { ...verdict, ...known } : verdict
    })
    this.#hold(unit, objects)
    return now
  }

  #hold(unit: string, objects: ReadonlyMap<string, Differences>): void {
    this.#held -= this.#units.get(unit)?.count ?? 0
    this.#units.delete(unit)
    const count = [...objects.values()].reduce((sum, { items, setAside }) => sum + items.length + setAside.length, 0)
    if (count === 0 || count > this.#most) return
    this.#units.set(unit, { objects, count })
    this.#held += count
    for (const [oldest, { count: freed }] of this.#units) {
      if (this.#held <= this.#most) return
      this.#units.delete(oldest)
      this.#held -= freed
    }
  }
}

/** Plain values: JSON, with bigint and undefined. Everything else is the same only where it is the same object. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => isSame(item, right[index]))
  }
  if (!isPlain(left) || !isPlain(right)) return false
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
}

function isPlain(value: object): value is { readonly [key: string]: unknown } {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
