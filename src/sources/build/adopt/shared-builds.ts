/** Builds of a unit with edited files, and of the other units that read them. */
import { Failure } from '@backporch/kyaml/failure'
import { textOf } from '@backporch/kyaml/json'
import { metadataText, parseApiVersion, resourceKey } from '@backporch/kyaml/resource'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import type { Rendered } from '../../edits/prove-edit.ts'
import { kustomizationOf, type SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { type BuildLibrary, MissingBuilds } from '../../programs/package-builder.ts'
import type { BuiltSource, SyncerBuild } from '../built-source.ts'
import type { BuiltUnit, SharingUnit } from '../built-unit.ts'
import { answerOf, printedResources } from '../read-built.ts'
import { changedFiles } from './source-edits.ts'

/** Another unit that an edit would change, with the fields that move in it. */
export interface Sharing {
  readonly unit: SharingUnit
  readonly moved: readonly MovedField[]
}

/** @throws Failure of the build, or BP111x of its output */
export function builtObjects(library: BuildLibrary, source: BuiltSource): Rendered {
  const answer = answerOf(source, library)
  if ('failure' in answer) throw new Failure(answer.failure)
  return byKey(printedResources(source, answer.text))
}

/** @throws MissingBuilds with all builds that have to run first */
export function assertBuilt(library: BuildLibrary, sources: readonly BuiltSource[]): void {
  const missing = sources.flatMap((source) => {
    try {
      answerOf(source, library)
      return []
    } catch (thrown) {
      if (thrown instanceof MissingBuilds) return thrown.builds
      throw thrown
    }
  })
  if (missing.length > 0) throw new MissingBuilds(missing)
}

/** The first unit that the edit would change. @throws MissingBuilds */
export function sharingUnit(
  { source, library, others }: BuiltUnit,
  files: SourceFiles,
): Sharing | undefined {
  const changed = [...changedFiles(source.files, files).keys()]
  const readers = others.filter((unit) =>
    changed.some((path) => unit.files.has(path) || readsNew(unit, path)),
  )
  const edited = (unit: SharingUnit): BuiltSource | undefined =>
    unit.source === undefined
      ? undefined
      : {
          ...unit.source,
          files: withChanges(unit.source.files, { before: source.files, after: files }, changed),
        }
  assertBuilt(
    library,
    readers.flatMap((unit) =>
      [unit.source, edited(unit)].flatMap((each) => (each === undefined ? [] : [each])),
    ),
  )
  for (const unit of readers) {
    const moved = movedIn(unit.source, edited(unit), library, source.synced)
    if (moved !== undefined) return { unit, moved }
  }
  return undefined
}

/** Undefined where the unit does not change; empty where a change cannot be named. */
function movedIn(
  was: BuiltSource | undefined,
  is: BuiltSource | undefined,
  library: BuildLibrary,
  synced: SyncerBuild | undefined,
): readonly MovedField[] | undefined {
  if (was === undefined || is === undefined) return []
  const [before, after] = [answerOf(was, library), answerOf(is, library)]
  // A unit that cannot be built, before and after, feeds no cluster.
  if ('failure' in before) return undefined
  if ('failure' in after) return []
  if (before.text === after.text) return undefined
  // The resource of the syncer is where the value is authored: that it changes is what its own unit has to apply.
  const own = synced === undefined ? [] : ownKeys(synced)
  const moved = new RenderedBefore(byKey(printedResources(was, before.text)), [])
    .otherMoves(byKey(printedResources(is, after.text)))
    .filter(({ resource }) => !own.includes(resourceKey(resource.id)))
  return moved.length === 0 ? undefined : moved
}

function ownKeys({ object, inputs = [] }: SyncerBuild): readonly string[] {
  const { group } = parseApiVersion(textOf(object, 'apiVersion'))
  const [namespace, name] = [metadataText(object, 'namespace'), metadataText(object, 'name')]
  return [
    resourceKey({ group, kind: textOf(object, 'kind'), namespace, name }),
    ...inputs.map(resourceKey),
  ]
}

/** Whether a new file becomes part of the unit: Flux lists the files of a folder that has no kustomization. */
function readsNew({ source }: SharingUnit, path: string): boolean {
  if (source?.synced === undefined || kustomizationOf(source.folder, source.files) !== undefined)
    return false
  return source.folder === '' || path.startsWith(`${source.folder}/`)
}

/** The files of one unit, with the edits of another; an edited kustomization may name a new file. */
function withChanges(
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

function byKey(resources: ReturnType<typeof printedResources>): Rendered {
  return new Map(resources.map((resource) => [resourceKey(resource.id), resource]))
}
