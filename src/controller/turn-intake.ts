/**
 * Cluster changes come from the watch, git and forge changes from the last poll. A turn about
 * everything is the safety net for changes that nothing reported.
 */
import type { ClusterWatch } from '@backporch/cluster/cluster-watch'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { computeNextTime } from '../plan/turn/limits/next-time.ts'
import { getClusterDetection } from '../policy/effective-policy.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { TurnCache } from '../reconcile/observe/turn-cache.ts'
import type { OnlyUnits } from '../reconcile/observe/turn-request.ts'
import type { UnitChange } from '../reconcile/observe/verdicts/cluster-follower.ts'
import type { StoredVerdicts } from '../reconcile/observe/verdicts/cluster-verdicts.ts'
import type { RepositoryDigest } from '../reconcile/turn/poll-repository.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import { FollowedClusters, type FollowPorts } from './followed-clusters.ts'
import { type UnitName, UnitQueue, type UnitQueueEvent, type Urgency } from './unit-queue.ts'
import { UnrecordedDrift } from './unrecorded-drift.ts'
import { computeRestlessTime, isLanding } from './waiting-units.ts'

/** Of each named cluster. */
export type TurnScope =
  | { readonly about: 'everything' | 'nothing' }
  | {
      readonly about: 'units'
      readonly only: OnlyUnits
      readonly taken: readonly UnitName[]
    }

export interface IntakePorts extends FollowPorts {
  saveVerdicts(cluster: string, verdicts: StoredVerdicts, key: RedactionKey): Promise<void>
  /** @param milliseconds since the change was read */
  onVerdict(cluster: string, state: string, milliseconds: number): void
}

export interface IntakeOptions {
  /** Milliseconds. */
  readonly interval: number
  /** Milliseconds, for turns about everything. */
  readonly resync: number
}

export const QUEUE = 'units'
/** Milliseconds; more than the ledger's wait between two status-only pushes. */
const LEDGER_PACE = 61_000
/** Per turn. */
const MOST_UNITS = 64
/** Per package: a joint proposal needs three. */
const MOST_SIBLINGS = 8
/** Milliseconds. */
const LOOK = 5_000
/** Milliseconds in which health changes share one observation. */
const STATUS_DELAY = 10_000
/** Milliseconds: all verdicts may have changed at once. */
const EPOCH_SPREAD = 60_000

export class TurnIntake {
  private readonly ports: IntakePorts
  private readonly options: IntakeOptions
  private readonly request: () => void
  readonly queue: UnitQueue
  metrics: Metrics | undefined
  readonly unrecorded = new UnrecordedDrift()
  private readonly clusters: FollowedClusters
  private readonly alone = new Map<string, Set<string>>()
  /** When time alone may change the unit, in milliseconds since 1970. */
  private readonly times = new Map<string, { readonly unit: UnitName; readonly at: number }>()
  private readonly stopped = new AbortController()
  private digest: RepositoryDigest | undefined
  private wholeAt = Number.NEGATIVE_INFINITY
  private polledAt = Number.NEGATIVE_INFINITY
  private pollRequested = false

  constructor(ports: IntakePorts, options: IntakeOptions, between: TurnCache, request: () => void) {
    this.ports = ports
    this.options = options
    this.request = request
    this.clusters = new FollowedClusters(
      ports,
      between,
      (cluster, change) => void this.handleChange(cluster, change),
    )
    this.queue = new UnitQueue({
      now: () => performance.now(),
      random: () => ports.random(),
      onEvent: (event) => this.count(event),
    })
  }

  requestPoll(): void {
    this.pollRequested = true
    this.request()
  }

  async open(names: readonly string[], key: RedactionKey, signal: AbortSignal): Promise<void> {
    await this.clusters.open(names, key, signal)
  }

  /** Milliseconds. */
  wake(): number {
    const { interval } = this.options
    return this.clusters.isWatched()
      ? Math.min(interval, LOOK, Math.max(this.queue.computeNextWait() ?? LOOK, 1))
      : interval
  }

  /** These are not queried. */
  listUnreachable(): ReadonlyMap<string, Failure> {
    return this.clusters.listUnreachable()
  }

