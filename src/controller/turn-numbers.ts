/** Counts only new results. */
import { formatLoggableName, type Loggable } from '@backporch/kyaml/redaction'
import { type Drift, type ObjectVerdict, RISKS, type Risk } from '../drift/compare/drift.ts'
import { PRESET } from '../drift/noise/presets.ts'
import type { PlannedResult, UnitResult } from '../plan/unit/unit-result.ts'
import type { ObservedNumbers, Occurrence, PackageNumbers } from '../ports/metrics.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import type { Change } from '../record/documents/change.ts'
import type { ClosedEpisode } from '../record/documents/closed-episode.ts'
import type { DriftReport } from '../record/documents/drift-report.ts'
import { findSyncerOfManager } from '../syncers/registry.ts'

interface Counted {
  readonly cluster: Loggable
  readonly package: Loggable
  readonly fingerprints: ReadonlySet<string>
  readonly ended: ReadonlyMap<string, { readonly verified: boolean }>
  readonly ignored: ReadonlyMap<string, number>
}

/** In other states drift is absent or declined. */
const DRIFTING: ReadonlySet<string> = new Set(['Drifted', 'Applying'])
const DECIDED: ReadonlySet<string> = new Set(['Merged', 'Declined'])

export class TurnCounter {
  private counted = new Map<string, Counted>()

  /** @param whole packages that the turn does not name are forgotten */
  computeNumbers(result: TurnResult, whole = true): ObservedNumbers {
    const before = this.counted
    const counted = whole ? new Map<string, Counted>() : before
    const packages: PackageNumbers[] = []
    const failed: { cluster: Loggable; package: Loggable }[] = []
    const occurrences: Occurrence[] = []
    const clusters = new Map<Loggable, number>()
    for (const unit of result.units) {
      const key = getUnitKey(unit)
      const known = before.get(key)
      if (unit.state === 'failed') {
        failed.push(
          known ?? {
            cluster: formatLoggableName(unit.cluster),
            package: formatLoggableName(unit.packagePath || '.'),
          },
        )
        if (known !== undefined) counted.set(key, known)
        continue
      }
      const now = createCounted(unit, known)
      counted.set(key, now)
      packages.push(createPackageNumbers(unit, now, findUrl(unit, result)))
      occurrences.push(...listOccurrences(unit, known ?? createBaseline(unit, now), now))
      clusters.set(
        now.cluster,
        Math.max(clusters.get(now.cluster) ?? 0, parseSeconds(unit.observation.cluster.observedAt)),
      )
    }
    const unobserved = result.notObserved.map(({ cluster }) => formatLoggableName(cluster))
    // Packages of unobserved clusters keep their counts.
    const away = new Set(unobserved)
    for (const [key, one] of before) if (away.has(one.cluster)) counted.set(key, one)
    this.counted = counted
    const { lastGood } = result.view.policies
    const policyProblem =
      lastGood === undefined ? undefined : formatLoggableName(lastGood.problem.where)
    return { packages, failed, clusters, unobserved, policyProblem, whole, occurrences }
  }
}

function getUnitKey(unit: UnitResult): string {
  return unit.state === 'failed'
    ? `${unit.cluster}\0${unit.packagePath}`
    : `${unit.unit.cluster}\0${unit.unit.packagePath}`
}

function createCounted(planned: PlannedResult, known: Counted | undefined): Counted {
  const { unit, plan } = planned
  const { report } = plan
  return {
    cluster: known?.cluster ?? formatLoggableName(unit.cluster),
    package: known?.package ?? formatLoggableName(unit.packageName),
    fingerprints: new Set(report.spec.changes.map(({ fingerprint }) => fingerprint)),
    ended: indexEnded(indexEpisodes(planned).values()),
    ignored: countIgnored(report),
  }
}

/** An earlier process counted the ledger's content. */
function createBaseline(
  { observation: { git } }: PlannedResult,
  { cluster, package: name }: Counted,
): Counted {
  const { report, closed } = git.ledger
  const fingerprints = new Set(report?.spec.changes.map(({ fingerprint }) => fingerprint))
  return {
    cluster,
    package: name,
    fingerprints,
    ended: indexEnded(closed),
    ignored: countIgnored(report),
  }
}

function indexEnded(episodes: Iterable<ClosedEpisode>): Counted['ended'] {
  return new Map(
    [...episodes].map(({ spec, status }) => [
      spec.episode,
      { verified: status.verifiedAt !== undefined },
    ]),
  )
}

function countIgnored(report: DriftReport | undefined): ReadonlyMap<string, number> {
  const ignored = report?.status.setAside?.filter(({ state }) => state === 'Ignored') ?? []
  return countBy(ignored, ({ rule = '' }) => (rule.startsWith(PRESET) ? 'preset' : 'rule'))
}

function findUrl(
  { plan, observation }: PlannedResult,
  { proposals }: TurnResult,
): string | undefined {
  const proposal =
    proposals.get(plan.branch) ?? observation.proposals.get(`refs/heads/${plan.branch}`)
  return proposal?.url || undefined
}

