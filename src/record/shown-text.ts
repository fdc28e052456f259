/**
 * A hash replaces every value that `showObject` hides, so that the rest keeps its location and
 * comments, and two texts still differ where their hidden values do.
 */
import { isJsonArray, isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  hasSecretText,
  type RedactionKey,
  showObject,
  type VisibilityOf,
} from '@backporch/kyaml/redaction'
import { type ResourceId, readResource } from '@backporch/kyaml/resource'
import { convertYamlToJson, getYamlKey, resolveAlias, type YamlNode } from '@backporch/kyaml/yaml'

/** Offsets in UTF-16 code units. */
interface Hidden {
  readonly start: number
  readonly end: number
  readonly text: string
}

const SIGN = '••••'
const NO_OBJECT: ResourceId = { group: '', kind: '', namespace: '', name: '' }

export type VisibilityFor = (id: ResourceId) => VisibilityOf | undefined

/**
 * Undefined if nothing may be shown: a file that declares or generates a Secret, or is not YAML.
 */
export function redactShownText(
  text: string,
  key: RedactionKey,
  visibilityFor: VisibilityFor = () => undefined,
): string | undefined {
  const hidden: Hidden[] = []
  try {
    for (const node of readYamlNodes(text, '')) {
      const object = convertYamlToJson(node)
      if (!isJsonObject(object)) return undefined
      const read = readResource(object)
      // The changed name must not appear as another hidden value.
      const id = 'problem' in read ? NO_OBJECT : { ...read.id, namespace: '', name: '' }
      if (object['kind'] === 'Secret' || Object.hasOwn(object, 'secretGenerator')) return undefined
      hide(
        node,
        object,
        showObject(key, id, object, 'problem' in read ? undefined : visibilityFor(read.id)),
        hidden,
      )
    }
  } catch {
    return undefined
  }
  return omitSecretComments(replaceHidden(text, hidden))
}

function hide(
  given: YamlNode,
  value: Json | undefined,
  shown: Json | undefined,
  into: Hidden[],
): void {
  if (value === undefined || shown === undefined || isJsonEqual(value, shown)) return
  // The values of an alias are at its anchor.
  const node = resolveAlias(given)
  if (
    node.kind === 'map' &&
    isJsonObject(value) &&
    isJsonObject(shown) &&
    hasSameKeys(value, shown)
  ) {
    for (const { key, value: below } of node.entries) {
      const name = getYamlKey(key)
      if (Object.hasOwn(value, name)) hide(below, value[name], shown[name], into)
      else hideWhole(below, shown, into)
    }
  } else if (
    node.kind === 'list' &&
    isJsonArray(value) &&
    isJsonArray(shown) &&
    value.length === shown.length
  ) {
    for (const [index, below] of node.items.entries()) hide(below, value[index], shown[index], into)
  } else hideWhole(node, shown, into)
}

function hideWhole(node: YamlNode, shown: Json, into: Hidden[]): void {
  const { source } = resolveAlias(node)
  if (source === undefined) throw new TypeError('a node that was read has a source')
  into.push({
    start: source.start,
    end: source.end,
    text: typeof shown === 'string' ? shown : SIGN,
  })
}

function hasSameKeys(
  left: { readonly [key: string]: Json },
  right: { readonly [key: string]: Json },
): boolean {
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key))
}

/** Keeps line numbers valid. */
function replaceHidden(text: string, hidden: readonly Hidden[]): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end, text: instead } of hidden.toSorted(
    (one, other) => one.start - other.start || other.end - one.end,
  )) {
    if (start < at) continue
    const breaks = text.slice(start, end).replace(/[^\n]/g, '')
    parts.push(text.slice(at, start), instead, breaks)
    at = Math.max(start, end)
  }
  return [...parts, text.slice(at)].join('')
}

function omitSecretComments(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const comment = line.indexOf('#')
      return comment !== -1 && hasSecretText(line.slice(comment))
        ? `${line.slice(0, comment)}# ${SIGN}`
        : line
    })
    .join('\n')
}
