/**
 * Converts a document as kyaml's `filtersutil.ApplyToJSON` does: aliases and merge keys expanded,
 * every number a double, no comments, sorted keys, block style, and quotes where a text needs them
 * (kyaml 0.13 `yaml/rnode.go`, `MarshalJSON`, `FromMap`; go-yaml v3 `decode.go`, `resolve.go`,
 * `encode.go`). kpt then restores comments and key order.
 */
import {
  createYamlList,
  createYamlMap,
  createYamlPlain,
  createYamlText,
  derivePlainTag,
  formatGoFloat,
  formatLongTag,
  getYamlKey,
  goTimeText,
  isMergeKey,
  resolveAlias,
  resolveGoScalar,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  type YamlSource,
} from '@backporch/kyaml/yaml'
import { compareGoKeys } from './go-key-order.ts'

interface JsonCopy {
  readonly object: YamlMap
  readonly originals: ReadonlyMap<YamlNode, YamlScalar>
}

/** @returns the copy, or why Go cannot convert the object to JSON */
export function convertThroughJson(item: YamlMap): JsonCopy | string {
  const originals = new Map<YamlNode, YamlScalar>()
  try {
    return {
      object: sortMap(item, { originals, isObject: true, inFlow: item.style === 'flow' }),
      originals,
    }
  } catch (thrown) {
    if (thrown instanceof NoJson) return thrown.message
    throw thrown
  }
}

class NoJson extends Error {}

interface Place {
  readonly originals: Map<YamlNode, YamlScalar>
  readonly isObject: boolean
  readonly inFlow: boolean
}

function makeCopy(node: YamlNode, above: Place): YamlNode {
  const from = resolveAlias(node)
  const place = {
    ...above,
    isObject: false,
    inFlow: above.inFlow || (from.kind !== 'scalar' && from.style === 'flow'),
  }
  if (from.kind === 'map') return sortMap(from, place)
  const to =
    from.kind === 'list'
      ? createYamlList(from.items.map((item) => makeCopy(item, place)))
      : convertScalarToGo(from, place.inFlow)
  to.source = copySource(from)
  if (from.kind === 'scalar') place.originals.set(to, from)
  return to
}

function copySource({ source }: YamlNode): YamlSource | undefined {
  if (source === undefined) return undefined
  const { path, document, start, end } = source
  return { path, document, start, end }
}

function sortMap(from: YamlMap, place: Place): YamlMap {
  const entries = new Map<string, YamlEntry>()
  addEntries(from, entries, place)
  const to = createYamlMap()
  to.source = copySource(from)
  to.entries = [...entries.keys()].sort(compareGoKeys).map((key) => entries.get(key) as YamlEntry)
  return to
}

function addEntries(from: YamlMap, entries: Map<string, YamlEntry>, place: Place): void {
  const names = from.entries.map(({ key }) => getYamlKey(key))
  if (new Set(names).size < names.length) throw new NoJson('a map has a key twice')
  for (const { key, value } of from.entries) {
    if (isMergeKey(key)) {
      // Go reads it as a map with keys of any type, which has no JSON form.
      if (!place.isObject) throw new NoJson('a map below the object has a merge key')
      const merged = resolveAlias(value)
      for (const each of merged.kind === 'list' ? merged.items.toReversed() : [merged]) {
        const map = resolveAlias(each)
        if (map.kind !== 'map')
          throw new NoJson('map merge requires map or sequence of maps as the value')
        addEntries(map, entries, place)
      }
      continue
    }
    const name = resolveAlias(key)
    if (name.kind !== 'scalar' || !(place.isObject || isText(name)))
      throw new NoJson(`the key ${getYamlKey(key)} is no text`)
    const copy = createYamlText(name.value)
    copy.source = copySource(name)
    entries.set(name.value, { key: copy, value: makeCopy(value, place) })
  }
}

function isText({ tag, style, value }: YamlScalar): boolean {
  if (tag === '' && style === 'plain') return derivePlainTag(value) === '!!str'
  return tag === '' || tag === '!' || tag === '!!str'
}

/** YAML 1.1 reads `12:30` as a base 60 number, so go-yaml quotes it. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

export function goText(value: string): YamlScalar {
  // go-yaml writes it plain, and reads a merge key.
  if (value === '<<') return createYamlPlain(value)
  return {
    ...createYamlText(value),
    style: value.includes('\n') ? 'literal' : BASE_60.test(value) ? 'double' : 'plain',
  }
}

function convertScalarToGo(node: YamlScalar, inFlow: boolean): YamlScalar {
  const { tag, style, value } = node
  if (isText(node)) return goText(value)
  const is = tag === '' ? derivePlainTag(value) : tag
  if (is === '!!timestamp') {
    // go-yaml quotes it there before it reads the object.
    if (inFlow && tag === '' && value.includes(':')) return goText(value)
    if (derivePlainTag(value) !== is)
      throw new NoJson(`cannot decode \`${value}\` as a !!timestamp`)
    return goText(goTimeText(value))
  }
  // For a custom tag, the text is the value.
  if (!/^!!(?:null|bool|int|float|binary)$/.test(is)) return goText(value)
  const read = resolveGoScalar(value, style === 'plain', formatLongTag(tag))
  if (read.is === 'refused') throw new NoJson(`cannot decode \`${value}\` as a ${is}: ${read.why}`)
  if (read.is === 'no-json') throw new NoJson(`json: unsupported value: ${value}`)
  if (typeof read.value === 'string') return goText(read.value)
  return createYamlPlain(
    typeof read.value === 'number' || typeof read.value === 'bigint'
      ? formatGoFloat(Number(read.value))
      : String(read.value),
  )
}
