/**
 * What kustomize-controller builds of a Flux Kustomization: the kustomization of its path, or a generated one, with the fields of the
 * resource written into it; and what it makes of the objects afterwards (fluxcd/pkg `kustomize` 1.23.0 `kustomize_generator.go`,
 * `kustomize_varsub.go`, `ssa/utils/meta.go`, kustomize-controller 1.7.2 `kustomization_controller.go`).
 */
import { Failure } from '../../failure.ts'
import { type FieldPath, field } from '../../krm/field-path.ts'
import { annotationsOf, labelsOf, metadataText } from '../../krm/resource.ts'
import { compareText } from '../../text/compare-text.ts'
import {
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  objectsIn,
  partOf,
  textOf,
  textsIn,
} from '../../text/json.ts'
import { parseGoYaml } from '../../yaml/read/go-yaml.ts'
import { KUSTOMIZATION_NAMES } from '../kustomize/kustomization-names.ts'
import { joined } from '../kustomize/kustomization-walk.ts'
import { kustomizationAt, kustomizationOf, type SourceFiles } from '../kustomize/kustomize-build.ts'
import type { BuiltDocument, SyncerBuild, SyncerBuilder, WrittenKustomization } from '../syncer-build.ts'
import { BadSubstitution, substituteVariables } from './shell-variables.ts'

const GROUP = 'kustomize.toolkit.fluxcd.io'
const SUBSTITUTE = `${GROUP}/substitute`
const VARIABLE_NAME = /^[_A-Za-z][_A-Za-z0-9]*$/
/** Without objects kustomize reports an empty kustomization. */
const PLACEHOLDER = '_placeholder'

export const FLUX_BUILDER: SyncerBuilder = {
  fields: ['spec'],
  overrides: { names: [], field: '' },
  components: (object) => textsIn(partOf(object, 'spec', 'components')),
  way: { kustomization: fluxKustomization },
  namespace: () => undefined,
  documents: fluxDocuments,
  finished: withCommonMetadata,
}

/** The kustomization that Flux writes into the folder, and whether the objects keep the marks of their origin. @param folder from the root of the repository */
export function fluxKustomization(object: JsonObject, folder: string, files: SourceFiles): WrittenKustomization {
  const own = kustomizationOf(folder, files)
  const authored = own === undefined ? generated(folder, files) : kustomizationAt(own, files)
  const spec = partOf(object, 'spec') ?? {}
  const isEmpty = own !== undefined && listIn(authored, 'resources').length === 0
  const metadata = isEmpty ? ['originAnnotations'] : listIn(authored, 'buildMetadata')
  const value: { [key: string]: Json } = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...authored }
  const set = (name: string, given: Json | undefined): void => {
    if (given !== undefined) value[name] = given
  }
  set('namespace', texted(spec, 'targetNamespace'))
  set('namePrefix', texted(spec, 'namePrefix'))
  set('nameSuffix', texted(spec, 'nameSuffix'))
  const add = (name: string, more: readonly Json[]): void => {
    if (more.length > 0) value[name] = [...listIn(authored, name), ...more]
  }
  add('patches', objectsIn(getKeyOf(spec, 'patches')))
  add('components', componentsOf(spec, folder, files))
  add(
    'patchesStrategicMerge',
    listIn(spec, 'patchesStrategicMerge').map((patch) => formatJson(patch)),
  )
  add(
    'patchesJson6902',
    objectsIn(getKeyOf(spec, 'patchesJson6902')).map((each) => ({ ...each, patch: formatJson(getKey(each, 'patch') ?? []) })),
  )
  const images = objectsIn(getKeyOf(spec, 'images'))
  if (images.length > 0) value['images'] = withImages(objectsIn(getKeyOf(authored, 'images')), images)
  value['buildMetadata'] = metadata.includes('originAnnotations') ? metadata : [...metadata, 'originAnnotations']
  const path = own ?? joined(folder, KUSTOMIZATION_NAMES[0] ?? '')
  return { path, text: `${formatJson(value)}\n`, keepsOrigins: metadata.includes('originAnnotations') }
}

/** Every manifest below the folder in the order of Go's `filepath.Walk`; a folder with a kustomization of its own is one entry. */
function generated(folder: string, files: SourceFiles): JsonObject {
  const prefix = folder === '' ? '' : `${folder}/`
  const below = [...files.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).split('/'))
  const resources = walked(below, [], (segments) =>
    KUSTOMIZATION_NAMES.some((name) => files.has(`${prefix}${[...segments, name].join('/')}`)),
  )
  return resources.length === 0 ? { namespace: PLACEHOLDER } : { resources: resources.map((path) => `./${path}`) }
}

function walked(
  paths: readonly (readonly string[])[],
  at: readonly string[],
  isBuilt: (folder: readonly string[]) => boolean,
): readonly string[] {
  const names = [...new Set(paths.map((path) => path[at.length] ?? ''))].sort(compareText)
  return names.flatMap((name) => {
    const here = [...at, name]
    const inside = paths.filter((path) => path[at.length] === name)
    if (inside.some((path) => path.length === here.length)) return /\.ya?ml$/.test(name) ? [here.join('/')] : []
    return isBuilt(here) ? [here.join('/')] : walked(inside, here, isBuilt)
  })
}

function componentsOf(spec: Json, folder: string, files: SourceFiles): readonly string[] {
  const components = textsIn(getKeyOf(spec, 'components'))
  if (partOf(spec, 'ignoreMissingComponents') !== true) return components
  return components.filter((path) => [...files.keys()].some((file) => file.startsWith(`${normalised(joined(folder, path))}/`)))
}

