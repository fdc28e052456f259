/**
 * Nothing is known of units without a readable report, so they are Unknown
 * (docs/adr/0026-what-status-knows.md).
 */
import { packageSlug } from '@backporch/kpt/package'
import { firstReport } from '../../plan/unit/unobserved.ts'
import { placedPackages } from '../../policy/effective-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { ledgerUnitFolder } from '../../record/record-paths.ts'
import type { RepositoryView } from './repository-view.ts'

const REPORT = /^(clusters\/([^/]+)\/([^/]+))\/report\.yaml$/

/**
 * By the unit's folder in the ledger. Includes units of a cluster that a placement names and that
 * was never observed.
 */
export function unreportedUnits(view: RepositoryView): ReadonlyMap<string, DriftReport> {
  const { packages, policies, clusters, reports, ledgerTree, base } = view
  const paths = new Map(packages.map(({ path }) => [packageSlug(path, ''), path]))
  const folders = new Set(
    packages.flatMap(({ path, source }) => (source === 'folder' ? [path] : [])),
  )
  const observed = new Set([
    ...clusters.keys(),
    ...[...reports.values()].map(({ spec }) => spec.unit.cluster),
  ])
  const unknown = (cluster: string, path: string): DriftReport =>
    firstReport(
      {
        unit: {
          cluster,
          package: path,
          ...(folders.has(path) ? { source: 'folder' } : {}),
          commit: base,
          tree: '',
        },
        code: 'BP3018',
      },
      '',
    )
  const broken = ledgerTree.flatMap(({ path }): [string, DriftReport][] => {
    const [, folder = '', cluster = '', slug = ''] = REPORT.exec(path) ?? []
    if (folder === '' || reports.has(folder)) return []
    const name = [...observed].find((each) => ledgerUnitFolder(each, slug) === folder) ?? cluster
    return [[folder, unknown(name, paths.get(slug) ?? slug)]]
  })
  const named = policies.placements
    .flatMap(({ spec }) => spec.clusters)
    .filter((cluster) => !cluster.includes('*') && !observed.has(cluster))
  const unseen = [...new Set(named)].flatMap((cluster) =>
    (placedPackages(policies, cluster, [...paths.values()]) ?? []).map(
      (path): [string, DriftReport] => [
        ledgerUnitFolder(cluster, packageSlug(path, '')),
        unknown(cluster, path),
      ],
    ),
  )
  return new Map([...unseen, ...broken])
}
