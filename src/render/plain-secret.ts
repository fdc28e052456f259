/** Secrets with plain values in git. */

import { isSecret } from '../krm/redaction/redacted.ts'
import { readResource } from '../krm/resource.ts'
import { describeResourceId } from '../krm/resource-id.ts'
import { getKey, isJsonObject, type Json } from '../text/json.ts'

/**
 * A sentence that names the keys of a Secret with values in the manifest, never a value; undefined for other objects. A file that SOPS
 * encrypted has a `sops` mapping beside its data. SealedSecrets and ExternalSecrets are other kinds.
 */
export function plainSecretNote(object: Json): string | undefined {
  const resource = readResource(object)
  if ('problem' in resource || !isSecret(resource.id) || getKey(resource.object, 'sops') !== undefined) return undefined
  const keys = ['data', 'stringData'].flatMap((field) => {
    const values = getKey(resource.object, field)
    return isJsonObject(values)
      ? Object.entries(values).flatMap(([key, value]) => (value === '' || value === null ? [] : [`${field}.${key}`]))
      : []
  })
  return keys.length === 0 ? undefined : `${describeResourceId(resource.id)} has its values in git in plain text: ${keys.join(', ')}`
}
