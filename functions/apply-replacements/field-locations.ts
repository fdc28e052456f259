/**
 * Fields of an object by kustomize's field paths: `spec.containers.[name=web].image`, `*` for every item of a list, indexes, `\.` and `[a.b]` for
 * a dot inside a name. They match like kyaml v0.15.0, with its oddities
 * (`utils/pathsplitter.go`, `yaml/fns.go` `PathGetter`, `yaml/match.go` `PathMatcher`).
 */
import { RE2JS } from 're2js'
import { writeYamlNode } from '../../src/yaml/write/write-yaml-node.ts'
import { isNull, type YamlMap, type YamlNode, yamlList, yamlMap, yamlPlain } from '../../src/yaml/yaml-node.ts'
import { ReplacementProblem } from './read-replacements.ts'

/** A node and how to put another one where it stands. */
export interface FieldLocation {
  readonly node: YamlNode
  readonly replace: (node: YamlNode) => void
}

/** Paths are walked by recursion. */
const LONGEST_PATH = 200

/** @throws ReplacementProblem for a path of more than 200 parts */
export function splitFieldPath(path: string): readonly string[] {
  const parts: string[] = []
  const split = splitAtDots(path)
  for (let at = 0; at < split.length; at += 1) {
    const part = split[at] ?? ''
    if (!part.startsWith('[') || part.endsWith(']')) {
      parts.push(part)
      continue
    }
    const bracketed = [part]
    while (at < split.length - 1) {
      at += 1
      bracketed.push(split[at] ?? '')
      if (split[at]?.endsWith(']')) break
    }
    const whole = bracketed.join('.')
    parts.push(whole.includes('=') ? whole : whole.replace(/^[[\]]+|[[\]]+$/g, ''))
  }
  if (parts.length > LONGEST_PATH) throw new ReplacementProblem(`a field path has ${parts.length} parts, and ${LONGEST_PATH} is the limit`)
  return parts
}

function splitAtDots(path: string): readonly string[] {
  const [first = '', ...others] = path.split('.')
  // A path may start with a dot.
  const parts = first === '' && others.length > 0 ? others.splice(0, 1) : [first]
  for (const part of others) {
    const last = parts.at(-1) ?? ''
    if (last.endsWith('\\')) parts[parts.length - 1] = `${last.slice(0, -1)}.${part}`
    else parts.push(part)
  }
  return parts
}

export interface FieldSearch {
  /** Every node that this run of the function created: they have no type, so an empty one is no null. */
  readonly created: Set<YamlNode>
  /** Whether errors leave the contents of nodes out. */
  readonly secret: boolean
}

/** The one field that a source names, or undefined where it is missing. */
export function sourceField(object: YamlMap, path: readonly string[], search: FieldSearch): YamlNode | undefined {
  let at: YamlNode | undefined = object
  for (const part of path.map((each) => each.trim())) {
    if (part === '') continue
    at = sourceStep(at, part, search)
    if (at === undefined) return undefined
  }
  return at
}

function sourceStep(node: YamlNode, part: string, search: FieldSearch): YamlNode | undefined {
  const index = asNumber(part)
  if (index !== undefined && index < 0) throw new ReplacementProblem(`array index ${index} cannot be negative`)
  if (index !== undefined) return itemsOf(node, search)[index]
  if (part === '-') return itemsOf(node, search).at(-1)
  if (part === '*') throw new ReplacementProblem('wildcard is not supported in PathGetter')
  if (!isListEntry(part)) return fieldOf(node, part, search)
  const { field, value } = splitListEntry(part)
  return itemsOf(node, search).find((item) => {
    if (field === '') return rawText(item) === value
    const found = item.kind === 'map' ? rawField(item, field) : undefined
    return found !== undefined && rawText(found) === value
  })
}

/** How the fields of a target are searched. */
export interface TargetSearch extends FieldSearch {
  /** What is put where the path ends in nothing; undefined: nothing is created. */
  readonly create: (() => YamlNode) | undefined
}

/** Every field that a target names, in their order. */
export function targetFields(location: FieldLocation, path: readonly string[], search: TargetSearch): readonly FieldLocation[] {
  const [part, ...rest] = path
  if (part === undefined) return [location]
  const index = asNumber(part)
  if (index !== undefined && index >= 0) return locationsAtIndex(location, index, rest, search)
  if (isListEntry(part)) return locationsOfEntry(location, part, rest, search)
  if (part === '*') return itemLocations(location.node, search).flatMap((item) => targetFields(item, rest, search))
  const found = fieldOf(location.node, part, search)
  if (found !== undefined) return targetFields(locateInMap(location.node, part, found), rest, search)
  if (search.create === undefined || part === '') return []
  const created = placeholder(rest[0], search.create, search.created)
  // A null has no fields: kyaml adds to a node that is never written, and so does this.
  if (location.node.kind === 'map') location.node.entries.push({ key: yamlPlain(part), value: created })
  return targetFields(locateInMap(location.node, part, created), rest, search)
}

function locationsAtIndex(location: FieldLocation, index: number, rest: readonly string[], search: TargetSearch): readonly FieldLocation[] {
  const items = itemLocations(location.node, search)
  const found = items[index]
  if (found !== undefined) return targetFields(found, rest, search)
  if (items.length !== index || search.create === undefined) {
    throw new ReplacementProblem(`index ${index} specified but only ${items.length} elements found`)
  }
  return targetFields(appended(location.node, placeholder(rest[0], search.create, search.created)), rest, search)
}

