/**
 * Limits the requests to a forge: one governor per account, for everything that this process sends in its name. GitHub's numbers
 * (docs.github.com, "Rate limits for the REST API"): 80 writes in a minute, 500 in an hour; after an answer that names a limit, nothing before
 * its end, or for at least a minute where it names none.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { HeldBackWrite, type WriteCount } from '../ports/hosted-forge.ts'

interface GovernorOptions {
  /** The name that people use: `GitHub`. */
  readonly forge: string
  readonly clock: Clock
  /** Milliseconds that a caller waits at most; a longer wait is a failure that says until when. */
  readonly longestWait: number
  readonly writesPerMinute: number
  readonly writesPerHour: number
  /** A dry run holds back requests that write. */
  readonly dryRun?: boolean
  /** What an earlier process learned. */
  readonly memory?: GovernorMemory
}

/** What is worth keeping over a restart; milliseconds since 1970. As JSON. */
export interface GovernorMemory {
  /** When the writes of the last hour were sent, oldest first. */
  readonly writes: readonly number[]
  readonly blockedUntil: number
  readonly budgets: Readonly<Record<string, Budget>>
}

/** The forge's own count of requests in its present window. */
interface Budget {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since 1970. */
  readonly resetAt: number
}

export type RequestKind = 'read' | 'write'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Milliseconds that a window is taken for longer, because a request reaches the forge some time after it was admitted. */
const LEEWAY = 1_000
/** Longest block after answers that name no time. */
const LONGEST_BLOCK = 16 * MINUTE
/** Requests of the budget that writes leave for reads, so that decisions are still observed; a twentieth of a small budget. */
const RESERVE = 100

export class RequestGovernor implements WriteCount {
  readonly #options: GovernorOptions
  readonly #budgets: Map<string, Budget>
  #writes: number[]
  #blockedUntil: number
  #series = 0
  #count = 0
  /** The last look at the clock. */
  #looked = 0

  constructor(options: GovernorOptions) {
    this.#options = options
    this.#writes = [...(options.memory?.writes ?? [])]
    this.#blockedUntil = options.memory?.blockedUntil ?? 0
    this.#budgets = new Map(Object.entries(options.memory?.budgets ?? {}))
  }

  get dryRun(): boolean {
    return this.#options.dryRun === true
  }

  get count(): number {
    return this.#count
  }

  /**
   * Waits until the request may be sent, and counts it.
   * @param resource the budget that it is taken from
   * @throws Failure BP5004 where that would be longer than `longestWait`, without waiting; HeldBackWrite in a dry run
   */
  async admit(kind: RequestKind, signal: AbortSignal, resource = 'core'): Promise<void> {
    if (kind === 'write') this.#count += 1
    if (kind === 'write' && this.dryRun)
      throw new HeldBackWrite(`a dry run writes nothing to ${this.#options.forge}`)
    for (;;) {
      signal.throwIfAborted()
      const now = this.#now()
      const { until, why } = this.#earliest(kind, resource, now)
      if (until <= now) break
      if (until - now > this.#options.longestWait) throw this.refusal(until, why)
      await this.#options.clock.sleep(until - now, signal)
    }
    // Nothing is awaited between the check and the count: two callers cannot take one place.
    if (kind === 'write') this.#writes.push(this.#now())
    const budget = this.#budgets.get(resource)
    if (budget !== undefined)
      this.#budgets.set(resource, { ...budget, remaining: Math.max(0, budget.remaining - 1) })
  }

  /** Takes over the forge's own count from an answer. */
  learn(resource: string, budget: Budget): void {
    this.#budgets.set(resource, budget)
  }

  /** An answer was neither a limit nor an error. */
  wentWell(): void {
    this.#series = 0
  }

  /**
   * Blocks after a limit. @param until milliseconds since 1970; by default a minute, doubled each time
   * @returns the failure to throw
   */
  slowDown(until: number | undefined): Failure {
    const unnamed = Math.min(MINUTE * 2 ** this.#series, LONGEST_BLOCK)
    this.#series += 1
    this.#blockedUntil = Math.max(this.#blockedUntil, until ?? this.#now() + unnamed)
    return this.refusal(this.#blockedUntil, `${this.#options.forge} asked to slow down`)
  }

  /** What is held back, for `status`, and what to keep for the next process. */
  memory(): GovernorMemory {
    this.#forget(this.#now())
    return {
      writes: [...this.#writes],
      blockedUntil: this.#blockedUntil,
      budgets: Object.fromEntries(this.#budgets),
    }
  }

  /** BP5004 with the time from which the request may be sent. */
  refusal(until: number, why: string): Failure {
    const at = `${new Date(Math.ceil(until / 1000) * 1000).toISOString().slice(0, 19)}Z`
    return new Failure({
      code: 'BP5004',
      what: `${this.#options.forge} takes no more requests for now`,
      why: `${why}; nothing is sent before ${at}`,
      remedy: `run again after ${at}`,
      retry: 'backoff',
    })
  }

  #earliest(
    kind: RequestKind,
    resource: string,
    now: number,
  ): { readonly until: number; readonly why: string } {
    const { forge, writesPerMinute, writesPerHour } = this.#options
    const waits = [{ until: this.#blockedUntil, why: `${forge} asked to slow down` }]
    const budget = this.#budgets.get(resource)
    if (budget !== undefined && budget.resetAt > now) {
      const retained = kind === 'write' ? Math.min(RESERVE, Math.floor(budget.limit / 20)) : 0
      const why = `${budget.remaining} of ${budget.limit} requests are left${kind === 'write' ? `, and the last ${retained} are kept for reading` : ''}`
      if (budget.remaining <= retained) waits.push({ until: budget.resetAt, why })
    }
    if (kind === 'write') {
      this.#forget(now)
      waits.push({
        until: freeAt(this.#writes, writesPerMinute, MINUTE + LEEWAY),
        why: `${writesPerMinute} writes were sent within a minute`,
      })
      waits.push({
        until: freeAt(this.#writes, writesPerHour, HOUR + LEEWAY),
        why: `${writesPerHour} writes were sent within an hour`,
      })
    }
    return waits.reduce((latest, each) => (each.until > latest.until ? each : latest))
  }

  #forget(now: number): void {
    this.#writes = this.#writes.filter((at) => at > now - HOUR - LEEWAY)
  }

  /** A clock that was set back takes along what was measured with it: else an account would be blocked for as long as it was wrong. */
  #now(): number {
    const now = this.#options.clock.now().getTime()
    const back = this.#looked - now
    this.#looked = now
    if (back > 0) {
      this.#writes = this.#writes.map((at) => at - back)
      this.#blockedUntil -= back
    }
    return now
  }
}

/** Milliseconds since 1970 when the window has a free place; 0 for "now". */
function freeAt(writes: readonly number[], most: number, window: number): number {
  const holder = writes.at(-most)
  return holder === undefined ? 0 : holder + window
}
