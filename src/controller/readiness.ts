/** A probe fails only if every cluster is stale. */
import { type KindWatchState, STALE_AFTER } from '@backporch/cluster/cluster-watch'
import { FAILURE_CODES, type Failure, type FailureCode } from '@backporch/kyaml/failure'
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import type { MetricsSource, ObservedNumbers } from '../ports/metrics.ts'
import type { Readiness, ReadinessCheck } from '../ports/readiness.ts'
import { SLICE } from './turn-places.ts'

/** Milliseconds since 1970, 0 for never. */
interface ClusterAge {
  readonly observedAt: number
  readonly staleAfter: number
}

/** Milliseconds. */
const LEEWAY = 60_000
const MISSED_TURNS = 3

export class ReadinessState {
  private readonly interval: number
  private turnsEnded = 0
  /** Milliseconds: the first observations of a long turn are old at its end. */
  private lastTurn = 0
  /** Milliseconds. */
  private lastWait = 0
  private succeeded = false
  private source: Pick<MetricsSource, 'watches'> = {}
  private readonly clusters = new Map<Loggable, number>()
  private readonly repository: string
  private failing: ReadonlySet<FailureCode> = new Set()
  /** Milliseconds since 1970. */
  private current: { readonly state: 'waits' | 'runs'; readonly since: number } | undefined

  /**
   * @param interval milliseconds
   * @param repository undefined if there is only one
   */
  constructor(interval: number, repository?: string) {
    this.interval = interval
    this.repository =
      repository === undefined ? 'repository' : `repository ${formatLoggableName(repository)}`
  }

  setFailing(lasting: readonly Failure[]): void {
    this.failing = new Set(lasting.map(({ code }) => code))
  }

  provide(source: MetricsSource): void {
    this.source = { ...this.source, ...source }
  }

  /** @param now milliseconds since 1970 */
  turnDue(now: number): void {
    this.current = { state: 'waits', since: now }
  }

  /** @param wait milliseconds */
  turnAdmitted(wait: number, now: number): void {
    this.lastWait = wait
    this.current = { state: 'runs', since: now }
  }

  turnLeft(): void {
    this.current = undefined
  }

  /** Seconds. */
  getRunSeconds(now: number): number {
    return this.current?.state === 'runs' ? Math.max(0, now - this.current.since) / 1_000 : 0
  }

  /**
   * @param observed undefined if the turn observed nothing
   * @param duration milliseconds
   */
  turnEnded(observed: ObservedNumbers | undefined, duration: number): void {
    this.turnsEnded += 1
    if (observed !== undefined) this.lastTurn = duration
    this.succeeded = observed !== undefined
    if (observed === undefined) return
    const { clusters, unobserved, whole } = observed
    if (whole)
      for (const name of this.clusters.keys())
        if (!clusters.has(name) && !unobserved.includes(name)) this.clusters.delete(name)
    for (const name of unobserved) if (!this.clusters.has(name)) this.clusters.set(name, 0)
    for (const [name, at] of clusters) this.clusters.set(name, at * 1_000)
  }

  /** @param now milliseconds since 1970 */
  computeReadiness(now: number, step?: Loggable): Readiness {
    const first = {
      ok: this.turnsEnded > 0,
      text: this.turnsEnded > 0 ? 'first turn ended' : 'first turn: not ended yet',
    }
    const clusters = [...this.computeAges()].map(([name, age]) =>
      createClusterCheck(name, age, now),
    )
    // A repository without a package has no cluster that could be stale.
    const none = clusters.length === 0 && this.turnsEnded > 0 && !this.succeeded
    const observed = clusters.some(({ ok }) => ok) || (clusters.length === 0 && this.succeeded)
    const repository = this.turnsEnded === 0 ? [] : [this.createRepositoryCheck()]
    const checks = [
      first,
      ...repository,
      ...clusters,
      ...(none ? [{ ok: false, text: 'clusters: none was observed yet' }] : []),
    ]
    return {
      ready: first.ok && observed,
      checks: [...checks, ...this.listCurrentChecks(now, step)],
    }
  }

  private listCurrentChecks(now: number, step: Loggable | undefined): readonly ReadinessCheck[] {
    if (this.current === undefined || now - this.current.since < SLICE) return []
    const { state, since } = this.current
    const what = state === 'waits' ? 'until turns of other repositories end' : step
    return [
      {
        ok: true,
        text: `${this.repository}: its turn ${state} for ${formatAge(now - since)}${what === undefined ? '' : `: ${what}`}`,
      },
    ]
  }

  /** A restart does not help a failing dependency: it never makes the process unready. */
  private createRepositoryCheck(): ReadinessCheck {
    if (this.failing.size === 0) return { ok: true, text: `${this.repository} ok` }
    const causes = [...this.failing].sort().map((code) => `${code}, ${FAILURE_CODES[code]}`)
    return { ok: false, text: `${this.repository}: ${causes.join('; ')}` }
  }

  /** A watch gives proof more often than turns do. */
  private computeAges(): ReadonlyMap<Loggable, ClusterAge> {
    const staleAfter = MISSED_TURNS * (this.interval + this.lastWait + this.lastTurn) + LEEWAY
    const ages = new Map(
      [...this.clusters].map(([name, observedAt]) => [name, { observedAt, staleAfter }]),
    )
    for (const watch of this.source.watches?.() ?? []) {
      const observedAt = findProvenTime(watch.state())
      if (observedAt !== undefined)
        ages.set(formatLoggableName(watch.cluster), { observedAt, staleAfter: STALE_AFTER })
    }
    return ages
  }
}

/** One repository that observes a cluster is enough. */
export function joinReadiness(all: readonly Readiness[]): Readiness {
  const checks = new Map(all.flatMap((one) => one.checks).map((check) => [check.text, check]))
  return { ready: all.some(({ ready }) => ready), checks: [...checks.values()] }
}

/** The oldest proof; undefined if there is none, or if only turns observe. */
function findProvenTime(kinds: readonly KindWatchState[]): number | undefined {
  const proofs = kinds.flatMap(({ state, provenAt: at }) =>
    state === 'unreadable' || at === 0 ? [] : [at],
  )
  return proofs.length === 0 ? undefined : Math.min(...proofs)
}

function createClusterCheck(
  name: Loggable,
  { observedAt, staleAfter }: ClusterAge,
  now: number,
): ReadinessCheck {
  if (observedAt === 0) return { ok: false, text: `cluster ${name}: never observed` }
  const age = now - observedAt
  return age <= staleAfter
    ? { ok: true, text: `cluster ${name} ok` }
    : { ok: false, text: `cluster ${name}: stale for ${formatAge(age)}` }
}

function formatAge(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}
