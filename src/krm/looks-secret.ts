/**
 * Whether a value is a credential, by the name of its place or by its own form. Hidden by mistake, a value cannot be read or
 * adopted; shown by mistake, it is in git for ever: where in doubt, it is hidden. References to a Secret (its name, the
 * key in it, the path of a file) are no credentials and are shown.
 */
import type { FieldPath, PathStep } from './field-path.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from './json.ts'

/** Annotation in which client-side apply keeps the whole object, a Secret's content too. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const WORDS = 'passw(?:or)?d|passphrase|secret|token(?!i[sz])|api[-_.]?key|private[-_.]?key|access[-_.]?key|credential'
const SECRET_NAME = new RegExp(`${WORDS}|(?:^|[-_.])(?:pass|pwd|pin)(?:$|[-_.])`, 'i')
/** A name that ends so speaks of a credential and does not hold it: `secretName`, `passwordSecretRef`, `TOKEN_FILE`, `tokenReview`. */
const SPEAKS_OF =
  /(?:names?|refs?|references?|selectors?|paths?|files?|dirs?|mounts?|ur[li]s?|endpoints?|hosts?|issuers?|audiences?|class(?:es)?|types?|kinds?|namespaces?|versions?|stores?|providers?|backends?|templates?|polic(?:y|ies)|reviews?|requests?|headers?|algorithms?|seconds?|ttl|expir(?:y|es|ation)|durations?|intervals?|lengths?|counts?|limits?|enabled|required|optional)$/i
/** What stands beside or below a reference to a Secret. */
const PARTS_OF_A_REFERENCE = new Set(
  'apiVersion audience expirationSeconds group id items key kind mode mountPath name namespace optional path property remoteRef role type url version'.split(
    ' ',
  ),
)
/** `env[name=DB_PASSWORD].value`: the place is named by what stands above its last step. */
const HOLDERS = new Set('value default data content text plain plaintext inline literal string'.split(' '))

// Every repetition is bounded or cannot overlap: a value may be a megabyte of whatever its writer likes.
const SECRET_TEXT = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk_live_|rk_live_|hvs\.|npm_|AIza|AGE-SECRET-KEY-1)[A-Za-z0-9_-]{16}/,
  /\beyJ[A-Za-z0-9_-]{10,300}\.[A-Za-z0-9_-]{10}/,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:[^\s/@]+@/i,
  /\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer)\s+\S{8}/i,
  // A kubeconfig, and the credentials of a container registry.
  /\bclient-key-data\b/,
  /"auths?"\s*:/,
]
/** `password=x`, `--db-password x`, `token: x` and `"apiKey":"x"` inside a longer text; not `tokenUrl: x`, `$REFERENCE`, `{{ template }}`, a path. */
const ASSIGNED = new RegExp(
  `(?:${WORDS}|\\bpwd|\\bpin)["']?(?:\\s*[:=]\\s*|(?=\\s)(?<=--[\\w-]{0,60})\\s+)["']?(?!(?:true|false|null|none)\\b|[$<{/*%]|\\s)[^\\s"',;}]{3}`,
  'i',
)
/** Flags, and references to another variable. */
const HARMLESS = /^(?:true|false|yes|no|on|off|null|none|\$\([\w.-]+\)|\$\{[\w.-]+\})?$/i

/** Whether a value at a place must be hidden. A map or list is, when anything in it is. */
export function looksSecret(path: FieldPath, value: Json | undefined): boolean {
  if (path.some((step) => stepLooksSecret(step))) return true
  return judge(path.map(nameOf), value, lastItemName(path))
}

/** Names of the steps on the way to a place; a list's own steps have none. */
function nameOf(step: PathStep): string {
  return step.kind === 'field' ? step.name : ''
}

/**
 * Members of a set, keys of an item and names of fields stand in the path itself, which is written wherever the value is
 * (`shownPath`), and which an adopted value would bring into git.
 */
export function stepLooksSecret(step: PathStep): boolean {
  if (step.kind === 'field') return step.name === LAST_APPLIED || hasSecretText(step.name)
  if (step.kind === 'member') return judge([], step.value, '')
  return step.kind === 'item' && Object.entries(step.keys).some(([key, value]) => judge([key], value, ''))
}

/** Name of the item that the last field belongs to: `DB_PASSWORD` for `env[name=DB_PASSWORD].value`. */
function lastItemName(path: FieldPath): string {
  const step = path.at(-2)
  const name = step?.kind === 'item' ? getKey(step.keys, 'name') : undefined
  return typeof name === 'string' ? name : ''
}

function judge(names: readonly string[], value: Json | undefined, item: string): boolean {
  if (isJsonArray(value)) return value.some((below, index) => judge(names, below, '') || isSecretArgument(value[index - 1], below))
  if (isJsonObject(value))
    return isEmbeddedSecret(value) || Object.entries(value).some(([key, below]) => judgeEntry(names, value, key, below))
  if (typeof value === 'string') return (!HARMLESS.test(value) && isTelling(names, item)) || hasSecretText(value)
  // A number may be a PIN. Flags and limits (`maxTokens: 5`) are no credentials.
  return (
    (typeof value === 'number' || typeof value === 'bigint') &&
    /(?:passw(?:or)?d|passphrase|secret)$|(?:^|[-_.])pin$/i.test(names.at(-1) ?? '')
  )
}

/** `--password` and `x` as two arguments of a command are what `--password x` is as one. */
function isSecretArgument(flag: Json | undefined, value: Json): boolean {
  return (
    typeof flag === 'string' &&
    typeof value === 'string' &&
    /^--[\w.-]{1,80}$/.test(flag) &&
    hasSecretText(`${flag} ${value.slice(0, 200)}`)
  )
}

function judgeEntry(names: readonly string[], owner: JsonObject, key: string, value: Json): boolean {
  if (key === LAST_APPLIED || hasSecretText(key)) return true
  const name = getKey(owner, 'name')
  return judge([...names, key], value, typeof name === 'string' ? name : '')
}

/** A Secret inside of another object: a template, a manifest that some controller will apply. */
export function isEmbeddedSecret(value: JsonObject): boolean {
  return getKey(value, 'kind') === 'Secret' && ['data', 'stringData'].some((key) => isJsonObject(getKey(value, key)))
}

function isTelling(names: readonly string[], item: string): boolean {
  const last = names.at(-1) ?? ''
  const above = names.findLast((name, index) => name !== '' && index < names.length - 1) ?? ''
  if (HOLDERS.has(last)) return isSecretName(item) || isSecretName(above)
  if (isSecretName(last)) return true
  // `tokens: { alice: … }` holds credentials; `secret: { name: … }` and `imagePullSecrets[0].name` name one.
  return isSecretName(above) && last !== above && !PARTS_OF_A_REFERENCE.has(last) && !SPEAKS_OF.test(last) && !isReferenceList(above)
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !SPEAKS_OF.test(name)
}

/** `imagePullSecrets`, `secrets`: lists of names. */
function isReferenceList(name: string): boolean {
  return /secrets$/i.test(name)
}

/** Whether a text is, or holds, a credential by its own form, wherever it stands. */
export function hasSecretText(text: string): boolean {
  return SECRET_TEXT.some((pattern) => pattern.test(text)) || ASSIGNED.test(text)
}
