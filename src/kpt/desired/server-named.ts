/** Manifests whose objects get their names from the server: https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values. */
import { type Json, partOf, textOf } from '@backporch/kyaml/json'

/**
 * Why a manifest with `generateName` and without a name is not compared: each create gives another object, and git knows none of their
 * names. Undefined for all other documents.
 */
export function whyServerNamed(object: Json): string | undefined {
  const [apiVersion, kind] = [partOf(object, 'apiVersion'), partOf(object, 'kind')]
  const [name, prefix] = [partOf(object, 'metadata', 'name') ?? '', textOf(object, 'metadata', 'generateName')]
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || name !== '' || prefix === '') return undefined
  return `the ${kind} with generateName "${prefix}" gets another name at each create, so it is not looked for in the cluster`
}
