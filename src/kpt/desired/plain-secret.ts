/** Secrets with plain values in git. */
import type { FieldPath } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { describeResourceId, readResource } from '@backporch/kyaml/resource'

/**
 * A sentence that names the keys of a Secret with values in the manifest, never a value; undefined for other objects. A file that SOPS
 * encrypted has a `sops` mapping beside its data. SealedSecrets and ExternalSecrets are other kinds.
 * @param hidden paths whose values are not those of the manifest
 */
export function plainSecretNote(object: Json, hidden: readonly FieldPath[] = []): string | undefined {
  const resource = readResource(object)
  if ('problem' in resource || !isSecret(resource.id) || getKey(resource.object, 'sops') !== undefined) return undefined
  const isFilled = (place: readonly string[]): boolean =>
    hidden.some((path) => path.every((segment, index) => segment.kind === 'field' && segment.name === place[index]))
  const keys = ['data', 'stringData'].flatMap((field) => {
    const values = getKey(resource.object, field)
    return isJsonObject(values)
      ? Object.entries(values).flatMap(([key, value]) =>
          value === '' || value === null || isFilled([field, key]) ? [] : [`${field}.${key}`],
        )
      : []
  })
  return keys.length === 0 ? undefined : `${describeResourceId(resource.id)} has its values in git in plain text: ${keys.join(', ')}`
}
