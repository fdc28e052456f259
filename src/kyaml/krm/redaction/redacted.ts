/**
 * A writer takes a `Shown`, never a plain value. A hidden value is a keyed hash: equal values of
 * one installation look equal, and nobody can guess the value (an unkeyed SHA-256 of six digits is
 * guessed in 3 s).
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { Derived } from '../../text/derived.ts'
import { formatCanonicalJson, getKey, isJsonObject, type Json } from '../../text/json.ts'
import { createWordSet } from '../../text/words.ts'
import { type FieldPath, formatFieldPath, type PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { explainSecret } from './looks-secret.ts'

declare const redacted: unique symbol

/** Only `redact` creates it. */
interface Redacted {
  readonly [redacted]: true
  readonly kind: 'redacted'
  readonly hmac: string
  /** -1: unread. */
  readonly bytes: number
}
interface Revealed {
  readonly kind: 'revealed'
  readonly value: Json
}
export type Shown = Redacted | Revealed | undefined

/** At least 32 bytes. Never written to git. */
export interface RedactionKey {
  readonly bytes: Uint8Array
  readonly id: string
  /** No hashes of other processes use it. */
  readonly isNew: boolean
  /** Otherwise Node prepares the bytes for each hash (35 µs instead of 5 µs, Node 24.21). */
  readonly prepared: KeyObject
  readonly derived: Derived
}

export function createRedactionKey(bytes: Uint8Array, isNew = false): RedactionKey {
  const id = createHash('sha256')
    .update('backporch key id\0')
    .update(bytes)
    .digest('hex')
    .slice(0, 8)
  return { bytes, id, isNew, prepared: createSecretKey(bytes), derived: new Derived() }
}

/** 64 hex digits. `domain` separates equal values of different locations. */
export function computeKeyedHash(
  key: RedactionKey,
  domain: string,
  value: Json | undefined,
): string {
  const mac = createHmac('sha256', key.prepared).update(domain).update('\0')
  return (
    value === undefined
      ? mac.update('absent')
      : mac.update('value\0').update(formatCanonicalJson(value))
  ).digest('hex')
}

export function redact(key: RedactionKey, id: ResourceId, path: FieldPath, value: Json): Redacted {
  const bytes = measureLength(id, path, value)
  const hmac = computeKeyedHash(
    key,
    `${id.group}/${id.kind}/${id.namespace}/${id.name}#${formatFieldPath(path)}`,
    value,
  ).slice(0, 16)
  return { kind: 'redacted', hmac, bytes } as Redacted
}

/** A Secret's base64 counts decoded. */
function measureLength(id: ResourceId, path: FieldPath, value: Json): number {
  if (typeof value !== 'string') return Buffer.byteLength(formatCanonicalJson(value))
  const encoded =
    isSecret(id) && path.length === 2 && path[0]?.kind === 'field' && path[0].name === 'data'
  return encoded ? Buffer.from(value, 'base64').length : Buffer.byteLength(value)
}

export function redactUnread(): Redacted {
  return { kind: 'redacted', hmac: '', bytes: -1 } as Redacted
}

/** Whether the object is a core Secret, whose content is never shown. */
export function isSecret(id: ResourceId): boolean {
  return id.group === '' && id.kind === 'Secret'
}

/** By policy, schema or surrounding object. */
export interface Visibility {
  readonly shown: boolean
  readonly why: string
}

interface ValueLocation {
  readonly id: ResourceId
  readonly path: FieldPath
  readonly visibility?: Visibility | undefined
}

export function explainHidden(
  { id, path, visibility }: ValueLocation,
  value: Json | undefined,
): string | undefined {
  if (visibility?.shown === false) return visibility.why
  if (isSecret(id) && isHiddenOfSecret(path, value))
    return 'of a Secret only type and known labels, annotations and finalizers are shown'
  if (isOfSecretTemplate(id, path, value)) return 'it is what a Secret will hold'
  if (visibility?.shown === true) return undefined
  return explainSecret(path, value)
}

export function isSensitive(location: ValueLocation, value: Json | undefined): boolean {
  return explainHidden(location, value) !== undefined
}

const SHOWN_OF_A_SECRET = new Set(['type', 'immutable', 'metadata'])
/**
 * Without content: of Kubernetes, package managers and syncers. Any other may be a copy of the
 * Secret.
 */
const SHOWN_ANNOTATION =
  /^(?:backporch\.dev\/.*|kubernetes\.io\/(?:service-account\.(?:name|uid)|description)|cert-manager\.io\/(?:certificate-name|common-name|alt-names|ip-sans|uri-sans|issuer-(?:name|kind|group))|(?:internal\.)?config\.kubernetes\.io\/[a-z-]+|(?:internal\.)?kpt\.dev\/[a-z-]+|config\.k8s\.io\/owning-inventory|client\.lifecycle\.config\.k8s\.io\/deletion|meta\.helm\.sh\/release-name(?:space)?|helm\.sh\/(?:hook|hook-weight|hook-delete-policy|resource-policy)|argocd\.argoproj\.io\/(?:sync-wave|sync-options|compare-options|tracking-id|hook|hook-delete-policy)|kustomize\.toolkit\.fluxcd\.io\/(?:prune|reconcile|ssa|force)|sealedsecrets\.bitnami\.com\/(?:managed|namespace-wide|cluster-wide|patch))$/

