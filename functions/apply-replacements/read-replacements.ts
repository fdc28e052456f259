/**
 * The config has kustomize's shape
 * (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.15.0/api/types/replacement.go).
 */
import type { Json } from '@backporch/kyaml/json'
import {
  isNull,
  jsonOf,
  keyOf,
  resolved,
  textAt,
  writtenTag,
  type YamlAlias,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

/** An empty text matches all. */
export interface ObjectId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

export interface FieldOptions {
  /** Empty: the whole field. */
  readonly delimiter: string
  readonly index: number
  readonly create: boolean
}

export interface ReplacementSource {
  readonly id: ObjectId
  /** Empty: `metadata.name`. */
  readonly fieldPath: string
  readonly options: FieldOptions | undefined
}

export interface ObjectSelector {
  readonly id: ObjectId
  readonly annotationSelector: string
  readonly labelSelector: string
}

export interface ReplacementTarget {
  readonly select: ObjectSelector | undefined
  readonly reject: readonly ObjectSelector[]
  /** Empty: `metadata.name`. */
  readonly fieldPaths: readonly string[]
  readonly options: FieldOptions | undefined
}

export interface Replacement {
  readonly source: ReplacementSource | undefined
  readonly targets: readonly ReplacementTarget[] | undefined
}

/** The message has the wording of the original. */
export class ReplacementProblem extends Error {}

const API_VERSION = 'fn.kpt.dev/v1alpha1'
const KIND = 'ApplyReplacements'

/**
 * Ignores unknown fields and merge keys.
 * @throws ReplacementProblem for a missing config, another kind, or a value of a wrong type
 */
export function readReplacements(config: YamlMap | undefined): readonly Replacement[] {
  if (config === undefined || config.entries.length === 0) {
    throw new ReplacementProblem('FunctionConfig is missing. Expect `ApplyReplacements`')
  }
  const [kind, apiVersion] = [textAt(config, 'kind') ?? '', textAt(config, 'apiVersion') ?? '']
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const only = `only functionConfig of kind ${KIND} and apiVersion ${API_VERSION} is supported`
    throw new ReplacementProblem(
      `received functionConfig of kind ${kind} and apiVersion ${apiVersion}, ${only}`,
    )
  }
  const whole = new Field(config, '')
  return (whole.at('replacements').list() ?? []).map((field) => ({
    source: field.at('source').read(readSource),
    targets: field.at('targets').list()?.map(readTarget),
  }))
}

function wrongConfig(why: string): ReplacementProblem {
  return new ReplacementProblem(`unable to convert functionConfig to replacements:\n${why}`)
}

function readSource(field: Field): ReplacementSource {
  return {
    id: readId(field),
    fieldPath: field.at('fieldPath').text(),
    options: field.at('options').read(readOptions),
  }
}

function readTarget(field: Field): ReplacementTarget {
  return {
    select: field.at('select').read(readSelector),
    reject: (field.at('reject').list() ?? []).map(readSelector),
    fieldPaths: (field.at('fieldPaths').list() ?? []).map((path) => path.text()),
    options: field.at('options').read(readOptions),
  }
}

function readSelector(field: Field): ObjectSelector {
  return {
    id: readId(field),
    annotationSelector: field.at('annotationSelector').text(),
    labelSelector: field.at('labelSelector').text(),
  }
}

function readId(field: Field): ObjectId {
  const [group, version, kind] = [
    field.at('group').text(),
    field.at('version').text(),
    field.at('kind').text(),
  ]
  return {
    group,
    version,
    kind,
    name: field.at('name').text(),
    namespace: field.at('namespace').text(),
  }
}

/** The original declares `encoding` and never uses it. */
function readOptions(field: Field): FieldOptions {
  field.at('encoding').text()
  return {
    delimiter: field.at('delimiter').text(),
    index: field.at('index').whole(),
    create: field.at('create').flag(),
  }
}

/**
 * Reads like go-yaml v3 (`y` is text), then Go's `json.Unmarshal` into a struct: null and absent
 * are the zero value, keys are case-insensitive.
 */
class Field {
  private readonly node: Exclude<YamlNode, YamlAlias> | undefined
  private readonly path: string

  constructor(node: YamlNode | undefined, path: string) {
    this.node = node === undefined || isNull(node) ? undefined : resolved(node)
    this.path = path
  }

  at(key: string): Field {
    if (this.node !== undefined && this.node.kind !== 'map') throw this.wrong('an object')
    const entries = this.node?.entries ?? []
    const found =
      entries.find((entry) => keyOf(entry.key) === key) ??
      entries.find((entry) => keyOf(entry.key).toLowerCase() === key.toLowerCase())
    return new Field(found?.value, this.path === '' ? key : `${this.path}.${key}`)
  }

  read<T>(reader: (field: Field) => T): T | undefined {
    return this.node === undefined ? undefined : reader(this)
  }

  list(): readonly Field[] | undefined {
    if (this.node === undefined) return undefined
    if (this.node.kind !== 'list') throw this.wrong('a list')
    return this.node.items.map((each, index) => new Field(each, `${this.path}[${index}]`))
  }

  text(): string {
    if (this.node === undefined) return ''
    if (this.node.kind !== 'scalar' || !['!!str', '!!timestamp'].includes(impliedTag(this.node)))
      throw this.wrong('a text')
    return this.node.value
  }

  whole(): number {
    if (this.node === undefined) return 0
    const number =
      this.node.kind === 'scalar' && ['!!int', '!!float'].includes(impliedTag(this.node))
        ? this.json()
        : undefined
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      throw this.wrong('a whole number')
    return number
  }

  flag(): boolean {
    if (this.node === undefined) return false
    const flag =
      this.node.kind === 'scalar' && impliedTag(this.node) === '!!bool' ? this.json() : undefined
    if (typeof flag !== 'boolean') throw this.wrong('true or false')
    return flag
  }

  private json(): Json | undefined {
    try {
      return this.node === undefined ? undefined : jsonOf(this.node)
    } catch {
      return undefined
    }
  }

  private wrong(wanted: string): ReplacementProblem {
    const got =
      this.node?.kind === 'scalar' ? impliedTag(this.node).replace('!!', '') : this.node?.kind
    return wrongConfig(`${this.path} is of type ${got}, and ${wanted} is wanted`)
  }
}

const TAGS = ['!!int', '!!float', '!!bool', '!!null', '!!timestamp', '!!merge']

/** As go-yaml v3 resolves it (`resolve.go`); an explicit tag wins. */
export function impliedTag(scalar: YamlScalar): string {
  if (scalar.tag !== '') return scalar.tag
  if (scalar.style !== 'plain') return '!!str'
  return TAGS.find((tag) => writtenTag({ ...scalar, tag, source: undefined }) === '') ?? '!!str'
}
