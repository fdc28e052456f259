/**
 * Each repository runs one turn at a time; a limited number run concurrently, first come first
 * served.
 */
import type { AuditSource } from '@backporch/cluster/audit'
import type { RequestedAction } from '@backporch/forge/check-run'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { Metrics, MetricsSource } from '../ports/metrics.ts'
import type { Readiness } from '../ports/readiness.ts'
import type { TurnTraces } from '../ports/turn-traces.ts'
import { ControllerTurns, type TurnsOptions, type TurnsPorts } from './controller-turns.ts'
import { joinReadiness, ReadinessState } from './readiness.ts'
import { groupByCluster } from './shared-watch.ts'
import { QUEUE } from './turn-intake.ts'
import { TurnLoop } from './turn-loop.ts'
import { TurnMeter } from './turn-meter.ts'
import { SLICE, type Sleep, TurnPlaces } from './turn-places.ts'
import { TurnTracer } from './turn-tracer.ts'

/** Milliseconds. */
const COALESCE = 500
/** Kubernetes kills the process after 30 s. */
const GRACE = 20_000
const TURNS = 'turns'

export interface RepositoryEntry {
  readonly name: string
  readonly remote: string
  /** A changed text restarts the repository. */
  readonly text: string
  readonly ports: TurnsPorts
  /** Milliseconds. */
  readonly interval: number
  readonly options: TurnsOptions
}

interface SetParts {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly signal: AbortSignal
  readonly concurrent: number
  readonly sleep?: Sleep | undefined
  readonly onUnusable: (thrown: unknown) => void
}

interface Running {
  readonly entry: RepositoryEntry
  readonly turns: ControllerTurns
  readonly readiness: ReadinessState
  readonly loop: TurnLoop
  readonly stop: AbortController
  readonly ended: Promise<'idle' | 'finished' | 'aborted'>
}

export class RepositorySet {
  private readonly parts: SetParts
  private readonly places: TurnPlaces
  private readonly running = new Map<string, Running>()
  /** Set before the first repository starts. */
  metrics: Metrics | undefined
  traces: TurnTraces | undefined
  audit: AuditSource | undefined
  private worked = false

  constructor(parts: SetParts) {
    this.parts = parts
    this.places = new TurnPlaces(parts.concurrent, parts.sleep)
  }

  /** @returns the number of new, removed and changed ones */
  async apply(
    entries: readonly RepositoryEntry[],
  ): Promise<{ readonly added: number; readonly changed: number; readonly removed: number }> {
    const wanted = new Map(entries.map((entry) => [entry.name, entry]))
    const ending = [...this.running.values()].filter(
      ({ entry }) => wanted.get(entry.name)?.text !== entry.text,
    )
    const changed = ending.filter(({ entry }) => wanted.has(entry.name))
    const added = entries.filter(({ name }) => !this.running.has(name))
    for (const entry of added) this.start(entry)
    await Promise.all(
      ending.map(async (one) => {
        await this.end(one)
        const entry = wanted.get(one.entry.name)
        if (entry !== undefined && !this.parts.signal.aborted) this.start(entry)
      }),
    )
    return { added: added.length, changed: changed.length, removed: ending.length - changed.length }
  }

  /** @param remotes undefined: all */
  update(
    requestedAction: RequestedAction | undefined,
    remotes: readonly string[] | undefined,
  ): void {
    for (const { entry, turns } of this.running.values()) {
      if (remotes !== undefined && !remotes.includes(entry.remote)) continue
      if (requestedAction !== undefined) turns.requestedActions.add(requestedAction)
      turns.intake.requestPoll()
    }
  }

  /** Reads credentials again. */
  refresh(): void {
    for (const { turns, loop } of this.running.values()) {
      turns.refresh()
      loop.demand()
    }
  }

  listRemotes(): readonly string[] {
    return [...this.running.values()].map(({ entry }) => entry.remote)
  }

  getReadiness(): Readiness {
    const now = this.parts.clock.now().getTime()
    return joinReadiness(
      [...this.running.values()].map(({ readiness, turns }) =>
        readiness.computeReadiness(now, turns.currentStep),
      ),
    )
  }

