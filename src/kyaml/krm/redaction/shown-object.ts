/**
 * A value is shown if `isLikelySecret` accepts it both as its own field and as part of its owner
 * (whose `name` may identify it), and if everything suspect above it contains something hidden.
 */
import {
  emptyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '../../text/json.ts'
import type { FieldPath, PathStep } from '../field-path.ts'
import type { ResourceId } from '../resource-id.ts'
import { hasSecretText } from './credential-text.ts'
import { ITEM_NAMES, isEmbeddedSecret, isLikelySecret } from './looks-secret.ts'
import {
  computeKeyedHash,
  convertShownToJson,
  isHiddenOfSecret,
  isOfSecretTemplate,
  isSecret,
  type RedactionKey,
  redact,
  type Visibility,
} from './redacted.ts'

const SHOWN_OF_A_SECRET = new Set(['apiVersion', 'kind', 'metadata', 'type', 'immutable'])
/** Output of `convertShownToJson`, which stays. */
const HIDDEN = /^(?:hmac-sha256:[0-9a-f]{16} \(\d+ bytes\)|redacted \(not read\))$/

export type VisibilityOf = (
  path: FieldPath,
  value: Json,
  object: JsonObject,
) => Visibility | undefined

export function showObject(
  key: RedactionKey,
  id: ResourceId,
  object: JsonObject,
  visibilityOf?: VisibilityOf,
): JsonObject {
  return new ObjectView(key, id, createVisibilityAt(object, visibilityOf)).show(object)
}

export function showWithHidden(
  key: RedactionKey,
  id: ResourceId,
  object: JsonObject,
  visibilityOf?: VisibilityOf,
): { readonly shown: JsonObject; readonly hidden: readonly FieldPath[] } {
  const view = new ObjectView(key, id, createVisibilityAt(object, visibilityOf))
  return { shown: view.show(object), hidden: view.hidden }
}

type VisibilityAt = (path: FieldPath, value: Json) => Visibility | undefined

function createVisibilityAt(
  object: JsonObject,
  visibilityOf: VisibilityOf | undefined,
): VisibilityAt | undefined {
  return visibilityOf === undefined ? undefined : (path, value) => visibilityOf(path, value, object)
}

class ObjectView {
  private readonly key: RedactionKey
  private readonly id: ResourceId
  private readonly visibilityOf: VisibilityAt | undefined
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
      this.put(
        shown,
        name,
        content ? this.hideLeaves(path, value) : this.showPart(path, value, { [name]: value }),
        [],
      )
    }
    return shown
  }

  /** @param inOwner the value as a part of the value above it */
  private showPart(path: FieldPath, value: Json, inOwner: Json): Json {
    const text = this.visibilityOf?.(path, value)
    if (text?.shown === false || this.isHidden(path, value)) return this.hide(path, value)
    if (text?.shown === true && !isSecret(this.id)) return value
    const suspect = isLikelySecret(path, value) || isLikelySecret(path.slice(0, -1), inOwner)
    const before = this.hidden.length
    if (isJsonObject(value) && isEmbeddedSecret(value)) return this.hide(path, value)
    const shown = isJsonArray(value)
      ? this.list(path, value)
      : isJsonObject(value)
        ? this.map(path, value)
        : value
    // If nothing inside a suspect value is suspect itself, the whole value is hidden.
    return suspect && this.hidden.length === before ? this.hide(path, value) : shown
  }

  private isHidden(path: FieldPath, value: Json): boolean {
    return (
      isOfSecretTemplate(this.id, path, '') ||
      (isSecret(this.id) && path.length === 3 && isHiddenOfSecret(path, value))
    )
  }

  private map(path: FieldPath, map: JsonObject): Json {
    const names = Object.entries(map).filter(
      ([key, value]) => ITEM_NAMES.includes(key) && typeof value === 'string',
    )
    const shown = emptyObject()
    for (const [key, value] of Object.entries(map)) {
      const owner = Object.fromEntries(names.filter(([one]) => one !== key))
      this.put(
        shown,
        key,
        this.showPart([...path, { kind: 'field', name: key }], value, { ...owner, [key]: value }),
        path,
      )
    }
    return shown
  }

  private list(path: FieldPath, list: readonly Json[]): Json {
    const before = this.hidden.length
    const shown = list.map((item, index) => {
      const name = isJsonObject(item) ? getKey(item, 'name') : undefined
      const step: PathStep =
        typeof name === 'string' ? { kind: 'item', keys: { name } } : { kind: 'index', index }
      return this.showPart([...path, step], item, [item])
    })
    const plain = list.some(
      (item, index) => !isJsonArray(item) && !isJsonObject(item) && shown[index] !== item,
    )
    if (!plain) return shown
    this.hidden.length = before
    return this.hide(path, list)
  }

  private hideLeaves(path: FieldPath, value: Json): Json {
    if (!isJsonObject(value)) return this.hide(path, value)
    const shown = emptyObject()
    for (const [key, below] of Object.entries(value))
      this.put(shown, key, this.hide([...path, { kind: 'field', name: key }], below), path)
    return shown
  }

  private hide(path: FieldPath, value: Json): Json {
    this.hidden.push(path)
    return isHidden(value)
      ? value
      : (convertShownToJson(redact(this.key, this.id, path, value)) ?? null)
  }

  private put(into: { [key: string]: Json }, key: string, value: Json, above: FieldPath): void {
    setKey(
      into,
      hasSecretText(key)
        ? `hmac-sha256:${computeKeyedHash(this.key, `key of ${this.id.kind} at ${above.length}`, key).slice(0, 16)}`
        : key,
      value,
    )
  }
}

function isHidden(value: Json): boolean {
  return typeof value === 'string' && HIDDEN.test(value)
}
