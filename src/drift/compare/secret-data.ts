/** A Secret with `stringData` as the server stores it: base64 in `data`, over the content of `data` (API reference). */
import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../../text/json.ts'

export function withSecretData(secret: JsonObject): JsonObject {
  const written = getKey(secret, 'stringData')
  if (!isJsonObject(written)) return secret
  const stored = getKey(secret, 'data')
  const data: { [key: string]: Json } = isJsonObject(stored) ? { ...stored } : {}
  for (const [key, value] of Object.entries(written)) {
    if (typeof value === 'string') setKey(data, key, Buffer.from(value, 'utf8').toString('base64'))
  }
  return Object.fromEntries([...Object.entries(secret).filter(([key]) => key !== 'stringData' && key !== 'data'), ['data', data]])
}
