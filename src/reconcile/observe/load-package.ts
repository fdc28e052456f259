import type { ClusterIdentity } from '@backporch/cluster/cluster'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import type { Kptfile } from '@backporch/kpt/kptfile'
import {
  derivePackageSlug,
  deriveRootPackageName,
  type FoundPackage,
  PACKAGE_FILE,
  ROOT_FOLDER,
} from '@backporch/kpt/package'
import { Failure, Failures } from '@backporch/kyaml/failure'
import type { Unit } from '../../plan/observation/observation.ts'
import { type Boundary, findBoundary } from '../../policy/boundary.ts'
import { deriveEffectivePolicy } from '../../policy/effective-policy.ts'
import {
  type PackageAnnotations,
  readPackageAnnotations,
} from '../../policy/package-annotations.ts'
import type { BuiltSource } from '../../sources/build/built-source.ts'
import { AS_FILES } from '../../sources/build/render-choice.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import { adjustChoice, getAppliedBy, isSameChoice } from '../../sources/registry.ts'
import { assertPlainFolder, holdsNothing } from '../repository/plain-folder.ts'
import { type RepositoryView, readFolder } from '../repository/repository-view.ts'
import type { UnitFiles } from '../repository/sources/read-git-state.ts'
import { getViewFiles } from '../repository/sources/shared-sources.ts'
import { renderUnit, selectUnitTree } from '../repository/sources/unit-source.ts'

export interface LoadedPackage {
  readonly unit: Unit
  /** Undefined for a folder. */
  readonly kptfile: Kptfile | undefined
  readonly files: UnitFiles
  readonly desired: DesiredSet
  /** While a file is unread, no object counts as unexpected. */
  readonly unread: readonly string[]
  readonly source: BuiltSource | undefined
  readonly annotations: PackageAnnotations
  /** Undefined without a placement. */
  readonly boundary: Boundary | undefined
}

interface LoadedFor {
  readonly cluster: string
  readonly identity?: Partial<Pick<ClusterIdentity, 'version' | 'apiVersions'>>
  readonly renderer: PackageRenderer
}

/** @throws Failures BP11xx, all of them */
export async function loadPackage(
  view: RepositoryView,
  found: FoundPackage,
  { cluster, identity = {}, renderer }: LoadedFor,
  signal: AbortSignal,
): Promise<LoadedPackage> {
  if (
    found.path === '' &&
    found.source === 'folder' &&
    view.packages.some(({ path }) => path === ROOT_FOLDER)
  )
    throw createTwoOfOneNameFailure()
  const read = await readFolder(view, found.path, signal)
  const { render, renderLocation } = deriveEffectivePolicy(view.policies, cluster, found.path)
  const choice = adjustChoice(render, identity)
  if (found.source === 'folder' && renderLocation === undefined && isSameChoice(choice, AS_FILES))
    assertPlainFolder(found, read.files)
  const own = { packagePath: found.path, files: read.files, choice }
  const { rendering, source, outside } = await renderUnit(getViewFiles(view), renderer, own, signal)
  if ('failures' in rendering) throw new Failures(placeAtPolicy(rendering.failures, renderLocation))
  if (found.source === 'folder' && rendering.desired.resources.length === 0)
    throw holdsNothing(found.path)
  const { desired, kptfile, unread } = rendering
  const files = { files: read.files, tree: selectUnitTree(view.tree, found.path, outside), outside }
  const name = deriveRootPackageName(kptfile?.name)
  const packageName = found.path || name
  const folder = joinFolderPath(found.path, '')
  const texts = new Map([
    ...read.files.map(({ path, content }) => [folder + path, content] as const),
    ...[...(source?.files.values() ?? [])].map(({ path, content }) => [path, content] as const),
  ])
  const textOf = (path: string): string | undefined => {
    const content = texts.get(path)
    return content === undefined ? undefined : new TextDecoder().decode(content)
  }
  return {
    unit: {
      cluster,
      packagePath: found.path,
      packageName,
      slug: derivePackageSlug(found.path, name),
      ...(found.source === 'folder' ? { source: found.source } : {}),
      ...getAppliedBy(choice),
    },
    boundary: findBoundary(view.policies, cluster, found.path),
    kptfile,
    files,
    desired,
    unread,
    source,
    annotations: readPackageAnnotations(
      { path: folder + PACKAGE_FILE, annotations: kptfile?.annotations ?? NO_ANNOTATIONS },
      desired.resources,
      textOf,
    ),
  }
}

/** They would have the same branches, tags, records and ledger files. */
function createTwoOfOneNameFailure(): Failure {
  return new Failure({
    code: 'BP4004',
    what: `the repository as a folder and the package ${ROOT_FOLDER} cannot both be compared`,
    where: '.',
    why: `the repository as a folder is also named ${ROOT_FOLDER}, so both would use the branches proposed/${ROOT_FOLDER}/drift-…`,
    remedy: `name folders of the repository instead of ".", or rename the folder ${ROOT_FOLDER}`,
    retry: 'on-change',
  })
}

const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map()

function placeAtPolicy(
  [first, ...others]: Failures['failures'],
  location: string | undefined,
): Failures['failures'] {
  const placed = (failure: Failure): Failure => {
    if (failure.code !== 'BP1208' || location === undefined) return failure
    const { code, what, where, why, remedy, retry } = failure
    return new Failure({
      code,
      what,
      where: `${location}, for ${where ?? '.'}`,
      why,
      remedy,
      retry,
    })
  }
  return [placed(first), ...others.map(placed)]
}
