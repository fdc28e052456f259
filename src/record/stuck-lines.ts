import type { DriftReport, UnitState } from './documents/drift-report.ts'
import { getUnitName } from './unit-name.ts'

export function formatStuckLines(reports: readonly DriftReport[]): readonly string[] {
  return reports.flatMap(({ spec: { unit }, status: { setAside = [] } }) => {
    const late = setAside.filter(({ stuckSince }) => stuckSince !== undefined)
    return [...Map.groupBy(late, ({ why }) => why)].map(
      ([why, { length }]) =>
        `${getUnitName(unit)} in ${unit.cluster}: ${why} (${length} ${length === 1 ? 'difference' : 'differences'})`,
    )
  })
}

export function stateWord(state: UnitState | 'Ignored' | 'Released'): string {
  return state.replace(/(?<=[a-z])(?=[A-Z])/, ' ').toLowerCase()
}
