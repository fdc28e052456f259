import { isKustomizationFile } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { readRenders } from '../../../policy/effective-policy.ts'
import {
  type BuiltSource,
  type Declaration,
  isLocated,
  mapVariablePlaces,
  type SyncerBuild,
} from '../../../sources/build/built-source.ts'
import type { SharingUnit } from '../../../sources/build/built-unit.ts'
import { RENDERED_BY_KPT, type RenderChoice } from '../../../sources/build/render-choice.ts'
import type { FilesRead } from '../../../sources/build/source.ts'
import { isSameResource } from '../../../sources/build/syncer-object.ts'
import { type CommitFiles, createListedFiles } from '../../../sources/commit/commit-files.ts'
import {
  findKustomizationPath,
  type SourceFiles,
} from '../../../sources/kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../../../sources/kustomize/kustomize-tool.ts'
import {
  readKustomization,
  type WalkedKustomization,
} from '../../../sources/kustomize/read-kustomization.ts'
import { describeChoice, getSource, isSameChoice } from '../../../sources/registry.ts'
import { keepPromise } from '../keep-promise.ts'
import type { RepositoryView } from '../repository-view.ts'
import { type DeclaredSource, readDeclaredSources } from './declared-syncers.ts'
import { isInside } from './unit-source.ts'

interface ViewSources {
  readonly files: CommitFiles
  readonly walks: Map<string, Promise<WalkedKustomization>>
  readonly reads: Map<NamedUnit, Promise<FilesRead>>
  readonly units: readonly NamedUnit[]
  /** In files for any cluster, by the policies that chose the units. */
  readonly declared: WeakMap<RepositoryView['policies'], Promise<readonly DeclaredUnit[]>>
  readonly policies: RepositoryView['policies']
}

interface NamedUnit {
  readonly path: string
  readonly choice: RenderChoice
  readonly name: string
}

interface DeclaredUnit extends NamedUnit {
  readonly declared: DeclaredSource
}

const known = new WeakMap<RepositoryView['tree'], ViewSources>()

function getViewSources(view: RepositoryView): ViewSources {
  const { repository, tree, policies } = view
  const before = known.get(tree)
  const sources: ViewSources =
    before?.policies === policies
      ? before
      : {
          files: before?.files ?? createListedFiles(repository, tree),
          walks: before?.walks ?? new Map(),
          reads: new Map(),
          units: listNamedUnits(view),
          declared: new WeakMap(),
          policies,
        }
  known.set(tree, sources)
  return sources
}

