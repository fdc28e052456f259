/**
 * Keeps fields with an owner other than the control plane. A dry run shows which of these are
 * defaults (src/reconcile/observe/clean-object.ts).
 */
import {
  createFieldStep,
  type FieldPath,
  type FieldSet,
  getManagedFields,
  type ManagedFieldsEntry,
  ownsLocation,
  type PathStep,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { omitBookkeeping } from '@backporch/kyaml/resource'
import { isMarkOf, listSyncersOfMark } from '../../syncers/marks.ts'
import { SYNCERS } from '../../syncers/registry.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import { hasNoOwners } from '../unowned/unowned-fields.ts'

const SERVER_METADATA = new Set([
  'ownerReferences',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generateName',
])
const COPIES: ReadonlySet<string> = new Set(SYNCERS.flatMap(({ marks }) => marks.copies))

function omitBookkeepingFields(live: JsonObject): JsonObject {
  const { metadata, ...rest } = omitBookkeeping(live)
  const kept = isJsonObject(metadata)
    ? Object.entries(metadata).filter(([name]) => !SERVER_METADATA.has(name))
    : []
  const managed = getManagedFields(live)
  const entries = kept.flatMap(([name, value]): (readonly [string, Json])[] => {
    if ((name !== 'labels' && name !== 'annotations') || !isJsonObject(value))
      return [[name, value]]
    const own = Object.entries(value).filter(
      ([key, text]) =>
        !isMark(
          [createFieldStep('metadata'), createFieldStep(name), createFieldStep(key)],
          key,
          text,
        ),
    )
    return own.length === 0 ? [] : [[name, Object.fromEntries(own)]]
  })
  return orderObject({ ...rest, metadata: Object.fromEntries(entries) })

  function isMark(path: FieldPath, key: string, value: Json): boolean {
    if (COPIES.has(key)) return true
    const syncers = listSyncersOfMark(path, value)
    if (syncers.some(({ marks }) => !marks.shared.some(({ label }) => label === key))) return true
    // Others also use the label: a mark only if nobody but its syncer wrote it.
    const owners = managed.entries.filter((entry) => ownsLocation(entry, path, managed))
    return (
      syncers.length > 0 &&
      owners.length > 0 &&
      owners.every(({ manager }) => isMarkOf(manager, path, value))
    )
  }
}

/** The whole object if nothing has an owner. */
export function extractAuthoredPart(live: JsonObject): JsonObject {
  const plain = omitBookkeepingFields(live)
  const managed = getManagedFields(live)
  if (hasNoOwners(managed)) return plain
  const owned = managed.entries.filter(isAuthor).map(({ fields }) => fields)
  const { metadata, ...rest } = plain
  const { apiVersion, kind, ...content } = rest
  const identity = isJsonObject(metadata)
    ? Object.entries(metadata).filter(([name]) => name === 'name' || name === 'namespace')
    : []
  const part = extractOwnedPart(
    { ...content, metadata: isJsonObject(metadata) ? metadata : {} },
    owned,
  )
  const own = isJsonObject(part) ? part : {}
  const ownMetadata = getKey(own, 'metadata')
  return orderObject({
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...own,
    metadata: {
      ...Object.fromEntries(identity),
      ...(isJsonObject(ownMetadata) ? ownMetadata : {}),
    },
  })
}

/** A status belongs to a controller; a person may set a scale. */
function isAuthor({ manager, subresource }: ManagedFieldsEntry): boolean {
  return subresource !== 'status' && !isControlPlane(manager)
}

function extractOwnedPart(value: Json, sets: readonly FieldSet[]): Json | undefined {
  if (sets.some(({ owned, children }) => owned && children.size === 0)) return value
  if (isJsonObject(value)) {
    const entries = Object.entries(value).flatMap(([name, below]): (readonly [string, Json])[] => {
      const own = extractOwnedPart(
        below,
        sets.flatMap(({ children }) =>
          [...children.values()].flatMap(({ step, set }) => (isField(step, name) ? [set] : [])),
        ),
      )
      return own === undefined ? [] : [[name, own]]
    })
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }
  if (!isJsonArray(value)) return undefined
  const items = value.flatMap((item, index): Json[] => {
    const found = sets.flatMap(({ children }) =>
      [...children.values()].filter(({ step }) => isItem(step, item, index)),
    )
    const own = extractOwnedPart(
      item,
      found.map(({ set }) => set),
    )
    if (own === undefined || !isJsonObject(own) || !isJsonObject(item))
      return own === undefined ? [] : [own]
    // Without its keys it would be another item.
    const keys = found.flatMap(({ step }) => (step.kind === 'item' ? Object.keys(step.keys) : []))
    const names = new Set([...keys, ...Object.keys(own)])
    return [
      Object.fromEntries(
        Object.entries(item).flatMap(([name, below]) =>
          names.has(name) ? [[name, getKey(own, name) ?? below]] : [],
        ),
      ),
    ]
  })
  return items.length === 0 ? undefined : items
}

function isField(step: PathStep, name: string): boolean {
  return step.kind === 'field' && step.name === name
}

function isItem(step: PathStep, item: Json, index: number): boolean {
  if (step.kind === 'index') return step.index === index
  if (step.kind === 'member') return isJsonEqual(step.value, item)
  // The server may have added it by default.
  return (
    step.kind === 'item' &&
    isJsonObject(item) &&
    Object.entries(step.keys).every(([key, value]) =>
      isJsonEqual(getKey(item, key) ?? value, value),
    )
  )
}

const FIRST = ['apiVersion', 'kind', 'metadata']
const FIRST_OF_METADATA = ['name', 'namespace', 'labels', 'annotations']

function orderObject(object: JsonObject): JsonObject {
  const metadata = getKey(object, 'metadata')
  return orderFields(
    isJsonObject(metadata)
      ? { ...object, metadata: orderFields(metadata, FIRST_OF_METADATA) }
      : object,
    FIRST,
  )
}

function orderFields(object: JsonObject, first: readonly string[]): JsonObject {
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length)
  return Object.fromEntries(
    Object.entries(object).sort(([left], [right]) => rank(left) - rank(right)),
  )
}
