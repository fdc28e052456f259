import {
  canonicalQuantity,
  type FieldPath,
  field,
  type ManagedFields,
  managedFieldsOf,
  ownsLocation,
  valueAt,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
} from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { isSyncer } from '../attribute/actor.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import { withSecretData } from '../compare/secret-data.ts'

const DATA_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret'])

export function rendersLive(object: JsonObject, drift: Drift): boolean {
  return renders(valueIn(object, drift), drift.live, DATA_KINDS.has(drift.id.kind))
}

function renders(declared: Json | undefined, live: Json | undefined, data: boolean): boolean {
  if (declared === undefined || live === undefined) return false
  if (isJsonObject(declared) && isJsonObject(live)) {
    return Object.entries(declared).every(([name, value]) =>
      renders(value, getKey(live, name), data),
    )
  }
  if (isJsonArray(declared) && isJsonArray(live)) {
    return (
      declared.length === live.length &&
      declared.every((value, index) => renders(value, live[index], data))
    )
  }
  return jsonEquals(declared, live) || (!data && sameQuantity(declared, live))
}

/** The server writes git's `1000m` as `1`. Data is always text. */
function sameQuantity(declared: Json, live: Json): boolean {
  return (
    typeof live === 'string' &&
    !isJsonObject(declared) &&
    canonicalQuantity(String(declared)) === live
  )
}

export function valueIn(object: JsonObject, { id, path }: Drift): Json | undefined {
  return valueAt(isSecret(id) ? withSecretData(object) : object, path)
}

/** RFC 3339. */
export function lastWriteOf(
  { entries }: ManagedFields,
  syncer: SyncerManager | undefined,
): string | undefined {
  const times = entries.flatMap((entry) =>
    entry.subresource === '' && isSyncer(entry, syncer) ? [entry.time] : [],
  )
  return times.length === 0 ? undefined : times.toSorted().at(-1)
}

export function shows(
  live: JsonObject,
  now: JsonObject,
  before: JsonObject,
  syncer: SyncerManager | undefined,
): boolean {
  const managed = managedFieldsOf(live)
  const own = managed.entries.filter((entry) => entry.subresource === '' && isSyncer(entry, syncer))
  return changedScalars(now, before, []).some(
    ({ path, value }) =>
      jsonEquals(valueAt(live, path), value) &&
      own.some((entry) => ownsLocation(entry, path, managed)),
  )
}

/** List items need a schema for their path. */
function changedScalars(
  now: Json,
  before: Json | undefined,
  path: FieldPath,
): { path: FieldPath; value: Json }[] {
  if (jsonEquals(now, before) || isJsonArray(now)) return []
  if (!isJsonObject(now)) return [{ path, value: now }]
  const earlier = isJsonObject(before) ? before : {}
  return Object.entries(now).flatMap(([name, value]) =>
    changedScalars(value, getKey(earlier, name), [...path, field(name)]),
  )
}
