/**
 * What kustomize-controller builds of a Flux Kustomization: the kustomization of its path, or a generated one, with the fields of the
 * resource written into it; and what it makes of the objects afterwards (fluxcd/pkg `kustomize` 1.23.0 `kustomize_generator.go`,
 * `kustomize_varsub.go`, `ssa/utils/meta.go`, kustomize-controller 1.7.2 `kustomization_controller.go`).
 */
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import {
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
  textsIn,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { annotationsOf, labelsOf, metadataText } from '@backporch/kyaml/resource'
import { compareText } from '@backporch/kyaml/text'
import type {
  BuiltDocument,
  SyncerBuild,
  SyncerBuilder,
  WrittenKustomization,
} from '../build/built-source.ts'
import { joined, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import { kustomizationOf, type SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import { BadSubstitution, substituteVariables, variablesIn } from './shell-variables.ts'
import { typedKustomization } from './typed-kustomization.ts'

const GROUP = 'kustomize.toolkit.fluxcd.io'
const SUBSTITUTE = `${GROUP}/substitute`
const VARIABLE_NAME = /^[_A-Za-z][_A-Za-z0-9]*$/
/** Without objects kustomize reports an empty kustomization. */
const PLACEHOLDER = '_placeholder'

export const FLUX_BUILDER: SyncerBuilder = {
  fields: ['spec'],
  overrides: { names: [], field: '' },
  tool: KUSTOMIZE_TOOL,
  substitution: {
    at: ['postBuild', 'substitute'],
    variables: (build, object) =>
      partOf(object, 'spec', 'postBuild') === undefined ? new Map() : fluxVariables(build, object),
    namesIn: variableNames,
    fill: substituteVariables,
    isIn: isSubstituted,
  },
  components: (object) => textsIn(partOf(object, 'spec', 'components')),
  way: { kustomization: fluxKustomization },
  namespace: () => undefined,
  documents: fluxDocuments,
  finished: (built, resource, document) =>
    isFluxApplied(built) ? madeByFlux(built, resource, document.isSubstituted === true) : undefined,
}

/**
 * The kustomization that Flux writes into the folder, and whether the objects keep the marks of their origin. The controller has the resource
 * as its Go type: an empty text does not count.
 * @param folder from the root of the repository
 * @throws Failure BP111x of the kustomization, BP1209 of the resource
 */
export function fluxKustomization(
  object: JsonObject,
  folder: string,
  files: SourceFiles,
): WrittenKustomization {
  const own = kustomizationOf(folder, files)
  const authored = own === undefined ? generated(folder, files) : typedKustomization(own, files)
  const spec = partOf(object, 'spec') ?? {}
  const isEmpty = own !== undefined && listIn(authored, 'resources').length === 0
  const metadata = isEmpty ? ['originAnnotations'] : listIn(authored, 'buildMetadata')
  const value: { [key: string]: Json } = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    ...authored,
  }
  const set = (name: string, given: string): void => {
    if (given !== '') value[name] = given
  }
  set('namespace', textOf(spec, 'targetNamespace'))
  set('namePrefix', textOf(spec, 'namePrefix'))
  set('nameSuffix', textOf(spec, 'nameSuffix'))
  const add = (name: string, more: readonly Json[]): void => {
    if (more.length > 0) value[name] = [...listIn(authored, name), ...more]
  }
  add('patches', objectsIn(getKeyOf(spec, 'patches')).map(patchOf))
  add('components', componentsOf(spec, folder, files))
  const images = objectsIn(getKeyOf(spec, 'images')).map((image) => fieldsOf(image, IMAGE_FIELDS))
  if (images.length > 0)
    value['images'] = withImages(objectsIn(getKeyOf(authored, 'images')), images)
  value['buildMetadata'] = metadata.includes('originAnnotations')
    ? metadata
    : [...metadata, 'originAnnotations']
  const path = own ?? joined(folder, KUSTOMIZATION_NAMES[0] ?? '')
  return {
    path,
    text: `${formatJson(value)}\n`,
    keepsOrigins: metadata.includes('originAnnotations'),
    isWithoutHelm: true,
  }
}

/** Fields of the types of fluxcd/pkg `apis/kustomize` 1.13.0. */
const IMAGE_FIELDS = ['name', 'newName', 'newTag', 'digest']
const TARGET_FIELDS = [
  'group',
  'version',
  'kind',
  'name',
  'namespace',
  'labelSelector',
  'annotationSelector',
]

function patchOf(patch: JsonObject): JsonObject {
  const target = getKey(patch, 'target')
  return {
    ...fieldsOf(patch, ['patch']),
    ...(isJsonObject(target) ? { target: fieldsOf(target, TARGET_FIELDS) } : {}),
  }
}

function fieldsOf(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))
}

