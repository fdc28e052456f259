import type { FieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { splitReference } from '@backporch/kyaml/text'
import { RE2JS } from 're2js'
import {
  type FileLocation,
  index,
  makePath,
  type SourceDocument,
} from '../../build/adopt/source-document.ts'
import { parseImageEntry } from '../files/image-entry.ts'
import { type BuiltIdentity, findIdentityText, getIdentityText } from './built-identity.ts'
import { type FieldHistory, type TracedField, UNKNOWN, type WrittenAt } from './field-history.ts'

interface ImageWritesInput {
  readonly identity: BuiltIdentity
  readonly field: TracedField
  readonly history: FieldHistory
}

/** A syncer resource's entry replaces the kustomization's entry with the same name. */
export function recordImageWrites(
  [kustomization, ...layers]: readonly SourceDocument[],
  { identity, field, history }: ImageWritesInput,
): void {
  if (
    !isImage(field.path) ||
    identity.kind === 'CustomResourceDefinition' ||
    kustomization === undefined
  )
    return
  const given = layers.flatMap(listImages)
  const own = listImages(kustomization)
  const alike = (all: readonly ImageEntry[], { value }: ImageEntry) =>
    all.find((each) => getIdentityText(each.value, 'name') === getIdentityText(value, 'name'))
  for (const entry of own) if (alike(given, entry) === undefined) writeImage(entry, history)
  for (const entry of given)
    writeImage(
      { ...entry, value: keepOwnParts(entry.value, alike(own, entry)?.value ?? {}) },
      history,
    )
}

function writeImage({ value, whole, locationOf }: ImageEntry, history: FieldHistory): void {
  const now = history.value
  const parts = ['newName', 'newTag', 'digest', 'tagSuffix'].filter(
    (part) => findIdentityText(value, part) !== undefined,
  )
  if (now === UNKNOWN) history.mayWrite('images of', whole)
  if (
    typeof now !== 'string' ||
    parts.length === 0 ||
    !isImageNamed(now, getIdentityText(value, 'name'))
  )
    return
  const isPlain = parts.every((part) => !getIdentityText(value, part).includes('$'))
  history.write(
    'images of',
    isPlain ? applyParts(now, value) : UNKNOWN,
    locationOf(parts),
    formatDecidedParts(parts),
  )
}

interface ImageEntry {
  readonly value: JsonObject
  readonly whole: FileLocation
  readonly locationOf: (parts: readonly string[]) => readonly WrittenAt[]
}

function listImages(document: SourceDocument): readonly ImageEntry[] {
  const at = (position: number): FieldPath => [...makePath('images'), index(position)]
  const entries = document.listEntries('images').map(({ index: position, value }): ImageEntry => {
    const locationOf = (parts: readonly string[]) =>
      parts.map((name) => ({
        location: document.findLocation([...at(position), ...makePath(name)]),
        name,
      }))
    return { value, whole: document.findLocation(at(position)), locationOf }
  })
  const texts = document.listTexts('images').map(({ index: position, text }): ImageEntry => {
    const whole = document.findLocation(at(position))
    return { value: parseImageEntry(text), whole, locationOf: () => [{ location: whole }] }
  })
  return [...entries, ...texts]
}

function keepOwnParts(value: JsonObject, own: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      part === '*' ? getIdentityText(own, name) : part,
    ]),
  )
}

/** At any path (kustomize `api/filters/imagetag/legacy.go`). */
function isImage(path: FieldPath): boolean {
  const [list, item, last] = path.slice(-3)
  const isList =
    list?.kind === 'field' && (list.name === 'containers' || list.name === 'initContainers')
  return isList && item?.kind !== 'field' && last?.kind === 'field' && last.name === 'image'
}

/** The name is a regular expression (kustomize `api/internal/image/image.go`). */
function isImageNamed(image: string, name: string): boolean {
  try {
    return RE2JS.compile(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$`)
      .matcher(image)
      .find()
  } catch {
    return false
  }
}

/**
 * A new tag removes the digest, and a new digest the tag (kustomize
 * `api/filters/imagetag/updater.go`).
 */
function applyParts(image: string, entry: JsonObject): string {
  const before = splitReference(image)
  const [name, newTag, newDigest, suffix] = ['newName', 'newTag', 'digest', 'tagSuffix'].map(
    (part) => getIdentityText(entry, part),
  )
  const isSet = Boolean(newTag) || Boolean(newDigest)
  const tag = isSet ? newTag : `${before.tag ?? ''}${suffix ?? ''}`
  const digest = isSet ? newDigest : suffix ? undefined : before.digest
  return `${name || before.name}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`
}

const PART_WORDS: { readonly [part: string]: string } = {
  newName: 'the name',
  newTag: 'the tag',
  digest: 'the digest',
  tagSuffix: 'the tag',
}

function formatDecidedParts(parts: readonly string[]): string | undefined {
  const words = parts.map((part) => PART_WORDS[part] ?? part)
  return words.includes('the name') && words.length > 1 ? undefined : words.join(' and ')
}
