/** Which other clusters run the same package, as the ledger has them. */
import { pathSegment } from '../../../record/record-paths.ts'
import type { Unit } from '../../observation/observation.ts'
import type { TurnView } from '../../observation/turn-view.ts'
import type { UnitResult } from '../../unit/unit-result.ts'

const REPORT = /^clusters\/([^/]+)\/([^/]+)\/report\.yaml$/

/**
 * Sorted. Names as path segments: a name that is no plain file name has a hash behind it.
 * @param units of the turn, which the ledger may not have yet
 */
export function unitClusters({ ledgerTree }: TurnView, { cluster, slug }: Unit, units: readonly UnitResult[]): string[] {
  const known = ledgerTree.flatMap(({ path }) => {
    const [, other, own] = REPORT.exec(path) ?? []
    return other === undefined || own !== slug ? [] : [other]
  })
  const here = units.flatMap((one) => (one.state === 'planned' && one.unit.slug === slug ? [pathSegment(one.unit.cluster)] : []))
  return [...new Set([...known, ...here])].filter((other) => other !== pathSegment(cluster)).sort()
}
