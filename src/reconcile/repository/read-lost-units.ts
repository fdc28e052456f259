import { derivePackageSlug } from '@backporch/kpt/package'
import { hashContent } from '../../plan/observation/unit-git.ts'
import type { LostUnit } from '../../plan/turn/turn-observation.ts'
import { deriveEffectivePolicy } from '../../policy/effective-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { formatLedgerUnitFolder } from '../../record/record-paths.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { getAppliedBy } from '../../sources/registry.ts'
import { listFilesBelow, type RepositoryView } from './repository-view.ts'

interface LostPackages {
  readonly cluster: string
  readonly lost: readonly string[]
  readonly isExpected: boolean
}

export async function readLostUnits(
  view: RepositoryView,
  { cluster, lost, isExpected }: LostPackages,
  signal: AbortSignal,
): Promise<readonly LostUnit[]> {
  if (lost.length === 0) return []
  const own = [...view.reports].filter(
    ([, { spec }]) => spec.unit.cluster === cluster && lost.includes(spec.unit.package),
  )
  const files = view.ledgerTree.filter(({ path }) =>
    own.some(([folder]) => path === `${folder}/resourcegroup.yaml`),
  )
  const texts = await readTexts(view.repository, files, signal)
  const known = own.map(([folder, report]) => ({
    folder,
    report,
    unit: report.spec.unit,
    resourceGroup: texts.get(`${folder}/resourcegroup.yaml`),
  }))
  const missing = lost.filter(
    (path) => isExpected && path !== '' && !own.some(([, { spec }]) => spec.unit.package === path),
  )
  const first = missing.map((path) => ({
    folder: formatLedgerUnitFolder(cluster, derivePackageSlug(path, '')),
    report: undefined,
    unit: {
      ...{ cluster, package: path, ...findKnownSource(view, cluster, path) },
      ...{
        branch: view.baseBranch,
        commit: view.base,
        tree: hashContent(listFilesBelow(view.tree, path)),
      },
    },
    resourceGroup: undefined,
  }))
  return [...known.filter(({ report }) => followsBase(report, view)), ...first]
}

function findKnownSource(
  view: RepositoryView,
  cluster: string,
  path: string,
): Pick<DriftReport['spec']['unit'], 'source' | 'appliedBy'> {
  const source = view.packages.find((found) => found.path === path)?.source
  const { render } = deriveEffectivePolicy(view.policies, cluster, path)
  return {
    ...(source === 'folder' ? { source } : {}),
    ...getAppliedBy(render),
  }
}

function followsBase(
  { spec: { unit } }: DriftReport,
  { baseBranch, refs }: RepositoryView,
): boolean {
  return (
    unit.branch === undefined ||
    unit.branch === baseBranch ||
    !refs.has(`refs/heads/${unit.branch}`)
  )
}
