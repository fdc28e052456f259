/**
 * A field path as it may be written down. Members of a set, keys of list items and keys of maps stand in the path itself, so
 * a credential among them is hidden there as a value is: `metadata.finalizers[=hmac-sha256:9f2c1a7be0d1c2a3]`.
 * What is compared inside of the process is the path itself, or `formatFieldPath` of it.
 */

import type { Json } from '../../text/json.ts'
import { type FieldPath, formatFieldPath, type PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { hasSecretText } from './credential-text.ts'
import { looksSecret, stepLooksSecret } from './looks-secret.ts'
import { keyedHash, type RedactionKey } from './redacted.ts'

type Hide = (value: Json, above: FieldPath) => string

/** With a keyed hash for what is hidden, so that two places stay two places. It is a path that `parseFieldPath` reads. */
export function shownPath(key: RedactionKey, id: ResourceId, path: FieldPath): string {
  const object = `path of ${id.group}/${id.kind}/${id.namespace}/${id.name}`
  return format(path, (value, above) => `hmac-sha256:${keyedHash(key, `${object}#${formatFieldPath(above)}`, value).slice(0, 16)}`)
}

/** For errors, which are not compared: what is hidden is `credential:redacted`. */
export function shownPathOnly(path: FieldPath): string {
  return format(path, () => REDACTED)
}

/** What `shownPath` wrote, under whatever installation key, as `shownPathOnly` writes the same path. */
export function withoutHashes(shown: string): string {
  return shown.replace(/hmac-sha256:[0-9a-f]{16}/g, REDACTED)
}

// The colon has it quoted where a keyed hash would be quoted.
const REDACTED = 'credential:redacted'

function format(path: FieldPath, hide: Hide): string {
  return formatFieldPath(
    path.map((step, index) => {
      const above = path.slice(0, index)
      return shownStep(step, above, (value) => hide(value, above))
    }),
  )
}

function shownStep(step: PathStep, above: FieldPath, hide: (value: Json) => string): PathStep {
  // The name of the last-applied annotation is no secret, only what it holds.
  if (step.kind === 'field') return hasSecretText(step.name) ? { kind: 'field', name: hide(step.name) } : step
  // A member is a value: `spec.tokens[="abc"]` is one by its place alone.
  if (step.kind === 'member') return looksSecret([...above, step], step.value) ? { kind: 'member', value: hide(step.value) } : step
  if (step.kind !== 'item' || !stepLooksSecret(step)) return step
  // One key alone may tell nothing, so each is judged: `[name=app,token=…]` stays `app`.
  const keys = Object.entries(step.keys).map(([name, value]): [string, Json] => {
    const hidden = stepLooksSecret({ kind: 'item', keys: Object.fromEntries([[name, value]]) })
    return [name, hidden ? hide(value) : value]
  })
  return { kind: 'item', keys: Object.fromEntries(keys) }
}
