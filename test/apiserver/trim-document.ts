/** OpenAPI documents as recordings keep them. */
import { findKindDefinition, findReference, findSchemas } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

/**
 * The document without what field schemas do not need (descriptions, paths, kinds that nothing refers to), for recordings.
 * @param kinds the kinds to keep, all of `apiVersion`
 */
export function trimDocument(
  document: Json,
  apiVersion: string,
  kinds: readonly string[],
): JsonObject {
  const schemas = findSchemas(document) ?? {}
  const retained = new Map<string, Json>()
  const pending = kinds.flatMap((kind) => findKindDefinition(schemas, apiVersion, kind) ?? [])
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const node = getKey(schemas, name)
    if (retained.has(name) || node === undefined) continue
    const references: string[] = []
    retained.set(name, trimNode(node, references, false))
    pending.push(...references)
  }
  return {
    openapi: '3.0.0',
    components: {
      schemas: Object.fromEntries([...retained].sort(([left], [right]) => (left < right ? -1 : 1))),
    },
  }
}

const KEPT = new Set([
  '$ref',
  'additionalProperties',
  'allOf',
  'default',
  'format',
  'items',
  'properties',
  'type',
])

function trimNode(node: Json, references: string[], isMap: boolean): Json {
  if (isJsonArray(node)) return node.map((item) => trimNode(item, references, false))
  if (!isJsonObject(node)) return node
  const reference = isMap ? undefined : findReference(node)
  if (reference !== undefined) references.push(reference)
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => isMap || KEPT.has(key) || key.startsWith('x-kubernetes-'))
      .filter(([key]) => key !== 'x-kubernetes-validations' || isMap)
      .map(([key, value]) => {
        const verbatim = !isMap && (key === 'default' || key.startsWith('x-kubernetes-'))
        return [key, verbatim ? value : trimNode(value, references, key === 'properties' && !isMap)]
      }),
  )
}
