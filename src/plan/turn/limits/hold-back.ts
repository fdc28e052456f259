import { deriveRepositoryLimits } from '../../../policy/effective-policy.ts'
import type { DashboardTicks } from '../../../proposal/text/dashboard-ticks.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { findPolicyHold, type Hold } from '../../observation/hold.ts'
import type { LedgerContent } from '../../observation/ledger-after.ts'
import { formatUnitKey } from '../../observation/planned-unit.ts'
import type { TurnView } from '../../observation/turn-view.ts'
import type { UnitResult } from '../../unit/unit-result.ts'
import { openProposals } from './open-proposals.ts'
import { planHolds } from './plan-limits.ts'
import { findStorm, getCurrentBranch, listNewlyDrifting, type Storm } from './storm.ts'

export interface HeldBack {
  readonly holds: ReadonlyMap<string, Hold>
  readonly storm: Storm | undefined
}

export const NOTHING_HELD: HeldBack = { holds: new Map(), storm: undefined }

export interface HoldContext {
  readonly view: TurnView
  readonly ledger: LedgerContent
  readonly ticks: DashboardTicks
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
}

export function planUnitHolds(
  units: readonly UnitResult[],
  { view, ledger: { reports }, ticks, now }: HoldContext,
): HeldBack {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const isNew = planned.some(
    ({ plan, observation }) =>
      plan.report.status.lifecycle === 'Proposed' &&
      !observation.git.refs.has(`refs/heads/${plan.branch}`),
  )
  if (!isNew) return NOTHING_HELD
  const limits = deriveRepositoryLimits(view.policies)
  const branches = new Map<DriftReport, string>(
    planned.map(({ plan }) => [plan.report, plan.branch]),
  )
  const here = new Set(planned.map(({ unit }) => formatUnitKey(unit.cluster, unit.packagePath)))
  const elsewhere = [...reports.values()].filter(
    ({ spec: { unit } }) => !here.has(formatUnitKey(unit.cluster, unit.package)),
  )
  const all = [...branches.keys(), ...elsewhere]
  const storm = findStorm(
    listNewlyDrifting(all, now),
    all,
    limits,
    (report) => branches.get(report) ?? getCurrentBranch(report),
  )
  const holds = planHolds({
    units: planned,
    limits,
    policy: findPolicyHold(view.policies),
    proposals: openProposals(view, planned, now),
    storm,
    requested: new Set([...ticks.open, ...ticks.raise]),
    now,
  })
  return { holds, storm }
}
