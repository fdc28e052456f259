/** `stringData` overrides `data` (API reference). */
import { createFieldStep, type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '@backporch/kyaml/json'

export function mergeSecretData(secret: JsonObject): JsonObject {
  const written = getKey(secret, 'stringData')
  if (!isJsonObject(written)) return secret
  const stored = getKey(secret, 'data')
  const data: { [key: string]: Json } = isJsonObject(stored) ? { ...stored } : {}
  for (const [key, value] of Object.entries(written)) {
    if (typeof value === 'string') setKey(data, key, Buffer.from(value, 'utf8').toString('base64'))
  }
  return Object.fromEntries([
    ...Object.entries(secret).filter(([key]) => key !== 'stringData' && key !== 'data'),
    ['data', data],
  ])
}

export function getAuthoredSecretPath(secret: JsonObject, path: FieldPath): FieldPath {
  const [first, ...below] = path
  if (first?.kind !== 'field' || first.name !== 'data') return path
  const written = [createFieldStep('stringData'), ...below]
  const isWritten =
    findValueAt(secret, written) !== undefined || getKey(secret, 'data') === undefined
  return isWritten && getKey(secret, 'stringData') !== undefined ? written : path
}