  readonly source: Required<MetricsSource> = {
    watches: () =>
      groupByCluster([...this.running.values()].flatMap(({ turns }) => turns.intake.listWatches())),
    queues: () =>
      new Map([
        [
          QUEUE,
          [...this.running.values()].reduce((sum, { turns }) => sum + turns.intake.queue.depth, 0),
        ],
        [TURNS, this.places.waiting],
      ]),
    longestRunning: () => {
      const now = this.parts.clock.now().getTime()
      return new Map([
        [
          TURNS,
          Math.max(
            0,
            ...[...this.running.values()].map(({ readiness }) => readiness.getRunSeconds(now)),
          ),
        ],
      ])
    },
    repositories: () => new Set(this.running.keys()),
    waitingHeads: () =>
      [...this.running.values()].reduce((sum, { turns }) => sum + turns.waitingHeads, 0),
    unrecorded: () =>
      [...this.running.values()].flatMap(({ turns }) =>
        turns.intake.unrecorded.listObjects().map(({ cluster, packagePath, risk, count }) => ({
          cluster: formatLoggableName(cluster),
          package: formatLoggableName(packagePath || '.'),
          risk,
          count,
        })),
      ),
  }

  readonly announceStopping = (): void => {
    for (const { turns } of this.running.values()) turns.announceStopping()
  }

  /** @returns whether a turn had to be aborted */
  async awaitEnd(): Promise<'stopped' | 'aborted'> {
    const { signal } = this.parts
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    const ends = await Promise.all([...this.running.values()].map(({ ended }) => ended))
    return ends.includes('aborted') ? 'aborted' : 'stopped'
  }

  async close(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ turns }) => turns.close()))
  }

  private start(entry: RepositoryEntry): void {
    const { clock, random, signal } = this.parts
    const { interval } = entry
    const turns: ControllerTurns = new ControllerTurns(entry.ports, entry.options, {
      onUnusable: () => this.isUnusable(turns.unusable),
      request: () => loop.request(),
    })
    const wake = (): number => turns.intake.wake()
    const readiness = new ReadinessState(interval, entry.name || undefined)
    let wasSlow = false
    const admit = async (stopped: AbortSignal): Promise<() => void> => {
      const due = performance.now()
      let isSlow = false
      const onSlow = (): void => {
        isSlow = true
        entry.ports.log.process({ event: 'slow', step: turns.currentStep, milliseconds: SLICE })
      }
      readiness.turnDue(clock.now().getTime())
      const leave = await this.places.enter(stopped, wasSlow, onSlow)
      readiness.turnAdmitted(performance.now() - due, clock.now().getTime())
      return () => {
        wasSlow = isSlow
        readiness.turnLeft()
        leave()
      }
    }
    const loop = new TurnLoop({
      clock,
      random,
      interval,
      wake,
      admit,
      coalesce: COALESCE,
      grace: GRACE,
      turn: turns.runOne,
    })
    readiness.provide({ watches: () => turns.intake.listWatches() })
    turns.audit = this.audit
    if (this.traces !== undefined) turns.tracer = new TurnTracer(this.traces)
    if (this.metrics !== undefined) {
      const elapsed = (): number => performance.now()
      turns.measure(
        new TurnMeter({ repository: entry.name, metrics: this.metrics, readiness, elapsed }),
        this.metrics,
      )
    }
    const stop = new AbortController()
    this.running.set(entry.name, {
      entry,
      turns,
      readiness,
      loop,
      stop,
      ended: loop.run(AbortSignal.any([signal, stop.signal])),
    })
  }

  private async end({ entry, turns, stop, ended }: Running): Promise<void> {
    stop.abort(new Error('the repository is no longer configured'))
    await ended
    await turns.close()
    this.worked ||= turns.succeeded
    this.running.delete(entry.name)
  }

  private isUnusable(thrown: unknown): boolean {
    const all = [...this.running.values()]
    if (this.worked || !all.every(({ turns }) => turns.unusable !== undefined)) return false
    this.parts.onUnusable(thrown)
    return true
  }
}
