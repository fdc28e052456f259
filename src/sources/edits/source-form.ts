import {
  emptyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  setKey,
} from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'

/** The API server's own types. */
const BUILT_IN = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'extensions',
  'node.k8s.io',
  'resource.k8s.io',
  'storage.k8s.io',
])
const WHOLE_NUMBER = /^(0|[1-9][0-9]{0,14})$/

/**
 * If git has a number where the server stores a text, the field is a quantity (`pods: 10` is stored
 * as `"10"`): in a server type no other text field accepts a number
 * (k8s.io/apimachinery/pkg/api/resource, `Quantity.UnmarshalJSON`), and no `IntOrString` is a text
 * of digits. Custom types store what they get.
 */
export function convertToSourceForm(
  { group }: Pick<ResourceId, 'group'>,
  declared: Json | undefined,
  live: Json,
): Json {
  return BUILT_IN.has(group) ? convertLike(declared, live) : live
}

function convertLike(declared: Json | undefined, live: Json): Json {
  if (typeof declared === 'number' && typeof live === 'string')
    return WHOLE_NUMBER.test(live) ? Number(live) : live
  if (isJsonArray(declared) && isJsonArray(live))
    return live.map((item, index) => convertLike(declared[index], item))
  if (!isJsonObject(declared) || !isJsonObject(live)) return live
  const written = emptyObject()
  for (const [key, value] of Object.entries(live))
    setKey(written, key, convertLike(getKey(declared, key), value))
  return written
}
