/**
 * Without parts that change constantly and decide no verdict
 * (docs/adr/0057-the-controller-watches.md).
 */
import { createHmac } from 'node:crypto'
import {
  formatJson,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../text/json.ts'
import { getMetadataText } from '../resource.ts'
import type { RedactionKey } from './redacted.ts'

/** Bytes. */
export const MARK_LENGTH = 16

/**
 * 16 bytes. Comparable if the same server version wrote the objects, because a server writes fields
 * in a fixed order. For a Secret only the version counts, so that its mark is the same without
 * content; nothing writes a status to one.
 */
export function computeObjectMark(key: RedactionKey, object: JsonObject): Uint8Array {
  return computeKeyedMark(
    key,
    isSecretObject(object) ? formatVersion(object) : formatContent(object),
  )
}

export function computeKeyedMark(key: RedactionKey, text: string): Uint8Array {
  return createHmac('sha256', key.prepared)
    .update('mark\0')
    .update(text)
    .digest()
    .subarray(0, MARK_LENGTH)
}

function isSecretObject(object: JsonObject): boolean {
  return object['kind'] === 'Secret' && object['apiVersion'] === 'v1'
}

function formatVersion(object: JsonObject): string {
  return `${getMetadataText(object, 'uid')} ${getMetadataText(object, 'resourceVersion')}`
}

/** List items lack the server's type. */
function formatContent(object: JsonObject): string {
  const { apiVersion = null, kind = null, status: _status, metadata, ...rest } = object
  const stable =
    metadata === undefined
      ? {}
      : { metadata: isJsonObject(metadata) ? retainStableMetadata(metadata) : metadata }
  return formatJson({ apiVersion, kind, ...rest, ...stable })
}

function retainStableMetadata({
  resourceVersion: _version,
  generation: _generation,
  managedFields,
  ...rest
}: JsonObject): JsonObject {
  if (!isJsonArray(managedFields)) return rest
  return { ...rest, managedFields: managedFields.filter(isDeciding).map(omitTime) }
}

/** They change with every status write. */
function isDeciding(entry: Json): boolean {
  return getTextAt(entry, 'subresource') !== 'status'
}

function omitTime(entry: Json): Json {
  if (!isJsonObject(entry)) return entry
  const { time: _time, ...rest } = entry
  return rest
}

/** Syncers and autoscalers change these in each round. */
const CLOCKS = new Set([
  'lastHandledReconcileAt',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastProbeTime',
  'lastHeartbeatTime',
  'lastAttemptedAt',
  'lastScaleTime',
  'observedAt',
  'reconciledAt',
  'startedAt',
  'finishedAt',
  'currentMetrics',
])

/** For an object whose status counts: of a syncer or an autoscaler. Times do not count. */
export function reportMark(key: RedactionKey, object: JsonObject): Uint8Array {
  return computeKeyedMark(
    key,
    `${formatContent(object)}\0${formatJson(omitClocks(getPartAt(object, 'status') ?? null))}`,
  )
}

function omitClocks(value: Json): Json {
  if (isJsonArray(value)) return value.map(omitClocks)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      CLOCKS.has(name) ? [] : [[name, omitClocks(part)]],
    ),
  )
}
