/**
 * An object after a way through JSON, as the transformers of early kustomize leave it (kyaml `filtersutil/filtersutil.go`, `ApplyToJSON`;
 * `yaml/rnode.go`, `MarshalJSON` and `UnmarshalJSON`): read by go-yaml v3, written as JSON, read again, and written with sorted keys.
 */
import { resolveGoScalar } from '../../yaml/go-scalar.ts'
import {
  isMergeKey,
  isNull,
  keyOf,
  resolved,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  yamlList,
  yamlMap,
  yamlPlain,
  yamlText,
} from '../../yaml/yaml-node.ts'

/** A new tree without styles, comments, anchors and sources, or the problem. */
export function throughJson(item: YamlMap): YamlMap | { readonly problem: string } {
  try {
    const made = mapThroughJson(item, { isRoot: true, inFlow: false })
    return { ...made, source: item.source, writes: item.writes }
  } catch (thrown) {
    if (thrown instanceof NotJson) return { problem: thrown.message }
    throw thrown
  }
}

class NotJson extends Error {}

function nodeThroughJson(node: YamlNode, isFlow: boolean): YamlNode {
  const at = resolved(node)
  if (at.kind === 'scalar') return scalarThroughJson(at, isFlow)
  const inFlow = isFlow || at.style === 'flow'
  return at.kind === 'map' ? mapThroughJson(at, { isRoot: false, inFlow }) : yamlList(at.items.map((item) => nodeThroughJson(item, inFlow)))
}

interface Place {
  /** Keys of the root are texts whatever they look like; below it go-yaml makes a map that JSON does not have. */
  readonly isRoot: boolean
  /** In `{}` or `[]`. */
  readonly inFlow: boolean
}

function mapThroughJson(map: YamlMap, place: Place): YamlMap {
  const values = new Map<string, YamlNode>()
  const merged = new Map<string, YamlNode>()
  for (const { key, value } of map.entries) {
    if (isMergeKey(key)) {
      const from = resolved(value)
      for (const each of from.kind === 'list' ? from.items.toReversed().map(resolved) : [from]) {
        if (each.kind !== 'map') throw new NotJson('yaml: map merge requires map or sequence of maps as the value')
        for (const { key: name, value: below } of mapThroughJson(each, place).entries) merged.set(keyOf(name), below)
      }
      continue
    }
    const name = resolved(key)
    if (name.kind !== 'scalar' || !(place.isRoot || isTextKey(name)))
      throw new NotJson('json: unsupported type: map[interface {}]interface {}')
    if (values.has(name.value)) throw new NotJson(`mapping key ${JSON.stringify(name.value)} already defined`)
    values.set(name.value, nodeThroughJson(value, place.inFlow))
  }
  const all = new Map([...merged, ...values])
  const names = [...all.keys()].sort(compareGoYamlKeys)
  return { ...yamlMap(), entries: names.map((name) => ({ key: yamlText(name), value: all.get(name) as YamlNode })) }
}

function isTextKey(key: YamlScalar): boolean {
  return typeof jsonValueOf(key, true) === 'string'
}

function scalarThroughJson(node: YamlScalar, inFlow: boolean): YamlScalar {
  const value = jsonValueOf(node, inFlow)
  if (typeof value !== 'string') return yamlPlain(value === null ? 'null' : typeof value === 'number' ? goFloat(value) : String(value))
  const text = yamlText(value)
  return value.includes('\n') ? { ...text, style: 'literal' } : BASE_60.test(value) ? { ...text, style: 'double' } : text
}