function readDeclaredOnce(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<readonly DeclaredUnit[]> {
  return keepPromise(getViewSources(view).declared, view.policies, () =>
    readDeclaredUnits(view, signal),
  )
}

/** A unit is compared with itself, so the cluster's inputs do not matter. */
const NO_ANSWERS = {
  variables: undefined,
  values: [],
  release: undefined,
  parent: undefined,
}

async function readDeclaredUnits(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<readonly DeclaredUnit[]> {
  const found = await readDeclaredSources(view, signal)
  return found.map((declared) => {
    const { source, at, isOneOfSeveral } = declared
    const choice: RenderChoice = { tool: source.tool, build: source.build(NO_ANSWERS) }
    const place = isOneOfSeveral ? ` of ${at.path}` : ''
    const name = `${source.folder || '.'} (${source.title}${place})`
    return { declared, choice, name, path: source.folder }
  })
}

/**
 * Without the unit itself, and units that are named anyway. Of several files with one resource
 * name, one is the unit.
 */
function listOtherDeclared(
  declared: readonly DeclaredUnit[],
  named: readonly NamedUnit[],
  { synced, folder }: BuiltSource,
): readonly DeclaredUnit[] {
  const builds = named.flatMap(({ choice }) => describeChoice(choice).synced ?? [])
  const own = declared.find(({ declared: { at } }) => isDeclaredAt(synced?.declared, at))
  const unit =
    own ?? declared.find(({ declared: { at } }) => synced !== undefined && isBuiltFrom(at, synced))
  return declared.filter((each) => {
    const { source, at, isOneOfSeveral } = each.declared
    if (each === unit || (source.folder === '' && folder !== '')) return false
    if (synced === undefined && source.folder === folder) return false
    return isOneOfSeveral || !builds.some((build) => isBuiltFrom(at, build))
  })
}

function isBuiltFrom({ object }: DeclaredSource['at'], build: SyncerBuild): boolean {
  return isSameResource(object, build.object)
}

function isDeclaredAt(declared: Declaration | undefined, at: DeclaredSource['at']): boolean {
  return declared?.path === at.path && declared.document === at.document
}

function listNamedUnits({ packages, policies }: RepositoryView): readonly NamedUnit[] {
  return packages.flatMap((found) => {
    const every = readRenders(policies, found.path)
    const choices =
      every.length > 1 ? every.filter((choice) => !isSameChoice(choice, RENDERED_BY_KPT)) : every
    const shown = found.path || '.'
    return choices.map((choice) => ({
      path: found.path,
      choice,
      name: choices.length === 1 ? shown : `${shown} (${describeChoice(choice).title})`,
    }))
  })
}

export function getViewFiles(view: RepositoryView): CommitFiles {
  return getViewSources(view).files
}

/**
 * Readers in any cluster: a base of several overlays, an overlay of another cluster, a package that
 * is another's base. Includes every other kustomization, because its applier may be in an
 * unobserved cluster.
 * @param own the unit's choice
 * @throws Failure BP40xx if git fails
 */
export async function listSharingUnits(
  view: RepositoryView,
  source: BuiltSource,
  own: RenderChoice,
  signal: AbortSignal,
): Promise<readonly SharingUnit[]> {
  // A source that is never edited affects no other unit.
  if (!isLocated(source)) return []
  const sharing: SharingUnit[] = []
  for (const named of getViewSources(view).units) {
    if (named.path === source.packagePath && isSameChoice(named.choice, own)) continue
    const unit = await findSharingUnit(view, named, source, signal)
    if (unit !== undefined && unit.files.size > 0) sharing.push(unit)
  }
  const top = findKustomizationPath(source.folder, source.files)
  const { units } = getViewSources(view)
  for (const named of listOtherDeclared(await readDeclaredOnce(view, signal), units, source)) {
    const unit = await findSharingUnit(view, named, source, signal)
    if (unit === undefined || unit.files.size === 0) continue
    if (source.synced === undefined && top !== undefined && unit.files.has(top)) continue
    sharing.push(unit)
  }
  const built = new Set(sharing.flatMap((unit) => unit.source?.folder ?? []))
  for (const folder of listKustomizationFolders(view)) {
    // The unit's own kustomizations, and one that contains the whole unit, are no other readers.
    if (built.has(folder) || findKustomizationPath(folder, source.files) !== undefined) continue
    const unit = await readBuiltFolder(
      view,
      { packagePath: folder, folder, name: folder || '.' },
      [...source.files.keys()],
      signal,
    )
    if (unit !== undefined && unit.files.size > 0 && (top === undefined || !unit.files.has(top)))
      sharing.push(unit)
  }
  return sharing
}

interface OtherReader {
  readonly name: string
  readonly files: readonly string[]
}

/**
 * Syncer resources of other clusters, and top-level kustomizations.
 * @throws Failure BP40xx if git fails
 */
export async function listOtherReaders(
  view: RepositoryView,
  edited: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly OtherReader[]> {
  const { units } = getViewSources(view)
  const declared = await readDeclaredOnce(view, signal)
  const applied = new Set(units.flatMap((unit) => listDeclaredAs(declared, unit)))
  const others = declared.filter((unit) => unit.path !== '' && !applied.has(unit))
  const using: ReadsFile[] = []
  for (const unit of units) using.push(await findFilesRead(view, unit, signal))
  const found: OtherReader[] = []
  const add = (name: string, reads: ReadsFile): void =>
    void found.push({ name, files: [...edited].filter(reads).sort() })
  for (const unit of others) {
    const reads = await findFilesRead(view, unit, signal)
    using.push(reads)
    add(unit.name, reads)
  }
  const built: { readonly folder: string; readonly files: SourceFiles }[] = []
  for (const folder of listKustomizationFolders(view)) {
    const walked = await skipRefused(walkOnce(view, folder, signal))
    if (walked?.failures.length === 0 && [...edited].some((path) => walked.files.has(path)))
      built.push({ folder, files: walked.files })
  }
  for (const { folder, files } of built) {
    const top = findKustomizationPath(folder, files) ?? ''
    const isBelow = built.some((each) => each.folder !== folder && each.files.has(top))
    if (!isBelow && !using.some((reads) => reads(top)))
      add(folder || '.', (path) => files.has(path))
  }
  return found.filter(({ files }) => files.length > 0)
}

type ReadsFile = (path: string) => boolean

async function findFilesRead(
  view: RepositoryView,
  named: NamedUnit,
  signal: AbortSignal,
): Promise<ReadsFile> {
  if (describeChoice(named.choice).reads !== 'named files')
    return (path) => isInside(path, named.path)
  const read = await skipRefused(readOnce(view, named, signal))
  return read?.failures.length === 0 ? (path) => read.paths.has(path) : () => false
}

/**
 * A source that is too large or broken is no reader.
 * @throws Failure BP40xx if git fails
 */
async function skipRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code.startsWith('BP40')) throw thrown
    return undefined
  }
}

