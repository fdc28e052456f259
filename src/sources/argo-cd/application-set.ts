/**
 * Computes the Applications of an ApplicationSet from the files of a repository. It supports list
 * and git generators (folders and files), and matrices of them (argo-cd 3.2.0
 * `applicationset/generators`, `applicationset/utils/utils.go`).
 */

import { shortenBranch } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import {
  emptyObject,
  filterObjects,
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { omitUndefined } from '@backporch/kyaml/text'
import type { SetRepository } from '../build/unit-source.ts'
import { isFileMatch, isFolderMatch } from './path-match.ts'
import { fillSetTemplate, printGoValue, replaceWithAny, Unfilled } from './set-template.ts'

type Parameters = JsonObject

type Steps = readonly (string | number)[]

interface SetParameters {
  readonly values: Parameters
  /** By name in a template. */
  readonly places: ReadonlyMap<string, ParameterPlace>
}

interface ParameterPlace {
  /** From the repository root; undefined for the set itself. */
  readonly file: string | undefined
  readonly at: Steps
}

export interface GeneratedApplication {
  readonly application: JsonObject
  readonly parameters: SetParameters
}

/** @returns the Applications, or why only Argo CD knows them */
export function listGeneratedApplications(
  set: JsonObject,
  repository: SetRepository,
): readonly GeneratedApplication[] | { readonly why: string } {
  try {
    return new SetReader(set, repository).listApplications()
  } catch (thrown) {
    if (thrown instanceof Unfilled) return { why: thrown.message }
    throw thrown
  }
}

export function listFilePatterns(set: JsonObject): readonly string[] {
  const below = (generator: JsonObject): readonly string[] => [
    ...filterObjects(getPartAt(generator, 'git', 'files')).map((each) =>
      replaceWithAny(getTextAt(each, 'path')),
    ),
    ...['matrix', 'merge'].flatMap((kind) =>
      filterObjects(getPartAt(generator, kind, 'generators')).flatMap(below),
    ),
  ]
  return getTextAt(set, 'kind') === 'ApplicationSet'
    ? filterObjects(getPartAt(set, 'spec', 'generators')).flatMap(below)
    : []
}

const MOST_OF_MATRIX = 10_000

class SetReader {
  private readonly set: JsonObject
  private readonly repository: SetRepository
  private readonly isGo: boolean

  constructor(set: JsonObject, repository: SetRepository) {
    this.set = set
    this.repository = repository
    this.isGo = getPartAt(set, 'spec', 'goTemplate') === true
  }

  listApplications(): readonly GeneratedApplication[] {
    if (findNonEmptyText(this.set, 'spec', 'templatePatch') !== undefined)
      throw new Unfilled('it patches its Applications (spec.templatePatch)')
    const template = getPartAt(this.set, 'spec', 'template')
    const authored = isJsonObject(template) ? template : {}
    return filterObjects(getPartAt(this.set, 'spec', 'generators')).flatMap((generator, index) =>
      this.listParameters(generator, ['spec', 'generators', index]).map((parameters) => ({
        application: this.createApplication(authored, parameters.values),
        parameters,
      })),
    )
  }

  private createApplication(template: JsonObject, parameters: Parameters): JsonObject {
    const made = this.fillTemplate(template, parameters)
    const metadata = getPartAt(made, 'metadata')
    const namespace = findNonEmptyText(this.set, 'metadata', 'namespace')
    return {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: {
        ...(isJsonObject(metadata) ? metadata : {}),
        ...omitUndefined({ namespace }),
      },
      spec: getPartAt(made, 'spec') ?? {},
    }
  }

  private listParameters(
    generator: JsonObject,
    at: Steps,
    isNested = false,
  ): readonly SetParameters[] {
    const [name, ...others] = Object.keys(generator)
    if (others.includes('selector') || name === 'selector')
      throw new Unfilled('a generator has a selector')
    const own = name === undefined ? undefined : getPartAt(generator, name)
    if (name === undefined || others.length > 0 || !isJsonObject(own))
      throw new Unfilled('a generator is not one of the known kinds')
    if (isJsonObject(own['template']) && Object.keys(own['template']).length > 0)
      throw new Unfilled(`its generator ${name} has a template of its own`)
    if (name === 'list') return this.list(own, [...at, name])
    if (name === 'git') return this.listGitParameters(own, [...at, name])
    if (name === 'matrix' && !isNested) return this.listMatrixParameters(own, [...at, name])
    throw new Unfilled(`only Argo CD can run its generator ${name}`)
  }

  private list(own: JsonObject, at: Steps): readonly SetParameters[] {
    if (findNonEmptyText(own, 'elementsYaml') !== undefined)
      throw new Unfilled('a list is a template (elementsYaml)')
    return filterObjects(own['elements']).map((element, index) => ({
      values: this.isGo ? element : flattenElement(element),
      places: new Map(listPlaces(element, { file: undefined, at: [...at, 'elements', index] })),
    }))
  }

  private listGitParameters(own: JsonObject, at: Steps): readonly SetParameters[] {
    const revision = shortenBranch(getTextAt(own, 'revision'))
    if (!this.repository.isHere(getTextAt(own, 'repoURL')))
      throw new Unfilled('its generator git reads another repository')
    if (!['', 'HEAD', this.repository.baseBranch].includes(revision))
      throw new Unfilled(`its generator git reads the revision ${revision}`)
    const patterns = filterObjects(own['directories'])
    if (patterns.length === 0) return this.listFileParameters(own, at)
    const isMatch = (folder: string, isExcluded: boolean): boolean =>
      patterns.some(
        (each) =>
          (each['exclude'] === true) === isExcluded &&
          isFolderMatch(getTextAt(each, 'path'), folder),
      )
    const chosen = this.repository
      .folders()
      .filter((folder) => isMatch(folder, false) && !isMatch(folder, true))
    const places = new Map(listPlaces({ values: own['values'] ?? {} }, { file: undefined, at }))
    const prefix = findNonEmptyText(own, 'pathParamPrefix')
    return chosen.map((folder) => ({
      values: this.addValues(own, this.createFolderParameters(folder, prefix)),
      places,
    }))
  }

  private listFileParameters(own: JsonObject, at: Steps): readonly SetParameters[] {
    const patterns = filterObjects(own['files'])
    if (patterns.length === 0)
      throw new Unfilled('its generator git names neither folders nor files')
    const isMatch = (path: string, isExcluded: boolean): boolean =>
      patterns.some(
        (each) => (each['exclude'] === true) === isExcluded && isFileMatch(readPattern(each), path),
      )
    const chosen = [...this.repository.texts.keys()].filter(
      (path) => isMatch(path, false) && !isMatch(path, true),
    )
    return chosen.flatMap((path) =>
      parseFileObjects(path, this.repository.texts.get(path) ?? '').map(
        ({ object, steps }): SetParameters => {
          const read = this.isGo ? { ...object } : flattenObject(object)
          const values = this.addValues(own, {
            ...read,
            ...this.createPathParameters(path, findNonEmptyText(own, 'pathParamPrefix')),
          })
          const inSet = listPlaces({ values: own['values'] ?? {} }, { file: undefined, at })
          return {
            values,
            places: new Map([...listPlaces(object, { file: path, at: steps }), ...inSet]),
          }
        },
      ),
    )
  }

  private createPathParameters(file: string, prefix: string | undefined): Parameters {
    const slash = file.lastIndexOf('/')
    const [folder, filename] = [slash === -1 ? '.' : file.slice(0, slash), file.slice(slash + 1)]
    const more = { filename, filenameNormalized: sanitizeName(filename) }
    const of = this.createFolderParameters(folder, prefix)
    const name = prefix === undefined ? 'path' : `${prefix}.path`
    if (!this.isGo)
      return {
        ...of,
        ...Object.fromEntries(
          Object.entries(more).map(([key, value]) => [`${name}.${key}`, value]),
        ),
      }
    const path = getPartAt(of, ...(prefix === undefined ? ['path'] : [prefix, 'path']))
    const all = { ...(isJsonObject(path) ? path : {}), ...more }
    return prefix === undefined ? { path: all } : { [prefix]: { path: all } }
  }

  private createFolderParameters(path: string, prefix: string | undefined): Parameters {
    const segments = path.split('/')
    const basename = segments.at(-1) ?? ''
    if (this.isGo) {
      const of = { path: { path, basename, basenameNormalized: sanitizeName(basename), segments } }
      return prefix === undefined ? of : { [prefix]: of }
    }
    const name = prefix === undefined ? 'path' : `${prefix}.path`
    return Object.fromEntries([
      [name, path],
      [`${name}.basename`, basename],
      [`${name}.basenameNormalized`, sanitizeName(basename)],
      ...segments.map((segment, index) => [`${name}[${index}]`, segment]),
    ])
  }

  private addValues(own: JsonObject, parameters: Parameters): Parameters {
    const values = own['values']
    if (!isJsonObject(values)) return parameters
    const read = Object.entries(values).map(
      ([key, value]) => [key, this.fillText(String(value), parameters)] as const,
    )
    if (this.isGo) return { ...parameters, values: Object.fromEntries(read) }
    return {
      ...parameters,
      ...Object.fromEntries(read.map(([key, value]) => [`values.${key}`, value])),
    }
  }

  private listMatrixParameters(own: JsonObject, at: Steps): readonly SetParameters[] {
    const [first, second, ...more] = filterObjects(own['generators'])
    if (first === undefined || second === undefined || more.length > 0)
      throw new Unfilled('a matrix does not have exactly two generators')
    const generator = (index: number): Steps => [...at, 'generators', index]
    const ofFirst = this.listParameters(first, generator(0), true)
    const all: SetParameters[] = []
    for (const one of ofFirst) {
      const ofSecond = this.listParameters(
        this.fillTemplate(second, one.values),
        generator(1),
        true,
      )
      if (all.length + ofSecond.length > MOST_OF_MATRIX)
        throw new Unfilled(`a matrix has more than ${MOST_OF_MATRIX} combinations`)
      for (const other of ofSecond) {
        const values = this.isGo
          ? mergeObjects(other.values, one.values)
          : combineParameters(one.values, other.values)
        all.push({ values, places: new Map([...other.places, ...one.places]) })
      }
    }
    return all
  }

  private fillTemplate(value: JsonObject, parameters: Parameters): JsonObject {
    const made = Object.keys(parameters).length === 0 ? value : this.fillInside(value, parameters)
    return isJsonObject(made) ? made : {}
  }

  private fillInside(value: Json, parameters: Parameters): Json {
    if (typeof value === 'string') return this.fillText(value, parameters)
    if (isJsonArray(value)) return value.map((each) => this.fillInside(each, parameters))
    if (!isJsonObject(value)) return value
    const made = emptyObject()
    for (const [key, each] of Object.entries(value))
      setKey(made, this.fillText(key, parameters), this.fillInside(each, parameters))
    return made
  }

  /** @throws Unfilled */
  private fillText(text: string, parameters: Parameters): string {
    return fillSetTemplate(text, parameters, this.isGo)
  }
}

function listPlaces(
  values: Json,
  { file, at }: ParameterPlace,
  names: readonly string[] = [],
): readonly (readonly [name: string, place: ParameterPlace])[] {
  if (values === null || typeof values !== 'object') return [[names.join('.'), { file, at }]]
  const steps = isJsonArray(values)
    ? values.map((value, index) => [index, value] as const)
    : Object.entries(values)
  return steps.flatMap(([step, value]) =>
    listPlaces(value, { file, at: [...at, step] }, [...names, String(step)]),
  )
}

/** @throws Unfilled for a pattern with git pathspec magic */
function readPattern(entry: JsonObject): string {
  const pattern = getTextAt(entry, 'path')
  if (/^:|\[:|(?:^|\/)\.\.(?:\/|$)/.test(pattern))
    throw new Unfilled(`its generator git has the pattern ${pattern.slice(0, 80)}`)
  return pattern
}

interface FileObject {
  readonly object: JsonObject
  readonly steps: Steps
}

/**
 * An object, or each of a list.
 * @throws Unfilled if Argo CD cannot read the file
 */
function parseFileObjects(path: string, text: string): readonly FileObject[] {
  const value = parseFileValue(path, text)
  if (value === null) return [{ object: {}, steps: [] }]
  if (isJsonObject(value)) return [{ object: value, steps: [] }]
  const items = isJsonArray(value) ? value : [value]
  return items.map((object, index): FileObject => {
    if (isJsonArray(value) && isJsonObject(object)) return { object, steps: [index] }
    throw new Unfilled(`its generator git reads ${path}, which is neither a map nor a list of maps`)
  })
}

function parseFileValue(path: string, text: string): Json {
  try {
    return parseGoYaml(text, path).documents[0]?.value ?? null
  } catch (thrown) {
    if (thrown instanceof Failure)
      throw new Unfilled(`its generator git reads ${path}, which cannot be read`)
    throw thrown
  }
}

/** Dotted names, also for list items; an empty one has none (jeremywohl/flatten, DotStyle). */
function flattenObject(object: JsonObject): Parameters {
  return Object.fromEntries(listSingles(object, ''))
}

function listSingles(value: Json, name: string): readonly (readonly [string, string])[] {
  if (value === null || typeof value !== 'object') return [[name, printGoValue(value)]]
  return Object.entries(value).flatMap(([key, each]) =>
    listSingles(each, name === '' ? key : `${name}.${key}`),
  )
}

function flattenElement(element: JsonObject): Parameters {
  const flat = Object.entries(element).flatMap(([key, value]) =>
    key === 'values' && isJsonObject(value)
      ? Object.entries(value).map(([name, each]) => [`values.${name}`, each] as const)
      : [[key, value] as const],
  )
  if (flat.some(([, value]) => typeof value !== 'string'))
    throw new Unfilled('an element of a list has values that are not text')
  return Object.fromEntries(flat)
}

/** @throws Unfilled if both have different values for a name */
function combineParameters(one: Parameters, other: Parameters): Parameters {
  const twice = Object.keys(other).find((key) => one[key] !== undefined && one[key] !== other[key])
  if (twice !== undefined) throw new Unfilled(`both generators of a matrix have the value ${twice}`)
  return { ...one, ...other }
}

function mergeObjects(under: JsonObject, over: JsonObject): JsonObject {
  const made = emptyObject()
  for (const [key, value] of Object.entries(under)) setKey(made, key, value)
  for (const [key, value] of Object.entries(over)) {
    const before = made[key]
    // An empty value overrides nothing (mergo).
    if (isJsonObject(value) && isJsonObject(before)) setKey(made, key, mergeObjects(before, value))
    else if (before === undefined || !isEmpty(value)) setKey(made, key, value)
  }
  return made
}

function isEmpty(value: Json): boolean {
  return (
    ['', 0, false, null].some((each) => isJsonEqual(value, each)) ||
    (isJsonArray(value) && value.length === 0)
  )
}

/** As argo-cd `applicationset/utils/template_functions.go` SanitizeName. */
function sanitizeName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^-a-z0-9.]/g, '-')
    .slice(0, 253)
    .replace(/^[-.]+|[-.]+$/g, '')
}
