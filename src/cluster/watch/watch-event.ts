/** `metav1.WatchEvent` in k8s.io/apimachinery/pkg/apis/meta/v1/watch.go */
import {
  DEEPEST,
  formatJson,
  getKey,
  getPartAt,
  getTextAt,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'

export type WatchEvent =
  | { readonly type: 'changed' | 'deleted'; readonly object: JsonObject; readonly version: string }
  | { readonly type: 'bookmark'; readonly version: string; readonly listed: boolean }
  | { readonly type: 'error'; readonly code: number; readonly body: string }
  | { readonly type: 'unusable'; readonly why: string; readonly version: string }

/** On the bookmark that ends the initial objects (docs/facts/watch.md). */
const LIST_ENDS = 'k8s.io/initial-events-end'

/** Undefined if cut off, or not from an API server. */
export function readEvent(line: string): WatchEvent | undefined {
  let event: Json
  try {
    event = parseJson(line)
  } catch {
    return undefined
  }
  if (!isJsonObject(event)) return undefined
  const [type, object] = [getTextAt(event, 'type'), getKey(event, 'object')]
  if (type === 'ERROR') return createErrorEvent(object)
  if (!['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'].includes(type)) return undefined
  if (!isJsonObject(object)) return { type: 'unusable', why: 'an event has no object', version: '' }
  const version = getMetadataText(object, 'resourceVersion')
  if (type === 'BOOKMARK')
    return {
      type: 'bookmark',
      version,
      listed: getPartAt(object, 'metadata', 'annotations', LIST_ENDS) === 'true',
    }
  if (getMetadataText(object, 'name') === '')
    return { type: 'unusable', why: 'an event has an object without metadata.name', version }
  if (isDeeperThan(object, DEEPEST))
    return {
      type: 'unusable',
      why: `an object is nested more than ${DEEPEST} levels deep`,
      version,
    }
  return { type: type === 'DELETED' ? 'deleted' : 'changed', object, version }
}

function createErrorEvent(object: Json | undefined): WatchEvent {
  const status = isJsonObject(object) && !isDeeperThan(object, DEEPEST) ? object : {}
  const code = getKey(status, 'code')
  return { type: 'error', code: typeof code === 'number' ? code : 500, body: formatJson(status) }
}

/**
 * Only numbers are ordered:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function isOlder(version: string, than: string): boolean {
  if (version === than || !/^\d+$/.test(version) || !/^\d+$/.test(than)) return false
  if (version.length < 16 && than.length < 16) return Number(version) < Number(than)
  return BigInt(version) < BigInt(than)
}
