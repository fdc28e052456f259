import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import { getTextAt, isJsonEqual, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey, parseApiVersion } from '@backporch/kyaml/resource'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import type { Rendered } from '../../edits/prove-edit.ts'
import { findKustomizationPath, type SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import type { BuildLibrary } from '../../programs/package-builder.ts'
import { computeEach } from '../../programs/questions.ts'
import type { BuiltSource, SyncerBuild } from '../built-source.ts'
import type { BuiltUnit, SharingUnit } from '../built-unit.ts'
import { convertAnswer, parsePrintedResources } from '../read-built.ts'
import { applyFileVariables } from '../syncer-object.ts'
import { collectChangedFiles } from './source-edits.ts'

export interface Sharing {
  readonly unit: SharingUnit
  readonly moved: readonly MovedField[]
}

/** @throws Failure of the build, or BP111x of its output */
export function getBuiltObjects(library: BuildLibrary, source: BuiltSource): Rendered {
  const answer = convertAnswer(source, library)
  if ('failure' in answer) throw new Failure(answer.failure)
  return indexByKey(parsePrintedResources(source, answer.text))
}

/** @throws Unanswered with all builds that have to run first */
export function assertBuilt(library: BuildLibrary, sources: readonly BuiltSource[]): void {
  computeEach(sources, (source) => convertAnswer(source, library))
}

export function listOtherReadingUnits(
  built: BuiltUnit,
  files: SourceFiles,
): readonly SharingUnit[] {
  return listReaders(built, files).filter((unit) => !isOwnRelease(built, unit))
}

export function isOwnRelease(built: BuiltUnit, { source }: SharingUnit): boolean {
  return source?.parent !== undefined && mayApply(built.source, source)
}

function listReaders({ source, others }: BuiltUnit, files: SourceFiles): readonly SharingUnit[] {
  const changed = [...collectChangedFiles(source.files, files).keys()]
  return others.filter((unit) =>
    changed.some((path) => unit.files.has(path) || readsNew(unit, path)),
  )
}

/**
 * Units that the edit would change: all of them, or enough to know that there is one. A value that one reader has is mostly one that all of
 * them have, so the first one is built before the others. @throws Unanswered
 */
export function findSharingUnits(
  built: BuiltUnit,
  files: SourceFiles,
  most: 'all' | 'one' = 'one',
): readonly Sharing[] {
  const readers = listReaders(built, files)
  const [first = [], others = []] =
    most === 'all' ? [readers] : [readers.slice(0, 1), readers.slice(1)]
  const moved = listMovedInUnits(built, files, first)
  return moved.length > 0 ? moved : listMovedInUnits(built, files, others)
}

function listMovedInUnits(
  { source, library }: BuiltUnit,
  files: SourceFiles,
  readers: readonly SharingUnit[],
): readonly Sharing[] {
  const changed = [...collectChangedFiles(source.files, files).keys()]
  const edited = (unit: SharingUnit): BuiltSource | undefined =>
    unit.source === undefined
      ? undefined
      : {
          ...unit.source,
          files: applyChanges(unit.source.files, { before: source.files, after: files }, changed),
        }
  assertBuilt(
    library,
    readers.flatMap((unit) =>
      [unit.source, edited(unit)].flatMap((each) => (each === undefined ? [] : [each])),
    ),
  )
  return readers.flatMap((unit) => {
    const moved = listMovedIn(unit.source, edited(unit), library, source)
    return moved === undefined ? [] : [{ unit, moved }]
  })
}

/** Undefined if the unit does not change; empty if a change cannot be named. */
function listMovedIn(
  was: BuiltSource | undefined,
  is: BuiltSource | undefined,
  library: BuildLibrary,
  source: BuiltSource,
): readonly MovedField[] | undefined {
  if (was === undefined || is === undefined) return []
  const [before, after] = [convertAnswer(was, library), convertAnswer(is, library)]
  // A unit that cannot be built, before and after, feeds no cluster.
  if ('failure' in before) return undefined
  if ('failure' in after) return []
  if (before.text === after.text && isJsonEqual(getVariables(was), getVariables(is)))
    return undefined
  // The value is authored in the syncer's resource; its change is what its own unit has to apply.
  const { synced } = source
  const own = synced === undefined || !mayApply(was, source) ? [] : listOwnKeys(synced)
  const edited = indexByKey(parsePrintedResources(is, after.text))
  const moved = new RenderedBefore(indexByKey(parsePrintedResources(was, before.text)), [])
    .listOtherMoves(edited)
    .filter(({ resource }) => !own.includes(getResourceKey(resource.id)))
  const all = selectMovedByEdit(moved, was, edited, library)
  return all.length === 0 ? undefined : all
}

function getVariables({ synced, files }: BuiltSource): JsonObject {
  return Object.fromEntries(synced === undefined ? [] : applyFileVariables(synced, files).variables)
}

/**
 * After a hand edit of the resource, the cluster's version differs from git in fields that the file
 * edit does not touch.
 */
function selectMovedByEdit(
  moved: readonly MovedField[],
  was: BuiltSource,
  edited: Rendered,
  library: BuildLibrary,
): readonly MovedField[] {
  if (moved.length === 0 || was.parent === undefined) return moved
  const source = { ...was, asDeclared: true }
  const declared = convertAnswer(source, library)
  if ('failure' in declared) return moved
  const touched = new RenderedBefore(indexByKey(parsePrintedResources(source, declared.text)), [])
    .listOtherMoves(edited)
    .map(getPlace)
  return moved.filter((each) => touched.includes(getPlace(each)))
}

function getPlace({ resource, path }: MovedField): string {
  return `${getResourceKey(resource.id)}#${formatFieldPath(path)}`
}

/** Another overlay may have a resource of the same name for another cluster. */
function mayApply({ folder, synced }: BuiltSource, { parent }: BuiltSource): boolean {
  return (
    parent === undefined ||
    (folder === parent.folder &&
      synced?.title === parent.synced?.title &&
      synced?.declared?.path === parent.synced?.declared?.path)
  )
}

function listOwnKeys({ object, inputs = [] }: SyncerBuild): readonly string[] {
  const { group } = parseApiVersion(getTextAt(object, 'apiVersion'))
  const [namespace, name] = [getMetadataText(object, 'namespace'), getMetadataText(object, 'name')]
  return [
    getResourceKey({ group, kind: getTextAt(object, 'kind'), namespace, name }),
    ...inputs.map(getResourceKey),
  ]
}

/** Flux lists the files of a folder without a kustomization. */
function readsNew({ source }: SharingUnit, path: string): boolean {
  if (
    source?.synced === undefined ||
    findKustomizationPath(source.folder, source.files) !== undefined
  )
    return false
  return source.folder === '' || path.startsWith(`${source.folder}/`)
}

/** An edited kustomization may name a new file. */
function applyChanges(
  own: SourceFiles,
  edited: { readonly before: SourceFiles; readonly after: SourceFiles },
  changed: readonly string[],
): SourceFiles {
  const files = new Map(own)
  for (const path of changed) {
    if (!own.has(path) && edited.before.has(path)) continue
    const file = edited.after.get(path)
    if (file === undefined) files.delete(path)
    else files.set(path, file)
  }
  return files
}

function indexByKey(resources: ReturnType<typeof parsePrintedResources>): Rendered {
  return new Map(resources.map((resource) => [getResourceKey(resource.id), resource]))
}
