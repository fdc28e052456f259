/** Plans a turn within the limits of the repository: what waits is planned again as a draft, which says why. */
import type { Hold } from '../plan/limits/hold.ts'
import { openProposals } from '../plan/limits/open-proposals.ts'
import { planHolds } from '../plan/limits/plan-limits.ts'
import { findStorm, newlyDrifting, type Storm, standingBranch } from '../plan/limits/storm.ts'
import { unitKey } from '../plan/turn/planned-unit.ts'
import type { UnitResult } from '../plan/turn/unit-result.ts'
import { repositoryLimits } from '../policy/effective-policy.ts'
import type { DriftReport } from '../record/schema.ts'
import type { Board } from './repository/board.ts'
import type { RepositoryView } from './repository/repository-view.ts'

export const NO_HOLDS: ReadonlyMap<string, Hold> = new Map()

export interface HeldBack {
  /** By `unitKey`. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly storm: Storm | undefined
}

export const NOTHING_HELD: HeldBack = { holds: NO_HOLDS, storm: undefined }

/** @param now RFC 3339 UTC, the latest observation; units as planned without any hold */
export async function holdsOf(units: readonly UnitResult[], view: RepositoryView, board: Board, now: string): Promise<HeldBack> {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const isNew = planned.some(
    ({ plan, observation }) => plan.report.status.lifecycle === 'Proposed' && !observation.git.refs.has(`refs/heads/${plan.branch}`),
  )
  if (!isNew) return NOTHING_HELD
  const limits = repositoryLimits(view.policies)
  const branches = new Map<DriftReport, string>(planned.map(({ plan }) => [plan.report, plan.branch]))
  const here = new Set(planned.map(({ unit }) => unitKey(unit.cluster, unit.packagePath)))
  const { reports } = await board.ledger()
  const elsewhere = [...reports.values()].filter(({ spec: { unit } }) => !here.has(unitKey(unit.cluster, unit.package)))
  const all = [...branches.keys(), ...elsewhere]
  const storm = findStorm(newlyDrifting(all, now), all, limits, (report) => branches.get(report) ?? standingBranch(report))
  const holds = planHolds({
    units: planned,
    limits,
    proposals: openProposals(view.refs, view.proposals, view.closed, planned, now),
    storm,
    asked: new Set([...board.ticks.open, ...board.ticks.raise]),
    now,
  })
  return { holds, storm }
}
