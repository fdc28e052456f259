/**
 * YAML after a round trip through the npm package `kpt-functions` (js-yaml 3 `loader.js`,
 * `dumper.js`, `type/*.js`): numbers become doubles, dates become times, aliases are expanded. kpt
 * then restores comments and key order.
 */
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import {
  createYamlList,
  createYamlMap,
  createYamlPlain,
  getYamlKey,
  isMergeKey,
  resolveAlias,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

/** js-yaml rejects the value, or its conversion is not reproduced here. */
export class NotRead extends Error {}

/** @throws NotRead */
export function convertThroughJsYaml(given: YamlNode): YamlNode {
  const from = resolveAlias(given)
  const to =
    from.kind === 'map'
      ? mergeMap(from)
      : from.kind === 'list'
        ? createList(from.items.map(convertThroughJsYaml))
        : convertScalar(from)
  return Object.assign(to, { source: from.source })
}

export function writeWithJsYaml(value: Json): YamlNode {
  if (isJsonArray(value)) return createList(value.map(writeWithJsYaml))
  if (isJsonObject(value))
    return blockMap(
      Object.entries(value).map(([name, below]) => ({
        key: createTextScalar(name, true),
        value: writeWithJsYaml(below),
      })),
    )
  if (typeof value === 'string') return createTextScalar(value, false)
  return createYamlPlain(
    typeof value === 'number' || typeof value === 'bigint'
      ? numberText(Number(value))
      : String(value),
  )
}

/**
 * js-yaml nests only the first item of a nested list.
 * @throws NotRead if the text is not YAML
 */
export function indentLikeJsYaml(node: YamlMap): YamlMap
export function indentLikeJsYaml(node: YamlNode): YamlNode
export function indentLikeJsYaml(node: YamlNode): YamlNode {
  if (node.kind === 'map')
    return {
      ...node,
      entries: node.entries.map(({ key, value }) => ({ key, value: indentLikeJsYaml(value) })),
    }
  return node.kind === 'list'
    ? { ...node, items: node.items.map(indentLikeJsYaml).flatMap(indentListItem) }
    : node
}

function indentListItem(item: YamlNode): readonly YamlNode[] {
  if (item.kind !== 'list' || item.items.length === 0) return [item]
  const [first, ...others] = item.items
  const isOneLine =
    first?.kind === 'scalar'
      ? first.style !== 'literal'
      : first?.kind === 'list' || (first?.kind === 'map' && first.style === 'flow')
  if (first === undefined || !isOneLine)
    throw new NotRead('the first item of a list in a list has several lines')
  return [{ ...item, items: [first] }, ...others]
}

function createList(items: readonly YamlNode[]): YamlNode {
  return { ...createYamlList(items), style: items.length === 0 ? 'flow' : 'block' }
}

function blockMap(entries: YamlEntry[]): YamlMap {
  return { ...createYamlMap(), entries, style: entries.length === 0 ? 'flow' : 'block' }
}

/** As in js-yaml, merged entries come last, wherever the merge key is. */
function mergeMap(from: YamlMap): YamlMap {
  const entries = new Map<string, YamlEntry>()
  const merged = new Set<string>()
  for (const { key, value } of from.entries) {
    if (isMergeKey(key)) {
      for (const each of listMergedEntries(value)) {
        const name = getYamlKey(each.key)
        if (entries.has(name)) continue
        entries.set(name, each)
        merged.add(name)
      }
      continue
    }
    const name = getKeyText(key)
    if (entries.has(name) && !merged.delete(name))
      throw new NotRead(`duplicated mapping key ${name}`)
    entries.set(name, {
      key: { ...createTextScalar(name, true), source: key.source },
      value: convertThroughJsYaml(value),
    })
  }
  return blockMap([...entries.values()])
}

function listMergedEntries(value: YamlNode): readonly YamlEntry[] {
  const from = resolveAlias(value)
  const maps = from.kind === 'list' ? from.items.map(resolveAlias) : [from]
  return maps.flatMap((map) => {
    if (map.kind !== 'map')
      throw new NotRead('cannot merge mappings; the provided source object is unacceptable')
    return mergeMap(map).entries
  })
}

function getKeyText(key: YamlNode): string {
  const node = resolveAlias(key)
  if (node.kind !== 'scalar') throw new NotRead('a key is not a string')
  const value = parseScalarValue(node)
  if (value instanceof Date) throw new NotRead('a key is a time')
  return String(value)
}

function convertScalar(node: YamlScalar): YamlScalar {
  const value = parseScalarValue(node)
  if (typeof value === 'string') return createTextScalar(value, false)
  return createYamlPlain(
    value instanceof Date
      ? value.toISOString()
      : typeof value === 'number'
        ? numberText(value)
        : String(value),
  )
}

type JsScalar = string | number | boolean | null | Date

function parseScalarValue({ tag, style, value }: YamlScalar): JsScalar {
  if (tag === '!!str' || tag === '!' || (tag === '' && style !== 'plain')) return value
  const kind =
    tag === ''
      ? KINDS.find(({ read }) => read(value) !== undefined)
      : KINDS.find((each) => each.tag === tag)
  if (kind === undefined && tag === '') return value
  const read = kind?.read(value)
  if (read === undefined || (read instanceof Date && Number.isNaN(read.getTime())))
    throw new NotRead(`cannot read ${value} as ${tag}`)
  return read
}

const INTEGER =
  /^[-+]?(?:0|0b[01_]*[01]|0x[0-9a-fA-F_]*[0-9a-fA-F]|0[0-7_]*[0-7]|[1-9](?:[0-9_]*[0-9])?|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/
const FLOAT =
  /^(?:[-+]?(?:0|[1-9][0-9_]*)(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const TIME =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?$/

interface ScalarKind {
  readonly tag: string
  readonly read: (text: string) => JsScalar | undefined
}

/** In the order of js-yaml. */
const KINDS: readonly ScalarKind[] = [
  { tag: '!!null', read: (text) => (/^(|~|null|Null|NULL)$/.test(text) ? null : undefined) },
  {
    tag: '!!bool',
    read: (text) =>
      /^(true|True|TRUE|false|False|FALSE)$/.test(text) ? /^t/i.test(text) : undefined,
  },
  {
    tag: '!!int',
    read: (text) => (INTEGER.test(text) ? parseInteger(text.replaceAll('_', '')) : undefined),
  },
  {
    tag: '!!float',
    read: (text) =>
      FLOAT.test(text) && !text.endsWith('_')
        ? parseFloatText(text.replaceAll('_', '').toLowerCase())
        : undefined,
  },
  { tag: '!!timestamp', read: parseTime },
]

function parseInteger(text: string): number {
  const digits = text.replace(/^[-+]/, '')
  if (digits === '0') return 0
  const value = digits.includes(':')
    ? parseBase60(digits)
    : digits.startsWith('0b')
      ? Number.parseInt(digits.slice(2), 2)
      : Number.parseInt(digits, digits.startsWith('0x') ? 16 : digits.startsWith('0') ? 8 : 10)
  return text.startsWith('-') ? -value : value
}

function parseFloatText(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1
  const digits = text.replace(/^[-+]/, '')
  if (digits === '.inf') return sign * Number.POSITIVE_INFINITY
  return sign * (digits.includes(':') ? parseBase60(digits) : Number.parseFloat(digits))
}

function parseBase60(digits: string): number {
  return digits.split(':').reduce((value, part) => value * 60 + Number.parseFloat(part), 0)
}

function parseTime(text: string): Date | undefined {
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (day !== null) return new Date(Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])))
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, date = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number)
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const zone =
    (Number(match[10] ?? 0) * 60 + Number(match[11] ?? 0)) * 60_000 * (match[9] === '-' ? -1 : 1)
  return new Date(Date.UTC(year, month - 1, date, hour, minute, second, milliseconds) - zone)
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf'
  const text = String(value)
  return Number.isInteger(value) ? text : text.replace(/^([-+]?[0-9]+)e/, '$1.e')
}

const OLD_BOOLEAN = /^([yYnN]|yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF)$/
const UNPRINTABLE = /[^\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ud800-\udfff\ue000-\ufefe\uff00-\ufffd]/
const PLAIN = /^(?:[^ \t\-?:,[\]{}#&*!|=>'"%@`])(?:[^,[\]{}:#]|(?<=[^ \t])#)*$/

function createTextScalar(value: string, isKey: boolean): YamlScalar {
  return { ...createYamlPlain(value), style: chooseStyle(value, isKey) }
}

function chooseStyle(value: string, isKey: boolean): YamlScalar['style'] {
  if (value === '' || OLD_BOOLEAN.test(value)) return 'single'
  if (UNPRINTABLE.test(isKey ? value : value.replaceAll('\n', ''))) return 'double'
  if (value.includes('\n')) return 'literal'
  const isText = value !== '<<' && KINDS.every(({ read }) => read(value) === undefined)
  return isText && PLAIN.test(value) && !/[ \t]$/.test(value) ? 'plain' : 'single'
}
