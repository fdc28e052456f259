/**
 * Locates the config entry behind a field by the inverse of the function (docs/adr/0079), or by the
 * value.
 */
import { getConfigData, getFunctionName } from '@backporch/kpt/function'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import { isJsonEqual } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findEntry,
  findPathTo,
  findTextAt,
  getYamlKey,
  listItemsAt,
  mapAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { joinLocations, type Locations } from '../../locate/candidate.ts'
import { createStepObstacle, type Inverse, type Inverses } from './find-locations.ts'
import { invertImage } from './invert-image.ts'
import { invertReplacement } from './invert-replacement.ts'
import { invertSetters } from './invert-setters.ts'

const NOT_CONFIG = new Set(['apiVersion', 'kind', 'metadata'])

function findEntriesField(config: YamlMap | undefined, own: string): string | undefined {
  if (mapAt(config, own) !== undefined && findTextAt(config, 'kind') !== 'ConfigMap') return own
  return mapAt(config, 'data') === undefined ? undefined : 'data'
}

/** Keys are those of the labels or annotations that the function sets. */
function invertEntries(own: 'labels' | 'annotations', name = `set-${own}`): Inverse {
  return ({ run, target, finder }) => {
    const last = target.path.at(-1)
    const location = findEntriesField(run.config, own)
    if (
      last?.kind !== 'field' ||
      location === undefined ||
      findEntry(mapAt(run.config, location), last.name) === undefined
    )
      return undefined
    if (target.wanted !== undefined && typeof target.wanted !== 'string') return undefined
    const label = {
      via: `${own.slice(0, -1)}:${last.name}`,
      what: `the ${own.slice(0, -1)} ${last.name} of ${name}`,
    }
    return finder.locateConfigEntry(
      run,
      [createFieldStep(location), createFieldStep(last.name)],
      target,
      label,
    )
  }
}

const invertNamespace: Inverse = ({ run, target, finder }) => {
  if (typeof target.wanted !== 'string') return undefined
  const isOwn = findTextAt(run.config, 'kind') === 'SetNamespace'
  const path = isOwn
    ? [createFieldStep('namespace')]
    : [
        createFieldStep('data'),
        createFieldStep(
          findTextAt(run.config, 'data', 'namespace') === undefined ? 'name' : 'namespace',
        ),
      ]
  return finder.locateConfigEntry(run, path, target, {
    via: 'namespace',
    what: 'the namespace of set-namespace',
  })
}

const invertSearchReplace: Inverse = ({ run, target, node, finder }) => {
  const put = getConfigData(run.config).get('put-value')
  const value = node === undefined ? undefined : resolveAlias(node)
  // With regular expression groups in it, the origin of each text part is unknown.
  if (
    put === undefined ||
    typeof target.wanted !== 'string' ||
    value?.kind !== 'scalar' ||
    value.value !== put
  )
    return undefined
  return finder.locateConfigEntry(
    run,
    [createFieldStep('data'), createFieldStep('put-value')],
    target,
    {
      via: 'put-value',
      what: 'the put-value of search-replace',
    },
  )
}

/** The function's config is the resource, so every value is written there. */
const invertUpsert: Inverse = ({ run, target, finder }) => {
  const { config } = run
  if (config === undefined) return undefined
  const inList = listItemsAt(config, 'items').findIndex((item) => isSameObject(item, target.root))
  const location: FieldPath | undefined =
    inList !== -1
      ? [createFieldStep('items'), { kind: 'index', index: inList }]
      : isSameObject(config, target.root)
        ? []
        : undefined
  if (location === undefined) return undefined
  const label = { via: 'upsert-resource', what: 'the resource that the function puts in' }
  return finder.locateConfigEntry(run, [...location, ...target.path], target, label)
}

function isSameObject(one: YamlNode, other: YamlNode): boolean {
  return (
    findTextAt(one, 'kind') === findTextAt(other, 'kind') &&
    findTextAt(one, 'metadata', 'name') === findTextAt(other, 'metadata', 'name')
  )
}

/** Undefined: search the config for the written value. */
const FUNCTION_INVERSES = {
  'adopt-drift': ({ run }) =>
    createStepObstacle(
      run,
      'adopt-drift writes what a report says was live, and a report is not edited',
    ),
  'apply-replacements': invertReplacement,
  'apply-setters': invertSetters,
  'create-setters': undefined,
  'enable-gcp-services': undefined,
  'ensure-name-substring': ({ run }) =>
    createStepObstacle(run, 'the function writes names, and another name is another object'),
  'gate-drift': undefined,
  'generate-folders': undefined,
  kubeconform: undefined,
  'search-replace': invertSearchReplace,
  'set-annotations': invertEntries('annotations'),
  'set-default-requests': undefined,
  'set-image': invertImage,
  'set-label': invertEntries('labels', 'set-label'),
  'set-labels': invertEntries('labels'),
  'set-namespace': invertNamespace,
  'upsert-resource': invertUpsert,
  'verify-drift-records': undefined,
} as const satisfies Readonly<Record<string, Inverse | undefined>>

export type FunctionName = keyof typeof FUNCTION_INVERSES

/** Of a user's own program: the config entry with exactly the written value. */
const invertByValue: Inverse = ({ run, target, node, finder }) => {
  const { config } = run
  if (config === undefined || node === undefined || target.wanted === undefined) return undefined
  const written = convertYamlToJson(node)
  const label = {
    via: 'function-config',
    what: `the config of ${getFunctionName(run.step.function)}`,
  }
  const locations = config.entries.flatMap(({ key, value }): Locations[] => {
    if (NOT_CONFIG.has(getYamlKey(key))) return []
    let isText = false
    const path = findPathTo(value, (below) => {
      if (below.kind !== 'scalar') return false
      isText = typeof convertYamlToJson(below) === 'string'
      return isJsonEqual(convertYamlToJson(below), written) || below.value === String(written)
    })
    if (path === undefined) return []
    // A text that a program converted to a number stays a text.
    const wanted =
      isText && typeof target.wanted !== 'object' ? String(target.wanted) : target.wanted
    return [
      finder.locateConfigEntry(
        run,
        [createFieldStep(getYamlKey(key)), ...path],
        { ...target, wanted },
        label,
      ),
    ]
  })
  return locations.length === 0 ? undefined : joinLocations(locations)
}

export const INVERSES: Inverses = {
  byName: new Map(Object.entries(FUNCTION_INVERSES)),
  otherwise: invertByValue,
}