/** `[name=x]`: the value is a regular expression that is found anywhere in the text of the field, its comment included. */
function locationsOfEntry(location: FieldLocation, part: string, rest: readonly string[], search: TargetSearch): readonly FieldLocation[] {
  const { field, value } = splitListEntry(part)
  const inItem = (item: FieldLocation): readonly FieldLocation[] => {
    const compared = field === '' ? item.node : item.node.kind === 'map' ? rawField(item.node, field) : undefined
    if (compared === undefined || !compiled(value).matcher(writeYamlNode(compared).trim()).find()) return []
    return field === '' ? [item] : targetFields(item, rest, search)
  }
  const found = itemLocations(location.node, search).flatMap(inItem)
  if (found.length > 0 || search.create === undefined) return found
  const key = yamlPlain(value)
  search.created.add(key)
  const result = field === '' ? key : yamlMap([[field, key]])
  const created = inItem(appended(location.node, result))
  // The original looks again without end.
  if (created.length === 0) throw new ReplacementProblem(`an element created for "${part}" does not match it`)
  return created
}

/** The node that is created at a part, by the kind that the next part wants. */
function placeholder(next: string | undefined, create: () => YamlNode, created: Set<YamlNode>): YamlNode {
  if (next === undefined || next === '') {
    const result = create()
    created.add(result)
    return result
  }
  const index = asNumber(next)
  return isListEntry(next) || (index !== undefined && index >= 0) ? yamlList() : yamlMap()
}

function appended(list: YamlNode, item: YamlNode): FieldLocation {
  if (list.kind === 'list') list.items.push(item)
  return locateInList(list, list.kind === 'list' ? list.items.length - 1 : 0, item)
}

function itemLocations(node: YamlNode, search: FieldSearch): readonly FieldLocation[] {
  return itemsOf(node, search).map((item, index) => locateInList(node, index, item))
}

function locateInList(list: YamlNode, index: number, node: YamlNode): FieldLocation {
  return {
    node,
    replace: (other) => {
      if (list.kind === 'list') list.items[index] = other
    },
  }
}

function locateInMap(map: YamlNode, key: string, node: YamlNode): FieldLocation {
  return {
    node,
    replace: (other) => {
      const entry = map.kind === 'map' ? map.entries.find((each) => rawText(each.key) === key) : undefined
      if (entry !== undefined) entry.value = other
    },
  }
}

/** kyaml does not look through an alias: it is a node of a kind of its own, and a null passes for every kind. */
function itemsOf(node: YamlNode, search: FieldSearch): readonly YamlNode[] {
  if (node.kind === 'list') return node.items
  if (isTaggedNull(node, search.created)) return []
  throw wrongKind('list', node, search.secret)
}

function fieldOf(node: YamlNode, name: string, search: FieldSearch): YamlNode | undefined {
  if (isTaggedNull(node, search.created)) return undefined
  if (node.kind === 'map' && name !== '') return rawField(node, name)
  if (node.kind === 'scalar' && name === '') return node.value === '' ? node : undefined
  throw wrongKind(name === '' ? 'scalar' : 'map', node, search.secret)
}

/** An alias to a null is an alias. */
export function isTaggedNull(node: YamlNode, created: ReadonlySet<YamlNode>): boolean {
  return node.kind === 'scalar' && isNull(node) && !created.has(node)
}

function rawField(map: YamlMap, name: string): YamlNode | undefined {
  return map.entries.find((entry) => rawText(entry.key) === name)?.value
}

/** The text of a scalar; of an alias the name of its anchor, as go-yaml holds it; of anything else nothing. */
export function rawText(node: YamlNode): string {
  return node.kind === 'scalar' ? node.value : node.kind === 'alias' ? node.name : ''
}

const KIND_NAMES = { scalar: 'ScalarNode', map: 'MappingNode', list: 'SequenceNode', alias: 'AliasNode' } as const

function wrongKind(wanted: 'scalar' | 'map' | 'list', node: YamlNode, secret: boolean): ReplacementProblem {
  const message = `wrong node kind: expected ${KIND_NAMES[wanted]} but got ${KIND_NAMES[node.kind]}`
  return new ReplacementProblem(secret ? message : `${message}: node contents:\n${writeYamlNode(node)}`)
}

function isListEntry(part: string): boolean {
  return part.startsWith('[') && part.endsWith(']')
}

function splitListEntry(part: string): { readonly field: string; readonly value: string } {
  const entry = part.replace(/\]$/, '').replace(/^\[/, '')
  const at = entry.indexOf('=')
  if (at === -1) throw new ReplacementProblem('list path element must contain fieldName=fieldValue for element to match')
  return { field: entry.slice(0, at), value: entry.slice(at + 1) }
}

/** A whole number as Go's `strconv.Atoi` reads it. */
function asNumber(part: string): number | undefined {
  if (!/^[+-]?[0-9]{1,40}$/.test(part)) return undefined
  const number = BigInt(part.replace(/^\+/, ''))
  return BigInt.asIntN(64, number) === number ? Number(number) : undefined
}

function compiled(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression)
  } catch (thrown) {
    throw new ReplacementProblem(thrown instanceof Error ? thrown.message : String(thrown))
  }
}
