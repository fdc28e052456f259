import type { ClusterWatch, KindWatchState, WatchObserver } from '@backporch/cluster/cluster-watch'
import { Failure } from '@backporch/kyaml/failure'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { TurnCache } from '../reconcile/observe/turn-cache.ts'
import { ClusterFollower, type UnitChange } from '../reconcile/observe/verdicts/cluster-follower.ts'
import {
  ClusterVerdicts,
  type StoredVerdicts,
} from '../reconcile/observe/verdicts/cluster-verdicts.ts'

export interface FollowPorts {
  /**
   * Undefined for a recording.
   * @throws Failure if the cluster is not configured
   */
  openWatch(cluster: string, observer: WatchObserver): Promise<ClusterWatch | undefined>
  loadVerdicts(cluster: string, key: RedactionKey): Promise<StoredVerdicts | undefined>
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 up to 1. */
  random(): number
  /** @param why undefined if changes are seen */
  onSight(cluster: string, why: string | undefined): void
}

interface FollowedCluster {
  readonly verdicts: ClusterVerdicts
  readonly follower: ClusterFollower
  readonly watch: ClusterWatch | undefined
  observedAt: number
  /** Milliseconds, for an idle cluster. */
  heartbeat: number
  isBlind: boolean
  /** From a turn or an earlier process. */
  isKnown: boolean
  isLost: boolean
}

/** Milliseconds that a restarted process waits until it knows whether earlier verdicts hold. */
const PATIENCE = 5_000
const MINUTE = 60_000

export class FollowedClusters {
  readonly all = new Map<string, FollowedCluster>()
  private readonly ports: FollowPorts
  private readonly between: TurnCache
  private readonly onChange: (cluster: string, change: UnitChange) => void

  constructor(
    ports: FollowPorts,
    between: TurnCache,
    onChange: (cluster: string, change: UnitChange) => void,
  ) {
    this.ports = ports
    this.between = between
    this.onChange = onChange
  }

  async open(names: readonly string[], key: RedactionKey, signal: AbortSignal): Promise<void> {
    const fresh = names.filter((name) => !this.all.has(name))
    for (const name of fresh) {
      const stored = await this.ports.loadVerdicts(name, key)
      const verdicts = new ClusterVerdicts(key, () => this.ports.random(), stored)
      const now = (): number => this.ports.now()
      const onListed = (): void => {
        const cluster = this.all.get(name)
        // The watch delivers a list before its own state reflects it.
        if (cluster?.isBlind === true) setImmediate(() => this.look(name, cluster))
      }
      const follower = new ClusterFollower({
        verdicts,
        now,
        onChange: (change) => this.onChange(name, change),
        onListed,
      })
      const watch = await this.ports.openWatch(name, follower)
      const isKnown = verdicts.table.size > 0
      this.all.set(name, {
        verdicts,
        follower,
        watch,
        observedAt: 0,
        heartbeat: 0,
        isBlind: true,
        isKnown,
        isLost: false,
      })
      if (watch === undefined) continue
      this.between.clusters.set(name, verdicts)
      watch.follow(follower.listKinds())
    }
    const watched = fresh
      .flatMap((name) => this.all.get(name) ?? [])
      .filter(({ watch }) => watch !== undefined)
    const end = performance.now() + PATIENCE
    while (
      watched.some(({ verdicts }) => !verdicts.epochs.known) &&
      performance.now() < end &&
      !signal.aborted
    )
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Turns do not contact these clusters. */
  listUnreachable(): ReadonlyMap<string, Failure> {
    const failures = new Map<string, Failure>()
    for (const [name, { watch }] of this.all) {
      // A kind that is not served was never listed.
      const listed = (watch?.state() ?? []).filter(({ lists }) => lists > 0)
      if (listed.length === 0 || !listed.every((state) => this.isStale(state))) continue
      failures.set(
        name,
        listed.map(({ failure }) => failure).find((failure) => failure !== undefined) ??
          createSilentFailure(name),
      )
    }
    return failures
  }

  listSeen(): ReadonlySet<string> {
    return new Set(
      [...this.all].flatMap(([name, cluster]) =>
        this.findBlindness(cluster) === undefined ? [name] : [],
      ),
    )
  }

  listWatches(): readonly ClusterWatch[] {
    return [...this.all.values()].flatMap(({ watch }) => watch ?? [])
  }

  async close(): Promise<void> {
    await Promise.all([...this.all.values()].map(({ watch }) => watch?.close()))
  }

  isWatched(): boolean {
    return [...this.all.values()].some(({ watch }) => watch !== undefined)
  }

  private isStale({ provenAt }: KindWatchState): boolean {
    return this.ports.now() - provenAt > MINUTE
  }

  look(name: string, cluster: FollowedCluster): boolean {
    const why = this.findBlindness(cluster)
    const isNew = (why !== undefined) !== cluster.isBlind
    cluster.isBlind = why !== undefined
    if (isNew) this.ports.onSight(name, why)
    return isNew
  }

  findBlindness({ watch, follower, isKnown }: FollowedCluster): string | undefined {
    if (watch === undefined) return 'its changes are not watched'
    return isKnown
      ? follower.findBlindness(watch.state(), this.ports.now())
      : 'its packages were not read yet'
  }
}

function createSilentFailure(cluster: string): Failure {
  return new Failure({
    code: 'BP3001',
    what: `cannot observe ${cluster}`,
    where: `cluster ${cluster}`,
    why: 'its API server has not answered for more than a minute',
    remedy: 'check whether the API server runs, and the network to it',
    retry: 'backoff',
  })
}
