/**
 * One governor per account. GitHub's numbers (docs.github.com, "Rate limits for the REST API"): 80
 * writes per minute, 500 per hour. After a limit, no request until its end, or for at least a
 * minute if it names none.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { HeldBackWrite, type WriteCount } from '../ports/hosted-forge.ts'

interface GovernorOptions {
  readonly forge: string
  readonly clock: Clock
  /** Milliseconds. A longer wait is a failure that names its end. */
  readonly longestWait: number
  readonly writesPerMinute: number
  readonly writesPerHour: number
  readonly dryRun?: boolean
  readonly memory?: GovernorMemory
}

/** Over a restart; milliseconds since 1970. */
export interface GovernorMemory {
  readonly writes: readonly number[]
  readonly blockedUntil: number
  readonly budgets: Readonly<Record<string, Budget>>
}

interface Budget {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since 1970. */
  readonly resetAt: number
}

export type RequestKind = 'read' | 'write'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Milliseconds: a request reaches the forge some time after it was admitted. */
const LEEWAY = 1_000
const LONGEST_BLOCK = 16 * MINUTE
/** Left for reads, so that decisions are still observed; a twentieth of a small budget. */
const RESERVE = 100

export class RequestGovernor implements WriteCount {
  readonly #options: GovernorOptions
  readonly #budgets: Map<string, Budget>
  #writes: number[]
  #blockedUntil: number
  #series = 0
  #count = 0
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
   * @throws Failure BP5004 if the wait exceeds `longestWait`, without waiting; HeldBackWrite in a
   * dry run
   */
  async admit(kind: RequestKind, signal: AbortSignal, resource = 'core'): Promise<void> {
    if (kind === 'write') this.#count += 1
    if (kind === 'write' && this.dryRun)
      throw new HeldBackWrite(`a dry run writes nothing to ${this.#options.forge}`)
    for (;;) {
      signal.throwIfAborted()
      const now = this.#getNow()
      const { until, why } = this.#findEarliest(kind, resource, now)
      if (until <= now) break
      if (until - now > this.#options.longestWait) throw this.createRefusal(until, why)
      await this.#options.clock.sleep(until - now, signal)
    }
    // No await here, so two callers cannot take one place.
    if (kind === 'write') this.#writes.push(this.#getNow())
    const budget = this.#budgets.get(resource)
    if (budget !== undefined)
      this.#budgets.set(resource, { ...budget, remaining: Math.max(0, budget.remaining - 1) })
  }

  learn(resource: string, budget: Budget): void {
    this.#budgets.set(resource, budget)
  }

  recordSuccess(): void {
    this.#series = 0
  }

  /**
   * @param until milliseconds since 1970; default a minute, doubled each time
   * @returns the failure to throw
   */
  throttleRequests(until: number | undefined): Failure {
    const unnamed = Math.min(MINUTE * 2 ** this.#series, LONGEST_BLOCK)
    this.#series += 1
    this.#blockedUntil = Math.max(this.#blockedUntil, until ?? this.#getNow() + unnamed)
    return this.createRefusal(this.#blockedUntil, `${this.#options.forge} asked to slow down`)
  }

  getMemory(): GovernorMemory {
    this.#forget(this.#getNow())
    return {
      writes: [...this.#writes],
      blockedUntil: this.#blockedUntil,
      budgets: Object.fromEntries(this.#budgets),
    }
  }

  createRefusal(until: number, why: string): Failure {
    const at = `${new Date(Math.ceil(until / 1000) * 1000).toISOString().slice(0, 19)}Z`
    return new Failure({
      code: 'BP5004',
      what: `${this.#options.forge} takes no more requests for now`,
      why: `${why}; nothing is sent before ${at}`,
      remedy: `run again after ${at}`,
      retry: 'backoff',
    })
  }

  #findEarliest(
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
        until: computeFreeTime(this.#writes, writesPerMinute, MINUTE + LEEWAY),
        why: `${writesPerMinute} writes were sent within a minute`,
      })
      waits.push({
        until: computeFreeTime(this.#writes, writesPerHour, HOUR + LEEWAY),
        why: `${writesPerHour} writes were sent within an hour`,
      })
    }
    return waits.reduce((latest, each) => (each.until > latest.until ? each : latest))
  }

  #forget(now: number): void {
    this.#writes = this.#writes.filter((at) => at > now - HOUR - LEEWAY)
  }

  /** Otherwise an account would be blocked for as long as the clock was wrong. */
  #getNow(): number {
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

/** Milliseconds since 1970; 0 for "now". */
function computeFreeTime(writes: readonly number[], most: number, window: number): number {
  const holder = writes.at(-most)
  return holder === undefined ? 0 : holder + window
}
