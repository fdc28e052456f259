/**
 * They survive reordering: `spec.template.spec.containers[name=app].image`,
 * `metadata.annotations["example.com/owner"]`, `metadata.finalizers[="example.com/guard"]` (member
 * of a set), `spec.command[0]` (index in an atomic list). Steps as structured-merge-diff's
 * PathElement (fieldpath/element.go).
 */
import {
  emptyObject,
  formatCanonicalJson,
  formatJson,
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  setKey,
} from '../text/json.ts'

export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'item'; readonly keys: JsonObject }
  | { readonly kind: 'member'; readonly value: Json }
  | { readonly kind: 'index'; readonly index: number }

export type FieldPath = readonly PathStep[]

export function createFieldStep(name: string): PathStep {
  return { kind: 'field', name }
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/
// It must not read back as another type.
const PLAIN_VALUE = /^[A-Za-z_./][A-Za-z0-9_./:-]*$/

export function formatFieldPath(path: FieldPath): string {
  let text = ''
  for (const step of path) {
    if (step.kind === 'field')
      text += PLAIN_NAME.test(step.name)
        ? `${text === '' ? '' : '.'}${step.name}`
        : `[${JSON.stringify(step.name)}]`
    else if (step.kind === 'index') text += `[${step.index}]`
    else if (step.kind === 'member') text += `[=${formatKeyValue(step.value)}]`
    else if (isAnyStep(step)) text += '[*]'
    else
      text += `[${Object.entries(step.keys)
        // OpenAPI and managedFields order keys differently.
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(
          ([key, value]) =>
            `${PLAIN_NAME.test(key) ? key : JSON.stringify(key)}=${formatKeyValue(value)}`,
        )
        .join(',')}]`
  }
  return text
}

export function isAnyStep(step: PathStep): boolean {
  return step.kind === 'item' && Object.keys(step.keys).length === 0
}

function formatKeyValue(value: Json): string {
  return typeof value === 'string' && PLAIN_VALUE.test(value) && !/^(true|false|null)$/.test(value)
    ? value
    : formatJson(value)
}

export function parseFieldPath(
  text: string,
): { readonly path: FieldPath } | { readonly problem: string } {
  return readPath(new PathReader(text, false))
}

export function parseFieldPattern(
  text: string,
): { readonly path: FieldPath } | { readonly problem: string } {
  return readPath(new PathReader(text, true))
}

function readPath(reader: PathReader): { readonly path: FieldPath } | { readonly problem: string } {
  try {
    return { path: reader.read() }
  } catch (thrown) {
    if (thrown instanceof PathSyntax) return { problem: thrown.message }
    throw thrown
  }
}

class PathSyntax extends Error {}

class PathReader {
  private at = 0
  private readonly text: string
  private readonly pattern: boolean

  constructor(text: string, pattern: boolean) {
    this.text = text
    this.pattern = pattern
  }

  read(): FieldPath {
    const steps: PathStep[] = []
    if (this.text === '') throw new PathSyntax('the path is empty')
    while (this.at < this.text.length) {
      const next = this.text[this.at]
      if (next === '[') steps.push(this.readBracket())
      else {
        if (next === '.') this.at += steps.length > 0 ? 1 : 0
        else if (steps.length > 0) throw this.createSyntaxProblem('wanted "." or "["')
        steps.push(createFieldStep(this.match(/[^.[\]]+/y, 'a field name')))
      }
    }
    return steps
  }

  private readBracket(): PathStep {
    this.at += 1
    const step = this.readInside()
    this.take(']')
    return step
  }

  private readInside(): PathStep {
    const next = this.text[this.at]
    const quoted = next === '"' ? String(this.readValue()) : undefined
    if (quoted !== undefined && this.text[this.at] !== '=') return createFieldStep(quoted)
    if (next === '=') {
      this.at += 1
      return { kind: 'member', value: this.readValue() }
    }
    if (next !== undefined && /[0-9]/.test(next))
      return { kind: 'index', index: Number(this.match(/[0-9]+/y, 'an index')) }
    if (this.pattern && quoted === undefined && this.text.startsWith('*]', this.at)) {
      this.at += 1
      return { kind: 'item', keys: {} }
    }
    const keys = emptyObject()
    for (let key = quoted ?? this.readKey(); ; key = this.readKey()) {
      this.take('=')
      setKey(keys, key, this.readValue())
      if (this.text[this.at] !== ',') return { kind: 'item', keys }
      this.at += 1
    }
  }

  private readKey(): string {
    return this.text[this.at] === '"'
      ? String(this.readValue())
      : this.match(/[A-Za-z_][A-Za-z0-9_-]*/y, 'a key name')
  }

  private readValue(): Json {
    const quoted = /"(?:[^"\\]|\\.)*"/y
    quoted.lastIndex = this.at
    const match = quoted.exec(this.text)
    if (match !== null) {
      this.at = quoted.lastIndex
      return this.parseJsonValue(match[0])
    }
    if (/[[{]/.test(this.text[this.at] ?? '')) return this.parseJsonValue(this.readNested())
    const bare = this.match(/[^\],]+/y, 'a value')
    if (this.pattern && bare.includes('*')) return bare
    return PLAIN_VALUE.test(bare) && !/^(true|false|null)$/.test(bare)
      ? bare
      : this.parseJsonValue(bare)
  }

  private readNested(): string {
    const start = this.at
    let depth = 0
    do {
      const part = this.match(/[[\]{}]|"(?:[^"\\]|\\.)*"|[^[\]{}"]+/y, 'the end of a JSON value')
      depth += part === '[' || part === '{' ? 1 : part === ']' || part === '}' ? -1 : 0
    } while (depth > 0)
    return this.text.slice(start, this.at)
  }

  private parseJsonValue(text: string): Json {
    try {
      return parseJson(text)
    } catch {
      throw this.createSyntaxProblem(`wanted a value, got ${text}`)
    }
  }

  private take(character: string): void {
    if (this.text[this.at] !== character) throw this.createSyntaxProblem(`wanted "${character}"`)
    this.at += 1
  }

  private match(pattern: RegExp, wanted: string): string {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    if (match === null) throw this.createSyntaxProblem(`wanted ${wanted}`)
    this.at = pattern.lastIndex
    return match[0]
  }

  private createSyntaxProblem(problem: string): PathSyntax {
    return new PathSyntax(`${problem} at character ${this.at + 1} of ${JSON.stringify(this.text)}`)
  }
}

