import { FAILURE_CODES, type FailureCode } from '@backporch/kyaml/failure'
import { describeResourceId } from '@backporch/kyaml/resource'
import { compareText } from '@backporch/kyaml/text'
import { RISKS } from '../../../drift/compare/drift.ts'
import { describeRule, isActive } from '../../../drift/noise/ignore-rules.ts'
import {
  deriveEffectivePolicy,
  deriveRepositoryLimits,
  getClusterDetection,
} from '../../../policy/effective-policy.ts'
import type { PolicySet } from '../../../policy/parse-policy.ts'
import type {
  DashboardProposal,
  DashboardSubject,
  DashboardUnit,
  UndecidedUnit,
} from '../../../proposal/text/dashboard-subject.ts'
import { getDriftId } from '../../../proposal/text/dashboard-ticks.ts'
import { explainNotAdoptable } from '../../../proposal/text/proposal-subject.ts'
import type { ClosedEpisode } from '../../../record/documents/closed-episode.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { getUnitName } from '../../../record/unit-name.ts'
import { findWorstRisk } from '../../observation/closed-episode.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import type { LedgerContent } from '../../observation/ledger-after.ts'
import { createStaleNotes } from './listed-rules.ts'

export interface DashboardInput {
  readonly ledger: LedgerContent
  readonly policies: PolicySet
  readonly notObserved: readonly { readonly cluster: string; readonly code: FailureCode }[]
  /** By the id of their episode; for a proposal of many clusters, that of one of them. */
  readonly proposals: ReadonlyMap<string, DashboardProposal>
  /** By the unit's folder in the ledger. */
  readonly urlOf: (folder: string) => string
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
}

interface Row {
  readonly report: DriftReport
  readonly unit: DashboardUnit
}

export function buildDashboard(
  input: DashboardInput,
): Omit<DashboardSubject, 'dialect' | 'version'> {
  const { ledger, policies, now } = input
  const rows = [...ledger.reports]
    .map(([folder, report]): Row => ({ report, unit: createDashboardUnit(folder, report, input) }))
    .sort(compareUrgency)
  const of = (...states: readonly DriftReport['status']['state'][]): readonly Row[] =>
    rows.filter(({ report: { status } }) =>
      states.includes(status.lastKnown?.state ?? status.state),
    )
  const open = of('Drifted').filter(({ report }) => report.status.lifecycle === 'Proposed')
  const drafts = of('Drifted').filter(({ report }) => report.status.lifecycle === 'Draft')
  const limits = deriveRepositoryLimits(policies)
  const { lastGood } = policies
  return {
    ...(lastGood === undefined
      ? {}
      : { policyProblem: { ...lastGood.problem, commit: lastGood.commit } }),
    packages: rows.length,
    clusters: new Set(rows.map(({ unit }) => unit.cluster)).size,
    newsAt: rows
      .map(({ report }) => report.spec.observed.at)
      .reduce((latest, at) => (at > latest ? at : latest), ''),
    drifted: of('Drifted', 'Silenced', 'Applying').length,
    undecided: open
      .filter(({ report }) => report.status.snoozedUntil === undefined)
      .map((row) => createUndecidedUnit(row, input)),
    held: of('Drifted').flatMap(({ report, unit }) => {
      const { held, lifecycle } = report.status
      // While values are withheld there is no draft either.
      if (held === undefined || lifecycle === 'Proposed') return []
      // No checkbox opens what waits for the policy, or for a rule of the repository.
      const id =
        held.reason === 'policy' || held.reason === 'refused'
          ? undefined
          : getDriftId(report.spec.fingerprint)
      return [{ ...unit, id, why: held.why, until: held.until }]
    }),
    snoozed: open.flatMap(({ report, unit }) => {
      const until = report.status.snoozedUntil
      return until === undefined ? [] : [{ ...unit, proposal: getProposal(report, input), until }]
    }),
    silenced: of('Silenced').map(({ report, unit }) => ({
      ...unit,
      id: getDriftId(report.spec.fingerprint),
      ...getClose(report, ledger),
    })),
    recorded: drafts
      .filter(({ report }) => report.status.held === undefined)
      .map(({ unit }) => unit),
    failed: of('Drifted', 'Applying').flatMap(({ report, unit }) => {
      const merged = findFailedMerge(report, ledger)
      return merged === undefined
        ? []
        : [{ ...unit, mergedAt: merged.status.at, revision: merged.status.revision }]
    }),
    stuck: rows.flatMap(({ report, unit }) => {
      const { stuckSince, setAside = [] } = report.status
      const why = setAside.find((aside) => aside.stuckSince !== undefined)?.why ?? ''
      return stuckSince === undefined ? [] : [{ ...unit, stuckSince: stuckSince || undefined, why }]
    }),
    notAdoptable: (lastGood?.withheld === undefined ? open : []).flatMap(({ report, unit }) =>
      listNotAdoptable(report, unit),
    ),
    notObserved: [
      ...listLostClusters(input),
      ...rows.filter((row) => isNotRead(row, input)).map(createNotRead),
    ],
    ignores: listIgnores(policies, now.slice(0, 10)),
    staleRules: createStaleNotes(policies, [...ledger.reports.values()], now.slice(0, 10)).map(
      ({ text }) => text,
    ),
    limits: { hourly: limits.prHourlyLimit, concurrent: limits.prConcurrentLimit },
  }
}

