/**
 * Whether a value is a credential, by the name of its location or by its form. A value that is hidden by mistake cannot be read or adopted; one
 * that is shown by mistake is in git for ever, so a doubtful value is hidden. References to a Secret (its name, a key, a path) are shown.
 */

import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'
import { looksRandom } from '../../text/random-text.ts'
import { wordSet } from '../../text/words.ts'
import type { FieldPath, PathStep } from '../field-path.ts'
import { isCredentialName, mayBeCredentialName, speaksOfCredential } from './credential-names.ts'
import { hasSecretText } from './credential-text.ts'

/** Annotations in which tools store the whole object, also a Secret: kubectl, kapp, kopf, Rancher, and others of such names. */
const COPY_OF_THE_OBJECT =
  /^(?:kapp\.k14s\.io\/original|objectset\.rio\.cattle\.io\/applied|.{0,200}\/(?:last-(?:applied|handled)(?:-configuration)?|last-(?:applied|handled)-(?:config|spec|state|resource)))$/

/** Fields beside or below a reference to a Secret. */
const PARTS_OF_A_REFERENCE = wordSet(`
  apiVersion audience expirationSeconds group id items key kind mode mountPath name namespace optional path property remoteRef role type url version
`)
/** Last steps that say nothing: `env[name=DB_PASSWORD].value` is named by what is above. */
const HOLDERS = wordSet('value default data content text plain plaintext inline literal string')

/** Flags, and references to another variable. */
const HARMLESS = /^(?:true|false|yes|no|on|off|null|none|\d|\$\([\w.-]+\)|\$\{[\w.-]+\})?$/i

/** Whether a value at a location is hidden. A map or list is, if anything in it is. */
export function looksSecret(path: FieldPath, value: Json | undefined): boolean {
  if (path.some((step) => stepLooksSecret(step))) return true
  return judge(path.map(nameOf), value, lastItemName(path))
}

/** The name of a step; list steps have none. */
function nameOf(step: PathStep): string {
  return step.kind === 'field' ? step.name : ''
}

/**
 * Whether a step holds a credential. Members of sets, keys of items and names of fields are in the path, which is written wherever the value is
 * (`shownPath`), and which an adopted value brings into git.
 */
export function stepLooksSecret(step: PathStep): boolean {
  if (step.kind === 'field') return isCopyOfTheObject(step.name) || hasSecretText(step.name)
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
  if (isJsonArray(value)) return value.some((below) => judge(names, below, '')) || areSecretArguments(value)
  if (isJsonObject(value))
    return isEmbeddedSecret(value) || Object.entries(value).some(([key, below]) => judgeEntry(names, value, key, below))
  if (typeof value === 'string') return (!HARMLESS.test(value) && isTelling(names, item, value)) || hasSecretText(value)
  // A number may be a PIN. Flags and limits (`maxTokens: 5`) are no credentials.
  return (
    (typeof value === 'number' || typeof value === 'bigint') &&
    /(?:passw(?:or)?d|passphrase|secret)$|(?:^|[-_.])pin$/i.test(names.at(-1) ?? '')
  )
}

/** `--password` and `x` as two arguments are equal to `--password x` as one. */
function areSecretArguments(list: readonly Json[]): boolean {
  const words = list.filter((word) => typeof word === 'string')
  return words.length > 1 && words.some((word) => word.startsWith('-')) && hasSecretText(words.map((word) => word.slice(0, 300)).join(' '))
}

/** Whether the annotation of this name stores the whole object. */
export function isCopyOfTheObject(name: string): boolean {
  return COPY_OF_THE_OBJECT.test(name)
}

function judgeEntry(names: readonly string[], owner: JsonObject, key: string, value: Json): boolean {
  if (isCopyOfTheObject(key) || hasSecretText(key)) return true
  const name = getKey(owner, 'name')
  return judge([...names, key], value, typeof name === 'string' ? name : '')
}

/** Whether the value is a Secret inside another object: a template, or a manifest for a controller. */
export function isEmbeddedSecret(value: JsonObject): boolean {
  return getKey(value, 'kind') === 'Secret' && ['data', 'stringData'].some((key) => isJsonObject(getKey(value, key)))
}

function isTelling(names: readonly string[], item: string, value: string): boolean {
  const last = names.at(-1) ?? ''
  const above = names.findLast((name, index) => name !== '' && index < names.length - 1) ?? ''
  if (HOLDERS.has(last)) return isNameOf(item, value) || isNameOf(above, value)
  if (isNameOf(last, value)) return true
  // `tokens: { alice: … }` holds credentials; `secret: { name: … }` and `imagePullSecrets[0].name` name one.
  return (
    isCredentialName(above) && last !== above && !PARTS_OF_A_REFERENCE.has(last) && !speaksOfCredential(last) && !isReferenceList(above)
  )
}

/** Whether the name identifies a credential, or may, and the value looks random. */
function isNameOf(name: string, value: string): boolean {
  return isCredentialName(name) || (mayBeCredentialName(name) && looksRandom(value))
}

/** `imagePullSecrets`, `secrets`: lists of names. */
function isReferenceList(name: string): boolean {
  return /secrets$/i.test(name)
}
