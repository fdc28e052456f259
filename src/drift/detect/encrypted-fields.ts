/**
 * Without decryption the writer decides: the syncer's value becomes git's text, any other a keyed
 * hash. Decrypted values are compared only here: a live value equal to git's, or an earlier
 * version's, becomes that text. Later steps see no plain values.
 */
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findValueAt,
  getManagedFields,
  stepOfItem,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  convertShownToJson,
  hasEncrypted,
  isEncryptedEntry,
  isEncryptedValue,
  isSecret,
  type PlainValues,
  type RedactionKey,
  redact,
} from '@backporch/kyaml/redaction'
import type { Resource } from '@backporch/kyaml/resource'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import { isSyncer, listOwners } from '../attribute/actor.ts'
import type { SyncerManager } from '../compare/drift.ts'
import { isAlreadyApplied } from '../compare/equal-values.ts'
import { getPathSchema } from '../noise/visibility.ts'

interface EncryptedLocation {
  readonly path: FieldPath
  readonly declared: Json
  /** For a Secret possibly in `stringData`. */
  readonly authored: FieldPath
  readonly text: Json | undefined
}

export function isEncrypted(object: JsonObject): boolean {
  return hasEncrypted(object) || listEncryptedEntries(object).length > 0
}

function listEncryptedEntries(object: JsonObject): EncryptedLocation[] {
  const data = getKey(object, 'kind') === 'Secret' ? getKey(object, 'data') : undefined
  if (!isJsonObject(data)) return []
  return Object.entries(data).flatMap(([name, value]) => {
    const path = [createFieldStep('data'), createFieldStep(name)]
    return isEncryptedEntry(value)
      ? [{ path, authored: path, declared: value, text: undefined }]
      : []
  })
}

function listEncryptedLocations(
  { id, object }: Resource,
  schema: FieldSchema,
): EncryptedLocation[] {
  const found = [...leaves(object, schema, [])].map(({ path, value }): EncryptedLocation => {
    const [first, ...rest] = path
    const written = isSecret(id) && first?.kind === 'field' && first.name === 'stringData'
    if (!written || typeof value !== 'string')
      return { path, authored: path, declared: value, text: value }
    return {
      path: [createFieldStep('data'), ...rest],
      authored: path,
      declared: encodeBase64(value),
      text: value,
    }
  })
  return [...found, ...(isSecret(id) ? listEncryptedEntries(object) : [])]
}

/** A list with unnamed items, or with an encrypted name, is one location. */
function* leaves(
  value: Json,
  schema: FieldSchema,
  path: FieldPath,
): Generator<{ readonly path: FieldPath; readonly value: Json }> {
  if (isEncryptedValue(value)) yield { path, value }
  else if (isJsonObject(value)) {
    for (const [name, below] of Object.entries(value))
      yield* leaves(below, schema.getChildSchema(name), [...path, createFieldStep(name)])
  } else if (isJsonArray(value) && hasEncrypted(value)) {
    const steps = value.map((item) => stepOfItem(item, schema))
    const named = steps.every(
      (step) => step?.kind === 'item' && !Object.values(step.keys).some(isEncryptedValue),
    )
    if (!named) yield { path, value }
    else
      for (const [index, step] of steps.entries())
        yield* leaves(value[index] as Json, schema.getItemSchema(), [
          ...path,
          ...(step ? [step] : []),
        ])
  }
}

export interface SealOptions {
  readonly syncer: SyncerManager | undefined
  readonly key: RedactionKey
  readonly plain?: PlainValues | undefined
  readonly earlier?: EarlierValues | undefined
}

export interface EarlierValues {
  readonly versions: readonly { readonly object: JsonObject; readonly plain: PlainValues }[]
  readonly complete: boolean
}

interface SealedObject {
  readonly object: JsonObject
  readonly unproven: readonly FieldPath[]
  readonly asksEarlier: boolean
}

export function sealLive(
  live: JsonObject,
  desired: Resource,
  schema: FieldSchema,
  options: SealOptions,
): SealedObject {
  const { syncer, key, plain, earlier } = options
  const managed = getManagedFields(live)
  const locations = listEncryptedLocations(desired, schema)
  const unproven: FieldPath[] = []
  let object: Json = live
  let asksEarlier = false
  for (const location of locations) {
    const { path, authored, declared } = location
    const value = findValueAt(live, path)
    if (value === undefined) continue
    const owners = [
      ...listOwners(managed, path),
      ...(authored === path ? [] : listOwners(managed, authored)),
    ]
    const known = owners.filter(({ manager }) => manager !== BEFORE_FIRST_APPLY)
    const isUnknown = syncer === undefined || known.length === 0
    const isSyncers = !isUnknown && known.some((entry) => isSyncer(entry, syncer))
    const wanted = findDecrypted(location, plain)
    const put = (text: Json | undefined): void => {
      object = writeValueAt(object, path, text ?? hideValue(key, desired, path, value))
    }
    if (wanted === undefined) {
      if (isUnknown) unproven.push(path)
      put(isUnknown || isSyncers ? declared : undefined)
    } else if (isAlreadyApplied(wanted, value, getPathSchema(schema, path))) put(declared)
    else if (!isSyncers) put(undefined)
    else {
      asksEarlier = true
      put(
        findEarlierText(value, path, { desired, schema, earlier }) ??
          (earlier?.complete === false ? declared : undefined),
      )
    }
  }
  return {
    object: removeSiblings(object as JsonObject, locations, desired, key),
    unproven,
    asksEarlier,
  }
}

