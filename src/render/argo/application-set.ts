/**
 * The Applications that an ApplicationSet makes of the files of a repository (argo-cd 3.2.0 `applicationset/generators`,
 * `applicationset/utils/utils.go`): lists, folders of git, and matrices of both.
 */
import { metadataText } from '../../krm/resource.ts'
import {
  emptyObject,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  objectsIn,
  partOf,
  setKey,
  textOf,
} from '../../text/json.ts'
import { isFolderMatch } from './path-match.ts'
import { filled, Unfilled } from './set-template.ts'

export interface SetRepository {
  /** Whether the address is this repository. */
  readonly isHere: (address: string) => boolean
  readonly baseBranch: string
  /** Every folder, hidden ones left out, from the root; in the order of their paths, part by part. */
  readonly folders: () => readonly string[]
}

/** Values by name; of a Go template nested, else flat texts. */
type Parameters = JsonObject

/** @returns why its Applications are not known without a cluster, in place of them */
export function applicationsOf(set: JsonObject, repository: SetRepository): readonly JsonObject[] | { readonly why: string } {
  try {
    return new SetReader(set, repository).applications()
  } catch (thrown) {
    if (thrown instanceof Unfilled) return { why: thrown.message }
    throw thrown
  }
}

class SetReader {
  private readonly set: JsonObject
  private readonly repository: SetRepository
  private readonly isGo: boolean

  constructor(set: JsonObject, repository: SetRepository) {
    this.set = set
    this.repository = repository
    this.isGo = partOf(set, 'spec', 'goTemplate') === true
  }

  applications(): readonly JsonObject[] {
    if (textOf(this.set, 'spec', 'templatePatch') !== '') throw new Unfilled('it patches what it makes (spec.templatePatch)')
    const template = partOf(this.set, 'spec', 'template')
    return objectsIn(partOf(this.set, 'spec', 'generators')).flatMap((generator) =>
      this.parametersOf(generator).map((parameters) => this.application(isJsonObject(template) ? template : {}, parameters)),
    )
  }

