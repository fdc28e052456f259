import type { FoundPackage } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { choosePackages } from '../repository/manifest-folders.ts'
import { listClusterPackages, type RepositoryView } from '../repository/repository-view.ts'
import type { UnitSelection } from './turn-request.ts'

/** @throws Failure BP1011 if no placement names the cluster */
export async function chooseUnits(
  view: RepositoryView,
  cluster: string,
  { packages: names, only }: UnitSelection,
  signal: AbortSignal,
): Promise<readonly FoundPackage[]> {
  const wanted = only?.get(cluster) ?? 'all'
  if (wanted !== 'all' && wanted.size === 0) return []
  const all = await listAllUnits(view, cluster, names, signal)
  return wanted === 'all' ? all : all.filter(({ path }) => wanted.has(path))
}

async function listAllUnits(
  view: RepositoryView,
  cluster: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly FoundPackage[]> {
  const all = await choosePackages(view, names, signal)
  if (names.length > 0) return all
  const own = listClusterPackages(view, cluster)
  if (own.length > 0) return own
  if (view.policies.placements.length > 0) throw createNothingPlacedFailure(cluster)
  return choosePackages({ ...view, packages: own }, names, signal)
}

/** More likely a typo than a cluster without packages. "No drift" would hide it. */
function createNothingPlacedFailure(cluster: string): Failure {
  return new Failure({
    code: 'BP1011',
    what: `no placement puts a package into ${cluster}`,
    why: 'no placement of the repository matches this cluster and an existing package',
    remedy:
      'name the cluster as the placements do with --cluster, name packages on the command line, or add a placement',
    retry: 'on-change',
  })
}
