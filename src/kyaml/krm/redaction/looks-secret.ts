/**
 * A value hidden by mistake cannot be adopted; one shown by mistake stays in git forever, so a
 * doubtful value is hidden. References to a Secret are shown.
 */
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../text/json.ts'
import { convertToOneLine } from '../../text/one-line.ts'
import { createWordSet } from '../../text/words.ts'
import type { FieldPath, PathStep } from '../field-path.ts'
import { hasCredentialWord, isCredentialName, isNamedCredential } from './credential-names.ts'
import { explainSecretText, hasSecretText } from './credential-text.ts'

/** Tools store the whole object here: kubectl, kapp, kopf, Rancher, and others. */
const COPY_OF_THE_OBJECT =
  /^(?:kapp\.k14s\.io\/original|objectset\.rio\.cattle\.io\/applied|.{0,200}\/(?:last-(?:applied|handled)(?:-configuration)?|last-(?:applied|handled)-(?:config|spec|state|resource)))$/

const PARTS_OF_A_REFERENCE = createWordSet(`
  apiVersion audience expirationSeconds group id items key kind mode mountPath name namespace optional path property remoteRef role type url version
`)
/** The parent names the value: `env[name=DB_PASSWORD].value`. */
const HOLDERS = createWordSet(
  'value default data content text plain plaintext inline literal string',
)

const HARMLESS = /^(?:true|false|yes|no|on|off|null|none|\d|\$\([\w.-]+\)|\$\{[\w.-]+\})?$/i

/** A map or list is hidden if anything in it is. */
export function isLikelySecret(path: FieldPath, value: Json | undefined): boolean {
  return explainSecret(path, value) !== undefined
}

export function explainSecret(path: FieldPath, value: Json | undefined): string | undefined {
  if (path.some((step) => stepLooksSecret(step))) return 'a part of its location is a credential'
  return judge(path.map(getName), value, getLastItemName(path))
}

function getName(step: PathStep): string {
  return step.kind === 'field' ? step.name : ''
}

/**
 * The path is written wherever the value is (`formatShownPath`), and an adopted value brings it into git.
 */
export function stepLooksSecret(step: PathStep): boolean {
  if (step.kind === 'field') return isCopyOfTheObject(step.name) || hasSecretText(step.name)
  if (step.kind === 'member') return judge([], step.value, '') !== undefined
  return (
    step.kind === 'item' &&
    Object.entries(step.keys).some(([key, value]) => judge([key], value, '') !== undefined)
  )
}

function getLastItemName(path: FieldPath): string {
  const step = path.at(-2)
  return step?.kind === 'item' ? findName(step.keys) : ''
}

/** A list item names its value: `{key: Authorization, value: x}`. */
export const ITEM_NAMES: readonly string[] = ['name', 'key', 'header']

function findName(owner: JsonObject): string {
  const name = ITEM_NAMES.map((key) => getKey(owner, key)).find((one) => typeof one === 'string')
  return typeof name === 'string' ? name : ''
}

function judge(
  names: readonly string[],
  value: Json | undefined,
  item: string,
): string | undefined {
  if (isJsonArray(value))
    return findFirst(value, (below) => judge(names, below, '')) ?? explainArguments(value)
  if (isJsonObject(value)) {
    if (isEmbeddedSecret(value)) return 'it is a Secret inside another object'
    return findFirst(Object.entries(value), ([key, below]) => judgeEntry(names, value, key, below))
  }
  if (typeof value === 'string')
    return (
      (HARMLESS.test(value) ? undefined : explainName(names, item, value)) ??
      explainSecretText(value)
    )
  // A number may be a PIN, but not a limit (`maxTokens: 5`).
  const last = names.at(-1) ?? ''
  const isPin = /(?:passw(?:or)?d|passphrase|secret)$|(?:^|[-_.])pin$/i.test(last)
  return (typeof value === 'number' || typeof value === 'bigint') && isPin
    ? describeName(last)
    : undefined
}

function findFirst<Item>(
  items: readonly Item[],
  why: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = why(item)
    if (found !== undefined) return found
  }
  return undefined
}

function describeName(name: string): string {
  // The name of an item is a value itself.
  if (hasSecretText(name)) return 'its name says that it is a credential'
  return `the name ${convertToOneLine(name, 80)} says that it is a credential`
}

/** Like `--password x` as one argument. */
function explainArguments(list: readonly Json[]): string | undefined {
  const words = list.filter((word) => typeof word === 'string')
  if (words.length < 2 || !words.some((word) => word.startsWith('-'))) return undefined
  return explainSecretText(words.map((word) => word.slice(0, 300)).join(' '))
}

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
  return judge([...names, key], value, findName(owner))
}

/** A template, or a manifest for a controller. */
export function isEmbeddedSecret(value: JsonObject): boolean {
  return (
    getKey(value, 'kind') === 'Secret' &&
    ['data', 'stringData'].some((key) => isJsonObject(getKey(value, key)))
  )
}

function explainName(names: readonly string[], item: string, value: string): string | undefined {
  const last = names.at(-1) ?? ''
  const above = names.findLast((name, index) => name !== '' && index < names.length - 1) ?? ''
  const telling = (HOLDERS.has(last) ? [item, above] : [last]).find((name) =>
    isNamedCredential(name, value),
  )
  if (telling !== undefined) return describeName(telling)
  if (HOLDERS.has(last)) return undefined
  // `tokens: { alice: … }` holds credentials; `secret: { name: … }` names one.
  const isHeld =
    isCredentialName(above) &&
    last !== above &&
    !PARTS_OF_A_REFERENCE.has(last) &&
    !hasCredentialWord(last) &&
    !isReferenceList(above)
  return isHeld ? describeName(above) : undefined
}

function isReferenceList(name: string): boolean {
  return /secrets$/i.test(name)
}