function listDeclaredAs(
  declared: readonly DeclaredUnit[],
  { path, choice }: NamedUnit,
): readonly DeclaredUnit[] {
  const { synced, reads } = describeChoice(choice)
  if (synced === undefined)
    return reads === 'named files' ? declared.filter((unit) => unit.path === path) : []
  const found =
    declared.find(({ declared: { at } }) => isDeclaredAt(synced.declared, at)) ??
    declared.find(({ declared: { at } }) => isBuiltFrom(at, synced))
  return found === undefined ? [] : [found]
}

function listKustomizationFolders({ tree }: RepositoryView): readonly string[] {
  const folders = tree.flatMap(({ path }) => {
    return isKustomizationFile(path) ? [path.slice(0, Math.max(0, path.lastIndexOf('/')))] : []
  })
  return [...new Set(folders)]
}

/** Undefined if it cannot be built: it then feeds no cluster. */
async function readBuiltFolder(
  view: RepositoryView,
  { name, ...at }: Pick<BuiltSource, 'packagePath' | 'folder'> & { readonly name: string },
  read: readonly string[],
  signal: AbortSignal,
): Promise<SharingUnit | undefined> {
  const walked = await walkOnce(view, at.folder, signal)
  if (walked.failures.length > 0) return undefined
  const source = {
    ...at,
    package: [],
    tool: KUSTOMIZE_TOOL,
    files: walked.files,
    command: [],
  } as const
  return { name, files: new Set(read.filter((path) => walked.files.has(path))), source }
}

async function findSharingUnit(
  view: RepositoryView,
  named: NamedUnit,
  source: BuiltSource,
  signal: AbortSignal,
): Promise<SharingUnit | undefined> {
  const { path: own, choice, name } = named
  const paths = [...source.files.keys()]
  if (describeChoice(choice).reads !== 'named files')
    return {
      name,
      files: new Set(paths.filter((path) => isInside(path, own))),
      source: undefined,
    }
  const read = await readOnce(view, named, signal)
  if (read.failures.length > 0) return undefined
  // Only an edit of another file than the ConfigMap itself is a surprise for readers of its
  // variables.
  const forVariables = listVariableFiles(describeChoice(choice).synced, own)
  const alsoHere = listVariableFiles(source.synced, source.folder)
  const isOther = (path: string): boolean => forVariables.has(path) && !alsoHere.has(path)
  const files = paths.filter((path) => read.paths.has(path) && !isOther(path))
  return { name, files: new Set(files), source: read.source }
}

function listVariableFiles(build: SyncerBuild | undefined, folder: string): ReadonlySet<string> {
  const places = build === undefined ? [] : [...mapVariablePlaces(build).values()]
  const paths = places.map(({ path }) => path)
  return new Set(paths.filter((path) => folder !== '' && !path.startsWith(`${folder}/`)))
}

function readOnce(view: RepositoryView, named: NamedUnit, signal: AbortSignal): Promise<FilesRead> {
  const { path, choice } = named
  const { files, reads } = getViewSources(view)
  return keepPromise(reads, named, () =>
    getSource(choice).filesRead(files, { packagePath: path, files: [], choice }, signal),
  )
}

function walkOnce(
  view: RepositoryView,
  folder: string,
  signal: AbortSignal,
): Promise<WalkedKustomization> {
  const { files, walks } = getViewSources(view)
  return keepPromise(walks, folder, () => readKustomization(files, folder, signal))
}
