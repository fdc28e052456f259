/**
 * Like client-go's work queue: a unit waits once, waits again if added while observed, and waits
 * longer after each failure. In addition, urgent units come first, and clusters, and packages
 * within a cluster, take turns.
 */

/** Most urgent first. */
const URGENCIES = ['critical', 'changed', 'background'] as const
export type Urgency = (typeof URGENCIES)[number]

export interface UnitName {
  readonly cluster: string
  readonly packagePath: string
}

/** As in controller-runtime's metrics. Milliseconds. */
export type UnitQueueEvent =
  | { readonly event: 'added' | 'retried' }
  | { readonly event: 'started'; readonly waited: number }
  | { readonly event: 'finished'; readonly worked: number }

interface QueueOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** From 0 up to 1. */
  readonly random: () => number
  readonly onEvent?: (event: UnitQueueEvent) => void
}

interface Waiting {
  readonly unit: UnitName
  urgency: Urgency
  /** Milliseconds: not before. */
  due: number
  readonly since: number
}

/** Milliseconds. */
const FIRST_RETRY = 5_000
const LONGEST_RETRY = 300_000

export class UnitQueue {
  private readonly options: QueueOptions
  private readonly waiting = new Map<string, Waiting>()
  private readonly processing = new Map<string, number>()
  private readonly again = new Map<string, Waiting>()
  private readonly failed = new Map<string, number>()
  private readonly turns = new Map<string, number>()
  private clock = 0

  constructor(options: QueueOptions) {
    this.options = options
  }

  /** @param delay milliseconds: several changes share one observation */
  add(unit: UnitName, urgency: Urgency, delay = 0): void {
    const key = getUnitKey(unit)
    const now = this.options.now()
    const target = this.processing.has(key) ? this.again : this.waiting
    const before = target.get(key)
    this.options.onEvent?.({ event: 'added' })
    if (before === undefined) {
      target.set(key, { unit, urgency, due: now + delay, since: now })
      return
    }
    // A later change does not delay an earlier one.
    if (!this.failed.has(key)) before.due = Math.min(before.due, now + delay)
    if (rank(urgency) < rank(before.urgency)) before.urgency = urgency
  }

  /** Each is being observed until `done`. */
  take(most: number): readonly UnitName[] {
    const now = this.options.now()
    const due = [...this.waiting].filter(([, { due }]) => due <= now)
    const taken: UnitName[] = []
    for (const urgency of URGENCIES) {
      const some = due.filter(([, waiting]) => waiting.urgency === urgency)
      for (const [key, { unit, since }] of this.selectFairly(some, most - taken.length)) {
        this.waiting.delete(key)
        this.processing.set(key, now)
        this.options.onEvent?.({ event: 'started', waited: now - since })
        taken.push(unit)
      }
    }
    return taken
  }

  /** @param failed the unit's state is unknown: it is retried */
  markDone(unit: UnitName, failed: boolean): void {
    const key = getUnitKey(unit)
    const now = this.options.now()
    this.options.onEvent?.({ event: 'finished', worked: now - (this.processing.get(key) ?? now) })
    this.processing.delete(key)
    const again = this.again.get(key)
    this.again.delete(key)
    if (!failed) {
      this.failed.delete(key)
      if (again !== undefined) this.waiting.set(key, again)
      return
    }
    const failures = (this.failed.get(key) ?? 0) + 1
    this.failed.set(key, failures)
    this.options.onEvent?.({ event: 'retried' })
    const wait =
      Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(failures - 1, 20)) *
      (0.5 + this.options.random() / 2)
    this.waiting.set(key, {
      unit,
      urgency: again?.urgency ?? 'changed',
      due: now + wait,
      since: now,
    })
  }

  /** Ends its failures, and the wait for them. */
  markObserved(unit: UnitName): void {
    const key = getUnitKey(unit)
    if (!this.failed.delete(key)) return
    const waiting = this.waiting.get(key)
    if (waiting !== undefined) waiting.due = Math.min(waiting.due, this.options.now())
  }

  /** @param before start of an observation of everything */
  clear(before: number): void {
    for (const [key, { since }] of this.waiting) if (since <= before) this.waiting.delete(key)
  }

  /** Milliseconds; undefined if none waits. */
  computeNextWait(): number | undefined {
    const dues = [...this.waiting.values()].map(({ due }) => due)
    return dues.length === 0 ? undefined : Math.max(0, Math.min(...dues) - this.options.now())
  }

  /** Without background units. */
  hasChanged(): boolean {
    const now = this.options.now()
    return [...this.waiting.values(), ...this.again.values()].some(
      ({ urgency, due }) => urgency !== 'background' && due <= now,
    )
  }

  get depth(): number {
    return this.waiting.size
  }

  private selectFairly(
    waiting: readonly (readonly [string, Waiting])[],
    most: number,
  ): readonly (readonly [string, Waiting])[] {
    const clusters = Map.groupBy(waiting, ([, { unit }]) => unit.cluster)
    for (const own of clusters.values())
      own.sort(([left], [right]) => this.getTurn(left) - this.getTurn(right))
    const taken: (readonly [string, Waiting])[] = []
    while (taken.length < most && clusters.size > 0) {
      const [cluster] = [...clusters.keys()].sort(
        (left, right) => this.getTurn(left) - this.getTurn(right),
      )
      const next = cluster === undefined ? undefined : clusters.get(cluster)?.shift()
      if (cluster === undefined || next === undefined) {
        clusters.delete(cluster ?? '')
        continue
      }
      this.clock += 1
      this.turns.set(cluster, this.clock).set(next[0], this.clock)
      taken.push(next)
    }
    return taken
  }

  private getTurn(key: string): number {
    return this.turns.get(key) ?? 0
  }
}

function rank(urgency: Urgency): number {
  return URGENCIES.indexOf(urgency)
}

function getUnitKey({ cluster, packagePath }: UnitName): string {
  return `${cluster}\0${packagePath}`
}
