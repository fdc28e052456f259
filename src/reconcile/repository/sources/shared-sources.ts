/** Which other units of the repository read the files that a unit is built from. */
import { type FoundPackage, KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { jsonEquals } from '@backporch/kyaml/json'
import { rendersOf } from '../../../policy/effective-policy.ts'
import type { SharingUnit } from '../../../sources/build/adopt/built-unit.ts'
import { type BuiltSource, isLocated } from '../../../sources/build/built-source.ts'
import { describeChoice, type RenderChoice } from '../../../sources/build/render-choice.ts'
import { plainChart } from '../../../sources/helm/chart/plain-chart.ts'
import { kustomizationOf } from '../../../sources/kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../../../sources/kustomize/kustomize-tool.ts'
import { type RepositoryView, readFolder } from '../repository-view.ts'
import { type CommitFiles, listedFiles, readKustomization, type WalkedKustomization } from './read-kustomization.ts'
import { readSyncedSource } from './read-synced.ts'
import { isInside, kustomizationFolder } from './unit-source.ts'

/** What is read once for all units of a view. */
interface ViewSources {
  readonly files: CommitFiles
  /** By folder. */
  readonly walks: Map<string, Promise<WalkedKustomization>>
  /** Every way in which some cluster may render a package. */
  readonly units: readonly NamedUnit[]
  /** That chose them. */
  readonly policies: RepositoryView['policies']
}

interface NamedUnit {
  readonly found: FoundPackage
  readonly choice: RenderChoice
  readonly name: string
}

const known = new WeakMap<RepositoryView['tree'], ViewSources>()

function sourcesOf(view: RepositoryView): ViewSources {
  const { repository, tree, policies } = view
  const before = known.get(tree)
  // The syncers of a cluster may name other units of the same commit.
  const sources: ViewSources =
    before?.policies === policies
      ? before
      : { files: before?.files ?? listedFiles(repository, tree), walks: before?.walks ?? new Map(), units: unitsOf(view), policies }
  known.set(tree, sources)
  return sources
}

function unitsOf({ packages, policies }: RepositoryView): readonly NamedUnit[] {
  return packages.flatMap((found) => {
    const every = rendersOf(policies, found.path)
    // Where policies choose for clusters, what the others would do by default feeds no cluster that anybody named.
    const choices = every.length > 1 ? every.filter(({ tool }) => tool !== 'kpt') : every
    const path = found.path || '.'
    return choices.map((choice) => ({ found, choice, name: choices.length === 1 ? path : `${path} (${describeChoice(choice)})` }))
  })
}

/** The files of the base commit. */
export function filesOfView(view: RepositoryView): CommitFiles {
  return sourcesOf(view).files
}

/**
 * By the policies for any cluster: a base of several overlays, an overlay of another cluster in the same package, a
 * package of its own that is another package's base too. And every other kustomization of the repository: what applies it may be in a cluster
 * that is not observed.
 * @throws Failure BP40xx when git fails
 */
export async function sharedWith(view: RepositoryView, source: BuiltSource, signal: AbortSignal): Promise<readonly SharingUnit[]> {
  // What is never edited moves nobody else.
  if (!isLocated(source)) return []
  const sharing: SharingUnit[] = []
  for (const named of sourcesOf(view).units) {
    const unit = await sharingUnit(view, named, source, signal)
    if (unit !== undefined && unit.files.size > 0) sharing.push(unit)
  }
  const built = new Set(sharing.flatMap((unit) => unit.source?.folder ?? []))
  const top = kustomizationOf(source.folder, source.files)
  for (const folder of kustomizationFolders(view)) {
    // One that the unit itself is built through is no reader beside it, and neither is one that has the whole unit.
    if (built.has(folder) || kustomizationOf(folder, source.files) !== undefined) continue
    const unit = await builtFolder(view, { packagePath: folder, folder, name: folder || '.' }, [...source.files.keys()], signal)
    if (unit !== undefined && unit.files.size > 0 && (top === undefined || !unit.files.has(top))) sharing.push(unit)
  }
  return sharing
}

function kustomizationFolders({ tree }: RepositoryView): readonly string[] {
  const folders = tree.flatMap(({ path }) => {
    const end = path.lastIndexOf('/')
    return KUSTOMIZATION_NAMES.includes(path.slice(end + 1)) ? [end === -1 ? '' : path.slice(0, end)] : []
  })
  return [...new Set(folders)]
}

/** A folder that kustomize builds; undefined for one that cannot be built, which feeds no cluster. */
async function builtFolder(
  view: RepositoryView,
  { name, ...at }: Pick<BuiltSource, 'packagePath' | 'folder'> & { readonly name: string },
  read: readonly string[],
  signal: AbortSignal,
): Promise<SharingUnit | undefined> {
  const walked = await walkOnce(view, at.folder, signal)
  if (walked.failures.length > 0) return undefined
  const source = { ...at, package: [], tool: KUSTOMIZE_TOOL, files: walked.files, command: [] } as const
  return { name, files: new Set(read.filter((path) => walked.files.has(path))), source }
}

async function sharingUnit(
  view: RepositoryView,
  { found, choice, name }: NamedUnit,
  source: BuiltSource,
  signal: AbortSignal,
): Promise<SharingUnit | undefined> {
  const read = [...source.files.keys()]
  if (choice.tool === 'syncer' || choice.tool === 'helm') {
    const build = choice.tool === 'helm' ? plainChart(choice, found.path) : choice.build
    // A policy is read anew for each cluster, the resource of a syncer once.
    const isOwn = choice.tool === 'helm' ? jsonEquals(source.synced?.object, build.object) : source.synced === build
    if (found.path === source.packagePath && isOwn) return undefined
    const { files } = await readFolder(view, found.path, signal)
    const read = await readSyncedSource(sourcesOf(view).files, { packagePath: found.path, files }, build, signal)
    if (read.failures.length > 0) return undefined
    return { name, files: new Set([...source.files.keys()].filter((path) => read.source.files.has(path))), source: read.source }
  }
  if (choice.tool !== 'kustomize') return { name, files: new Set(read.filter((path) => isInside(path, found.path))), source: undefined }
  const folder = kustomizationFolder(found.path, choice.path)
  if (folder === source.folder && found.path === source.packagePath) return undefined
  return builtFolder(view, { packagePath: found.path, folder, name }, read, signal)
}

function walkOnce(view: RepositoryView, folder: string, signal: AbortSignal): Promise<WalkedKustomization> {
  const { files, walks } = sourcesOf(view)
  const walk = walks.get(folder) ?? readKustomization(files, folder, signal)
  walks.set(folder, walk)
  return walk
}