function normalised(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments.join('/')
}

/** An entry of the resource replaces that of the same name, as a whole. */
function withImages(authored: readonly JsonObject[], given: readonly JsonObject[]): readonly Json[] {
  const all = [...authored]
  for (const image of given) {
    const at = all.findIndex((each) => textOf(each, 'name') === textOf(image, 'name'))
    if (at === -1) all.push(image)
    else all[at] = image
  }
  return all
}

/**
 * What the controller makes of each built object: variables are substituted, and the common metadata is set.
 * @param text documents as kustomize prints them
 * @throws Failure BP1209 where the substitution fails
 */
export function fluxDocuments(flux: SyncerBuild, object: JsonObject, text: string): readonly BuiltDocument[] {
  const variables = fluxVariables(flux, object)
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  if (partOf(object, 'spec', 'postBuild') === undefined || variables.size === 0) return documents.map((document) => ({ text: document }))
  const where = `Flux Kustomization ${metadataText(object, 'namespace')}/${metadataText(object, 'name')}`
  const bad = [...variables.keys()].find((name) => !VARIABLE_NAME.test(name))
  if (bad !== undefined) throw unsubstituted(where, `the variable name ${JSON.stringify(bad.slice(0, 100))} is not valid`)
  const { secrets = NO_SECRETS } = flux
  const others = new Map([...variables].map(([name, value]) => [name, isOfSecret(object, name, secrets) ? OTHER : value]))
  return documents.map((document): BuiltDocument => {
    if (!isSubstituted(document)) return { text: document }
    const made = substituted(document, variables, where)
    const other = secrets.size === 0 || !document.includes('${') ? made : substituted(document, others, where)
    return other === made ? { text: made } : { text: made, other }
  })
}

const NO_SECRETS: ReadonlySet<string> = new Set()
/** In place of the value of a Secret, to see where it lands. */
const OTHER = 'backporch-other-value'

/** A variable that the resource itself sets is in git. */
function isOfSecret(object: JsonObject, name: string, secrets: ReadonlySet<string>): boolean {
  return secrets.has(name) && typeof partOf(object, 'spec', 'postBuild', 'substitute', name) !== 'string'
}

/** Where two values differ; a list whose length differs is one place. */
export function differingPaths(value: Json | undefined, other: Json | undefined, path: FieldPath = []): readonly FieldPath[] {
  if (isJsonObject(value) && isJsonObject(other))
    return [...new Set([...Object.keys(value), ...Object.keys(other)])].flatMap((name) =>
      differingPaths(getKey(value, name), getKey(other, name), [...path, field(name)]),
    )
  if (isJsonArray(value) && isJsonArray(other) && value.length === other.length)
    return value.flatMap((item, index) => differingPaths(item, other[index], [...path, { kind: 'index', index }]))
  return jsonEquals(value, other) ? [] : [path]
}

/** Those of `substitute` over those of `substituteFrom`; a value has one line. */
export function fluxVariables({ variables: given }: SyncerBuild, object: JsonObject): ReadonlyMap<string, string> {
  const variables = new Map(given)
  for (const [name, value] of Object.entries(objectOf(partOf(object, 'spec', 'postBuild', 'substitute'))))
    if (typeof value === 'string') variables.set(name, value.replaceAll('\n', ''))
  return variables
}

function isSubstituted(document: string): boolean {
  // Only the metadata decides, and most documents do not name the mark at all.
  if (!document.includes(SUBSTITUTE)) return true
  const value = parseGoYaml(document, 'the output of kustomize').documents[0]?.value
  if (!isJsonObject(value)) return true
  return labelsOf(value).get(SUBSTITUTE) !== 'disabled' && annotationsOf(value).get(SUBSTITUTE) !== 'disabled'
}

function substituted(document: string, variables: ReadonlyMap<string, string>, where: string): string {
  try {
    return substituteVariables(document, (name) => variables.get(name))
  } catch (thrown) {
    if (!(thrown instanceof BadSubstitution)) throw thrown
    throw unsubstituted(where, `${thrown.message} in an object of the build`)
  }
}

function unsubstituted(where: string, why: string): Failure {
  return new Failure({
    code: 'BP1209',
    what: 'cannot substitute the variables of postBuild',
    where,
    why,
    remedy:
      'correct the text after "${" in the manifest or write "$${" for a plain "${", or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled',
    retry: 'on-change',
  })
}

/** The object with `commonMetadata`, whose keys win. */
export function withCommonMetadata(object: JsonObject, resource: JsonObject): JsonObject {
  const [labels, annotations] = ['labels', 'annotations'].map((name) => objectOf(partOf(resource, 'spec', 'commonMetadata', name)))
  if (Object.keys({ ...labels, ...annotations }).length === 0) return object
  const metadata = objectOf(getKey(object, 'metadata'))
  const merged = (name: string, more: JsonObject = {}): JsonObject =>
    Object.keys(more).length === 0 ? {} : { [name]: { ...objectOf(getKey(metadata, name)), ...more } }
  return { ...object, metadata: { ...metadata, ...merged('labels', labels), ...merged('annotations', annotations) } }
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function getKeyOf(value: Json, name: string): Json | undefined {
  return isJsonObject(value) ? getKey(value, name) : undefined
}

function listIn(value: Json, name: string): readonly Json[] {
  const list = getKeyOf(value, name)
  return isJsonArray(list) ? list : []
}

/** A field that is there counts, also an empty one. */
function texted(spec: Json, name: string): string | undefined {
  const value = getKeyOf(spec, name)
  return typeof value === 'string' ? value : undefined
}
