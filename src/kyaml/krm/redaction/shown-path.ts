/**
 * A field path for output. It contains set members and keys of items and maps, so credentials among
 * them are hidden like values: `metadata.finalizers[=hmac-sha256:9f2c1a7be0d1c2a3]`. Comparisons in
 * the process use the path itself, or `formatFieldPath`.
 */
import type { Json } from '../../text/json.ts'
import { type FieldPath, formatFieldPath, type PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { hasSecretText } from './credential-text.ts'
import { isLikelySecret, stepLooksSecret } from './looks-secret.ts'
import { computeKeyedHash, isHiddenOfSecret, isSecret, type RedactionKey } from './redacted.ts'

type Hide = (value: Json, above: FieldPath) => string

/** Keyed hashes keep locations distinct. `parseFieldPath` reads it. */
export function formatShownPath(key: RedactionKey, id: ResourceId, path: FieldPath): string {
  const object = `path of ${id.group}/${id.kind}/${id.namespace}/${id.name}`
  return format(
    id,
    path,
    (value, above) =>
      `hmac-sha256:${computeKeyedHash(key, `${object}#${formatFieldPath(above)}`, value).slice(0, 16)}`,
  )
}

/**
 * For errors, which are not compared. @param id undefined if the path is a part of one, or was
 * shown before
 */
export function formatRedactedPath(path: FieldPath, id: ResourceId | undefined): string {
  return format(id, path, () => REDACTED)
}

export function redactHashes(shown: string): string {
  return shown.replace(/hmac-sha256:[0-9a-f]{16}/g, REDACTED)
}

// The colon causes quotes.
const REDACTED = 'credential:redacted'

function format(id: ResourceId | undefined, path: FieldPath, hide: Hide): string {
  return formatFieldPath(
    path.map((step, index) => {
      const above = path.slice(0, index)
      if (
        id !== undefined &&
        step.kind === 'member' &&
        isSecret(id) &&
        isHiddenOfSecret([...above, step], step.value)
      )
        return { kind: 'member', value: hide(step.value, above) }
      return showStep(step, above, (value) => hide(value, above))
    }),
  )
}

function showStep(step: PathStep, above: FieldPath, hide: (value: Json) => string): PathStep {
  if (step.kind === 'field')
    return hasSecretText(step.name) ? { kind: 'field', name: hide(step.name) } : step
  // `spec.tokens[="abc"]` is a credential by its location.
  if (step.kind === 'member')
    return isLikelySecret([...above, step], step.value)
      ? { kind: 'member', value: hide(step.value) }
      : step
  if (step.kind !== 'item' || !stepLooksSecret(step)) return step
  // `[name=app,token=…]` keeps `app`.
  const keys = Object.entries(step.keys).map(([name, value]): [string, Json] => {
    const hidden = stepLooksSecret({ kind: 'item', keys: Object.fromEntries([[name, value]]) })
    return [name, hidden ? hide(value) : value]
  })
  return { kind: 'item', keys: Object.fromEntries(keys) }
}
