/**
 * Edits values that a unit shares with others in its topmost kustomization: an entry of `images` or
 * `replicas`, a field in an existing patch, or a new patch. A build proves each candidate.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import {
  findNonEmptyText,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import { omitUndefined, splitReference } from '@backporch/kyaml/text'
import { findTextAt } from '@backporch/kyaml/yaml'
import {
  convertToFieldPath,
  index,
  isAt,
  listSyncerLayers,
  makePath,
  readSourceDocuments,
  type SourceDocument,
} from '../../build/adopt/source-document.ts'
import type { BuiltSource } from '../../build/built-source.ts'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import { createEditAt, type SourceCandidate, type SourceLocations } from '../../locate/candidate.ts'
import { getParentFolder, joinFolderPath } from '../files/kustomization-walk.ts'
import { findKustomizationPath, type SourceFiles } from '../files/kustomize-build.ts'
import { findShownImage } from './kustomize-fields.ts'
import { listPatches, type Patch } from './kustomize-patches.ts'
import {
  buildOperation,
  deriveMergedPath,
  getListPath,
  mergePatches,
  movesItems,
  type OverlaidField,
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
  const object = { desired, identity: getDeclaredIdentity(desired, overlay.files) }
  if (changed.some((each) => isImageOfSyncer(overlay, desired, each))) return []
  const candidates = patchLists(overlay, desired).flatMap((list) => [
    ...createEntryCandidates(list, object, changed),
    ...readPatchesIn(list, overlay.files)
      .flatMap((patch) => findInPatch(patch, object, changed))
      .slice(0, 1),
    ...createNewPatches(list, overlay, object, mergePatches(object, changed)),
  ])
  return groupCandidates(candidates)
}

/** A patch with that name would disable the renaming. */
function isImageOfSyncer(
  { files, folder, synced }: Overlay,
  desired: DesiredResource,
  { path, wanted }: OverlaidField,
): boolean {
  if (synced === undefined) return false
  const layers = listSyncerLayers(files, { folder, build: synced })
  return findShownImage(layers, { desired, path, wanted, declaredName: '' }) !== undefined
}

export function overlayRemoval(
  overlay: Overlay,
  desired: DesiredResource,
): readonly SourceLocations[] {
  const object = { desired, identity: getDeclaredIdentity(desired, overlay.files) }
  const patch = { $patch: 'delete', ...object.identity }
  return groupCandidates(
    patchLists(overlay, desired).flatMap((list) =>
      createNewPatches(list, overlay, object, [patch]),
    ),
  )
}

function groupCandidates(candidates: readonly SourceCandidate[]): readonly SourceLocations[] {
  return candidates.map((candidate) => ({
    candidates: [candidate],
    obstacles: [],
    onlyWhereShared: true,
  }))
}

function patchLists(
  { files, folder, synced }: Overlay,
  { location }: DesiredResource,
): readonly PatchList[] {
  const path = findTopmostKustomization(folder, location.path, files)
  const [own] = path === undefined ? [] : readSourceDocuments(path, files)
  const first =
    path === undefined || own === undefined
      ? []
      : [{ document: own, at: [], folder: getParentFolder(path) }]
  const { declared, builder } = synced ?? {}
  if (declared === undefined || builder === undefined || !('kustomization' in builder.way))
    return first
  const resource = files.has(declared.path)
    ? readSourceDocuments(declared.path, files)[declared.document]
    : undefined
  const at = convertToFieldPath([...(declared.generator?.template ?? []), ...builder.fields])
  return resource === undefined ? first : [...first, { document: resource, at, folder: undefined }]
}

/**
 * Without one in its folder, Flux builds those below: the manifests of its own controllers are
 * patched in `flux-system/kustomization.yaml`
 * (https://fluxcd.io/flux/installation/configuration/bootstrap-customization/).
 */
function findTopmostKustomization(
  folder: string,
  path: string,
  files: SourceFiles,
): string | undefined {
  const own = findKustomizationPath(folder, files)
  if (own !== undefined || !path.startsWith(joinFolderPath(folder, ''))) return own
  const below = path.slice(joinFolderPath(folder, '').length).split('/').slice(0, -1)
  return below
    .map((_, depth) => joinFolderPath(folder, below.slice(0, depth + 1).join('/')))
    .map((each) => findKustomizationPath(each, files))
    .find((found) => found !== undefined)
}

function getDeclaredIdentity(
  { object, location }: DesiredResource,
  files: SourceFiles,
): JsonObject {
  const document =
    location.step === undefined && files.has(location.path)
      ? readSourceDocuments(location.path, files)[location.document]
      : undefined
  const at = location.item === undefined ? [] : [...makePath('items'), index(location.item)]
  const declared = document?.getValueAt(at)
  const from = isJsonObject(declared) ? declared : object
  const namespace = findNonEmptyText(from, 'metadata', 'namespace')
  return {
    apiVersion: getKey(from, 'apiVersion') ?? '',
    kind: getKey(from, 'kind') ?? '',
    metadata: {
      name: getMetadataText(from, 'name'),
      ...omitUndefined({ namespace }),
    },
  }
}

