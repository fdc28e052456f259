import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatCanonicalQuantity,
  getManagedFields,
  type ManagedFields,
  ownsLocation,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { isSyncer } from '../attribute/actor.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import { mergeSecretData } from '../compare/secret-data.ts'

const DATA_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret'])

export function rendersLive(object: JsonObject, drift: Drift): boolean {
  return renders(findDriftValue(object, drift), drift.live, DATA_KINDS.has(drift.id.kind))
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
  return isJsonEqual(declared, live) || (!data && isSameQuantity(declared, live))
}

/** The server writes git's `1000m` as `1`. Data is always text. */
function isSameQuantity(declared: Json, live: Json): boolean {
  return (
    typeof live === 'string' &&
    !isJsonObject(declared) &&
    formatCanonicalQuantity(String(declared)) === live
  )
}

export function findDriftValue(object: JsonObject, { id, path }: Drift): Json | undefined {
  return findValueAt(isSecret(id) ? mergeSecretData(object) : object, path)
}

/** RFC 3339. */
export function findLastWriteTime(
  { entries }: ManagedFields,
  syncer: SyncerManager | undefined,
): string | undefined {
  const times = entries.flatMap((entry) =>
    entry.subresource === '' && isSyncer(entry, syncer) ? [entry.time] : [],
  )
  return times.length === 0 ? undefined : times.toSorted().at(-1)
}

export function matchesVersion(
  live: JsonObject,
  now: JsonObject,
  before: JsonObject,
  syncer: SyncerManager | undefined,
): boolean {
  const managed = getManagedFields(live)
  const own = managed.entries.filter((entry) => entry.subresource === '' && isSyncer(entry, syncer))
  return listChangedScalars(now, before, []).some(
    ({ path, value }) =>
      isJsonEqual(findValueAt(live, path), value) &&
      own.some((entry) => ownsLocation(entry, path, managed)),
  )
}

/** List items need a schema for their path. */
function listChangedScalars(
  now: Json,
  before: Json | undefined,
  path: FieldPath,
): { path: FieldPath; value: Json }[] {
  if (isJsonEqual(now, before) || isJsonArray(now)) return []
  if (!isJsonObject(now)) return [{ path, value: now }]
  const earlier = isJsonObject(before) ? before : {}
  return Object.entries(now).flatMap(([name, value]) =>
    listChangedScalars(value, getKey(earlier, name), [...path, createFieldStep(name)]),
  )
}
