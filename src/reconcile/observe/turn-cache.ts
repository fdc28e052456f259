/** State that a process keeps between turns. Losing it costs requests, never a decision. */
import type { RefUpdate } from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { LRUCache } from 'lru-cache'
import type { AdoptionAnswer, ManifestAnswer } from '../../drift/authored/object-manifest.ts'
import type { PackageMarks } from '../../ports/package-marks.ts'
import { PackageHistories } from '../repository/sources/package-history.ts'
import { KnownGoodPolicies } from '../repository/usable-policies.ts'
import type { KnownAdoptions } from './adoption-answers.ts'
import { DryRunAnswers } from './dry-run-answers.ts'
import type { CachedVerdict, EarlierAnswers } from './judge-object.ts'
import { LastDrift } from './last-drift.ts'
import type { KnownManifests } from './object-manifests.ts'
import type { MissingObjectAnswer } from './predict-object.ts'
import { ProposalTurns } from './proposal-turns.ts'
import { RefusedRefs } from './refused-refs.ts'
import { UnitCache } from './unit-cache.ts'
import type { ClusterVerdicts } from './verdicts/cluster-verdicts.ts'

const MOST_WATCHED = 2_000
const MOST_DURATIONS = 10
const MOST_MANIFESTS = 500

export class TurnCache implements EarlierAnswers {
  private readonly units = new UnitCache()
  private readonly watchedUnits = new UnitCache(MOST_WATCHED)
  readonly lastDrift = new LastDrift()
  readonly creations = new DryRunAnswers<MissingObjectAnswer>()
  readonly verdicts = new DryRunAnswers<CachedVerdict>()
  readonly manifests: KnownManifests = new LRUCache<string, ManifestAnswer>({
    maxSize: MOST_MANIFESTS,
    sizeCalculation: () => 1,
  })
  readonly adoptions: KnownAdoptions = new LRUCache<string, AdoptionAnswer>({
    maxSize: MOST_MANIFESTS,
    sizeCalculation: () => 1,
  })
  readonly histories = new PackageHistories()
  readonly refusedRefs = new RefusedRefs()
  readonly proposalTurns = new ProposalTurns()
  readonly goodPolicies = new KnownGoodPolicies()
  /**
   * By package path: paths from the repository root that its rendering reads outside of the
   * package.
   */
  readonly outside = new Map<string, readonly string[]>()
  readonly clusters = new Map<string, ClusterVerdicts>()
  /** Undefined if no process follows this one. */
  marks: PackageMarks | undefined
  private readonly pacesLedger: boolean
  private pushedAt: string | undefined
  private readonly durations = new Map<string, readonly number[]>()

  /**
   * @param options `pacesLedger`: a status-only turn waits until a minute after the last ledger
   * push
   */
  constructor({ pacesLedger = false }: { readonly pacesLedger?: boolean } = {}) {
    this.pacesLedger = pacesLedger
  }

  /**
   * Watched units are observed when they changed, and once an hour: caching the others would use a
   * kilobyte per object for one use per hour.
   */
  getUnits(cluster: string): UnitCache {
    return this.clusters.has(cluster) ? this.watchedUnits : this.units
  }

  /** @param milliseconds of the last successful observation */
  rememberDuration(cluster: string, milliseconds: number): void {
    this.durations.set(cluster, [
      ...(this.durations.get(cluster) ?? []).slice(1 - MOST_DURATIONS),
      milliseconds,
    ])
  }

  /** Milliseconds; 0 without any. */
  getLongest(cluster: string): number {
    return Math.max(0, ...(this.durations.get(cluster) ?? []))
  }

  /** RFC 3339 UTC; undefined before the first push, and if no turn waits. */
  get ledgerPushedAt(): string | undefined {
    return this.pacesLedger ? this.pushedAt : undefined
  }

  rememberPush(updates: readonly RefUpdate[], now: string): void {
    if (updates.some(({ ref }) => ref === `refs/heads/${LEDGER_BRANCH}`)) this.pushedAt = now
  }
}
