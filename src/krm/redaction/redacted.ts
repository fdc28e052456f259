/**
 * Values on their way out of the process. A writer (git, terminal, JSON, log) takes a `Shown`, never a plain value that
 * was read from a cluster or a Secret manifest, so that a secret cannot reach it by oversight.
 * A hidden value shows as a keyed hash: equal values of one installation look equal, and nothing can be guessed back
 * (measured: an unkeyed SHA-256 of a six-digit secret falls in 3 s).
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { Derived } from '../../text/derived.ts'
import { canonicalJson, getKey, isJsonObject, type Json } from '../../text/json.ts'
import { type FieldPath, formatFieldPath, type PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { looksSecret } from './looks-secret.ts'

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
  /** Node makes a key of bytes anew for each hash, which takes seven times as long as the hash (measured with Node 24.21: 35 µs and 5 µs). */
  readonly prepared: KeyObject
  /** What was computed with the key, for the turns of one process: a drift that is as it was is hashed and shown once. */
  readonly derived: Derived
}

export function redactionKey(bytes: Uint8Array): RedactionKey {
  const id = createHash('sha256').update('backporch key id\0').update(bytes).digest('hex').slice(0, 8)
  return { bytes, id, prepared: createSecretKey(bytes), derived: new Derived() }
}

/** Keyed hash of a value, 64 hex digits. `domain` keeps equal values of different places apart. */
export function keyedHash(key: RedactionKey, domain: string, value: Json | undefined): string {
  const mac = createHmac('sha256', key.prepared).update(domain).update('\0')
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

/** What is known of a value beyond its own place and form: the policy, the schema of its kind and the object around it tell. */
export interface Visibility {
  readonly shown: boolean
  /** A clause for people, without the value. */
  readonly why: string
}

/** Where a value stands. */
export interface ValueLocation {
  readonly id: ResourceId
  readonly path: FieldPath
  /** Undefined where place and form decide. */
  readonly visibility?: Visibility | undefined
}

/** Why a value must be hidden, as a clause for people; undefined where it is shown. */
export function whyHidden({ id, path, visibility }: ValueLocation, value: Json | undefined): string | undefined {
  if (visibility?.shown === false) return visibility.why
  if (isSecret(id) && isHiddenOfSecret(path, value)) return 'of a Secret only type, labels and known annotations are shown'
  if (isOfSecretTemplate(id, path, value)) return 'it is what a Secret will hold'
  if (visibility?.shown === true) return undefined
  return looksSecret(path, value) ? 'its name or its form identifies a credential' : undefined
}

export function isSensitive(location: ValueLocation, value: Json | undefined): boolean {
  return whyHidden(location, value) !== undefined
}

const SHOWN_OF_A_SECRET = new Set(['type', 'immutable', 'metadata'])
/**
 * Annotations of Secrets that are shown: what Kubernetes, package managers and syncers write by themselves, and no content is in. Any other may
 * be a copy of the whole Secret, as tools keep one under names that nobody lists.
 */
const SHOWN_ANNOTATION =
  /^(?:backporch\.dev\/.*|kubernetes\.io\/(?:service-account\.(?:name|uid)|description)|cert-manager\.io\/(?:certificate-name|common-name|alt-names|ip-sans|uri-sans|issuer-(?:name|kind|group))|(?:internal\.)?config\.kubernetes\.io\/[a-z-]+|(?:internal\.)?kpt\.dev\/[a-z-]+|config\.k8s\.io\/owning-inventory|client\.lifecycle\.config\.k8s\.io\/deletion|meta\.helm\.sh\/release-name(?:space)?|helm\.sh\/(?:hook|hook-weight|hook-delete-policy|resource-policy)|argocd\.argoproj\.io\/(?:sync-wave|sync-options|compare-options|tracking-id|hook|hook-delete-policy)|kustomize\.toolkit\.fluxcd\.io\/(?:prune|reconcile|ssa|force)|sealedsecrets\.bitnami\.com\/(?:managed|namespace-wide|cluster-wide|patch))$/

/** Everything of a Secret but its labels, type and known annotations. */
export function isHiddenOfSecret(path: FieldPath, value: Json | undefined): boolean {
  const [first, second, third] = path.map((step) => (step.kind === 'field' ? step.name : ''))
  if (first === undefined) return true
  if (!SHOWN_OF_A_SECRET.has(first)) return true
  if (first !== 'metadata') return false
  if (second === undefined) return isJsonObject(value) && isHiddenOfSecret([...path, ANNOTATIONS], getKey(value, 'annotations'))
  if (second !== 'annotations') return false
  return third === undefined ? isJsonObject(value) && Object.keys(value).some(isHiddenAnnotation) : isHiddenAnnotation(third)
}

const ANNOTATIONS: PathStep = { kind: 'field', name: 'annotations' }

function isHiddenAnnotation(name: string): boolean {
  return !SHOWN_ANNOTATION.test(name)
}

/** Kinds of which a controller makes Secrets, and where they have the content. What of theirs is encrypted or a reference is shown. */
const SECRET_TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['bitnami.com/SealedSecret', ['spec', 'template', 'data']],
  ['external-secrets.io/ExternalSecret', ['spec', 'target', 'template', 'data']],
  ['external-secrets.io/ClusterExternalSecret', ['spec', 'externalSecretSpec', 'target', 'template', 'data']],
  ['external-secrets.io/PushSecret', ['spec', 'template', 'data']],
])

/** Whether the place is the content of a Secret that some controller makes of the object, or the value has that content. */
export function isOfSecretTemplate({ group, kind }: ResourceId, path: FieldPath, value: Json | undefined): boolean {
  const location = SECRET_TEMPLATES.get(`${group}/${kind}`)
  if (location === undefined || !location.every((name, at) => at >= path.length || isField(path[at], name))) return false
  return location.slice(path.length).reduce((at, name) => (isJsonObject(at) ? getKey(at, name) : undefined), value) !== undefined
}

function isField(step: PathStep | undefined, name: string): boolean {
  return step?.kind === 'field' && step.name === name
}

/** The one door by which a value leaves: hidden where it is sensitive, itself otherwise. */
export function show(key: RedactionKey, location: ValueLocation, value: Json | undefined): Shown {
  if (value === undefined) return undefined
  return isSensitive(location, value) ? redact(key, location.id, location.path, value) : { kind: 'revealed', value }
}

/** The shown value as JSON and YAML writers put it; a hidden one as `hmac-sha256:9f2c1a7be0d1c2a3 (24 bytes)`. */
export function shownJson(shown: Shown): Json | undefined {
  if (shown === undefined) return undefined
  if (shown.kind === 'revealed') return shown.value
  return shown.bytes < 0 ? 'redacted (not read)' : `hmac-sha256:${shown.hmac} (${shown.bytes} bytes)`
}