function createCandidate(
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

function createEntryCandidates(
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
      createCandidate(list, 'an entry of replicas', [
        appendEntry(list, 'replicas', { name: getMetadataText(identity, 'name'), count: wanted }),
      ]),
    ]
  const [last, now] = [path.at(-1), findValueAt(desired.object, path)]
  if (last?.kind !== 'field' || last.name !== 'image') return []
  if (typeof now !== 'string' || typeof wanted !== 'string') return []
  const [was, is] = [splitReference(now), splitReference(wanted)]
  const entry = {
    name: was.name,
    ...(is.name === was.name ? {} : { newName: is.name }),
    ...omitUndefined({ newTag: is.tag, digest: is.digest }),
  }
  return [createCandidate(list, 'an entry of images', [appendEntry(list, 'images', entry)])]
}

function appendEntry({ document, at }: PatchList, name: string, entry: Json): FileEdit {
  const path = [...at, ...makePath(name)]
  const before = document.getValueAt(path)
  return isJsonArray(before) && before.length > 0
    ? document.edit([...path, index(before.length)], entry)
    : document.edit(path, [entry])
}

function readPatchesIn({ document, at, folder }: PatchList, files: SourceFiles): readonly Patch[] {
  const kustomization =
    at.length === 0 ? document : document.readInside(at, folder ?? getParentFolder(document.path))
  return kustomization === undefined ? [] : listPatches(kustomization, files)
}

function findInPatch(
  patch: Patch,
  object: PatchedObject,
  changed: readonly OverlaidField[],
): readonly SourceCandidate[] {
  return patch.documents.flatMap((document): readonly SourceCandidate[] => {
    if (!isPatchFor(patch, document, object)) return []
    const list = document.getValueAt([])
    const end = isJsonArray(list) ? list.length : undefined
    const edits = changed.flatMap(({ path, wanted }, at) => {
      if (end === undefined) {
        if (
          movesItems(object, path, wanted) &&
          document.getValueAt(getListPath(path)) === undefined
        )
          return []
        const merged = deriveMergedPath(object, path, wanted)
        return [createEditAt(document.number, merged.path, merged.value)]
      }
      const operation = buildOperation(object, path, wanted)
      return operation === undefined
        ? []
        : [createEditAt(document.number, [index(end + at)], operation)]
    })
    return edits.length < changed.length
      ? []
      : [{ via: VIA, what: `the patch (${patch.where})`, edits: patch.edits(edits) }]
  })
}

function isPatchFor(
  { target }: Patch,
  { root }: SourceDocument,
  { identity }: PatchedObject,
): boolean {
  const [kind, name] = [getKey(identity, 'kind'), getMetadataText(identity, 'name')]
  const isNamed = findTextAt(root, 'kind') === kind && findTextAt(root, 'metadata', 'name') === name
  if (target === undefined) return isNamed
  return getKey(target, 'kind') === kind && (isNamed || getKey(target, 'name') === name)
}

/** As the list's other patches: inline if all of them are, otherwise in a separate file. */
function createNewPatches(
  list: PatchList,
  { files, isTaken = () => false }: Overlay,
  { identity }: PatchedObject,
  patches: readonly Json[],
): readonly SourceCandidate[] {
  const [kind, name] = [String(getKey(identity, 'kind')), getMetadataText(identity, 'name')]
  const before = readPatchesIn(list, files)
  const areInline = before.length > 0 && before.every(({ inline }) => inline !== undefined)
  return patches.map((patch) => {
    const text = writeDocument(patch)
    const target = isJsonArray(patch) ? { target: { kind, name } } : {}
    const beside = before.find(({ inline }) => inline === undefined)?.where
    const file =
      list.folder === undefined || areInline
        ? undefined
        : joinFolderPath(
            beside !== undefined && isBelow(beside, list.folder)
              ? getParentFolder(beside)
              : list.folder,
            // RBAC names contain colons, which some systems do not allow in a file name.
            `${kind}-${name}-patch.yaml`.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-'),
          )
    if (file === undefined || files.has(file) || isTaken(file))
      return createCandidate(list, 'a new patch', [
        appendEntry(list, 'patches', { ...target, patch: text }),
      ])
    const path = file.slice(
      list.folder === undefined || list.folder === '' ? 0 : list.folder.length + 1,
    )
    return createCandidate(
      list,
      'a new patch',
      [appendEntry(list, 'patches', { path, ...target })],
      new Map([[file, text]]),
    )
  })
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}
