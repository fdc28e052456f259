/** Which other clusters run the same package, as the ledger has them. */
import type { Unit } from '../plan/observation.ts'
import { pathSegment } from '../record/record-paths.ts'
import type { RepositoryView } from './repository-view.ts'

const REPORT = /^clusters\/([^/]+)\/([^/]+)\/report\.yaml$/

/** Names as path segments: a name that is no plain file name has a hash behind it. */
export function unitClusters({ ledgerTree }: RepositoryView, { cluster, slug }: Unit): string[] {
  return ledgerTree.flatMap(({ path }) => {
    const [, other, own] = REPORT.exec(path) ?? []
    return other === undefined || own !== slug || other === pathSegment(cluster) ? [] : [other]
  })
}
