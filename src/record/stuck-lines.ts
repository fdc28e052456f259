import type { DriftReport } from './schema.ts'
import { unitName } from './unit-name.ts'

/** For each unit of which the syncer is late, one line for each thing that it did not apply. */
export function stuckLines(reports: readonly DriftReport[]): readonly string[] {
  return reports.flatMap(({ spec: { unit }, status: { setAside = [] } }) => {
    const late = setAside.filter(({ stuckSince }) => stuckSince !== undefined)
    return [...Map.groupBy(late, ({ why }) => why)].map(
      ([why, { length }]) => `${unitName(unit)} in ${unit.cluster}: ${why} (${length} ${length === 1 ? 'difference' : 'differences'})`,
    )
  })
}