/** Written or selected by Kubernetes, package managers and syncers. Any other is arbitrary. */
const SHOWN_LABEL =
  /^(?:app|component|tier|team|env|environment|release|chart|heritage|instance|k8s-app|name|owner|status|version|modifiedAt|(?:[a-z-]+\.)?(?:kubernetes|k8s)\.io\/[a-z-]+|helm\.sh\/chart|argocd\.argoproj\.io\/(?:instance|secret-type)|(?:kustomize|helm)\.toolkit\.fluxcd\.io\/name(?:space)?|toolkit\.fluxcd\.io\/[a-z-]+|(?:controller\.|acme\.)?cert-manager\.io\/[a-z-]+|(?:reconcile\.)?external-secrets\.io\/[a-z-]+|sealedsecrets\.bitnami\.com\/[a-z-]+|velero\.io\/[a-z-]+|(?:[a-z]+\.)?cattle\.io\/[a-z-]+|kpt\.dev\/[a-z-]+|cli-utils\.sigs\.k8s\.io\/[a-z-]+|applyset\.k8s\.io\/[a-z-]+|backporch\.dev\/.*)$/
/** docs/facts/finalizers-of-secrets.md. Any other name is an arbitrary text. */
const SHOWN_FINALIZERS = createWordSet(`
  kubernetes orphan foregroundDeletion
  argocd.argoproj.io/hook-finalizer resources-finalizer.argocd.argoproj.io resources-finalizer.argocd.argoproj.io/background
  resources-finalizer.argocd.argoproj.io/foreground finalizers.fluxcd.io
  gardener.cloud/gardener machine.sapcloud.io/machine-controller machine.sapcloud.io/machine-controller-manager
  configuration.konghq.com/ingress wrangler.cattle.io/klum-secret
`)

export function isHiddenOfSecret(path: FieldPath, value: Json | undefined): boolean {
  const [first, second, third] = path.map((step) => (step.kind === 'field' ? step.name : ''))
  if (first === undefined) return true
  if (!SHOWN_OF_A_SECRET.has(first)) return true
  if (first !== 'metadata') return false
  if (second === undefined)
    return (
      isJsonObject(value) &&
      MARKS.some((step) => isHiddenOfSecret([...path, step], getKey(value, step.name)))
    )
  if (second === 'finalizers')
    return [value].flat().some((one) => typeof one === 'string' && !SHOWN_FINALIZERS.has(one))
  const shown = SHOWN_MARKS.get(second)
  if (shown === undefined) return false
  return third === undefined
    ? isJsonObject(value) && Object.keys(value).some((name) => !shown.test(name))
    : !shown.test(third)
}

const SHOWN_MARKS: ReadonlyMap<string, RegExp> = new Map([
  ['annotations', SHOWN_ANNOTATION],
  ['labels', SHOWN_LABEL],
])
const MARKS = ['annotations', 'labels', 'finalizers'].map(
  (name) => ({ kind: 'field', name }) as const,
)

/** By kind: where the content is. Encrypted content and references are shown. */
const SECRET_TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['bitnami.com/SealedSecret', ['spec', 'template', 'data']],
  ['external-secrets.io/ExternalSecret', ['spec', 'target', 'template', 'data']],
  [
    'external-secrets.io/ClusterExternalSecret',
    ['spec', 'externalSecretSpec', 'target', 'template', 'data'],
  ],
  ['external-secrets.io/PushSecret', ['spec', 'template', 'data']],
])

export function isOfSecretTemplate(
  { group, kind }: ResourceId,
  path: FieldPath,
  value: Json | undefined,
): boolean {
  const location = SECRET_TEMPLATES.get(`${group}/${kind}`)
  if (
    location === undefined ||
    !location.every((name, at) => at >= path.length || isField(path[at], name))
  )
    return false
  return (
    location
      .slice(path.length)
      .reduce((at, name) => (isJsonObject(at) ? getKey(at, name) : undefined), value) !== undefined
  )
}

function isField(step: PathStep | undefined, name: string): boolean {
  return step?.kind === 'field' && step.name === name
}

/** The only way for a value to leave. */
export function show(key: RedactionKey, location: ValueLocation, value: Json | undefined): Shown {
  if (value === undefined) return undefined
  return isSensitive(location, value)
    ? redact(key, location.id, location.path, value)
    : { kind: 'revealed', value }
}

/** Hidden: `hmac-sha256:9f2c1a7be0d1c2a3 (24 bytes)`. */
export function convertShownToJson(shown: Shown): Json | undefined {
  if (shown === undefined) return undefined
  if (shown.kind === 'revealed') return shown.value
  return shown.bytes < 0
    ? 'redacted (not read)'
    : `hmac-sha256:${shown.hmac} (${shown.bytes} bytes)`
}
