/**
 * Flux reads a kustomization into kustomize's Go type (`api/types/kustomization.go` 0.20.1) with
 * sigs.k8s.io/yaml, less strictly than kustomize: a number or boolean in a text field becomes text
 * (`newTag: 1.27`), field names are case-insensitive, and unknown fields are dropped.
 */
import { Failure } from '@backporch/kyaml/failure'
import {
  emptyObject,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertToKubectlJson,
  getYamlKey,
  isMergeKey,
  readGoKey,
  resolveAlias,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { readSourceText, type SourceFiles } from '../kustomize/files/kustomize-build.ts'

/** kustomize checks `value`. */
type Shape =
  | 'text'
  | 'value'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: { readonly [name: string]: Shape } }

const TEXTS: Shape = { list: 'text' }
const TEXT_MAP: Shape = { map: 'text' }
const PATCHES: Shape = {
  list: { fields: { path: 'text', patch: 'text', target: 'value', options: 'value' } },
}
const IMAGES: Shape = {
  list: {
    fields: { name: 'text', newName: 'text', tagSuffix: 'text', newTag: 'text', digest: 'text' },
  },
}

const KUSTOMIZATION: Shape = {
  fields: {
    apiVersion: 'value',
    kind: 'value',
    metadata: 'value',
    openapi: TEXT_MAP,
    namePrefix: 'text',
    nameSuffix: 'text',
    namespace: 'text',
    commonLabels: TEXT_MAP,
    labels: {
      list: {
        fields: {
          pairs: TEXT_MAP,
          includeSelectors: 'value',
          includeTemplates: 'value',
          fields: 'value',
        },
      },
    },
    commonAnnotations: TEXT_MAP,
    patchesStrategicMerge: TEXTS,
    patchesJson6902: PATCHES,
    patches: PATCHES,
    images: IMAGES,
    imageTags: IMAGES,
    replacements: 'value',
    replicas: { list: { fields: { name: 'text', count: 'value' } } },
    vars: 'value',
    sortOptions: 'value',
    resources: TEXTS,
    components: TEXTS,
    crds: TEXTS,
    bases: TEXTS,
    configMapGenerator: 'value',
    secretGenerator: 'value',
    helmGlobals: 'value',
    helmCharts: 'value',
    helmChartInflationGenerator: 'value',
    generatorOptions: {
      fields: {
        labels: TEXT_MAP,
        annotations: TEXT_MAP,
        disableNameSuffixHash: 'value',
        immutable: 'value',
      },
    },
    configurations: TEXTS,
    generators: TEXTS,
    transformers: TEXTS,
    validators: TEXTS,
    buildMetadata: TEXTS,
  },
}

/** @throws Failure BP1110 or BP1111 where Flux cannot read it either */
export function readTypedKustomization(path: string, files: SourceFiles): JsonObject {
  const [root] = readYamlNodes(readSourceText(path, files).replaceAll('\r\n', '\n'), path)
  const value = root === undefined ? null : convertTypedValue(root, path)
  if (isJsonObject(value)) return value
  if (value === null) return {}
  throw createUnreadableFailure(path, 'it is not a map')
}

function convertTypedValue(root: YamlNode, path: string): Json {
  try {
    return convertToShape(root, KUSTOMIZATION)
  } catch (thrown) {
    if (thrown instanceof TypeError) throw createUnreadableFailure(path, thrown.message)
    throw thrown
  }
}

function createUnreadableFailure(where: string, why: string): Failure {
  const what = 'the kustomization cannot be read'
  return new Failure({
    code: 'BP1110',
    what,
    where,
    why,
    remedy: 'write it as kustomize expects it',
    retry: 'on-change',
  })
}

/** @throws TypeError for a value that JSON cannot represent */
function convertToShape(node: YamlNode, shape: Shape): Json {
  const target = resolveAlias(node)
  if (shape === 'text' && target.kind === 'scalar')
    return goText(convertToKubectlJson(target), target.value)
  if (typeof shape === 'string') return convertToKubectlJson(target)
  if (target.kind === 'list')
    return 'list' in shape
      ? target.items.map((item) => convertToShape(item, shape.list))
      : convertToKubectlJson(target)
  if (target.kind !== 'map' || 'list' in shape) return convertToKubectlJson(target)
  const object = emptyObject()
  for (const { key, value } of target.entries) {
    if (isMergeKey(key)) {
      const from = resolveAlias(value)
      for (const each of from.kind === 'list' ? from.items.toReversed() : [from]) {
        const merged = convertToShape(each, shape)
        if (isJsonObject(merged))
          for (const [name, below] of Object.entries(merged)) setKey(object, name, below)
      }
      continue
    }
    const text = readGoKey(key) ?? getYamlKey(key)
    const name =
      'map' in shape
        ? text
        : Object.keys(shape.fields).find((known) => known.toLowerCase() === text.toLowerCase())
    const below = name === undefined ? undefined : 'map' in shape ? shape.map : shape.fields[name]
    if (name !== undefined && below !== undefined)
      setKey(object, name, convertToShape(value, below))
  }
  return object
}

/** As sigs.k8s.io/yaml. */
function goText(value: Json, source: string): Json {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value !== 'number') return value
  const isInteger = Number.isInteger(value) && !/[.]|^[-+]?\d+[eE]/.test(source)
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  // Go's `%g` of a number with a point or an exponent.
  if (isInteger || (power >= -4 && power < 6)) return String(value)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