/** Every manifest below the folder in the order of Go's `filepath.Walk`; a folder with a kustomization of its own is one entry. */
function generated(folder: string, files: SourceFiles): JsonObject {
  const prefix = folder === '' ? '' : `${folder}/`
  const below = [...files.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('/'))
  const resources = walked(below, [], (segments) =>
    KUSTOMIZATION_NAMES.some((name) => files.has(`${prefix}${[...segments, name].join('/')}`)),
  )
  return resources.length === 0
    ? { namespace: PLACEHOLDER }
    : { resources: resources.map((path) => `./${path}`) }
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
    if (inside.some((path) => path.length === here.length))
      return /\.ya?ml$/.test(name) ? [here.join('/')] : []
    return isBuilt(here) ? [here.join('/')] : walked(inside, here, isBuilt)
  })
}

/** What kustomize takes for an address, and an absolute path (`IsLocalRelativePath`). */
const NOT_LOCAL = /^(?:(?:git::|gh:|ssh:\/\/|https?:\/\/|git@|github\.com[:/]).|(?:file:\/\/)?\/)/i

/** A missing one may be left out: what is in the repository, or outside of it, is not missing. @throws Failure BP1209 */
function componentsOf(spec: Json, folder: string, files: SourceFiles): readonly string[] {
  const components = textsIn(getKeyOf(spec, 'components'))
  const other = components.find((path) => NOT_LOCAL.test(path))
  if (other !== undefined)
    throw new Failure({
      code: 'BP1209',
      what: 'Flux does not build the folder',
      where: folder || '.',
      why: `the component ${JSON.stringify(other.slice(0, 200))} is not a relative path`,
      remedy: 'commit the component to this repository and name its folder',
      retry: 'on-change',
    })
  if (partOf(spec, 'ignoreMissingComponents') !== true) return components
  return components.filter((path) => {
    const found = resolvePath(folder, path)
    return (
      found === undefined ||
      found === '' ||
      [...files.keys()].some((file) => file === found || file.startsWith(`${found}/`))
    )
  })
}

/** An entry of the resource replaces that of the same name, as a whole. */
function withImages(
  authored: readonly JsonObject[],
  given: readonly JsonObject[],
): readonly Json[] {
  const all = [...authored]
  for (const image of given) {
    const at = all.findIndex((each) => textOf(each, 'name') === textOf(image, 'name'))
    if (at === -1) all.push(image)
    else all[at] = image
  }
  return all
}

/**
 * What the controller makes of each built object by its variables; where there are any, it reads the object back.
 * @param text documents as kustomize prints them
 * @throws Failure BP1209 where the substitution fails
 */
export function fluxDocuments(
  flux: SyncerBuild,
  object: JsonObject,
  text: string,
): readonly BuiltDocument[] {
  const variables = fluxVariables(flux, object)
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  if (partOf(object, 'spec', 'postBuild') === undefined || variables.size === 0)
    return documents.map((document) => ({ text: document }))
  const where = whereOf(object)
  const bad = [...variables.keys()].find((name) => !VARIABLE_NAME.test(name))
  if (bad !== undefined)
    throw unsubstituted(
      where,
      `the variable name ${JSON.stringify(bad.slice(0, 100))} is not valid`,
    )
  const secrets = secretVariables(flux, object)
  const others = new Map(
    [...variables].map(([name, value]) => [name, secrets.has(name) ? OTHER : value]),
  )
  return documents.map((document): BuiltDocument => {
    if (!isDocumentSubstituted(document)) return { text: document }
    const made = substituted(document, variables, where)
    const other =
      secrets.size === 0 || !document.includes('${') ? made : substituted(document, others, where)
    return { text: made, isSubstituted: true, ...(other === made ? {} : { other }) }
  })
}

/** In place of the value of a Secret, to see where it lands. */
const OTHER = 'backporch-other-value'

/** A variable that the resource itself sets is in git. */
function secretVariables(
  { variableSources = new Map() }: SyncerBuild,
  object: JsonObject,
): ReadonlySet<string> {
  const named = [...variableSources].flatMap(([name, { kind }]) =>
    kind === 'Secret' ? [name] : [],
  )
  return new Set(
    named.filter(
      (name) => typeof partOf(object, 'spec', 'postBuild', 'substitute', name) !== 'string',
    ),
  )
}

function whereOf(object: JsonObject): string {
  return `Flux Kustomization ${metadataText(object, 'namespace')}/${metadataText(object, 'name')}`
}

/** Those of `substitute` over those of `substituteFrom`; a value has one line. */
function fluxVariables(
  { variables: given }: SyncerBuild,
  object: JsonObject,
): ReadonlyMap<string, string> {
  const own = Object.entries(objectOf(partOf(object, 'spec', 'postBuild', 'substitute')))
  const all = [
    ...given,
    ...own.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  ]
  return new Map(all.map(([name, value]) => [name, value.replaceAll('\n', '')]))
}

