import type { ClusterIdentity } from '@backporch/cluster/cluster'
import { readKptfile } from '@backporch/kpt/kptfile'
import {
  derivePackageSlug,
  deriveRootPackageName,
  type FoundPackage,
  PACKAGE_FILE,
} from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { Observation, Unit } from '../../plan/observation/observation.ts'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import { deriveEffectivePolicy } from '../../policy/effective-policy.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { determineApplier } from '../../status/applier.ts'
import { listClusterPackages, type RepositoryView } from '../repository/repository-view.ts'
import { readGitState } from '../repository/sources/read-git-state.ts'
import { selectUnitTree } from '../repository/sources/unit-source.ts'
import { formatPresentTime } from './observe.ts'
import type { ObservedCluster } from './observe-units.ts'
import type { ObserveRequest } from './turn-request.ts'

interface UnobservedUnits {
  readonly identity: ClusterIdentity
  readonly cluster: string
  readonly packages: readonly FoundPackage[]
}

/** Failed units of observed clusters, and units of other clusters with something open. */
export async function observeInGit(
  view: RepositoryView,
  {
    observed,
    notObserved,
  }: {
    readonly observed: readonly ObservedCluster[]
    readonly notObserved: readonly NotObserved[]
  },
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<readonly Observation[]> {
  const failed = observed.map(({ cluster, identity, units }): UnobservedUnits => {
    const paths = new Set(
      units.flatMap((unit) => (unit.state === 'failed' ? [unit.packagePath] : [])),
    )
    return { cluster, identity, packages: view.packages.filter(({ path }) => paths.has(path)) }
  })
  const lost = notObserved.map(({ cluster, at }): UnobservedUnits => {
    const identity = { uid: undefined, version: '', observedAt: at, recorded: false, namespace: '' }
    return { cluster, identity, packages: listOpenIn(view, cluster, request) }
  })
  const found: Observation[] = []
  for (const { packages, ...of } of [...failed, ...lost])
    for (const each of packages) {
      try {
        const unit = await findUnit(view, each, of.cluster, signal)
        if (unit !== undefined)
          found.push(await observeUnitInGit(view, { unit, identity: of.identity }, request, signal))
      } catch (thrown) {
        if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      }
    }
  return found
}

function listOpenIn(
  view: RepositoryView,
  cluster: string,
  { units }: ObserveRequest,
): readonly FoundPackage[] {
  if (units.packages.length > 0 || units.labels !== undefined) return []
  const wanted = units.only?.get(cluster) ?? 'all'
  const open = new Set(
    [...view.reports.values()].flatMap(({ spec, status }) =>
      spec.unit.cluster === cluster && status.lifecycle !== '' ? [spec.unit.package] : [],
    ),
  )
  return listClusterPackages(view, cluster).filter(
    ({ path }) => open.has(path) && (wanted === 'all' || wanted.has(path)),
  )
}

/** Undefined if the Kptfile with its name is unreadable. */
async function findUnit(
  view: RepositoryView,
  { path, source }: FoundPackage,
  cluster: string,
  signal: AbortSignal,
): Promise<Unit | undefined> {
  const name =
    path !== '' || source === 'folder'
      ? deriveRootPackageName(undefined)
      : await nameOfRoot(view, signal)
  if (name === undefined) return undefined
  const of = source === 'folder' ? { source } : {}
  return {
    cluster,
    packagePath: path,
    packageName: path || name,
    slug: derivePackageSlug(path, name),
    ...of,
  }
}

async function nameOfRoot(view: RepositoryView, signal: AbortSignal): Promise<string | undefined> {
  const files = view.tree.filter(({ path }) => path === PACKAGE_FILE)
  const texts = await readTexts(view.repository, files, signal)
  const read = readKptfile(texts.get(PACKAGE_FILE) ?? '', PACKAGE_FILE)
  return 'failures' in read ? undefined : deriveRootPackageName(read.kptfile.name)
}

/**
 * Contains nothing from the cluster. A branch that only a rebuild could prove to be Backporch's is
 * left alone.
 */
async function observeUnitInGit(
  view: RepositoryView,
  { unit, identity }: { readonly unit: Unit; readonly identity: ClusterIdentity },
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<Observation> {
  const { packagePath } = unit
  const files = { files: [], tree: selectUnitTree(view.tree, packagePath, []) }
  const git = await readGitState(
    { view, unit },
    files,
    { bot: request.git.bot, writes: true },
    signal,
  )
  const branches = git.branches.map((branch) =>
    branch.known === true && branch.signed !== false ? branch : { ...branch, foreign: true },
  )
  return {
    unit,
    cluster: identity,
    now: formatPresentTime(request.clock),
    syncer: undefined,
    applier: determineApplier({
      claims: [],
      live: new Map(),
      own: new Map(),
      drifts: [],
      syncer: undefined,
      packagePath,
      pipeline: false,
    }),
    verdicts: [],
    health: [],
    notHandedOver: new Set(),
    inventory: undefined,
    incomplete: [],
    pipeline: false,
    functions: request.renderer.library,
    git: { ...git, branches },
    proposals: view.proposals,
    policy: deriveEffectivePolicy(view.policies, unit.cluster, packagePath),
    key: request.key,
  }
}
