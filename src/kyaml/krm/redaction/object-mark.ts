/**
 * Without parts that change constantly and decide no verdict
 * (docs/adr/0057-the-controller-watches.md).
 */
import { createHmac } from 'node:crypto'
import {
  formatJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  partOf,
  textOf,
} from '../../text/json.ts'
import { metadataText } from '../resource.ts'
import type { RedactionKey } from './redacted.ts'

/** Bytes. */
export const MARK_LENGTH = 16

/**
 * 16 bytes. Comparable if the same server version wrote the objects, because a server writes fields
 * in a fixed order. For a Secret only the version counts, so that its mark is the same without
 * content; nothing writes a status to one.
 */
export function objectMark(key: RedactionKey, object: JsonObject): Uint8Array {
  return keyedMark(key, isSecretObject(object) ? versionText(object) : contentText(object))
}

export function keyedMark(key: RedactionKey, text: string): Uint8Array {
  return createHmac('sha256', key.prepared)
    .update('mark\0')
    .update(text)
    .digest()
    .subarray(0, MARK_LENGTH)
}

function isSecretObject(object: JsonObject): boolean {
  return object['kind'] === 'Secret' && object['apiVersion'] === 'v1'
}

function versionText(object: JsonObject): string {
  return `${metadataText(object, 'uid')} ${metadataText(object, 'resourceVersion')}`
}

/** List items lack the server's type. */
function contentText(object: JsonObject): string {
  const { apiVersion = null, kind = null, status: _status, metadata, ...rest } = object
  const stable =
    metadata === undefined
      ? {}
      : { metadata: isJsonObject(metadata) ? stableMetadata(metadata) : metadata }
  return formatJson({ apiVersion, kind, ...rest, ...stable })
}

function stableMetadata({
  resourceVersion: _version,
  generation: _generation,
  managedFields,
  ...rest
}: JsonObject): JsonObject {
  if (!isJsonArray(managedFields)) return rest
  return { ...rest, managedFields: managedFields.filter(decides).map(withoutTime) }
}

/** They change with every status write. */
function decides(entry: Json): boolean {
  return textOf(entry, 'subresource') !== 'status'
}

function withoutTime(entry: Json): Json {
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
  return keyedMark(
    key,
    `${contentText(object)}\0${formatJson(withoutClocks(partOf(object, 'status') ?? null))}`,
  )
}

function withoutClocks(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutClocks)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      CLOCKS.has(name) ? [] : [[name, withoutClocks(part)]],
    ),
  )
}
