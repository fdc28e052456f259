/** Plans a turn within the limits of the repository: what waits is planned again as a draft, which says why. */
import type { Hold } from '../plan/hold.ts'
import { openProposals } from '../plan/open-proposals.ts'
import { planHolds } from '../plan/plan-limits.ts'
import { unitKey } from '../plan/planned-unit.ts'
import { isStorm, newlyDrifting } from '../plan/storm.ts'
import { repositoryLimits } from '../policy/effective-policy.ts'
import type { DriftReport } from '../record/schema.ts'
import type { Board } from './board.ts'
import type { RepositoryView } from './repository-view.ts'
import type { UnitResult } from './unit-result.ts'

export const NO_HOLDS: ReadonlyMap<string, Hold> = new Map()

/** @returns holds by `unitKey`. @param now RFC 3339 UTC, the latest observation; units as planned without any hold */
export async function holdsOf(
  units: readonly UnitResult[],
  view: RepositoryView,
  board: Board,
  now: string,
): Promise<ReadonlyMap<string, Hold>> {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const isNew = planned.some(
    ({ plan, observation }) => plan.report.status.lifecycle === 'Proposed' && !observation.git.refs.has(`refs/heads/${plan.branch}`),
  )
  if (!isNew) return NO_HOLDS
  const limits = repositoryLimits(view.policies)
  const branches = new Map<DriftReport, string>(planned.map(({ plan }) => [plan.report, plan.branch]))
  const here = new Set(planned.map(({ unit }) => unitKey(unit.cluster, unit.packagePath)))
  const { reports } = await board.ledger()
  const elsewhere = [...reports.values()].filter(({ spec: { unit } }) => !here.has(unitKey(unit.cluster, unit.package)))
  const drifting = newlyDrifting([...branches.keys(), ...elsewhere], now)
  return planHolds({
    units: planned,
    limits,
    proposals: openProposals(view.refs, view.proposals, view.closed, planned, now),
    storm: isStorm(drifting, limits.stormThreshold, (report) => branches.get(report) ?? ''),
    asked: new Set([...board.ticks.open, ...board.ticks.raise]),
    now,
  })
}
