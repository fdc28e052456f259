/**
 * Builds the kustomization of the path, or a generated one, with the fields of the Flux
 * Kustomization (fluxcd/pkg `kustomize` 1.23.0 `kustomize_generator.go`).
 */
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  filterTexts,
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import type { SyncerBuilder, WrittenKustomization } from '../build/built-source.ts'
import { joinFolderPath, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import {
  findKustomizationPath,
  requestOrigins,
  type SourceFiles,
} from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import {
  buildFluxDocuments,
  convertToFluxResult,
  getFluxVariables,
  isFluxApplied,
  isSubstituted,
  listVariableNames,
} from './flux-documents.ts'
import { substituteVariables } from './shell-variables.ts'
import { readTypedKustomization } from './typed-kustomization.ts'

const PLACEHOLDER = '_placeholder'

export const FLUX_BUILDER: SyncerBuilder = {
  fields: ['spec'],
  overrides: { names: [], field: '' },
  tool: KUSTOMIZE_TOOL,
  substitution: {
    at: ['postBuild', 'substitute'],
    variables: (build, object) =>
      getPartAt(object, 'spec', 'postBuild') === undefined
        ? new Map()
        : getFluxVariables(build, object),
    namesIn: listVariableNames,
    fill: substituteVariables,
    isIn: isSubstituted,
  },
  components: (object) => filterTexts(getPartAt(object, 'spec', 'components')),
  way: { kustomization: buildFluxKustomization },
  namespace: () => undefined,
  documents: buildFluxDocuments,
  finished: (built, resource, document) =>
    isFluxApplied(built)
      ? convertToFluxResult(built, resource, document.isSubstituted === true)
      : undefined,
}

/**
 * The controller reads the resource as its Go type, where an empty text does not count.
 * @param folder from the repository root
 * @throws Failure BP111x of the kustomization, BP1209 of the resource
 */
function buildFluxKustomization(
  object: JsonObject,
  folder: string,
  files: SourceFiles,
): WrittenKustomization {
  const own = findKustomizationPath(folder, files)
  const authored =
    own === undefined ? generateKustomization(folder, files) : readTypedKustomization(own, files)
  const spec = getPartAt(object, 'spec') ?? {}
  const isEmpty = own !== undefined && listIn(authored, 'resources').length === 0
  const metadata = isEmpty ? ['originAnnotations'] : listIn(authored, 'buildMetadata')
  const value: { [key: string]: Json } = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    ...authored,
  }
  const [namespace, namePrefix, nameSuffix] = ['targetNamespace', 'namePrefix', 'nameSuffix'].map(
    (name) => findNonEmptyText(spec, name),
  )
  Object.assign(value, omitUndefined({ namespace, namePrefix, nameSuffix }))
  const add = (name: string, more: readonly Json[]): void => {
    if (more.length > 0) value[name] = [...listIn(authored, name), ...more]
  }
  add('patches', filterObjects(getKeyOf(spec, 'patches')).map(readPatch))
  add('components', listComponents(spec, folder, files))
  const images = filterObjects(getKeyOf(spec, 'images')).map((image) =>
    selectFields(image, IMAGE_FIELDS),
  )
  if (images.length > 0)
    value['images'] = addImages(filterObjects(getKeyOf(authored, 'images')), images)
  const path = own ?? joinFolderPath(folder, KUSTOMIZATION_NAMES[0] ?? '')
  return {
    path,
    ...requestOrigins({ ...value, buildMetadata: metadata }),
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

function readPatch(patch: JsonObject): JsonObject {
  const target = getKey(patch, 'target')
  return {
    ...selectFields(patch, ['patch']),
    ...(isJsonObject(target) ? { target: selectFields(target, TARGET_FIELDS) } : {}),
  }
}

function selectFields(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))
}

/** In the order of Go's `filepath.Walk`; a folder with its own kustomization is one entry. */
function generateKustomization(folder: string, files: SourceFiles): JsonObject {
  const prefix = folder === '' ? '' : `${folder}/`
  const below = [...files.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('/'))
  const resources = walkFolders(below, [], (segments) =>
    KUSTOMIZATION_NAMES.some((name) => files.has(`${prefix}${[...segments, name].join('/')}`)),
  )
  return resources.length === 0
    ? { namespace: PLACEHOLDER }
    : { resources: resources.map((path) => `./${path}`) }
}

function walkFolders(
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
    return isBuilt(here) ? [here.join('/')] : walkFolders(inside, here, isBuilt)
  })
}

/** What kustomize treats as an address, and an absolute path (`IsLocalRelativePath`). */
const NOT_LOCAL = /^(?:(?:git::|gh:|ssh:\/\/|https?:\/\/|git@|github\.com[:/]).|(?:file:\/\/)?\/)/i

/**
 * A component outside of the repository is not missing; a missing one may be skipped.
 * @throws Failure BP1209
 */
function listComponents(spec: Json, folder: string, files: SourceFiles): readonly string[] {
  const components = filterTexts(getKeyOf(spec, 'components'))
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
  if (getPartAt(spec, 'ignoreMissingComponents') !== true) return components
  return components.filter((path) => {
    const found = resolvePath(folder, path)
    return (
      found === undefined ||
      found === '' ||
      [...files.keys()].some((file) => file === found || file.startsWith(`${found}/`))
    )
  })
}

function addImages(authored: readonly JsonObject[], given: readonly JsonObject[]): readonly Json[] {
  const all = [...authored]
  for (const image of given) {
    const at = all.findIndex((each) => getTextAt(each, 'name') === getTextAt(image, 'name'))
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