function createPackageNumbers(
  unit: PlannedResult,
  { cluster, package: name }: Counted,
  url: string | undefined,
): PackageNumbers {
  const { plan, observation } = unit
  const { report, record, branch } = plan
  const { state, lifecycle, held, plan: wanted } = report.status
  const drifting = DRIFTING.has(state)
  const began = record?.spec.began ?? report.status.since
  return {
    cluster,
    package: name,
    mode: observation.policy.mode,
    state,
    syncer: getSyncerName(observation),
    objects: countBy(observation.verdicts, (verdict) => verdict.state),
    drifted: drifting ? countRisks(observation.verdicts) : new Map(),
    driftedSince: state === 'Drifted' ? parseSeconds(began) : undefined,
    restoreFailed: restoreFailed(unit),
    held: held?.reason,
    proposal:
      branch === '' || lifecycle === '' || lifecycle === 'Published'
        ? undefined
        : {
            branch,
            state: lifecycle === 'Draft' ? 'draft' : 'open',
            plan: wanted || 'none',
            url: url === undefined ? undefined : formatLoggableName(url, 500),
          },
  }
}

function getSyncerName({ syncer }: PlannedResult['observation']): string | undefined {
  return syncer === undefined ? undefined : (findSyncerOfManager(syncer.manager) ?? 'other')
}

/** Includes episodes that a command ended. */
function indexEpisodes({ plan, observation }: PlannedResult): ReadonlyMap<string, ClosedEpisode> {
  const episodes = [
    ...observation.git.ledger.closed,
    ...plan.outcomes.map(({ episode }) => episode),
  ]
  return new Map(episodes.map((episode) => [episode.spec.episode, episode]))
}

/** Each decision replaces the earlier approval. */
function restoreFailed(unit: PlannedResult): boolean {
  const latest = [...indexEpisodes(unit).values()]
    .filter(({ status }) => status.outcome === 'Merged')
    .at(-1)
  return latest?.status.failedAt !== undefined && latest.status.verifiedAt === undefined
}

function countRisks(verdicts: readonly ObjectVerdict[]): ReadonlyMap<string, number> {
  const drifted = verdicts.filter(({ items }) => items.length > 0)
  return countBy(drifted, ({ items }) => findWorstRisk(items))
}

function findWorstRisk(items: readonly Pick<Drift, 'risk'>[]): Risk {
  return RISKS.find((risk) => items.some((item) => item.risk === risk)) ?? 'low'
}

function listOccurrences(
  unit: PlannedResult,
  before: Counted,
  now: Counted,
): readonly Occurrence[] {
  const { cluster, package: name } = now
  const { report } = unit.plan
  const fresh = report.spec.changes.filter(
    ({ fingerprint }) => !before.fingerprints.has(fingerprint),
  )
  const objects = Map.groupBy(
    fresh,
    ({ ref }) => `${ref.group}/${ref.kind}/${ref.namespace}/${ref.name}`,
  )
  const detected = [...objects.values()].map((changes) =>
    createDetected(changes, { cluster, package: name }),
  )
  const syncer = getSyncerName(unit.observation)
  const ended = [...indexEpisodes(unit).values()].flatMap((episode) =>
    listEndedOccurrences(episode, { before, now, syncer }),
  )
  const suppressed = [...now.ignored].flatMap(([rule, count]): Occurrence[] => {
    const more = count - (before.ignored.get(rule) ?? 0)
    return more > 0 ? [{ kind: 'suppressed', rule, count: more }] : []
  })
  return [...detected, ...ended, ...suppressed]
}

/** However many of its fields changed. */
function createDetected(
  changes: readonly Change[],
  place: { readonly cluster: Loggable; readonly package: Loggable },
): Occurrence {
  const risk = findWorstRisk(changes)
  const actorClass = changes.find((change) => change.risk === risk)?.actor.class ?? 'unknown'
  return { kind: 'detected', ...place, risk, actorClass }
}

function listEndedOccurrences(
  { spec, status }: ClosedEpisode,
  {
    before,
    now,
    syncer,
  }: { readonly before: Counted; readonly now: Counted; readonly syncer: string | undefined },
): readonly Occurrence[] {
  const { cluster, package: name } = now
  const known = before.ended.get(spec.episode)
  const resolution = status.outcome === 'Merged' ? spec.plan : status.outcome
  const seconds = DECIDED.has(status.outcome)
    ? parseSeconds(status.at) - parseSeconds(spec.proposedAt ?? spec.began)
    : undefined
  // A published draft decides nothing.
  const resolved = known === undefined && status.outcome !== 'Published'
  const restores = status.outcome === 'Merged' && (spec.plan === 'Restore' || spec.plan === 'Mixed')
  const restored = restores && status.verifiedAt !== undefined && known?.verified !== true
  return [
    ...(resolved
      ? [{ kind: 'resolved', cluster, package: name, resolution, seconds } as const]
      : []),
    ...(restored
      ? [
          {
            kind: 'restored',
            syncer,
            seconds: parseSeconds(status.verifiedAt ?? '') - parseSeconds(status.at),
          } as const,
        ]
      : []),
  ]
}

function parseSeconds(time: string): number {
  const milliseconds = Date.parse(time)
  return Number.isNaN(milliseconds) ? 0 : milliseconds / 1_000
}

export function countBy<Item>(
  items: readonly Item[],
  wordOf: (item: Item) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(wordOf(item), (counts.get(wordOf(item)) ?? 0) + 1)
  return counts
}