export function isSameStep(left: PathStep, right: PathStep): boolean {
  if (left.kind === 'field') return right.kind === 'field' && left.name === right.name
  if (left.kind === 'index') return right.kind === 'index' && left.index === right.index
  if (left.kind === 'member') return right.kind === 'member' && isJsonEqual(left.value, right.value)
  return right.kind === 'item' && isJsonEqual(left.keys, right.keys)
}

export function isWithin(path: FieldPath, ancestor: FieldPath): boolean {
  return (
    ancestor.length <= path.length &&
    ancestor.every((step, index) => isSameStep(step, path[index] as PathStep))
  )
}

export function findValueAt(value: Json | undefined, path: FieldPath): Json | undefined {
  let current = value
  for (const step of path) {
    if (current === undefined) return undefined
    current = stepInto(current, step)
  }
  return current
}

function stepInto(value: Json, step: PathStep): Json | undefined {
  if (step.kind === 'field') return isJsonObject(value) ? getKey(value, step.name) : undefined
  const index = indexOfStep(value, step)
  return index === -1 ? undefined : (value as readonly Json[])[index]
}

/**
 * Or -1. An item without some of the keys matches if it is the only candidate, because servers
 * default keys that authors omit (a Service port's `protocol`).
 */
export function indexOfStep(list: Json, step: PathStep): number {
  if (!isJsonArray(list)) return -1
  if (step.kind === 'index') return step.index < list.length ? step.index : -1
  if (step.kind === 'field') return -1
  const index =
    list.length > LONG_LIST && !isAnyStep(step)
      ? getListIndex(list, step.kind === 'item' ? Object.keys(step.keys) : undefined)
      : undefined
  if (step.kind === 'member') {
    if (index !== undefined) return index.locations.get(formatCanonicalJson(step.value)) ?? -1
    return list.findIndex((item) => isJsonEqual(item, step.value))
  }
  const wanted = Object.entries(step.keys)
  const exact =
    index === undefined
      ? list.findIndex(
          (item) =>
            isJsonObject(item) &&
            wanted.every(([key, value]) => isJsonEqual(getKey(item, key), value)),
        )
      : (index.locations.get(formatCanonicalJson(step.keys)) ?? -1)
  if (exact !== -1 || index?.complete === true) return exact
  const partial = list.flatMap((item, index) => {
    if (!isJsonObject(item)) return []
    const present = wanted.filter(([key]) => Object.hasOwn(item, key))
    return present.length > 0 &&
      present.every(([key, value]) => isJsonEqual(getKey(item, key), value))
      ? [index]
      : []
  })
  return partial.length === 1 ? (partial[0] as number) : -1
}

/** Longer lists get an index. */
const LONG_LIST = 32

interface ListIndex {
  readonly locations: ReadonlyMap<string, number>
  /** No item then matches by only some keys. */
  readonly complete: boolean
}

/** Values are never changed in place. */
const indexes = new WeakMap<readonly Json[], Map<string, ListIndex>>()

function getListIndex(list: readonly Json[], names: readonly string[] | undefined): ListIndex {
  const known = indexes.get(list) ?? new Map<string, ListIndex>()
  indexes.set(list, known)
  const about = names === undefined ? '' : formatCanonicalJson(names.toSorted())
  const index = known.get(about) ?? makeIndex(list, names)
  known.set(about, index)
  return index
}

function makeIndex(list: readonly Json[], names: readonly string[] | undefined): ListIndex {
  const locations = new Map<string, number>()
  let complete = true
  for (const [index, item] of list.entries()) {
    const key = names === undefined ? formatCanonicalJson(item) : findItemKey(item, names)
    if (key === undefined) complete = false
    else if (!locations.has(key)) locations.set(key, index)
  }
  return { locations, complete }
}

function findItemKey(item: Json, names: readonly string[]): string | undefined {
  if (!isJsonObject(item) || !names.every((name) => Object.hasOwn(item, name))) return undefined
  const keys = emptyObject()
  for (const name of names) setKey(keys, name, item[name] as Json)
  return formatCanonicalJson(keys)
}