/** YAML 1.1 reads `12:30` as a number to the base of 60, so go-yaml puts it in quotes. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** JSON's numbers are doubles to Go. */
function jsonValueOf(node: YamlScalar, inFlow: boolean): string | number | boolean | null {
  if (isNull(node)) return null
  if (node.style !== 'plain' || node.tag === '!!str' || node.tag === '!') return node.value
  const read = resolveGoScalar(node.value, true, node.tag === '' ? undefined : `tag:yaml.org,2002:${node.tag.replace(/^!!/, '')}`)
  if (read.is !== 'value') throw new NotJson(`json: unsupported value: ${node.value}`)
  const { value } = read
  if (typeof value === 'boolean') return /^(true|false)$/i.test(node.value) ? value : node.value
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  // go-yaml writes a text with a colon in quotes there before it reads the object again.
  if (node.tag !== '' || (inFlow && node.value.includes(':'))) return node.value
  return timeOf(node.value) ?? node.value
}

const TIME = /^(\d{4})-(\d\d?)-(\d\d?)(?:([Tt ])(\d\d?):(\d\d?):(\d\d?)(\.\d{1,9}\d*)?(Z|[-+]\d\d:\d\d)?)?$/

/** What go-yaml v3 takes for a time, as Go writes it into JSON; undefined for another text. */
function timeOf(text: string): string | undefined {
  const [match, year = '', month = '', day = '', separator, hour = '0', minute = '0', second = '0', fraction = '', zone] =
    TIME.exec(text) ?? []
  if (match === undefined || (separator === ' ') !== (zone === undefined && separator !== undefined)) return undefined
  const [date, clock] = [
    [year, month, day],
    [hour, minute, second],
  ].map((parts) => parts.map(Number))
  const inMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  const [, inYear = 0, dayOf = 0] = date ?? []
  const [hours = 0, minutes = 0, seconds = 0] = clock ?? []
  if (inYear < 1 || inYear > 12 || dayOf < 1 || dayOf > inMonth || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const two = (part: string): string => part.padStart(2, '0')
  const rest = fraction.replace(/\.?0+$/, '')
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${rest}${zone === undefined || zone === '+00:00' ? 'Z' : zone}`
}

/** Go's `FormatFloat(value, 'g', -1, 64)`. */
function goFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  const digits = mantissa.replace(/[-.]/g, '').length
  if (power >= -4 && power < 6) return value.toFixed(Math.max(0, digits - 1 - power))
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** The order of keys in a map that go-yaml v3 writes (`sorter.go`, `keyList.Less`): numbers within a text count as numbers. */
export function compareGoYamlKeys(one: string, other: string): number {
  const [left, right] = [[...one], [...other]]
  let digits = false
  for (let at = 0; at < left.length && at < right.length; at += 1) {
    const [a = '', b = ''] = [left[at], right[at]]
    if (a === b) {
      digits = isDigit(a)
      continue
    }
    const [isALetter, isBLetter] = [isLetter(a), isLetter(b)]
    if (isALetter && isBLetter) return codeOf(a) - codeOf(b)
    if (isALetter || isBLetter) return isALetter === digits ? -1 : 1
    return compareNumbers(left, right, at)
  }
  return left.length - right.length
}

function compareNumbers(left: readonly string[], right: readonly string[], at: number): number {
  let before = 0
  if (left[at] === '0' || right[at] === '0')
    for (let index = at - 1; index >= 0 && isDigit(left[index] ?? ''); index -= 1)
      if (left[index] !== '0') {
        before = 1
        break
      }
  const [one, other] = [left, right].map((text) => {
    let end = at
    while (end < text.length && isDigit(text[end] ?? '')) end += 1
    return { end, value: BigInt(`${before}${text.slice(at, end).join('')}`) }
  })
  if (one === undefined || other === undefined) return 0
  if (one.value !== other.value) return one.value < other.value ? -1 : 1
  return one.end - other.end || codeOf(left[at] ?? '') - codeOf(right[at] ?? '')
}

function isDigit(text: string): boolean {
  return /^\p{Nd}$/u.test(text)
}

function isLetter(text: string): boolean {
  return /^\p{L}$/u.test(text)
}

function codeOf(text: string): number {
  return text.codePointAt(0) ?? 0
}
