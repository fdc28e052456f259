/**
 * Values on their way out of the process. A writer (git, terminal, JSON, log) takes a `Shown`, never a plain value that
 * was read from a cluster or a Secret manifest, so that a secret cannot reach it by oversight.
 * A hidden value shows as a keyed hash: equal values of one installation look equal, and nothing can be guessed back
 * (measured: an unkeyed SHA-256 of a six-digit secret falls in 3 s).
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { type FieldPath, formatFieldPath } from './field-path.ts'
import { canonicalJson, type Json } from './json.ts'
import { looksSecret } from './looks-secret.ts'
import type { ResourceId } from './resource-id.ts'

declare const redacted: unique symbol

/** Stands for a value that is not shown. Made only by `redact`. */
export interface Redacted {
  readonly [redacted]: true
  readonly kind: 'redacted'
  /** First 16 hex digits of the keyed hash. */
  readonly hmac: string
  /** Length in bytes of the text or JSON; -1 where the value itself was never read. */
  readonly bytes: number
}
/** A value that may be written out as it is. Made only by `reveal`. */
export interface Revealed {
  readonly kind: 'revealed'
  readonly value: Json
}
/** What a writer takes. `undefined` stands for "nothing is there". */
export type Shown = Redacted | Revealed | undefined

/** The installation's key. 32 bytes or more; never written to git. */
export interface RedactionKey {
  readonly bytes: Uint8Array
  /** First 8 hex digits of the key's hash: tells that a key was changed, not what it is. */
  readonly id: string
}

export function redactionKey(bytes: Uint8Array): RedactionKey {
  return { bytes, id: createHash('sha256').update('backporch key id\0').update(bytes).digest('hex').slice(0, 8) }
}

export function sameKey(left: RedactionKey, right: RedactionKey): boolean {
  return left === right || Buffer.compare(left.bytes, right.bytes) === 0
}

/** Node makes a key of bytes anew for each hash, which takes seven times as long as the hash (measured with Node 24.21: 35 µs and 5 µs). */
const prepared = new WeakMap<RedactionKey, KeyObject>()

function prepare(key: RedactionKey): KeyObject {
  const known = prepared.get(key) ?? createSecretKey(key.bytes)
  prepared.set(key, known)
  return known
}

/** Keyed hash of a value, 64 hex digits. `domain` keeps equal values of different places apart. */
export function keyedHash(key: RedactionKey, domain: string, value: Json | undefined): string {
  const mac = createHmac('sha256', prepare(key)).update(domain).update('\0')
  return (value === undefined ? mac.update('absent') : mac.update('value\0').update(canonicalJson(value))).digest('hex')
}

export function redact(key: RedactionKey, id: ResourceId, path: FieldPath, value: Json): Redacted {
  const bytes = lengthOf(id, path, value)
  const hmac = keyedHash(key, `${id.group}/${id.kind}/${id.namespace}/${id.name}#${formatFieldPath(path)}`, value).slice(0, 16)
  return { kind: 'redacted', hmac, bytes } as Redacted
}

/** Bytes of the text or JSON; of the content where a Secret stores it as base64. */
function lengthOf(id: ResourceId, path: FieldPath, value: Json): number {
  if (typeof value !== 'string') return Buffer.byteLength(canonicalJson(value))
  const encoded = isSecret(id) && path.length === 2 && path[0]?.kind === 'field' && path[0].name === 'data'
  return encoded ? Buffer.from(value, 'base64').length : Buffer.byteLength(value)
}

/** A hidden value that was never read (metadata only): its owner is known, its content is not. */
export function redactUnread(): Redacted {
  return { kind: 'redacted', hmac: '', bytes: -1 } as Redacted
}

/** Whether the object is a core Secret, so that nothing of its content is ever shown. */
export function isSecret(id: ResourceId): boolean {
  return id.group === '' && id.kind === 'Secret'
}

/**
 * Whether a value must be hidden: everything of a Secret but labels, plain annotations and `type`; the last-applied
 * annotation of anything; and values that by the name of their place or by their own form are credentials.
 */
export function isSensitive(id: ResourceId, path: FieldPath, value: Json | undefined): boolean {
  const [first] = path
  if (isSecret(id) && !(first?.kind === 'field' && SHOWN_OF_A_SECRET.has(first.name))) return true
  return looksSecret(path, value)
}

const SHOWN_OF_A_SECRET = new Set(['type', 'immutable', 'metadata'])

/** The one door by which a value leaves: hidden where it is sensitive, itself otherwise. */
export function show(key: RedactionKey, id: ResourceId, path: FieldPath, value: Json | undefined): Shown {
  if (value === undefined) return undefined
  return isSensitive(id, path, value) ? redact(key, id, path, value) : { kind: 'revealed', value }
}

/** The shown value as JSON and YAML writers put it; a hidden one as `hmac-sha256:9f2c1a7be0d1c2a3 (24 bytes)`. */
export function shownJson(shown: Shown): Json | undefined {
  if (shown === undefined) return undefined
  if (shown.kind === 'revealed') return shown.value
  return shown.bytes < 0 ? 'redacted (not read)' : `hmac-sha256:${shown.hmac} (${shown.bytes} bytes)`
}
