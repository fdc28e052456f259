/** Manifests whose objects get their names from the server: https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values. */
import { getKey, isJsonObject, type Json } from '../text/json.ts'

/**
 * Why a manifest with `generateName` and without a name is not compared: each create gives another object, and git knows none of their
 * names. Undefined for all other documents.
 */
export function whyServerNamed(object: Json): string | undefined {
  if (!isJsonObject(object)) return undefined
  const [apiVersion, kind, metadata] = [getKey(object, 'apiVersion'), getKey(object, 'kind'), getKey(object, 'metadata')]
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isJsonObject(metadata)) return undefined
  const [name, prefix] = [getKey(metadata, 'name') ?? '', getKey(metadata, 'generateName')]
  if (name !== '' || typeof prefix !== 'string' || prefix === '') return undefined
  return `the ${kind} with generateName "${prefix}" gets another name at each create, so it is not looked for in the cluster`
}
