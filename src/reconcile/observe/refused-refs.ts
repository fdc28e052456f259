/**
 * Remembers refs that a remote refused, with a growing wait before the next attempt. Losing this
 * state only costs requests.
 */
import type { Failure } from '@backporch/kyaml/failure'
import { LRUCache } from 'lru-cache'
import type { PlannedUpdate } from '../../plan/observation/action.ts'
import { formatRefusalName } from '../../plan/turn/ledger/unit-groups.ts'

/** Milliseconds; each further refusal doubles the wait. */
const FIRST_WAIT = 300_000
const LONGEST_WAIT = 3_600_000
const MOST_REFS = 5_000

interface Refused {
  readonly failure: Failure
  readonly wait: number
  /** Milliseconds since 1970. */
  readonly until: number
}

export interface Refusal {
  readonly failure: Failure
  /** Refused individually, not only together with others. */
  readonly isSure: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

export class RefusedRefs {
  private readonly known = new LRUCache<string, Refused>({
    maxSize: MOST_REFS,
    sizeCalculation: () => 1,
  })
  private readonly missing = new LRUCache<string, true>({
    maxSize: MOST_REFS,
    sizeCalculation: () => 1,
  })

  add(updates: readonly PlannedUpdate[], { failure, isSure, now }: Refusal): void {
    for (const update of updates) {
      if (update.from === null) this.missing.set(update.ref, true)
      const before = this.known.get(formatRefusalName(update))
      const wait =
        before === undefined || !isSure ? FIRST_WAIT : Math.min(2 * before.wait, LONGEST_WAIT)
      this.known.set(formatRefusalName(update), { failure, wait, until: now + wait })
    }
  }

  remove(updates: readonly PlannedUpdate[]): void {
    for (const update of updates) {
      this.known.delete(formatRefusalName(update))
      this.missing.delete(update.ref)
    }
  }

  /** By `formatRefusalName`. A clock that was set back extends no wait. */
  listWaiting(now: number): ReadonlyMap<string, Failure> {
    return new Map(
      [...this.known].flatMap(([name, { failure, until, wait }]) =>
        until > now && until - now <= wait ? [[name, failure] as const] : [],
      ),
    )
  }

  /** Whatever a ledger says that a server accepted without them. */
  get notMade(): ReadonlySet<string> {
    return new Set(this.missing.keys())
  }

  clear(): void {
    this.known.clear()
  }
}
