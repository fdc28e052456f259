/**
 * Nothing is known of units without a readable report, so they are Unknown
 * (docs/adr/0026-what-status-knows.md).
 */
import { derivePackageSlug } from '@backporch/kpt/package'
import { createFirstReport } from '../../plan/unit/unobserved.ts'
import { listPlacedPackages } from '../../policy/effective-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { formatLedgerUnitFolder } from '../../record/record-paths.ts'
import type { RepositoryView } from './repository-view.ts'

const REPORT = /^(clusters\/([^/]+)\/([^/]+))\/report\.yaml$/

/**
 * By the unit's folder in the ledger. Includes units of a cluster that a placement names and that
 * was never observed.
 */
export function findUnreportedUnits(view: RepositoryView): ReadonlyMap<string, DriftReport> {
  const { packages, policies, clusters, reports, ledgerTree, base } = view
  const paths = new Map(packages.map(({ path }) => [derivePackageSlug(path, ''), path]))
  const folders = new Set(
    packages.flatMap(({ path, source }) => (source === 'folder' ? [path] : [])),
  )
  const observed = new Set([
    ...clusters.keys(),
    ...[...reports.values()].map(({ spec }) => spec.unit.cluster),
  ])
  const unknown = (cluster: string, path: string): DriftReport =>
    createFirstReport(
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
    const [, folder, cluster = '', slug = ''] = REPORT.exec(path) ?? []
    if (folder === undefined || reports.has(folder)) return []
    const name =
      [...observed].find((each) => formatLedgerUnitFolder(each, slug) === folder) ?? cluster
    return [[folder, unknown(name, paths.get(slug) ?? slug)]]
  })
  const named = policies.placements
    .flatMap(({ spec }) => spec.clusters)
    .filter((cluster) => !cluster.includes('*') && !observed.has(cluster))
  const unseen = [...new Set(named)].flatMap((cluster) =>
    (listPlacedPackages(policies, cluster, [...paths.values()]) ?? []).map(
      (path): [string, DriftReport] => [
        formatLedgerUnitFolder(cluster, derivePackageSlug(path, '')),
        unknown(cluster, path),
      ],
    ),
  )
  return new Map([...unseen, ...broken])
}
