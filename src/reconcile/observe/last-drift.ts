/**
 * Reuses the object of an unchanged difference, so that its keyed hashes and text are not computed
 * again (`computeItemFingerprint`, `showChange`). It decides nothing.
 */
import { getResourceKey } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import { isSame } from './last-answer.ts'

const MOST = 50_000

type Differences = Pick<ObjectVerdict, 'items' | 'setAside'>

interface Held {
  readonly found: readonly ObjectVerdict[]
  readonly now: readonly ObjectVerdict[]
  readonly objects: ReadonlyMap<string, Differences>
}

export class LastDrift {
  readonly #units: LRUCache<string, Held>

  /** @param most differences; least recently used units are dropped first */
  constructor(most = MOST) {
    this.#units = new LRUCache({ maxSize: most })
  }

  get held(): number {
    return this.#units.calculatedSize
  }

  retainUnchanged(unit: string, verdicts: readonly ObjectVerdict[]): readonly ObjectVerdict[] {
    const before = this.#units.get(unit)
    if (before?.found === verdicts) return before.now
    const objects = new Map<string, Differences>()
    const now = verdicts.map((verdict) => {
      if (verdict.items.length === 0 && verdict.setAside.length === 0) return verdict
      const key = getResourceKey(verdict.id)
      const known = before?.objects.get(key)
      const { items, setAside } = verdict
      const same =
        known !== undefined && isSame(known.items, items) && isSame(known.setAside, setAside)
      objects.set(key, same ? known : { items, setAside })
      return same ? { ...verdict, ...known } : verdict
    })
    if (objects.size === 0) {
      this.#units.delete(unit)
      return verdicts
    }
    const count = [...objects.values()].reduce(
      (sum, { items, setAside }) => sum + items.length + setAside.length,
      0,
    )
    this.#units.set(unit, { found: verdicts, now, objects }, { size: count })
    return now
  }
}