  private application(template: JsonObject, parameters: Parameters): JsonObject {
    const made = this.filled(template, parameters)
    const metadata = partOf(made, 'metadata')
    // It is in the namespace of the set, whatever the template says.
    const namespace = metadataText(this.set, 'namespace')
    return {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...(namespace === '' ? {} : { namespace }) },
      spec: partOf(made, 'spec') ?? {},
    }
  }

  private parametersOf(generator: JsonObject, isNested = false): readonly Parameters[] {
    const [name, ...others] = Object.keys(generator)
    if (others.includes('selector') || name === 'selector') throw new Unfilled('a generator has a selector')
    const own = name === undefined ? undefined : partOf(generator, name)
    if (name === undefined || others.length > 0 || !isJsonObject(own)) throw new Unfilled('a generator is not one of the known kinds')
    if (isJsonObject(own['template']) && Object.keys(own['template']).length > 0)
      throw new Unfilled(`its generator ${name} has a template of its own`)
    if (name === 'list') return this.list(own)
    if (name === 'git') return this.git(own)
    if (name === 'matrix' && !isNested) return this.matrix(own)
    throw new Unfilled(`its generator ${name} is known to Argo CD alone`)
  }

  private list(own: JsonObject): readonly Parameters[] {
    if (textOf(own, 'elementsYaml') !== '') throw new Unfilled('a list is a template (elementsYaml)')
    const elements = objectsIn(own['elements'])
    return this.isGo ? elements : elements.map(flatElement)
  }

  private git(own: JsonObject): readonly Parameters[] {
    const revision = textOf(own, 'revision').replace(/^refs\/heads\//, '')
    if (!this.repository.isHere(textOf(own, 'repoURL'))) throw new Unfilled('its generator git reads another repository')
    if (!['', 'HEAD', this.repository.baseBranch].includes(revision)) throw new Unfilled(`its generator git reads the revision ${revision}`)
    const patterns = objectsIn(own['directories'])
    if (patterns.length === 0) throw new Unfilled('its generator git reads values from files')
    const isMatch = (folder: string, isExcluded: boolean): boolean =>
      patterns.some((each) => (each['exclude'] === true) === isExcluded && isFolderMatch(textOf(each, 'path'), folder))
    const chosen = this.repository.folders().filter((folder) => isMatch(folder, false) && !isMatch(folder, true))
    return chosen.map((folder) => this.withValues(own, this.ofFolder(folder, textOf(own, 'pathParamPrefix'))))
  }

  private ofFolder(path: string, prefix: string): Parameters {
    const segments = path.split('/')
    const basename = segments.at(-1) ?? ''
    if (this.isGo) {
      const of = { path: { path, basename, basenameNormalized: sanitized(basename), segments } }
      return prefix === '' ? of : { [prefix]: of }
    }
    const name = prefix === '' ? 'path' : `${prefix}.path`
    return Object.fromEntries([
      [name, path],
      [`${name}.basename`, basename],
      [`${name}.basenameNormalized`, sanitized(basename)],
      ...segments.map((segment, index) => [`${name}[${index}]`, segment]),
    ])
  }

  private withValues(own: JsonObject, parameters: Parameters): Parameters {
    const values = own['values']
    if (!isJsonObject(values)) return parameters
    const read = Object.entries(values).map(([key, value]) => [key, this.text(String(value), parameters)] as const)
    if (this.isGo) return { ...parameters, values: Object.fromEntries(read) }
    return { ...parameters, ...Object.fromEntries(read.map(([key, value]) => [`values.${key}`, value])) }
  }

  private matrix(own: JsonObject): readonly Parameters[] {
    const [first, second, ...more] = objectsIn(own['generators'])
    if (first === undefined || second === undefined || more.length > 0) throw new Unfilled('a matrix has other than two generators')
    return this.parametersOf(first, true).flatMap((one) =>
      this.parametersOf(this.filled(second, one), true).map((other) => (this.isGo ? merged(other, one) : combined(one, other))),
    )
  }

  private filled(value: JsonObject, parameters: Parameters): JsonObject {
    const made = Object.keys(parameters).length === 0 ? value : this.inside(value, parameters)
    return isJsonObject(made) ? made : {}
  }

  private inside(value: Json, parameters: Parameters): Json {
    if (typeof value === 'string') return this.text(value, parameters)
    if (isJsonArray(value)) return value.map((each) => this.inside(each, parameters))
    if (!isJsonObject(value)) return value
    const made = emptyObject()
    for (const [key, each] of Object.entries(value)) setKey(made, this.text(key, parameters), this.inside(each, parameters))
    return made
  }

  /** @throws Unfilled */
  private text(text: string, parameters: Parameters): string {
    return filled(text, parameters, this.isGo)
  }
}

function flatElement(element: JsonObject): Parameters {
  const flat = Object.entries(element).flatMap(([key, value]) =>
    key === 'values' && isJsonObject(value)
      ? Object.entries(value).map(([name, each]) => [`values.${name}`, each] as const)
      : [[key, value] as const],
  )
  if (flat.some(([, value]) => typeof value !== 'string')) throw new Unfilled('an element of a list has other values than texts')
  return Object.fromEntries(flat)
}

/** @throws Unfilled where both have a value, and other ones */
function combined(one: Parameters, other: Parameters): Parameters {
  const twice = Object.keys(other).find((key) => one[key] !== undefined && one[key] !== other[key])
  if (twice !== undefined) throw new Unfilled(`both generators of a matrix have the value ${twice}`)
  return { ...one, ...other }
}

/** The second one over the first one, map by map. */
function merged(under: JsonObject, over: JsonObject): JsonObject {
  const made = emptyObject()
  for (const [key, value] of Object.entries(under)) setKey(made, key, value)
  for (const [key, value] of Object.entries(over)) {
    const before = made[key]
    // An empty value gives nothing (mergo).
    if (isJsonObject(value) && isJsonObject(before)) setKey(made, key, merged(before, value))
    else if (before === undefined || !isEmpty(value)) setKey(made, key, value)
  }
  return made
}

function isEmpty(value: Json): boolean {
  return ['', 0, false, null].some((each) => jsonEquals(value, each)) || (isJsonArray(value) && value.length === 0)
}

/** A name of a resource (argo-cd `applicationset/utils/template_functions.go` SanitizeName). */
export function sanitized(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^-a-z0-9.]/g, '-')
    .slice(0, 253)
    .replace(/^[-.]+|[-.]+$/g, '')
}
