/**
 * A whole object as it may be shown, value by value: what `show` would hide of a field is hidden here, and what stands beside
 * it is seen. A value is shown only where `looksSecret` says no to it as a field of its own, no to it as a part of its owner
 * (whose `name` may tell what it is), and where everything above that is suspect has something hidden in it.
 */

import { emptyObject, getKey, isJsonArray, isJsonObject, type Json, type JsonObject, setKey } from '../../text/json.ts'
import type { FieldPath, PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { hasSecretText } from './credential-text.ts'
import { isEmbeddedSecret, looksSecret } from './looks-secret.ts'
import {
  isHiddenOfSecret,
  isOfSecretTemplate,
  isSecret,
  keyedHash,
  type RedactionKey,
  redact,
  shownJson,
  type Visibility,
} from './redacted.ts'

const SHOWN_OF_A_SECRET = new Set(['apiVersion', 'kind', 'metadata', 'type', 'immutable'])
/** What `shownJson` makes of a hidden value: it stays as it is. */
const HIDDEN = /^(?:hmac-sha256:[0-9a-f]{16} \(\d+ bytes\)|redacted \(not read\))$/

/** What is said of values of one object beyond their place and form; undefined where nothing is. */
export type VisibilityOf = (path: FieldPath, value: Json, object: JsonObject) => Visibility | undefined

export function shownObject(key: RedactionKey, id: ResourceId, object: JsonObject, visibilityOf?: VisibilityOf): JsonObject {
  return new ObjectView(key, id, within(object, visibilityOf)).show(object)
}

/** With the places of what is hidden, in the order of the object. */
export function shownWithHidden(
  key: RedactionKey,
  id: ResourceId,
  object: JsonObject,
  visibilityOf?: VisibilityOf,
): { readonly shown: JsonObject; readonly hidden: readonly FieldPath[] } {
  const view = new ObjectView(key, id, within(object, visibilityOf))
  return { shown: view.show(object), hidden: view.hidden }
}

type VisibilityAt = (path: FieldPath, value: Json) => Visibility | undefined

function within(object: JsonObject, visibilityOf: VisibilityOf | undefined): VisibilityAt | undefined {
  return visibilityOf === undefined ? undefined : (path, value) => visibilityOf(path, value, object)
}

class ObjectView {
  private readonly key: RedactionKey
  private readonly id: ResourceId
  private readonly visibilityOf: VisibilityAt | undefined
  /** What was hidden so far; of what is hidden as a whole, nothing below it. */
  readonly hidden: FieldPath[] = []

  constructor(key: RedactionKey, id: ResourceId, visibilityOf: VisibilityAt | undefined) {
    this.key = key
    this.id = id
    this.visibilityOf = visibilityOf
  }

  show(object: JsonObject): JsonObject {
    const secret = isSecret(this.id) || isEmbeddedSecret(object)
    const shown = emptyObject()
    for (const [name, value] of Object.entries(object)) {
      const path: FieldPath = [{ kind: 'field', name }]
      const content = secret && !SHOWN_OF_A_SECRET.has(name)
      this.put(shown, name, content ? this.hideLeaves(path, value) : this.part(path, value, { [name]: value }), [])
    }
    return shown
  }

  /** `inOwner`: the value as a part of what it belongs to, which stands at the path above. */
  private part(path: FieldPath, value: Json, inOwner: Json): Json {
    const text = this.visibilityOf?.(path, value)
    if (text?.shown === false || this.isHidden(path, value)) return this.hide(path, value)
    if (text?.shown === true && !isSecret(this.id)) return value
    const suspect = looksSecret(path, value) || looksSecret(path.slice(0, -1), inOwner)
    const before = this.hidden.length
    if (isJsonObject(value) && isEmbeddedSecret(value)) return this.hide(path, value)
    const shown = isJsonArray(value) ? this.list(path, value) : isJsonObject(value) ? this.map(path, value) : value
    // Something in it is suspect, and nothing is by itself: then it is the whole.
    return suspect && this.hidden.length === before ? this.hide(path, value) : shown
  }

  /** What the kind of the object alone hides. */
  private isHidden(path: FieldPath, value: Json): boolean {
    // The place itself: what is above it is seen into.
    return isOfSecretTemplate(this.id, path, '') || (isSecret(this.id) && path.length === 3 && isHiddenOfSecret(path, value))
  }

  private map(path: FieldPath, map: JsonObject): Json {
    const name = getKey(map, 'name')
    const shown = emptyObject()
    for (const [key, value] of Object.entries(map)) {
      const owner = typeof name === 'string' && key !== 'name' ? { name } : {}
      this.put(shown, key, this.part([...path, { kind: 'field', name: key }], value, { ...owner, [key]: value }), path)
    }
    return shown
  }

  private list(path: FieldPath, list: readonly Json[]): Json {
    const before = this.hidden.length
    const shown = list.map((item, index) => {
      const name = isJsonObject(item) ? getKey(item, 'name') : undefined
      const step: PathStep = typeof name === 'string' ? { kind: 'item', keys: { name } } : { kind: 'index', index }
      return this.part([...path, step], item, [item])
    })
    // Plain values, as the arguments of a command, tell of one another: they are hidden together.
    const plain = list.some((item, index) => !isJsonArray(item) && !isJsonObject(item) && shown[index] !== item)
    if (!plain) return shown
    this.hidden.length = before
    return this.hide(path, list)
  }

  private hideLeaves(path: FieldPath, value: Json): Json {
    if (!isJsonObject(value)) return this.hide(path, value)
    const shown = emptyObject()
    for (const [key, below] of Object.entries(value)) this.put(shown, key, this.hide([...path, { kind: 'field', name: key }], below), path)
    return shown
  }

  private hide(path: FieldPath, value: Json): Json {
    this.hidden.push(path)
    return isHidden(value) ? value : (shownJson(redact(this.key, this.id, path, value)) ?? null)
  }

  /** Under its key, or under a hash where the key itself is a credential. */
  private put(into: { [key: string]: Json }, key: string, value: Json, above: FieldPath): void {
    setKey(
      into,
      hasSecretText(key) ? `hmac-sha256:${keyedHash(this.key, `key of ${this.id.kind} at ${above.length}`, key).slice(0, 16)}` : key,
      value,
    )
  }
}

function isHidden(value: Json): boolean {
  return typeof value === 'string' && HIDDEN.test(value)
}
