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

type Steps = readonly (string | number)[]

/** What the template is filled with for one Application. */
export interface SetParameters {
  readonly values: Parameters
  /** Where the set itself has them, by the name that a template has for them. */
  readonly places: ReadonlyMap<string, Steps>
}

export interface MadeApplication {
  readonly application: JsonObject
  readonly parameters: SetParameters
}

/** @returns why its Applications are known to Argo CD alone, in place of them */
export function applicationsOf(set: JsonObject, repository: SetRepository): readonly MadeApplication[] | { readonly why: string } {
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

  applications(): readonly MadeApplication[] {
    if (textOf(this.set, 'spec', 'templatePatch') !== '') throw new Unfilled('it patches what it makes (spec.templatePatch)')
    const template = partOf(this.set, 'spec', 'template')
    return objectsIn(partOf(this.set, 'spec', 'generators')).flatMap((generator, index) =>
      this.parametersOf(generator, ['spec', 'generators', index]).map((parameters) => ({
        application: this.application(isJsonObject(template) ? template : {}, parameters.values),
        parameters,
      })),
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

  private parametersOf(generator: JsonObject, at: Steps, isNested = false): readonly SetParameters[] {
    const [name, ...others] = Object.keys(generator)
    if (others.includes('selector') || name === 'selector') throw new Unfilled('a generator has a selector')
    const own = name === undefined ? undefined : partOf(generator, name)
    if (name === undefined || others.length > 0 || !isJsonObject(own)) throw new Unfilled('a generator is not one of the known kinds')
    if (isJsonObject(own['template']) && Object.keys(own['template']).length > 0)
      throw new Unfilled(`its generator ${name} has a template of its own`)
    if (name === 'list') return this.list(own, [...at, name])
    if (name === 'git') return this.git(own, [...at, name])
    if (name === 'matrix' && !isNested) return this.matrix(own, [...at, name])
    throw new Unfilled(`its generator ${name} is known to Argo CD alone`)
  }

  private list(own: JsonObject, at: Steps): readonly SetParameters[] {
    if (textOf(own, 'elementsYaml') !== '') throw new Unfilled('a list is a template (elementsYaml)')
    return objectsIn(own['elements']).map((element, index) => ({
      values: this.isGo ? element : flatElement(element),
      places: new Map(placesBelow(element, [...at, 'elements', index])),
    }))
  }

  private git(own: JsonObject, at: Steps): readonly SetParameters[] {
    const revision = textOf(own, 'revision').replace(/^refs\/heads\//, '')
    if (!this.repository.isHere(textOf(own, 'repoURL'))) throw new Unfilled('its generator git reads another repository')
    if (!['', 'HEAD', this.repository.baseBranch].includes(revision)) throw new Unfilled(`its generator git reads the revision ${revision}`)
    const patterns = objectsIn(own['directories'])
    if (patterns.length === 0) throw new Unfilled('its generator git reads values from files')
    const isMatch = (folder: string, isExcluded: boolean): boolean =>
      patterns.some((each) => (each['exclude'] === true) === isExcluded && isFolderMatch(textOf(each, 'path'), folder))
    const chosen = this.repository.folders().filter((folder) => isMatch(folder, false) && !isMatch(folder, true))
    const places = new Map(placesBelow({ values: own['values'] ?? {} }, at))
    return chosen.map((folder) => ({ values: this.withValues(own, this.ofFolder(folder, textOf(own, 'pathParamPrefix'))), places }))
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

  private matrix(own: JsonObject, at: Steps): readonly SetParameters[] {
    const [first, second, ...more] = objectsIn(own['generators'])
    if (first === undefined || second === undefined || more.length > 0) throw new Unfilled('a matrix has other than two generators')
    const generator = (index: number): Steps => [...at, 'generators', index]
    return this.parametersOf(first, generator(0), true).flatMap((one) =>
      this.parametersOf(this.filled(second, one.values), generator(1), true).map((other) => ({
        values: this.isGo ? merged(other.values, one.values) : combined(one.values, other.values),
        places: new Map([...other.places, ...one.places]),
      })),
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

/** Each single value by its name in a template, with its place. */
function placesBelow(values: JsonObject, at: Steps, names: readonly string[] = []): readonly (readonly [name: string, at: Steps])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const [name, place] = [
      [...names, key],
      [...at, key],
    ]
    if (isJsonObject(value)) return placesBelow(value, place, name)
    return value === null || isJsonArray(value) ? [] : [[name.join('.'), place] as const]
  })
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
