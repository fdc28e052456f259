/**
 * The mark of a live object: a keyed hash of it without what changes all the time and decides no verdict. Status writes, applies that change
 * nothing and the server's clock leave it as it is (docs/adr/0057-the-controller-watches.md).
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
 * 16 bytes. Two marks are comparable if the same server version wrote the objects: a server writes the fields of an object in a fixed order.
 * Of a Secret only the version counts, so that its mark is the same with and without its content; nothing writes a status to one.
 */
export function objectMark(key: RedactionKey, object: JsonObject): Uint8Array {
  return keyedMark(key, isSecretObject(object) ? versionText(object) : contentText(object))
}

/** 16 bytes: keyed hash of a text. */
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

/** Items of a list have no type of their own; a single object has it in the order of the server, one of a list in that of its reader. */
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

/** Owners of status fields come with every write of a status. */
function decides(entry: Json): boolean {
  return textOf(entry, 'subresource') !== 'status'
}

function withoutTime(entry: Json): Json {
  if (!isJsonObject(entry)) return entry
  const { time: _time, ...rest } = entry
  return rest
}

/** Fields that the reports of syncers and autoscalers change at each of their rounds. */
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

/** As `objectMark`, of an object whose status counts: the resource of a syncer or an autoscaler. Times in it do not count. */
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
