/**
 * Transformers that are separate objects (`transformers`) run after everything else of a
 * kustomization.
 */
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { makePath, type SourceDocument } from '../../build/adopt/source-document.ts'
import type { BuiltTarget } from '../../build/built-unit.ts'
import { createEditAt, type SourceLocations, type Wanted } from '../../locate/candidate.ts'
import {
  computeImageParts,
  getEntryText,
  isOfImage,
  matchesDeclaredName,
} from './kustomize-fields.ts'
import type { Patch } from './kustomize-patches.ts'

interface Place {
  readonly what: string
  readonly parts: readonly (readonly [path: FieldPath, value: Wanted])[]
}

export function findTransformerLocations(
  transformers: readonly Patch[],
  target: BuiltTarget,
): SourceLocations {
  const all = transformers.flatMap((transformer) =>
    transformer.documents.map((document) => ({ ...transformer, document })),
  )
  return {
    candidates: all.flatMap(({ via, document, edits }) => {
      const place = findPlace(document, target)
      const [first] = place?.parts ?? []
      if (place === undefined || first === undefined) return []
      return [
        {
          via,
          what: `${place.what} of the ${getKind(document)} (${document.formatLocation(first[0])})`,
          edits: edits(
            place.parts.map(([path, value]) => createEditAt(document.number, path, value)),
          ),
        },
      ]
    }),
    obstacles: all
      .filter(({ document }) => mayWrite(document, target))
      .map(({ document }) => ({
        where: document.formatLocation([]),
        why: `no authored place was found whose edit gives the live value; the ${getKind(document)} may write the field`,
        remedy: 'edit the transformer by hand, or choose restore',
      })),
  }
}

export function listTransformerImages(
  transformers: readonly Patch[],
  target: BuiltTarget,
): readonly JsonObject[] {
  return transformers
    .flatMap(({ documents }) => documents)
    .map((document) => getEntry(document, 'ImageTagTransformer', 'imageTag'))
    .filter((entry) => isOfImage(entry, target))
}

function getKind(document: SourceDocument): Json | undefined {
  return document.getValueAt(makePath('kind'))
}

function getEntry(document: SourceDocument, kind: string, name: string): JsonObject {
  const entry = getKind(document) === kind ? document.getValueAt(makePath(name)) : undefined
  return isJsonObject(entry) ? entry : {}
}

function findPlace(document: SourceDocument, target: BuiltTarget): Place | undefined {
  const { path, wanted } = target
  const last = path.at(-1)
  for (const [kind, word, name] of [
    ['LabelTransformer', 'label', 'labels'],
    ['AnnotationsTransformer', 'annotation', 'annotations'],
  ] as const) {
    if (getKind(document) !== kind || last?.kind !== 'field') continue
    const at = makePath(name, last.name)
    if (isWrittenFrom(document, at, target))
      return { what: `the ${word} ${last.name}`, parts: [[at, wanted]] }
  }
  const replica = getEntryText(getEntry(document, 'ReplicaCountTransformer', 'replica'), 'name')
  const count = makePath('replica', 'count')
  if (
    wanted !== undefined &&
    matchesDeclaredName(replica, target) &&
    isWrittenFrom(document, count, target)
  )
    return { what: `the replicas of ${replica}`, parts: [[count, wanted]] }
  const image = getEntry(document, 'ImageTagTransformer', 'imageTag')
  if (typeof wanted !== 'string' || !isOfImage(image, target)) return undefined
  const parts = [...computeImageParts(image, wanted)].map(
    ([part, value]) => [makePath('imageTag', part), value] as const,
  )
  return { what: `the image ${getEntryText(image, 'name')}`, parts }
}

/** A transformer defines its own fields, so only the value shows which ones it wrote. */
function isWrittenFrom(
  document: SourceDocument,
  at: FieldPath,
  { desired, path }: BuiltTarget,
): boolean {
  const [now, given] = [findValueAt(desired.object, path), document.getValueAt(at)]
  return now !== undefined && given !== undefined && String(now) === String(given)
}

function mayWrite(document: SourceDocument, { desired, path }: BuiltTarget): boolean {
  const now = findValueAt(desired.object, path)
  if (typeof now !== 'string' || now === '') return false
  const given = (...names: readonly string[]): string | undefined => {
    const value = document.getValueAt(makePath(...names))
    return (typeof value === 'string' && value) || undefined
  }
  const kind = String(getKind(document))
  if (kind === 'NamespaceTransformer') return now === given('metadata', 'namespace')
  const [prefix, suffix] = [given('prefix'), given('suffix')]
  return (
    (/^Prefix(Suffix)?Transformer$/.test(kind) && prefix !== undefined && now.startsWith(prefix)) ||
    (/^(Prefix)?SuffixTransformer$/.test(kind) && suffix !== undefined && now.endsWith(suffix))
  )
}