function createDashboardUnit(
  folder: string,
  { spec, status }: DriftReport,
  { urlOf }: DashboardInput,
): DashboardUnit {
  return {
    cluster: spec.unit.cluster,
    packageName: getUnitName(spec.unit),
    changes: spec.changes.length,
    risk: findWorstRisk(spec.changes) ?? 'low',
    since: status.since,
    url: urlOf(folder),
  }
}

function createUndecidedUnit({ report, unit }: Row, input: DashboardInput): UndecidedUnit {
  const { policies, now } = input
  const proposal = getProposal(report, input)
  const { remindAfter, escalateAfter } = deriveEffectivePolicy(
    policies,
    report.spec.unit.cluster,
    report.spec.unit.package,
  )
  // Time while held does not count as waiting for a decision.
  const opened = proposal.openedAt ?? unit.since
  const steps = Math.floor((Date.parse(now) - Date.parse(opened)) / 1_000 / escalateAfter)
  return {
    ...unit,
    proposal,
    plan: report.status.plan === '' ? 'Restore' : report.status.plan,
    waits: addSeconds(opened, remindAfter) <= now,
    ...(steps >= 1 ? { overdue: steps * escalateAfter } : {}),
  }
}

function compareUrgency({ unit: left }: Row, { unit: right }: Row): number {
  return (
    RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) ||
    compareText(left.since, right.since) ||
    compareText(left.cluster, right.cluster) ||
    compareText(left.packageName, right.packageName)
  )
}

function getProposal({ status }: DriftReport, { proposals }: DashboardInput): DashboardProposal {
  const id = parseBranchEpisode(status.branch) ?? status.episode
  return proposals.get(id) ?? { label: undefined, url: '' }
}

export function parseBranchEpisode(branch: string | undefined): string | undefined {
  return /\/drift-([^/]+)$/.exec(branch ?? '')?.[1]
}

function getClose(
  { spec }: DriftReport,
  { closed }: LedgerContent,
): { readonly by: string | undefined; readonly at: string; readonly until: string } {
  const own = [...closed.values()].filter(
    (one) => one.spec.fingerprint === spec.fingerprint && one.status.outcome === 'Declined',
  )
  const last = own.sort((left, right) => compareText(left.status.at, right.status.at)).at(-1)
  return {
    by: last?.status.decidedBy || undefined,
    at: last?.status.at ?? '',
    until: last?.status.silentUntil ?? '',
  }
}

/** A merge that live did not match in time, and does not match now. */
function findFailedMerge(
  { spec }: DriftReport,
  { closed }: LedgerContent,
): ClosedEpisode | undefined {
  const { cluster, package: path } = spec.unit
  return [...closed.values()]
    .filter(({ spec: { unit }, status }) => {
      return (
        unit.cluster === cluster &&
        unit.package === path &&
        status.failedAt !== undefined &&
        status.verifiedAt === undefined
      )
    })
    .sort((left, right) => compareText(left.status.at, right.status.at))
    .at(-1)
}

function listNotAdoptable(
  report: DriftReport,
  unit: DashboardUnit,
): DashboardSubject['notAdoptable'] {
  return report.spec.changes.flatMap((change) => {
    const why = explainNotAdoptable(change, new Map())
    const { cluster, packageName } = unit
    return why === undefined
      ? []
      : [
          {
            cluster,
            packageName,
            object: describeResourceId(change.ref),
            field: change.path,
            why,
          },
        ]
  })
}

/** The words of an error may change, its code does not. */
function listLostClusters({
  notObserved,
  ledger,
  policies,
  now,
}: DashboardInput): DashboardSubject['notObserved'] {
  const known = [...ledger.clusters].flatMap(([cluster, { status }]) =>
    status.failure === undefined ? [] : [{ cluster, ...status.failure }],
  )
  const never = notObserved.flatMap(({ cluster, code }) =>
    ledger.clusters.has(cluster)
      ? []
      : [{ cluster, since: undefined, code, why: FAILURE_CODES[code] }],
  )
  return [...known, ...never]
    .flatMap(({ cluster, since, code, why }) => {
      const recent =
        since !== undefined &&
        addSeconds(since, getClusterDetection(policies, cluster, 'unobservedAfter')) > now
      return recent ? [] : [{ cluster, packageName: undefined, since, why: `${why} (${code})` }]
    })
    .sort((left, right) => compareText(left.cluster, right.cluster))
}

/** A cluster that cannot be observed represents its packages. */
function isNotRead({ report: { spec, status } }: Row, { ledger }: DashboardInput): boolean {
  return (
    status.state === 'Unknown' && ledger.clusters.get(spec.unit.cluster)?.status.reachable !== false
  )
}

function createNotRead({
  report: { spec, status },
  unit,
}: Row): DashboardSubject['notObserved'][number] {
  const [first] = status.incomplete ?? []
  return {
    cluster: unit.cluster,
    packageName: unit.packageName,
    since: spec.observed.at,
    why: first?.why ?? 'not everything could be read',
  }
}

function listIgnores({ policies }: PolicySet, today: string): DashboardSubject['ignores'] {
  return policies.flatMap(({ ignore }) =>
    ignore.flatMap((rule) => {
      if (!isActive(rule, today)) return []
      return [
        {
          about: describeRule(rule),
          where: rule.where,
          reason: rule.reason,
          expires: rule.expires,
        },
      ]
    }),
  )
}
