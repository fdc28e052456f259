/**
 * The config has kustomize's shape
 * (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.15.0/api/types/replacement.go).
 */
import type { Json } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findTextAt,
  getWrittenTag,
  getYamlKey,
  isNull,
  resolveAlias,
  type YamlAlias,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

export interface ObjectId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/** An undefined part matches all. */
export type ObjectPattern = { readonly [Part in keyof ObjectId]: string | undefined }

export interface FieldOptions {
  /** Undefined: the whole field. */
  readonly delimiter: string | undefined
  readonly index: number
  readonly create: boolean
}

export interface ReplacementSource {
  readonly id: ObjectPattern
  /** Undefined: `metadata.name`. */
  readonly fieldPath: string | undefined
  readonly options: FieldOptions | undefined
}

export interface ObjectSelector {
  readonly id: ObjectPattern
  readonly annotationSelector: string | undefined
  readonly labelSelector: string | undefined
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
  const [kind, apiVersion] = [
    findTextAt(config, 'kind') ?? '',
    findTextAt(config, 'apiVersion') ?? '',
  ]
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const only = `only functionConfig of kind ${KIND} and apiVersion ${API_VERSION} is supported`
    throw new ReplacementProblem(
      `received functionConfig of kind ${kind} and apiVersion ${apiVersion}, ${only}`,
    )
  }
  const whole = new Field(config)
  return (whole.getField('replacements').list() ?? []).map((field) => ({
    source: field.getField('source').read(readSource),
    targets: field.getField('targets').list()?.map(readTarget),
  }))
}

function createConfigProblem(why: string): ReplacementProblem {
  return new ReplacementProblem(`unable to convert functionConfig to replacements:\n${why}`)
}

function readSource(field: Field): ReplacementSource {
  return {
    id: readId(field),
    fieldPath: field.getField('fieldPath').getText() || undefined,
    options: field.getField('options').read(readOptions),
  }
}

function readTarget(field: Field): ReplacementTarget {
  return {
    select: field.getField('select').read(readSelector),
    reject: (field.getField('reject').list() ?? []).map(readSelector),
    fieldPaths: (field.getField('fieldPaths').list() ?? []).map((path) => path.getText()),
    options: field.getField('options').read(readOptions),
  }
}

function readSelector(field: Field): ObjectSelector {
  return {
    id: readId(field),
    annotationSelector: field.getField('annotationSelector').getText() || undefined,
    labelSelector: field.getField('labelSelector').getText() || undefined,
  }
}

function readId(field: Field): ObjectPattern {
  const text = (key: keyof ObjectId): string | undefined =>
    field.getField(key).getText() || undefined
  return {
    group: text('group'),
    version: text('version'),
    kind: text('kind'),
    name: text('name'),
    namespace: text('namespace'),
  }
}

/** The original declares `encoding` and never uses it. */
function readOptions(field: Field): FieldOptions {
  field.getField('encoding').getText()
  return {
    delimiter: field.getField('delimiter').getText() || undefined,
    index: field.getField('index').getInteger(),
    create: field.getField('create').flag(),
  }
}

/**
 * Reads like go-yaml v3 (`y` is text), then Go's `json.Unmarshal` into a struct: null and absent
 * are the zero value, keys are case-insensitive.
 */
class Field {
  private readonly node: Exclude<YamlNode, YamlAlias> | undefined
  /** Undefined for the whole config. */
  private readonly path: string | undefined

  constructor(node: YamlNode | undefined, path?: string) {
    this.node = node === undefined || isNull(node) ? undefined : resolveAlias(node)
    this.path = path
  }

  getField(key: string): Field {
    if (this.node !== undefined && this.node.kind !== 'map') throw this.createProblem('an object')
    const entries = this.node?.entries ?? []
    const found =
      entries.find((entry) => getYamlKey(entry.key) === key) ??
      entries.find((entry) => getYamlKey(entry.key).toLowerCase() === key.toLowerCase())
    return new Field(found?.value, this.path === undefined ? key : `${this.path}.${key}`)
  }

  read<T>(reader: (field: Field) => T): T | undefined {
    return this.node === undefined ? undefined : reader(this)
  }

  list(): readonly Field[] | undefined {
    if (this.node === undefined) return undefined
    if (this.node.kind !== 'list') throw this.createProblem('a list')
    return this.node.items.map((each, index) => new Field(each, `${this.path}[${index}]`))
  }

  getText(): string {
    if (this.node === undefined) return ''
    if (this.node.kind !== 'scalar' || !['!!str', '!!timestamp'].includes(getImpliedTag(this.node)))
      throw this.createProblem('a text')
    return this.node.value
  }

  getInteger(): number {
    if (this.node === undefined) return 0
    const number =
      this.node.kind === 'scalar' && ['!!int', '!!float'].includes(getImpliedTag(this.node))
        ? this.findJson()
        : undefined
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      throw this.createProblem('a whole number')
    return number
  }

  flag(): boolean {
    if (this.node === undefined) return false
    const flag =
      this.node.kind === 'scalar' && getImpliedTag(this.node) === '!!bool'
        ? this.findJson()
        : undefined
    if (typeof flag !== 'boolean') throw this.createProblem('true or false')
    return flag
  }

  private findJson(): Json | undefined {
    try {
      return this.node === undefined ? undefined : convertYamlToJson(this.node)
    } catch {
      return undefined
    }
  }

  private createProblem(wanted: string): ReplacementProblem {
    const got =
      this.node?.kind === 'scalar' ? getImpliedTag(this.node).replace('!!', '') : this.node?.kind
    return createConfigProblem(`${this.path ?? ''} is of type ${got}, and ${wanted} is wanted`)
  }
}

const TAGS = ['!!int', '!!float', '!!bool', '!!null', '!!timestamp', '!!merge']

/** As go-yaml v3 resolves it (`resolve.go`); an explicit tag wins. */
export function getImpliedTag(scalar: YamlScalar): string {
  if (scalar.tag !== '') return scalar.tag
  if (scalar.style !== 'plain') return '!!str'
  return TAGS.find((tag) => getWrittenTag({ ...scalar, tag, source: undefined }) === '') ?? '!!str'
}
