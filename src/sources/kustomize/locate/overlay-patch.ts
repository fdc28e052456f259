/**
 * For values that a unit shares with others, in its topmost kustomization: an entry of `images` or
 * `replicas`, a field in an existing patch, or a new patch. A build proves each candidate.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, valueAt } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { metadataText } from '@backporch/kyaml/resource'
import { splitReference } from '@backporch/kyaml/text'
import { textAt } from '@backporch/kyaml/yaml'
import {
  documentsOf,
  fields,
  index,
  isAt,
  pathOf,
  type SourceDocument,
  syncerLayers,
} from '../../build/adopt/source-document.ts'
import type { BuiltSource } from '../../build/built-source.ts'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import { editAt, type SourceCandidate, type SourceLocations } from '../../locate/candidate.ts'
import { folderOf, joined } from '../files/kustomization-walk.ts'
import { kustomizationOf, type SourceFiles } from '../files/kustomize-build.ts'
import { shownImage } from './kustomize-fields.ts'
import { type Patch, patchesOf } from './kustomize-patches.ts'
import {
  listOf,
  mergedPath,
  mergePatches,
  movesItems,
  type OverlaidField,
  operationOf,
  type PatchedObject,
} from './patch-texts.ts'

type Overlay = Pick<BuiltSource, 'files' | 'folder' | 'synced' | 'isTaken'>

interface PatchList {
  readonly document: SourceDocument
  readonly at: FieldPath
  /** Undefined if patches are inline. */
  readonly folder: string | undefined
}

const VIA = 'overlay'

/**
 * Groups in order, each with one edit for all fields; they count if the authored location has other
 * readers.
 * @throws Failure BP1110 or BP1111 if a file cannot be read
 */
export function overlayLocations(
  overlay: Overlay,
  desired: DesiredResource,
  changed: readonly OverlaidField[],
): readonly SourceLocations[] {
  const object = { desired, identity: identityOf(desired, overlay.files) }
  if (changed.some((each) => isImageOfSyncer(overlay, desired, each))) return []
  const candidates = patchLists(overlay).flatMap((list) => [
    ...entryIn(list, object, changed),
    ...patchesIn(list, overlay.files)
      .flatMap((patch) => inPatch(patch, object, changed))
      .slice(0, 1),
    ...newPatches(list, overlay, object, mergePatches(object, changed)),
  ])
  return groupsOf(candidates)
}

/** A patch with that name would disable the renaming. */
function isImageOfSyncer(
  { files, folder, synced }: Overlay,
  desired: DesiredResource,
  { path, wanted }: OverlaidField,
): boolean {
  if (synced === undefined) return false
  const layers = syncerLayers(files, { folder, build: synced })
  return shownImage(layers, { desired, path, wanted, declaredName: '' }) !== undefined
}

export function overlayRemoval(
  overlay: Overlay,
  desired: DesiredResource,
): readonly SourceLocations[] {
  const object = { desired, identity: identityOf(desired, overlay.files) }
  const patch = { $patch: 'delete', ...object.identity }
  return groupsOf(patchLists(overlay).flatMap((list) => newPatches(list, overlay, object, [patch])))
}

function groupsOf(candidates: readonly SourceCandidate[]): readonly SourceLocations[] {
  return candidates.map((candidate) => ({
    candidates: [candidate],
    obstacles: [],
    onlyWhereShared: true,
  }))
}

function patchLists({ files, folder, synced }: Overlay): readonly PatchList[] {
  const path = kustomizationOf(folder, files)
  const [own] = path === undefined ? [] : documentsOf(path, files)
  const first = own === undefined ? [] : [{ document: own, at: [], folder }]
  const { declared, builder } = synced ?? {}
  if (declared === undefined || builder === undefined || !('kustomization' in builder.way))
    return first
  const resource = files.has(declared.path)
    ? documentsOf(declared.path, files)[declared.document]
    : undefined
  const at = pathOf([...(declared.maker?.template ?? []), ...builder.fields])
  return resource === undefined ? first : [...first, { document: resource, at, folder: undefined }]
}

function identityOf({ object, location }: DesiredResource, files: SourceFiles): JsonObject {
  const document =
    location.step === undefined && files.has(location.path)
      ? documentsOf(location.path, files)[location.document]
      : undefined
  const at = location.item === undefined ? [] : [...fields('items'), index(location.item)]
  const declared = document?.valueAt(at)
  const from = isJsonObject(declared) ? declared : object
  const namespace = metadataText(from, 'namespace')
  return {
    apiVersion: getKey(from, 'apiVersion') ?? '',
    kind: getKey(from, 'kind') ?? '',
    metadata: {
      name: metadataText(from, 'name'),
      ...(namespace === '' ? {} : { namespace }),
    },
  }
}

