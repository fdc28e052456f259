/**
 * The kustomization of the path, or a generated one, with the fields of the resource (fluxcd/pkg
 * `kustomize` 1.23.0 `kustomize_generator.go`).
 */
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import {
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
import { compareText } from '@backporch/kyaml/text'
import type { SyncerBuilder, WrittenKustomization } from '../build/built-source.ts'
import { joined, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import {
  kustomizationOf,
  type SourceFiles,
  withOrigins,
} from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import {
  fluxDocuments,
  fluxVariables,
  isFluxApplied,
  isSubstituted,
  madeByFlux,
  variableNames,
} from './flux-documents.ts'
import { substituteVariables } from './shell-variables.ts'
import { typedKustomization } from './typed-kustomization.ts'

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
 * The controller reads the resource as its Go type, where an empty text does not count.
 * @param folder from the repository root
 * @throws Failure BP111x of the kustomization, BP1209 of the resource
 */
function fluxKustomization(
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
  const path = own ?? joined(folder, KUSTOMIZATION_NAMES[0] ?? '')
  return {
    path,
    ...withOrigins({ ...value, buildMetadata: metadata }),
    isWithoutHelm: true,
  }
}

/** As fluxcd/pkg `apis/kustomize` 1.13.0. */
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

/** In the order of Go's `filepath.Walk`; a folder with its own kustomization is one entry. */
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

/** What kustomize treats as an address, and an absolute path (`IsLocalRelativePath`). */
const NOT_LOCAL = /^(?:(?:git::|gh:|ssh:\/\/|https?:\/\/|git@|github\.com[:/]).|(?:file:\/\/)?\/)/i

/**
 * A component outside of the repository is not missing; a missing one may be skipped.
 * @throws Failure BP1209
 */
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

function getKeyOf(value: Json, name: string): Json | undefined {
  return isJsonObject(value) ? getKey(value, name) : undefined
}

function listIn(value: Json, name: string): readonly Json[] {
  const list = getKeyOf(value, name)
  return isJsonArray(list) ? list : []
}
