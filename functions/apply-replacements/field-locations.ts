/**
 * Kustomize field paths, with the quirks of kyaml v0.13.6 and v0.19.0 (`utils/pathsplitter.go`,
 * `yaml/fns.go` `PathGetter`, `yaml/match.go` `PathMatcher`).
 */
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import {
  createYamlList,
  createYamlMap,
  createYamlPlain,
  isNull,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { RE2JS } from 're2js'
import { ReplacementProblem } from './read-replacements.ts'

const LONGEST_PATH = 200

/** @throws ReplacementProblem for more than 200 parts */
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
  if (parts.length > LONGEST_PATH)
    throw new ReplacementProblem(
      `a field path has ${parts.length} parts, and ${LONGEST_PATH} is the limit`,
    )
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

interface FieldSearch {
  /** Nodes that this run created. They have no type, so an empty one is not null. */
  readonly created: Set<YamlNode>
  readonly secret: boolean
}

interface OneFieldSearch extends FieldSearch {
  /** Whether `*` is a name, as in kyaml v0.13.6; otherwise it is an error. */
  readonly starIsName: boolean
  /** Undefined: create nothing. */
  readonly create: (() => YamlNode) | undefined
}

/** kyaml `PathGetter`. Undefined if missing. The value in `[name=x]` is not a pattern. */
export function findFieldAt(
  object: YamlMap,
  path: readonly string[],
  search: OneFieldSearch,
): YamlNode | undefined {
  const parts = path.map((part) => part.trim()).filter((part) => part !== '')
  let at: YamlNode | undefined = object
  for (const [index, part] of parts.entries()) {
    if (at === undefined) return undefined
    at = stepTo(at, part, parts[index + 1], search)
  }
  return at
}

function stepTo(
  node: YamlNode,
  part: string,
  next: string | undefined,
  search: OneFieldSearch,
): YamlNode | undefined {
  const index = parseIndex(part)
  if (index !== undefined && index < 0)
    throw new ReplacementProblem(`array index ${index} cannot be negative`)
  if (index !== undefined) return listItems(node, search)[index]
  if (part === '-') return getLastItem(node, search)
  if (part === '*' && !search.starIsName)
    throw new ReplacementProblem('wildcard is not supported in PathGetter')
  if (!isListEntry(part)) {
    const found = findField(node, part, search)
    return found === undefined && search.create !== undefined && node.kind === 'map'
      ? addField(node, part, createStart(next, search.create, search.created))
      : found
  }
  const { field, value } = splitListEntry(part)
  const found = listItems(node, search).find((item) => {
    if (field === '') return getRawText(item) === value
    return (
      item.kind === 'map' &&
      item.entries.some(
        (entry) => getRawText(entry.key) === field && getRawText(entry.value) === value,
      )
    )
  })
  return found === undefined && search.create !== undefined
    ? addElement(node, part, search.created)
    : found
}

/** kyaml crashes on an empty list. */
function getLastItem(node: YamlNode, search: FieldSearch): YamlNode {
  const last = listItems(node, search).at(-1)
  if (last === undefined)
    throw new ReplacementProblem('"-" is the last item of a list, and the list is empty')
  return last
}

interface TargetSearch extends FieldSearch {
  /** Undefined: create nothing. */
  readonly create: (() => YamlNode) | undefined
}

/** kyaml `PathMatcher`, in document order. The path must not be empty. */
export function listFieldsAt(
  node: YamlNode,
  path: readonly string[],
  search: TargetSearch,
): readonly YamlNode[] {
  const [part, ...rest] = path
  if (part === undefined) return [node]
  const index = parseIndex(part)
  if (index !== undefined && index >= 0) return listFieldsAtIndex(node, index, rest, search)
  if (isListEntry(part)) return listFieldsOfEntry(node, part, rest, search)
  if (part === '*')
    return listItems(node, search).flatMap((item) => listFieldsAt(item, rest, search))
  const found = findField(node, part, search)
  if (found !== undefined) return listFieldsAt(found, rest, search)
  if (search.create === undefined || part === '') return []
  return listFieldsAt(
    addField(node, part, createPlaceholder(rest[0], search.create, search.created)),
    rest,
    search,
  )
}

function listFieldsAtIndex(
  list: YamlNode,
  index: number,
  rest: readonly string[],
  search: TargetSearch,
): readonly YamlNode[] {
  const items = listItems(list, search)
  const found = items[index]
  if (found !== undefined) return listFieldsAt(found, rest, search)
  if (items.length !== index || search.create === undefined) {
    throw new ReplacementProblem(`index ${index} specified but only ${items.length} elements found`)
  }
  return listFieldsAt(
    addItem(list, createPlaceholder(rest[0], search.create, search.created)),
    rest,
    search,
  )
}

/**
 * The value in `[name=x]` is a regular expression that matches anywhere in the field's text,
 * including its comment.
 */
function listFieldsOfEntry(
  list: YamlNode,
  part: string,
  rest: readonly string[],
  search: TargetSearch,
): readonly YamlNode[] {
  const { field, value } = splitListEntry(part)
  const inItem = (item: YamlNode): readonly YamlNode[] => {
    const compared =
      field === '' ? item : item.kind === 'map' ? findRawField(item, field) : undefined
    if (
      compared === undefined ||
      !compileExpression(value).matcher(writeYamlNode(compared).trim()).find()
    )
      return []
    return field === '' ? [item] : listFieldsAt(item, rest, search)
  }
  const found = listItems(list, search).flatMap(inItem)
  if (found.length > 0 || search.create === undefined) return found
  const created = inItem(addElement(list, part, search.created))
  // The original loops forever here.
  if (created.length === 0)
    throw new ReplacementProblem(`an element created for "${part}" does not match it`)
  return created
}

function createPlaceholder(
  next: string | undefined,
  create: () => YamlNode,
  created: Set<YamlNode>,
): YamlNode {
  const index = next === undefined ? undefined : parseIndex(next)
  return index !== undefined && index >= 0
    ? createYamlList()
    : createStart(next === '' ? undefined : next, create, created)
}

/** An index does not create a list. */
function createStart(
  next: string | undefined,
  create: () => YamlNode,
  created: Set<YamlNode>,
): YamlNode {
  if (next !== undefined) return isListEntry(next) ? createYamlList() : createYamlMap()
  const result = create()
  created.add(result)
  return result
}

/**
 * A null has no fields and no items: kyaml adds to a node that it never writes. This does the same.
 */
function addField(map: YamlNode, name: string, value: YamlNode): YamlNode {
  if (map.kind === 'map') map.entries.push({ key: createYamlPlain(name), value })
  return value
}

function addItem(list: YamlNode, item: YamlNode): YamlNode {
  if (list.kind === 'list') list.items.push(item)
  return item
}

function addElement(list: YamlNode, part: string, created: Set<YamlNode>): YamlNode {
  const { field, value } = splitListEntry(part)
  const key = createYamlPlain(value)
  created.add(key)
  return addItem(list, field === '' ? key : createYamlMap([[field, key]]))
}

/** kyaml does not resolve an alias. A null is valid for every kind. */
function listItems(node: YamlNode, search: FieldSearch): readonly YamlNode[] {
  if (node.kind === 'list') return node.items
  if (isTaggedNull(node, search.created)) return []
  throw createWrongKindProblem('list', node, search.secret)
}

function findField(node: YamlNode, name: string, search: FieldSearch): YamlNode | undefined {
  if (isTaggedNull(node, search.created)) return undefined
  if (node.kind === 'map' && name !== '') return findRawField(node, name)
  if (node.kind === 'scalar' && name === '') return node.value === '' ? node : undefined
  throw createWrongKindProblem(name === '' ? 'scalar' : 'map', node, search.secret)
}

/** An alias to a null is not null. */
export function isTaggedNull(node: YamlNode, created: ReadonlySet<YamlNode>): boolean {
  return node.kind === 'scalar' && isNull(node) && !created.has(node)
}

function findRawField(map: YamlMap, name: string): YamlNode | undefined {
  return map.entries.find((entry) => getRawText(entry.key) === name)?.value
}

/** As in go-yaml, an alias gives its anchor name. */
export function getRawText(node: YamlNode): string {
  return node.kind === 'scalar' ? node.value : node.kind === 'alias' ? node.name : ''
}

const KIND_NAMES = {
  scalar: 'ScalarNode',
  map: 'MappingNode',
  list: 'SequenceNode',
  alias: 'AliasNode',
} as const

function createWrongKindProblem(
  wanted: 'scalar' | 'map' | 'list',
  node: YamlNode,
  secret: boolean,
): ReplacementProblem {
  const message = `wrong node kind: expected ${KIND_NAMES[wanted]} but got ${KIND_NAMES[node.kind]}`
  return new ReplacementProblem(
    secret ? message : `${message}: node contents:\n${writeYamlNode(node)}`,
  )
}

function isListEntry(part: string): boolean {
  return part.startsWith('[') && part.endsWith(']')
}

function splitListEntry(part: string): { readonly field: string; readonly value: string } {
  const entry = part.replace(/\]$/, '').replace(/^\[/, '')
  const at = entry.indexOf('=')
  if (at === -1)
    throw new ReplacementProblem(
      'list path element must contain fieldName=fieldValue for element to match',
    )
  return { field: entry.slice(0, at), value: entry.slice(at + 1) }
}

/** Like Go's `strconv.Atoi`. */
function parseIndex(part: string): number | undefined {
  if (!/^[+-]?[0-9]{1,40}$/.test(part)) return undefined
  const number = BigInt(part.replace(/^\+/, ''))
  return BigInt.asIntN(64, number) === number ? Number(number) : undefined
}

function compileExpression(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression)
  } catch (thrown) {
    throw new ReplacementProblem(thrown instanceof Error ? thrown.message : String(thrown))
  }
}