function variableNames(text: string): readonly string[] {
  if (!text.includes('${')) return []
  try {
    return [...variablesIn(text)]
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return []
    throw thrown
  }
}

function isDocumentSubstituted(document: string): boolean {
  // Only the metadata decides, and most documents do not name the mark at all.
  if (!document.includes(SUBSTITUTE)) return true
  const value = parseGoYaml(document, 'the output of kustomize').documents[0]?.value
  return !isJsonObject(value) || isSubstituted(value)
}

/** Whether variables are substituted in the object. */
function isSubstituted(built: JsonObject): boolean {
  return (
    labelsOf(built).get(SUBSTITUTE) !== 'disabled' &&
    annotationsOf(built).get(SUBSTITUTE) !== 'disabled'
  )
}

function substituted(
  document: string,
  variables: ReadonlyMap<string, string>,
  where: string,
): string {
  try {
    return substituteVariables(document, (name) => variables.get(name))
  } catch (thrown) {
    if (!(thrown instanceof BadSubstitution)) throw thrown
    throw unsubstituted(where, `${thrown.message} in an object of the build`)
  }
}

/**
 * A value of a substituted object as kyaml reads it back: every number is a double, and it does not read the block that it writes of a text
 * of several lines that begins with a tab.
 * @throws Failure BP1209
 */
function readBack(value: Json, resource: JsonObject): Json {
  if (typeof value === 'bigint') {
    const rounded = Number(value)
    return Math.abs(rounded) < 2 ** 63 ? BigInt(rounded) : rounded
  }
  if (typeof value === 'string' && value.startsWith('\t') && value.includes('\n'))
    throw unsubstituted(
      whereOf(resource),
      'the controller cannot read back a text of several lines that begins with a tab',
      NO_TAB,
    )
  if (isJsonArray(value)) return value.map((each) => readBack(each, resource))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, readBack(each, resource)]),
  )
}

function unsubstituted(where: string, why: string, remedy = CORRECT_IT): Failure {
  return new Failure({
    code: 'BP1209',
    what: 'cannot substitute the variables of postBuild',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}

const NO_TAB =
  'begin the text otherwise, or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'
const CORRECT_IT =
  'correct the text after "${" in the manifest or write "$${" for a plain "${", or annotate the object with kustomize.toolkit.fluxcd.io/substitute: disabled'

/** Flux drops what has no name as a text, kind or version, and a kustomization of kustomize. */
export function isFluxApplied(object: Json): boolean {
  if (!isJsonObject(object)) return false
  const [apiVersion, kind] = [textOf(object, 'apiVersion'), textOf(object, 'kind')]
  if (apiVersion === '' || kind === '' || metadataText(object, 'name') === '') return false
  return (
    kind.toLowerCase() !== 'kustomization' || !apiVersion.startsWith('kustomize.config.k8s.io/')
  )
}

/** The object that the controller makes of a built one. @throws Failure BP1209 */
export function madeByFlux(
  built: JsonObject,
  resource: JsonObject,
  wasSubstituted: boolean,
): JsonObject {
  const read = wasSubstituted ? readBack(built, resource) : built
  return withFluxMetadata(isJsonObject(read) ? read : built, resource)
}

/**
 * The object with `commonMetadata`, whose keys win. Before that the controller sets labels of its own on what it reads of the labels, and it
 * reads none where one of them is not a text: then all of them are gone.
 */
function withFluxMetadata(object: JsonObject, resource: JsonObject): JsonObject {
  const common = partOf(resource, 'spec', 'commonMetadata')
  const metadata = objectOf(getKey(object, 'metadata'))
  const labels = {
    ...readTexts(getKey(metadata, 'labels')),
    ...objectOf(partOf(common ?? null, 'labels')),
  }
  const annotations =
    common === undefined
      ? {}
      : {
          ...readTexts(getKey(metadata, 'annotations')),
          ...objectOf(partOf(common, 'annotations')),
        }
  const hasLabels = getKey(metadata, 'labels') !== undefined || Object.keys(labels).length > 0
  const set = {
    ...(hasLabels ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  }
  return Object.keys(set).length === 0 ? object : { ...object, metadata: { ...metadata, ...set } }
}

/** As `GetLabels` of apimachinery: nothing where a value is not a text, and an empty text for null. */
function readTexts(value: Json | undefined): JsonObject {
  const entries = Object.entries(objectOf(value)).map(([name, each]) => [name, each ?? ''] as const)
  return entries.every(([, each]) => typeof each === 'string') ? Object.fromEntries(entries) : {}
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
