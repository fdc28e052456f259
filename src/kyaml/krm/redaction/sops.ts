/**
 * Values `ENC[…]`, and the mapping `sops`. getsops/sops `aes/cipher.go`;
 * fluxcd/kustomize-controller `internal/decryptor/decryptor.go` (`isSOPSEncryptedResource`, marker
 * bytes of Secret entries); docs/facts/sops.md.
 */
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'

const VALUE = /^ENC\[AES256_GCM,data:.*,type:[a-z]+\]$/s
/** YAML, JSON or binary, dotenv, INI. */
const FILE = /(^|\n)\s*"?mac"?: "?ENC\[|(^|\n)sops_mac=ENC\[|(^|\n)\[sops\]/

export function isEncryptedValue(value: Json | undefined): value is string {
  return typeof value === 'string' && VALUE.test(value)
}

export function isEncryptedEntry(value: Json | undefined): value is string {
  return (
    typeof value === 'string' &&
    value.length > 16 &&
    FILE.test(Buffer.from(value, 'base64').toString('latin1'))
  )
}

export function omitSops(object: JsonObject): JsonObject {
  const sops = getKey(object, 'sops')
  if (!isJsonObject(sops) || typeof getKey(sops, 'mac') !== 'string') return object
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== 'sops'))
}

export function hasEncrypted(value: Json | undefined): boolean {
  if (isJsonArray(value)) return value.some(hasEncrypted)
  if (isJsonObject(value)) return Object.values(value).some(hasEncrypted)
  return isEncryptedValue(value)
}
