/** Which other units of the repository read the files that a unit is built from. */
import type { FoundPackage } from '../../package/find-packages.ts'
import { rendersOf } from '../../policy/effective-policy.ts'
import type { SharingUnit } from '../../proposal/adopt/kustomize-input.ts'
import { plainChart } from '../../render/helm/plain-chart.ts'
import type { BuiltSource } from '../../render/kustomize/read-built.ts'
import { describeChoice, type RenderChoice } from '../../render/render-choice.ts'
import { jsonEquals } from '../../text/json.ts'
import { type CommitFiles, listedFiles, readKustomization, type WalkedKustomization } from '../sources/read-kustomization.ts'
import { readSyncedSource } from '../sources/read-synced.ts'
import { type RepositoryView, readFolder } from './repository-view.ts'
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
 * package of its own that is another package's base too.
 * @throws Failure BP40xx when git fails
 */
export async function sharedWith(view: RepositoryView, source: BuiltSource, signal: AbortSignal): Promise<readonly SharingUnit[]> {
  // The output of a command is never edited.
  if (source.tool === 'command') return []
  const sharing: SharingUnit[] = []
  for (const named of sourcesOf(view).units) {
    const unit = await sharingUnit(view, named, source, signal)
    if (unit !== undefined && unit.files.size > 0) sharing.push(unit)
  }
  return sharing
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
  const walked = await walkOnce(view, folder, signal)
  // A folder that cannot be built feeds no cluster.
  if (walked.failures.length > 0) return undefined
  const other = { packagePath: found.path, package: [], tool: choice.tool, folder, files: walked.files, command: [] }
  return { name, files: new Set(read.filter((path) => walked.files.has(path))), source: other }
}

function walkOnce(view: RepositoryView, folder: string, signal: AbortSignal): Promise<WalkedKustomization> {
  const { files, walks } = sourcesOf(view)
  const walk = walks.get(folder) ?? readKustomization(files, folder, signal)
  walks.set(folder, walk)
  return walk
}