  /** @throws Failure from `poll` */
  async chooseNextScope(poll: () => Promise<RepositoryDigest>): Promise<TurnScope> {
    const now = this.ports.now()
    if (!this.clusters.isWatched()) return { about: 'everything' }
    if (now - this.wholeAt >= this.options.resync || this.wholeAt > now) {
      // The next poll finds later changes.
      await this.poll(poll)
      return { about: 'everything' }
    }
    const only = new Map<string, Set<string> | 'all'>()
    if (this.pollRequested || now - this.polledAt >= this.options.interval || this.polledAt > now) {
      if ((await this.poll(poll)) === 'everything') return { about: 'everything' }
      for (const [name, cluster] of this.clusters.all) {
        if (cluster.isLost || this.clusters.findBlindness(cluster) !== undefined)
          only.set(name, 'all')
        for (const packagePath of cluster.verdicts.listDueUnits(now))
          this.queue.add({ cluster: name, packagePath }, 'background')
      }
      for (const [key, { unit, at }] of this.times)
        if (at <= now && this.times.delete(key)) this.queue.add(unit, 'background')
    }
    const taken = this.queue.take(MOST_UNITS)
    for (const { cluster, packagePath } of [...taken, ...this.listSiblings(taken)]) {
      const wanted = only.get(cluster) ?? new Set<string>()
      if (wanted !== 'all') only.set(cluster, wanted.add(packagePath))
    }
    for (const [name, cluster] of this.clusters.all) {
      const isNew = this.clusters.look(name, cluster)
      if (isNew && cluster.isLost && !cluster.isBlind) only.set(name, 'all')
      else if (
        ((isNew && cluster.isBlind) || now - cluster.observedAt >= cluster.heartbeat) &&
        !only.has(name)
      )
        only.set(name, new Set())
    }
    return only.size === 0 ? { about: 'nothing' } : { about: 'units', only, taken }
  }

  /** Candidates for a joint proposal. */
  private listSiblings(taken: readonly UnitName[]): readonly UnitName[] {
    const packages = new Set(taken.map(({ packagePath }) => packagePath))
    return [...packages].flatMap((packagePath) =>
      [...(this.alone.get(packagePath) ?? [])]
        .slice(0, MOST_SIBLINGS)
        .map((cluster) => ({ cluster, packagePath })),
    )
  }

  /**
   * @param result undefined if the whole turn failed @param began monotonic milliseconds @param
   * isBlameless it failed before it reached a unit, so no unit waits longer
   */
  async finishTurn(
    scope: TurnScope,
    result: TurnResult | undefined,
    began: number,
    isBlameless = false,
  ): Promise<void> {
    const failed = matchFailedUnits(result)
    for (const unit of scope.about === 'units' ? scope.taken : []) {
      this.queue.markDone(unit, result === undefined ? !isBlameless : failed(unit))
      if (result === undefined && isBlameless) this.queue.add(unit, 'changed')
    }
    if (result === undefined) return
    for (const unit of result.units) {
      if (unit.state === 'planned') this.queue.markObserved(getName(unit))
      if (unit.state === 'planned' && unit.refused === undefined)
        this.unrecorded.markObserved(getName(unit))
    }
    const now = this.ports.now()
    for (const unit of result.postponed) this.queue.add(getName(unit), 'background')
    if (scope.about === 'everything') {
      this.wholeAt = now
      this.queue.clear(began)
      this.times.clear()
    }
    this.lookAgain(result, now)
    for (const [name, cluster] of this.clusters.all) {
      if (scope.about === 'units' && !scope.only.has(name)) continue
      cluster.observedAt = now
      cluster.heartbeat = 1_000 * getClusterDetection(result.view.policies, name, 'interval')
      cluster.isKnown ||= scope.about === 'everything'
      cluster.isLost = result.notObserved.some(({ cluster: lost }) => lost === name)
      if (scope.about === 'everything' && !cluster.isLost)
        cluster.verdicts.retainUnits(
          new Set(
            result.units.flatMap((unit) =>
              getName(unit).cluster === name ? [getName(unit).packagePath] : [],
            ),
          ),
        )
      if (cluster.watch === undefined) continue
      cluster.watch.follow(cluster.follower.listKinds())
      cluster.follower.settle()
      this.clusters.look(name, cluster)
      await this.ports.saveVerdicts(name, cluster.verdicts.stored, cluster.verdicts.key)
    }
  }

  /** Time alone causes no event. */
  private lookAgain({ units, reported, unsettled, updates, view }: TurnResult, now: number): void {
    const { interval } = this.options
    const landing = new Set(
      view.closed.filter(isLanding).map(({ spec: { unit } }) => `${unit.cluster} ${unit.package}`),
    )
    const isLedgerPushed = updates.some(({ ref }) => ref === `refs/heads/${LEDGER_BRANCH}`)
    for (const unit of units) {
      const { cluster, packagePath } = getName(unit)
      if (unit.state === 'planned') {
        const at = computeNextTime(unit)
        if (at === undefined) this.times.delete(`${cluster} ${packagePath}`)
        else
          this.times.set(`${cluster} ${packagePath}`, { unit: getName(unit), at: Date.parse(at) })
        const { state, branch } = unit.plan.report.status
        const alone = this.alone.get(packagePath) ?? new Set()
        if (state === 'Drifted' && branch === undefined)
          this.alone.set(packagePath, alone.add(cluster))
        else alone.delete(cluster)
        // Status alone is pushed once a minute.
        if (!isLedgerPushed && unit.plan.writes.ledger.length > 0)
          this.queue.add(getName(unit), 'background', LEDGER_PACE)
      }
      const isWaiting =
        unit.state === 'failed' ||
        unit.refused !== undefined ||
        landing.has(`${unit.unit.cluster} ${unit.unit.packageName}`)
      const wait = isWaiting
        ? interval
        : computeRestlessTime(unit.plan.report.status, { now, interval })
      if (wait !== undefined) this.queue.add(getName(unit), 'background', wait)
    }
    if (reported.length + unsettled.length > 0) this.requestWhole()
  }

