/** Each location is only a candidate: a build proves the edit (src/sources/build/adopt/build-adoption.ts). */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findValueAt, type PathStep } from '@backporch/kyaml/field'
import {
  filterObjects,
  getKey,
  getTextAt,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { findTextAt, resolveAlias } from '@backporch/kyaml/yaml'
import {
  index,
  makePath,
  readKustomizations,
  readSourceDocuments,
  type SourceDocument,
  type SyncedFolder,
} from '../../build/adopt/source-document.ts'
import type { BuiltTarget } from '../../build/built-unit.ts'
import { findAnchoredEdit } from '../../edits/anchored-edits.ts'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import type { SourceCandidate, SourceLocations } from '../../locate/candidate.ts'
import { createEditAt, type Wanted } from '../../locate/candidate.ts'
import { resolvePath } from '../files/kustomization-walk.ts'
import type { SourceFiles } from '../files/kustomize-build.ts'
import { findFieldCandidates, findShownImage, matchesDeclaredName } from './kustomize-fields.ts'
import {
  buildPointer,
  listPatches,
  listTransformers,
  type Patch,
  parseOperationPointer,
} from './kustomize-patches.ts'
import { findTransformerLocations, listTransformerImages } from './transformer-fields.ts'
import { findVariableLocations } from './variable-locations.ts'

export class KustomizeLocations {
  private readonly files: SourceFiles
  private readonly kustomizations: readonly SourceDocument[]

  private readonly synced: SyncedFolder | undefined

  /** @throws Failure BP1110 if a file cannot be read */
  constructor(files: SourceFiles, synced?: SyncedFolder) {
    this.files = files
    this.synced = synced
    this.kustomizations = readKustomizations(files, synced)
  }

  /** Empty if no file declares the object. */
  findDeclaredName({ id, location }: DesiredResource): string {
    if (location.step !== undefined || !this.files.has(location.path)) return ''
    const document = readSourceDocuments(location.path, this.files)[location.document]
    const at = location.item === undefined ? [] : [...makePath('items'), index(location.item)]
    const name = document?.getValueAt([...at, ...makePath('metadata', 'name')])
    return typeof name === 'string' ? name : id.name
  }

  /** If no location has a value, those that could have one. */
  find(target: BuiltTarget): readonly SourceLocations[] {
    const transformers = this.kustomizations.flatMap((each) => listTransformers(each, this.files))
    const images = findShownImage(
      this.kustomizations,
      target,
      listTransformerImages(transformers, target),
    )
    // The manifest keeps the name that a kustomization matches.
    const written = images === undefined ? target : { ...target, wanted: images }
    const patches = this.kustomizations.flatMap((kustomization) =>
      listPatches(kustomization, this.files),
    )
    const manifest = this.findInManifest(written)
    const there = [
      ...manifest,
      ...patches.flatMap((patch) => this.findInPatch(patch, written)),
    ].filter((found) => found.there)
    const set = there.map(({ candidate }) => candidate)
    const declared = findFieldCandidates(this.kustomizations, this.files, target)
    const transformed = findTransformerLocations(transformers, target)
    const obstacles = [
      ...declared.obstacles,
      ...transformed.obstacles,
      ...this.findReplacements(target),
    ]
    const all = [...set, ...declared.candidates, ...transformed.candidates]
    const variables = this.findVariables(target, there)
    const first = {
      candidates: target.wanted === undefined ? addTogether(all) : all,
      obstacles: [...obstacles, ...variables.own.obstacles],
    }
    if (target.wanted === undefined) return [first]
    const anchored = this.findInAnchor(target)
    const anchor = anchored.length === 0 ? [] : [{ candidates: anchored, obstacles: [] }]
    // The authored value of a variable precedes a literal text.
    if (findValueAt(target.desired.object, target.path) !== undefined)
      return [
        ...(this.synced === undefined ? [] : [variables.own]),
        ...(variables.overlay.candidates.length === 0 ? [] : [variables.overlay]),
        ...anchor,
        first,
      ]
    const added = patches
      .flatMap((patch) => this.findInPatch(patch, written))
      .filter(({ there }) => !there)
    return [
      ...anchor,
      first,
      { candidates: manifest.map(({ candidate }) => candidate), obstacles },
      { candidates: added.map(({ candidate }) => candidate), obstacles },
    ]
  }

  private findVariables(
    target: BuiltTarget,
    found: readonly FoundEdit[],
  ): ReturnType<typeof findVariableLocations> {
    const none: SourceLocations = { candidates: [], obstacles: [] }
    if (this.synced === undefined) return { own: none, overlay: none }
    const texts = found.flatMap(({ text }) => (text === undefined ? [] : [text]))
    return findVariableLocations({
      synced: this.synced,
      files: this.files,
      texts,
      wanted: target.wanted,
    })
  }

  /** A file without objects is removed from its kustomization. */
  locateRemoval({ location }: DesiredResource): SourceLocations {
    const { path, document, item, line, step } = location
    if (step !== undefined) {
      const remedy = 'remove it from the kustomization by hand, or choose restore'
      return {
        candidates: [],
        obstacles: [
          {
            where: `${path}:${line}`,
            why: `${step} makes the object, and no file declares it`,
            remedy,
          },
        ],
      }
    }
    const what = `the manifest (${path}:${line})`
    const documents = readSourceDocuments(path, this.files)
    const items =
      item === undefined ? undefined : documents[document]?.getValueAt(makePath('items'))
    const last =
      documents.length === 1 && (item === undefined || (Array.isArray(items) && items.length === 1))
    const edit: YamlEdit = { document, item, kind: 'remove-object' }
    if (!last)
      return { candidates: [{ via: 'manifest', what, edits: [{ path, edit }] }], obstacles: [] }
    const edits = this.kustomizations.flatMap((kustomization) =>
      kustomization
        .listTexts('resources')
        .filter(({ text }) => resolvePath(kustomization.folder, text) === path)
        .map(
          (entry): FileEdit =>
            kustomization.edit([...makePath('resources'), index(entry.index)], undefined),
        ),
    )
    return {
      candidates: [{ via: 'manifest', what, edits, texts: new Map([[path, null]]) }],
      obstacles: [],
    }
  }

  private findInAnchor({
    desired: { location },
    path,
    wanted,
  }: BuiltTarget): readonly SourceCandidate[] {
    const document =
      location.step === undefined
        ? readSourceDocuments(location.path, this.files)[location.document]
        : undefined
    if (document === undefined || wanted === undefined) return []
    const at = location.item === undefined ? [] : [...makePath('items'), index(location.item)]
    const anchored = findAnchoredEdit(document.root, location.document, [...at, ...path], wanted)
    if (anchored === undefined) return []
    const { name, edit } = anchored
    const what = `the anchor &${name} (${document.formatLocation(edit.path)})`
    return [{ via: `anchor:${name}`, what, edits: [{ path: location.path, edit }] }]
  }

  private findInManifest({
    desired: { location },
    path,
    wanted,
  }: BuiltTarget): readonly FoundEdit[] {
    if (location.step !== undefined) return []
    const document = readSourceDocuments(location.path, this.files)[location.document]
    if (document === undefined) return []
    const at = location.item === undefined ? [] : [...makePath('items'), index(location.item)]
    const whole = [...at, ...path]
    const there = document.has(whole)
    if (!there && wanted === undefined) return []
    const edit = createEditAt(location.document, whole, wanted)
    const what = `the manifest (${document.formatLocation(whole)})`
    const text = findTextIn(document, whole)
    return [
      { there, text, candidate: { via: 'manifest', what, edits: [{ path: location.path, edit }] } },
    ]
  }

  private findInPatch(patch: Patch, target: BuiltTarget): readonly FoundEdit[] {
    return patch.documents.flatMap((document) => {
      const kind = resolveAlias(document.root).kind
      return kind === 'list'
        ? this.findInOperations(patch, document, target)
        : this.findInMergePatch(patch, document, target)
    })
  }

  private findInMergePatch(
    patch: Patch,
    document: SourceDocument,
    target: BuiltTarget,
  ): readonly FoundEdit[] {
    const { desired, path, wanted } = target
    const own =
      findTextAt(document.root, 'kind') === desired.id.kind &&
      matchesDeclaredName(findTextAt(document.root, 'metadata', 'name') ?? '', target)
    if (patch.target === undefined ? !own : !mayTarget(patch.target, target)) return []
    const there = document.has(path)
    if (!there && (wanted === undefined || !document.has(path.slice(0, 1)))) return []
    return this.patchEdit(patch, document, [path], wanted)
  }

  private findInOperations(
    patch: Patch,
    document: SourceDocument,
    target: BuiltTarget,
  ): readonly FoundEdit[] {
    const { desired, path, wanted } = target
    const locations = buildPointer(desired.object, path)
    if (locations === undefined || (patch.target !== undefined && !mayTarget(patch.target, target)))
      return []
    const list = document.getValueAt([])
    const written = (Array.isArray(list) ? list : []).flatMap((operation: Json, position) => {
      if (
        !isJsonObject(operation) ||
        (getKey(operation, 'op') !== 'replace' && getKey(operation, 'op') !== 'add')
      )
        return []
      const pointer = parseOperationPointer(operation)
      const isOn = pointer
        .slice(0, locations.length)
        .every(
          (part, at) => part === locations[at] || (part === '-' && hasKeys(operation, path[at])),
        )
      return isOn ? [{ position, steps: pointer.length }] : []
    })
    // From the end, so that a removal does not shift earlier operations.
    const gone =
      wanted !== undefined
        ? []
        : written
            .filter(({ steps }) => steps >= locations.length)
            .map(({ position }) => [index(position)])
    const above = written.filter(
      ({ steps }) =>
        steps < locations.length || (wanted !== undefined && steps === locations.length),
    )
    return [
      ...(gone.length === 0 ? [] : this.patchEdit(patch, document, gone.toReversed(), undefined)),
      ...above.flatMap(({ position, steps }) => {
        const whole = [index(position), ...makePath('value'), ...path.slice(steps)]
        return document.has(whole) ? this.patchEdit(patch, document, [whole], wanted) : []
      }),
    ]
  }

  /** @param paths of one value; the last one is shown to people */
  private patchEdit(
    patch: Patch,
    document: SourceDocument,
    paths: readonly FieldPath[],
    wanted: Wanted,
  ): readonly FoundEdit[] {
    const path = paths.at(-1) ?? []
    const edits = paths.map((each) => createEditAt(document.number, each, wanted))
    const what =
      patch.inline === undefined
        ? `the patch (${document.formatLocation(path)})`
        : `the patch (${patch.where})`
    try {
      return [
        {
          there: document.has(path),
          text: findTextIn(document, path),
          candidate: { via: patch.via, what, edits: patch.edits(edits) },
        },
      ]
    } catch (thrown) {
      if (thrown instanceof Failure) return []
      throw thrown
    }
  }

  private findReplacements({ desired }: BuiltTarget): SourceLocations['obstacles'] {
    return this.kustomizations.flatMap((kustomization) => {
      const inFiles = kustomization.listEntries('replacements').some(({ value }) => 'path' in value)
      const generic = [...(inFiles ? ['replacements'] : []), 'vars'].flatMap((name) =>
        kustomization.hasField(name)
          ? [
              {
                where: kustomization.formatLocation(makePath(name)),
                why: `${NOT_FOUND}; ${name} may write the field`,
                remedy: `edit by hand what the ${name} copy from, or choose restore`,
              },
            ]
          : [],
      )
      const copied = kustomization.listEntries('replacements').flatMap(({ index: at, value }) => {
        const source = getKey(value, 'source')
        if (!isJsonObject(source) || !mayCopyTo(value, desired.id.kind)) return []
        const from = `${getTextAt(source, 'fieldPath') || 'metadata.name'} of ${getTextAt(source, 'kind')} ${getTextAt(source, 'name')}`
        return [
          {
            where: kustomization.formatLocation([...makePath('replacements'), index(at)]),
            why: `${NOT_FOUND}; the replacement copies ${from}, and may write the field`,
            remedy: `edit ${from}, which other objects may have too, or choose restore`,
          },
        ]
      })
      return [...copied, ...generic]
    })
  }
}

const NOT_FOUND = 'no authored place was found whose edit gives the live value'

function mayCopyTo(replacement: JsonObject, kind: string): boolean {
  return filterObjects(getKey(replacement, 'targets')).some((target) =>
    ['', kind].includes(getTextAt(target, 'select', 'kind')),
  )
}

function hasKeys(operation: JsonObject, step: PathStep | undefined): boolean {
  const value = getKey(operation, 'value')
  return (
    step?.kind === 'item' &&
    isJsonObject(value) &&
    Object.entries(step.keys).every(([key, wanted]) => isJsonEqual(getKey(value, key), wanted))
  )
}

/** A field that is left in any location would still be rendered. */
function addTogether(candidates: readonly SourceCandidate[]): readonly SourceCandidate[] {
  if (candidates.length < 2) return candidates
  const what = `${candidates.length} places together: ${candidates.map((each) => each.what).join(', ')}`
  return [...candidates, { via: 'all', what, edits: candidates.flatMap(({ edits }) => edits) }]
}

interface FoundEdit {
  readonly there: boolean
  readonly text: string | undefined
  readonly candidate: SourceCandidate
}

function findTextIn(document: SourceDocument, path: FieldPath): string | undefined {
  const value = document.getValueAt(path)
  return typeof value === 'string' ? value : undefined
}

/** By kind alone: names are regular expressions, and an edit without effect is dropped. */
function mayTarget(target: { readonly [key: string]: Json }, { desired }: BuiltTarget): boolean {
  const kind = getKey(target, 'kind')
  return (
    typeof kind !== 'string' || kind === '' || /[^A-Za-z]/.test(kind) || kind === desired.id.kind
  )
}