function candidateOf(
  { document }: Pick<PatchList, 'document'>,
  what: string,
  edits: readonly FileEdit[],
  texts?: ReadonlyMap<string, string>,
): SourceCandidate {
  return {
    via: VIA,
    what: `${what} (${document.path})`,
    edits,
    ...(texts === undefined ? {} : { texts }),
  }
}

function entryIn(
  list: PatchList,
  { desired, identity }: PatchedObject,
  changed: readonly OverlaidField[],
): readonly SourceCandidate[] {
  const [only, ...more] = changed
  // A syncer resource has these fields in its own forms.
  if (only === undefined || more.length > 0 || list.folder === undefined) return []
  const { path, wanted } = only
  if (isAt(path, 'spec', 'replicas') && typeof wanted === 'number')
    return [
      candidateOf(list, 'an entry of replicas', [
        appended(list, 'replicas', { name: metadataText(identity, 'name'), count: wanted }),
      ]),
    ]
  const [last, now] = [path.at(-1), valueAt(desired.object, path)]
  if (last?.kind !== 'field' || last.name !== 'image') return []
  if (typeof now !== 'string' || typeof wanted !== 'string') return []
  const [was, is] = [splitReference(now), splitReference(wanted)]
  const entry = {
    name: was.name,
    ...(is.name === was.name ? {} : { newName: is.name }),
    ...(is.tag === '' ? {} : { newTag: is.tag }),
    ...(is.digest === '' ? {} : { digest: is.digest }),
  }
  return [candidateOf(list, 'an entry of images', [appended(list, 'images', entry)])]
}

function appended({ document, at }: PatchList, name: string, entry: Json): FileEdit {
  const path = [...at, ...fields(name)]
  const before = document.valueAt(path)
  return isJsonArray(before) && before.length > 0
    ? document.edit([...path, index(before.length)], entry)
    : document.edit(path, [entry])
}

function patchesIn({ document, at, folder }: PatchList, files: SourceFiles): readonly Patch[] {
  const kustomization =
    at.length === 0 ? document : document.inside(at, folder ?? folderOf(document.path))
  return kustomization === undefined ? [] : patchesOf(kustomization, files)
}

function inPatch(
  patch: Patch,
  object: PatchedObject,
  changed: readonly OverlaidField[],
): readonly SourceCandidate[] {
  return patch.documents.flatMap((document): readonly SourceCandidate[] => {
    if (!isOf(patch, document, object)) return []
    const list = document.valueAt([])
    const end = isJsonArray(list) ? list.length : undefined
    const edits = changed.flatMap(({ path, wanted }, at) => {
      if (end === undefined) {
        if (movesItems(object, path, wanted) && document.valueAt(listOf(path)) === undefined)
          return []
        const merged = mergedPath(object, path, wanted)
        return [editAt(document.number, merged.path, merged.value)]
      }
      const operation = operationOf(object, path, wanted)
      return operation === undefined ? [] : [editAt(document.number, [index(end + at)], operation)]
    })
    return edits.length < changed.length
      ? []
      : [{ via: VIA, what: `the patch (${patch.where})`, edits: patch.edits(edits) }]
  })
}

function isOf({ target }: Patch, { root }: SourceDocument, { identity }: PatchedObject): boolean {
  const [kind, name] = [getKey(identity, 'kind'), metadataText(identity, 'name')]
  const isNamed = textAt(root, 'kind') === kind && textAt(root, 'metadata', 'name') === name
  if (target === undefined) return isNamed
  return getKey(target, 'kind') === kind && (isNamed || getKey(target, 'name') === name)
}

/** As the list's other patches: inline if all of them are, otherwise in a separate file. */
function newPatches(
  list: PatchList,
  { files, isTaken = () => false }: Overlay,
  { identity }: PatchedObject,
  patches: readonly Json[],
): readonly SourceCandidate[] {
  const [kind, name] = [String(getKey(identity, 'kind')), metadataText(identity, 'name')]
  const before = patchesIn(list, files)
  const areInline = before.length > 0 && before.every(({ inline }) => inline !== undefined)
  return patches.map((patch) => {
    const text = writeDocument(patch)
    const target = isJsonArray(patch) ? { target: { kind, name } } : {}
    const beside = before.find(({ inline }) => inline === undefined)?.where
    const file =
      list.folder === undefined || areInline
        ? undefined
        : joined(
            beside !== undefined && isBelow(beside, list.folder) ? folderOf(beside) : list.folder,
            // RBAC names contain colons, which some systems do not allow in a file name.
            `${kind}-${name}-patch.yaml`.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-'),
          )
    if (file === undefined || files.has(file) || isTaken(file))
      return candidateOf(list, 'a new patch', [
        appended(list, 'patches', { ...target, patch: text }),
      ])
    const path = file.slice(
      list.folder === undefined || list.folder === '' ? 0 : list.folder.length + 1,
    )
    return candidateOf(
      list,
      'a new patch',
      [appended(list, 'patches', { path, ...target })],
      new Map([[file, text]]),
    )
  })
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}