function findDecrypted(
  { text, path, authored }: EncryptedLocation,
  plain: PlainValues | undefined,
): Json | undefined {
  const value = text === undefined ? undefined : plain?.findPlain(text)
  return authored !== path && typeof value === 'string' ? encodeBase64(value) : value
}

function encodeBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

interface EarlierOf {
  readonly desired: Resource
  readonly schema: FieldSchema
  readonly earlier: EarlierValues | undefined
}

function findEarlierText(
  live: Json,
  path: FieldPath,
  { desired, schema, earlier }: EarlierOf,
): Json | undefined {
  const place = JSON.stringify(path)
  for (const { object, plain } of earlier?.versions ?? []) {
    const location = listEncryptedLocations({ ...desired, object }, schema).find(
      (each) => JSON.stringify(each.path) === place,
    )
    const wanted =
      location === undefined ? findValueAt(object, path) : findDecrypted(location, plain)
    if (wanted !== undefined && isAlreadyApplied(wanted, live, getPathSchema(schema, path)))
      return location?.declared ?? wanted
  }
  return undefined
}

/** A Secret's value is never shown. */
function hideValue(key: RedactionKey, { id }: Resource, path: FieldPath, value: Json): Json {
  return isSecret(id) ? value : (convertShownToJson(redact(key, id, path, value)) ?? '')
}

function removeSiblings(
  object: JsonObject,
  locations: readonly EncryptedLocation[],
  desired: Resource,
  key: RedactionKey,
): JsonObject {
  const paths = listSiblingPaths(locations, object, desired.object)
  return paths.reduce<Json>(
    (part, path) =>
      writeValueAt(part, path, hideValue(key, desired, path, findValueAt(object, path) ?? null)),
    object,
  ) as JsonObject
}

function listSiblingPaths(
  locations: readonly EncryptedLocation[],
  live: JsonObject,
  desired: JsonObject,
): FieldPath[] {
  const parents = new Map(
    locations
      .filter(({ path }) => path.at(-1)?.kind === 'field')
      .map(({ path }) => [JSON.stringify(path.slice(0, -1)), path.slice(0, -1)]),
  )
  return [...parents.values()].flatMap((parent) => {
    const map = findValueAt(live, parent)
    const own = findValueAt(desired, parent)
    if (
      parent.length === 0 ||
      !isJsonObject(map) ||
      !isJsonObject(own) ||
      !Object.values(own).every(isEncryptedValue)
    )
      return []
    return Object.keys(map).flatMap((name) =>
      Object.hasOwn(own, name) ? [] : [[...parent, createFieldStep(name)]],
    )
  })
}

export function sealAnswer(
  answer: JsonObject,
  desired: Resource,
  schema: FieldSchema,
  key: RedactionKey,
): JsonObject {
  const locations = listEncryptedLocations(desired, schema)
  const sealed = locations.reduce<Json>(
    (object, { path, declared }) => writeValueAt(object, path, declared),
    answer,
  )
  return removeSiblings(sealed as JsonObject, locations, desired, key)
}

export function removeSealedValues(
  sent: Resource,
  live: JsonObject,
  schema: FieldSchema,
): JsonObject {
  return listEncryptedLocations(sent, schema).reduce<Json>((object, { path, authored }) => {
    const value = findValueAt(live, path)
    const without = removeValueAt(object, authored)
    return value === undefined ? without : writeValueAt(without, path, value)
  }, sent.object) as JsonObject
}

export function isEncryptedLocation(path: FieldPath, desired: JsonObject): boolean {
  if (
    hasEncrypted(findValueAt(desired, path)) ||
    listEncryptedEntries(desired).some(
      ({ path: entry }) => JSON.stringify(entry) === JSON.stringify(path),
    )
  )
    return true
  if (path.length < 2 || findValueAt(desired, path) !== undefined)
    return (
      path.length > 0 &&
      path.some((_step, depth) => isEncryptedValue(findValueAt(desired, path.slice(0, depth))))
    )
  const parents = [
    path.slice(0, -1),
    path[0]?.kind === 'field' && path[0].name === 'data' ? [createFieldStep('stringData')] : [],
  ]
  return parents.some((parent) => {
    const map = parent.length === 0 ? undefined : findValueAt(desired, parent)
    return (
      isJsonObject(map) && Object.keys(map).length > 0 && Object.values(map).every(isEncryptedValue)
    )
  })
}
