/**
 * Units that wait for an observation. As the work queue of client-go: a unit waits once, however often it is added; one that is added while it is
 * observed waits again afterwards; one that failed waits longer each time. Beyond that, urgent units come first, and no cluster or package delays the
 * others: of several clusters each has its turn, and within a cluster each package.
 */

/** `critical` comes before everything else, `background` after it. */
const URGENCIES = ['critical', 'changed', 'background'] as const
export type Urgency = (typeof URGENCIES)[number]

export interface UnitName {
  readonly cluster: string
  readonly packagePath: string
}

/** As controller-runtime counts the events of a work queue. Milliseconds. */
export type UnitQueueEvent =
  | { readonly event: 'added' | 'retried' }
  | { readonly event: 'started'; readonly waited: number }
  | { readonly event: 'finished'; readonly worked: number }

interface QueueOptions {
  /** Milliseconds of a clock that nobody sets. */
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
  /** When each was taken. */
  private readonly processing = new Map<string, number>()
  /** Added while they are observed. */
  private readonly again = new Map<string, Waiting>()
  /** Failures one after another. */
  private readonly failed = new Map<string, number>()
  /** The order in which clusters, and the packages of each, had their turn. */
  private readonly turns = new Map<string, number>()
  private clock = 0

  constructor(options: QueueOptions) {
    this.options = options
  }

  /** @param delay milliseconds: several changes within them share one observation */
  add(unit: UnitName, urgency: Urgency, delay = 0): void {
    const key = keyOf(unit)
    const now = this.options.now()
    const target = this.processing.has(key) ? this.again : this.waiting
    const before = target.get(key)
    this.options.onEvent?.({ event: 'added' })
    if (before === undefined) {
      target.set(key, { unit, urgency, due: now + delay, since: now })
      return
    }
    // A unit that failed waits out its time, and a later change does not put off an earlier one.
    if (!this.failed.has(key)) before.due = Math.min(before.due, now + delay)
    if (rank(urgency) < rank(before.urgency)) before.urgency = urgency
  }

  /** Units that are due, `most` of them; each is being observed until `done`. */
  take(most: number): readonly UnitName[] {
    const now = this.options.now()
    const due = [...this.waiting].filter(([, { due }]) => due <= now)
    const taken: UnitName[] = []
    for (const urgency of URGENCIES) {
      const some = due.filter(([, waiting]) => waiting.urgency === urgency)
      for (const [key, { unit, since }] of this.fairly(some, most - taken.length)) {
        this.waiting.delete(key)
        this.processing.set(key, now)
        this.options.onEvent?.({ event: 'started', waited: now - since })
        taken.push(unit)
      }
    }
    return taken
  }

  /** @param failed whether nothing could be said of the unit: it is tried again later */
  done(unit: UnitName, failed: boolean): void {
    const key = keyOf(unit)
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

  /** A turn that did not take the unit observed it: its failures are over, and what waits for their sake waits no longer. */
  observed(unit: UnitName): void {
    const key = keyOf(unit)
    if (!this.failed.delete(key)) return
    const waiting = this.waiting.get(key)
    if (waiting !== undefined) waiting.due = Math.min(waiting.due, this.options.now())
  }

  /** Everything was observed: nothing of what was added before counts. @param before what waited when that began */
  clear(before: number): void {
    for (const [key, { since }] of this.waiting) if (since <= before) this.waiting.delete(key)
  }

  /** Milliseconds until a unit is due; undefined where none waits. */
  next(): number | undefined {
    const dues = [...this.waiting.values()].map(({ due }) => due)
    return dues.length === 0 ? undefined : Math.max(0, Math.min(...dues) - this.options.now())
  }

  /** Whether a unit that is not in the background is due, or was added while it is observed. */
  hasChanged(): boolean {
    const now = this.options.now()
    return [...this.waiting.values(), ...this.again.values()].some(
      ({ urgency, due }) => urgency !== 'background' && due <= now,
    )
  }

  /** Units that wait, due or not. */
  get depth(): number {
    return this.waiting.size
  }

  /** One after another from the cluster, and of it from the package, whose turn was longest ago. */
  private fairly(
    waiting: readonly (readonly [string, Waiting])[],
    most: number,
  ): readonly (readonly [string, Waiting])[] {
    const clusters = Map.groupBy(waiting, ([, { unit }]) => unit.cluster)
    for (const own of clusters.values())
      own.sort(([left], [right]) => this.turnOf(left) - this.turnOf(right))
    const taken: (readonly [string, Waiting])[] = []
    while (taken.length < most && clusters.size > 0) {
      const [cluster] = [...clusters.keys()].sort(
        (left, right) => this.turnOf(left) - this.turnOf(right),
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

  private turnOf(key: string): number {
    return this.turns.get(key) ?? 0
  }
}

function rank(urgency: Urgency): number {
  return URGENCIES.indexOf(urgency)
}

function keyOf({ cluster, packagePath }: UnitName): string {
  return `${cluster}\0${packagePath}`
}
