import { emptyObject, isJsonObject, type JsonObject, setKey } from '@backporch/kyaml/json'

// The server rejects managedFields in an apply; the others would claim or pin values that nobody
// authored.
const SERVER_METADATA = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
])

/** @param keep with `uid` and `resourceVersion` the server rejects a changed object */
export function buildAppliedObject(object: JsonObject, keep: readonly string[] = []): JsonObject {
  const body = emptyObject()
  for (const [key, value] of Object.entries(object)) {
    if (key === 'status') continue
    setKey(
      body,
      key,
      key === 'metadata' && isJsonObject(value) ? retainAuthoredMetadata(value, keep) : value,
    )
  }
  return body
}

function retainAuthoredMetadata(metadata: JsonObject, keep: readonly string[]): JsonObject {
  const retained = emptyObject()
  for (const [key, value] of Object.entries(metadata))
    if (!SERVER_METADATA.has(key) || keep.includes(key)) setKey(retained, key, value)
  return retained
}
