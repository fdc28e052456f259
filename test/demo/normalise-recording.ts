/**
 * What differs between two recordings of the same story, set to what the story says: uids, resource versions and times. Each
 * time is that of the command that its field manager stands for, so the ages that people see are those of the story.
 */
import { createHash } from 'node:crypto'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { SYNCER, TIMES } from '../../src/cli/demo/story.ts'
import { HAND_EDITS } from './hand-edits.ts'

type Files = Readonly<Record<string, Json>>

/** The last command of a manager is the time that the server keeps. */
const LAST_WRITES = new Map([
  [SYNCER, TIMES.applied],
  ['kube-controller-manager', TIMES.applied],
  ...HAND_EDITS.map(({ manager, at }) => [manager, at] as const),
])

/** @param observedAt of the recording, RFC 3339 UTC */
export function normaliseRecording(files: Files, observedAt: string): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, value]) => {
      if (path === 'recording.json') return [path, normaliseHeader(value, observedAt)]
      return [path, path.startsWith('schemas/') ? value : normaliseObjects(value)]
    }),
  )
}

function normaliseHeader(value: Json, observedAt: string): Json {
  const header = objectOf(value)
  return { ...header, spec: { ...objectOf(header['spec']), uid: uidOf('cluster'), observedAt } }
}

/** An object with metadata, or anything that holds some. */
function normaliseObjects(value: Json): Json {
  if (isJsonArray(value)) return value.map(normaliseObjects)
  if (!isJsonObject(value)) return value
  const below = Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, normaliseObjects(child)]),
  )
  const metadata = below['metadata']
  return isJsonObject(metadata) && 'uid' in metadata
    ? { ...below, metadata: normaliseMetadata(below, metadata) }
    : below
}

function normaliseMetadata({ kind }: JsonObject, metadata: JsonObject): JsonObject {
  const key = `${String(kind)} ${String(metadata['namespace'])}/${String(metadata['name'])}`
  const uid = uidOf(key)
  const listed = metadata['managedFields']
  const entries = isJsonArray(listed) ? listed.map(objectOf) : []
  // A write through the scale subresource leaves an entry without a time (docs/facts/scale-entry-has-no-time.md).
  const moved = entries
    .map((entry) => ('time' in entry ? { ...entry, time: timeOf(entry) } : entry))
    .sort(byServer)
  const times = moved.flatMap((entry) => ('time' in entry ? [String(entry['time'])] : []))
  return {
    ...metadata,
    uid,
    resourceVersion: String(1000 + (Number.parseInt(uid.slice(0, 4), 16) % 9000)),
    creationTimestamp: times.sort()[0] ?? TIMES.applied,
    ...(entries.length === 0 ? {} : { managedFields: moved }),
  }
}

/**
 * The order that the server gives entries (apimachinery managedfields/internal/managedfields.go), by the times of the story: by the real ones it
 * would depend on whether a second began between two writes.
 */
function byServer(left: JsonObject, right: JsonObject): number {
  for (const key of ['operation', 'time', 'manager', 'apiVersion', 'subresource']) {
    const [one, other] = [String(left[key] ?? ''), String(right[key] ?? '')]
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

function timeOf({ manager }: JsonObject): string {
  const time = LAST_WRITES.get(String(manager))
  if (time === undefined) throw new Error(`the story knows no manager ${String(manager)}`)
  return time
}

/** A version 4 UUID by its form, the same for the same text. */
function uidOf(text: string): string {
  const hex = createHash('sha256').update(`backporch demo ${text}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function objectOf(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('the recording has something else where an object is')
  return value
}
