/**
 * Whether a value is a credential, by the name of its location or by its form. A value that is hidden by mistake cannot be read or adopted; one
 * that is shown by mistake is in git for ever, so a doubtful value is hidden. References to a Secret (its name, a key, a path) are shown.
 */
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'
import { oneLine } from '../../text/one-line.ts'
import { wordSet } from '../../text/words.ts'
import type { FieldPath, PathStep } from '../field-path.ts'
import { isCredentialName, isNamedCredential, speaksOfCredential } from './credential-names.ts'
import { hasSecretText, whySecretText } from './credential-text.ts'

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
  return whySecret(path, value) !== undefined
}

/** Why a value at a location is hidden, as a clause without the value; undefined where it is shown. */
export function whySecret(path: FieldPath, value: Json | undefined): string | undefined {
  if (path.some((step) => stepLooksSecret(step))) return 'a part of its location is a credential'
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
  if (step.kind === 'member') return judge([], step.value, '') !== undefined
  return (
    step.kind === 'item' &&
    Object.entries(step.keys).some(([key, value]) => judge([key], value, '') !== undefined)
  )
}

/** Name of the item that the last field belongs to: `DB_PASSWORD` for `env[name=DB_PASSWORD].value`. */
function lastItemName(path: FieldPath): string {
  const step = path.at(-2)
  return step?.kind === 'item' ? nameIn(step.keys) : ''
}

/** Fields in which an item of a list says what its value is: `{name: DB_PASSWORD, value: x}`, `{key: Authorization, value: x}`. */
export const ITEM_NAMES: readonly string[] = ['name', 'key', 'header']

function nameIn(owner: JsonObject): string {
  const name = ITEM_NAMES.map((key) => getKey(owner, key)).find((one) => typeof one === 'string')
  return typeof name === 'string' ? name : ''
}

function judge(
  names: readonly string[],
  value: Json | undefined,
  item: string,
): string | undefined {
  if (isJsonArray(value))
    return firstOf(value, (below) => judge(names, below, '')) ?? whyArguments(value)
  if (isJsonObject(value)) {
    if (isEmbeddedSecret(value)) return 'it is a Secret inside another object'
    return firstOf(Object.entries(value), ([key, below]) => judgeEntry(names, value, key, below))
  }
  if (typeof value === 'string')
    return (HARMLESS.test(value) ? undefined : whyName(names, item, value)) ?? whySecretText(value)
  // A number may be a PIN. Flags and limits (`maxTokens: 5`) are no credentials.
  const last = names.at(-1) ?? ''
  const isPin = /(?:passw(?:or)?d|passphrase|secret)$|(?:^|[-_.])pin$/i.test(last)
  return (typeof value === 'number' || typeof value === 'bigint') && isPin
    ? ofName(last)
    : undefined
}

function firstOf<Item>(
  items: readonly Item[],
  why: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = why(item)
    if (found !== undefined) return found
  }
  return undefined
}

function ofName(name: string): string {
  // The name of an item is a value itself.
  if (hasSecretText(name)) return 'its name says that it is a credential'
  return `the name ${oneLine(name, 80)} says that it is a credential`
}

/** `--password` and `x` as two arguments are equal to `--password x` as one. */
function whyArguments(list: readonly Json[]): string | undefined {
  const words = list.filter((word) => typeof word === 'string')
  if (words.length < 2 || !words.some((word) => word.startsWith('-'))) return undefined
  return whySecretText(words.map((word) => word.slice(0, 300)).join(' '))
}

/** Whether the annotation of this name stores the whole object. */
export function isCopyOfTheObject(name: string): boolean {
  return COPY_OF_THE_OBJECT.test(name)
}

function judgeEntry(
  names: readonly string[],
  owner: JsonObject,
  key: string,
  value: Json,
): string | undefined {
  if (isCopyOfTheObject(key)) return 'it is a copy of the whole object'
  if (hasSecretText(key)) return 'a name in it is a credential'
  return judge([...names, key], value, nameIn(owner))
}

/** Whether the value is a Secret inside another object: a template, or a manifest for a controller. */
export function isEmbeddedSecret(value: JsonObject): boolean {
  return (
    getKey(value, 'kind') === 'Secret' &&
    ['data', 'stringData'].some((key) => isJsonObject(getKey(value, key)))
  )
}

/** Why the name of a value says that it is a credential; undefined where it does not. */
function whyName(names: readonly string[], item: string, value: string): string | undefined {
  const last = names.at(-1) ?? ''
  const above = names.findLast((name, index) => name !== '' && index < names.length - 1) ?? ''
  const telling = (HOLDERS.has(last) ? [item, above] : [last]).find((name) =>
    isNamedCredential(name, value),
  )
  if (telling !== undefined) return ofName(telling)
  if (HOLDERS.has(last)) return undefined
  // `tokens: { alice: … }` holds credentials; `secret: { name: … }` and `imagePullSecrets[0].name` name one.
  const isHeld =
    isCredentialName(above) &&
    last !== above &&
    !PARTS_OF_A_REFERENCE.has(last) &&
    !speaksOfCredential(last) &&
    !isReferenceList(above)
  return isHeld ? ofName(above) : undefined
}

/** `imagePullSecrets`, `secrets`: lists of names. */
function isReferenceList(name: string): boolean {
  return /secrets$/i.test(name)
}