  requestWhole(): void {
    const { interval, resync } = this.options
    this.wholeAt = Math.min(this.wholeAt, this.ports.now() - resync + interval)
  }

  listSeen(): ReadonlySet<string> {
    return this.clusters.listSeen()
  }

  listWatches(): readonly ClusterWatch[] {
    return this.clusters.listWatches()
  }

  async close(): Promise<void> {
    this.stopped.abort()
    await this.clusters.close()
  }

  private async poll(read: () => Promise<RepositoryDigest>): Promise<'everything' | 'units'> {
    this.pollRequested = false
    const before = this.digest
    const digest = await read()
    this.polledAt = this.ports.now()
    this.digest = digest
    if (before === undefined) return 'units'
    if (before.shared !== digest.shared) return 'everything'
    for (const [path, hash] of digest.packages)
      if (before.packages.get(path) !== hash || digest.requested.has(path)) this.addEverywhere(path)
    const isOther =
      before.packages.size !== digest.packages.size ||
      [...before.packages.keys()].some((path) => !digest.packages.has(path))
    return isOther ? 'everything' : 'units'
  }

  private count(event: UnitQueueEvent): void {
    if (event.event === 'started')
      this.metrics?.queue({ queue: QUEUE, event: 'started', waited: event.waited / 1_000 })
    else if (event.event === 'finished')
      this.metrics?.queue({ queue: QUEUE, event: 'finished', worked: event.worked / 1_000 })
    else this.metrics?.queue({ queue: QUEUE, event: event.event })
  }

  private addEverywhere(packagePath: string): void {
    for (const cluster of this.clusters.all.keys())
      this.queue.add({ cluster, packagePath }, 'changed')
  }

  private async handleChange(cluster: string, change: UnitChange): Promise<void> {
    const { units, reason, object, read } = change
    const add = (urgency: Urgency, delay = (): number => 0): void => {
      for (const packagePath of units) this.queue.add({ cluster, packagePath }, urgency, delay())
      if (urgency !== 'background') this.request()
    }
    if (reason === 'source') {
      this.wholeAt = Number.NEGATIVE_INFINITY
      return this.request()
    }
    const [unit] = units
    const verdicts = this.clusters.all.get(cluster)?.verdicts
    if (reason === 'status') return add('background', () => STATUS_DELAY)
    if (reason === 'epoch') return add('background', () => EPOCH_SPREAD * this.ports.random())
    if (reason !== 'object' || object === undefined || unit === undefined || verdicts === undefined)
      return add('changed')
    try {
      const observedAt = `${new Date(this.ports.now()).toISOString().slice(0, 19)}Z`
      const before = verdicts.findVerdict(unit, object)
      const judged = await verdicts.judges.judge(unit, object, observedAt, this.stopped.signal)
      const verdict = judged?.verdict
      if (verdict !== undefined) {
        const milliseconds = performance.now() - read
        this.metrics?.recordVerdict(milliseconds / 1_000)
        this.ports.onVerdict(cluster, verdict.state, milliseconds)
        const risks = verdict.items.map(({ risk }) => risk)
        this.unrecorded.recordRisks(
          { cluster, packagePath: unit },
          getResourceKey(verdict.id),
          risks,
        )
      }
      const isInSync =
        verdict?.state === 'in-sync' && verdict.items.length === 0 && verdict.setAside.length === 0
      if (isInSync && before === 'in-sync' && judged?.isOfSyncer === true) return
      add(verdict?.items.some(({ risk }) => risk === 'critical') === true ? 'critical' : 'changed')
    } catch (thrown) {
      // The unit's observation reports it.
      convertToFailure(thrown)
      add('changed')
    }
  }
}

function getName(unit: TurnResult['units'][number]): UnitName {
  return unit.state === 'failed' ? unit : unit.unit
}

function matchFailedUnits(result: TurnResult | undefined): (unit: UnitName) => boolean {
  const lost = new Set(result?.notObserved.map(({ cluster }) => cluster))
  const failed = new Set(
    result?.units.flatMap((unit) =>
      unit.state === 'failed' ? [`${unit.cluster} ${unit.packagePath}`] : [],
    ),
  )
  return ({ cluster, packagePath }) => lost.has(cluster) || failed.has(`${cluster} ${packagePath}`)
}
