/** docs/facts/kpt-render.md. kpt sends `config.kubernetes.io/v1` and accepts every version. */
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import {
  emptyObject,
  isJsonArray,
  isJsonObject,
  type Json,
  partOf,
  setKey,
} from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  itemsAt,
  jsonOf,
  nodeAt,
  resolved,
  textAt,
  type YamlMap,
  type YamlNode,
  yamlList,
  yamlMap,
  yamlOf,
  yamlPlain,
} from '@backporch/kyaml/yaml'
import type { FunctionInput, FunctionOutput, FunctionResult } from './krm-function.ts'

/** These nodes are in no file of the package. */
export const FUNCTION_TEXT = 'ResourceList'

const API_VERSION = 'config.kubernetes.io/v1'

export function formatFunctionInput({ items, config }: FunctionInput): string {
  return writeYamlNode(
    yamlMap([
      ['apiVersion', yamlPlain(API_VERSION)],
      ['kind', yamlPlain('ResourceList')],
      ['items', yamlList(items)],
      ...(config === undefined ? [] : ([['functionConfig', config]] as const)),
    ]),
  )
}

export function formatFunctionOutput(
  { items, results }: FunctionOutput,
  config: YamlMap | undefined,
): string {
  return writeYamlNode(
    yamlMap([
      ['apiVersion', yamlPlain(API_VERSION)],
      ['kind', yamlPlain('ResourceList')],
      ['items', yamlList(items)],
      ...(config === undefined ? [] : ([['functionConfig', config]] as const)),
      ...(results.length === 0 ? [] : ([['results', yamlOf(results.map(resultJson))]] as const)),
    ]),
  )
}

/** In the order of kpt's `FunctionResultList`. */
function resultJson({ message, severity, resourceRef, field, file, tags }: FunctionResult): Json {
  const json = emptyObject()
  setKey(json, 'message', message)
  setKey(json, 'severity', severity)
  for (const [key, value] of Object.entries({ resourceRef, field, file, tags }))
    if (value !== undefined) setKey(json, key, defined(value))
  return json
}

function defined(value: object): Json {
  const retained = emptyObject()
  for (const [key, below] of Object.entries(value))
    if (below !== undefined) setKey(retained, key, below as Json)
  return retained
}

/** @throws Failure BP1110 or BP1111 if it is not YAML, BP1112 if it is not a ResourceList */
export function readFunctionInput(text: string, where: string): FunctionInput {
  const list = listOf(text, where)
  const config = nodeAt(list, 'functionConfig')
  return { items: mapsOf(list, where), config: config?.kind === 'map' ? config : undefined }
}

/**
 * Both shapes of `results`, and older names (kpt `internal/fnruntime/runner.go`).
 * @throws Failure as `readFunctionInput`
 */
export function readFunctionOutput(
  text: string,
  where: string,
): Pick<FunctionOutput, 'items' | 'results'> {
  const list = listOf(text, where)
  const results = nodeAt(list, 'results')
  const listed = results?.kind === 'map' ? itemsAt(results, 'items') : itemsAt(list, 'results')
  return { items: mapsOf(list, where), results: listed.map((node) => readResult(jsonOf(node))) }
}

function listOf(text: string, where: string): YamlMap {
  const documents = readYamlNodes(text, where)
  const [only] = documents
  if (only?.kind !== 'map' || documents.length > 1 || textAt(only, 'kind') !== 'ResourceList')
    throw noList(
      where,
      documents.length > 1
        ? `it has ${documents.length} documents`
        : 'its kind is not ResourceList',
    )
  return only
}

function mapsOf(list: YamlMap, where: string): YamlMap[] {
  return itemsAt(list, 'items').map((item: YamlNode, index) => {
    const target = resolved(item)
    if (target.kind !== 'map') throw noList(where, `item ${index + 1} is no map`)
    return target
  })
}

function noList(where: string, why: string): Failure {
  return new Failure({
    code: 'BP1112',
    what: 'the text is not one ResourceList',
    where,
    why,
    remedy: 'give a document of kind ResourceList with items, as kpt does',
    retry: 'on-change',
  })
}

const SEVERITIES: { readonly [name: string]: FunctionResult['severity'] } = {
  error: 'error',
  warning: 'warning',
  warn: 'warning',
  info: 'info',
}

function readResult(json: Json): FunctionResult {
  const ref = objectAt(json, 'resourceRef')
  const metadata = objectAt(ref, 'metadata')
  const field = objectAt(json, 'field')
  const file = objectAt(json, 'file')
  const index = partOf(file, 'index')
  const severity = textOf(json, 'severity')
  return {
    message: textOf(json, 'message') ?? '',
    severity: (severity === undefined ? undefined : SEVERITIES[severity]) ?? 'info',
    ...(ref === undefined
      ? {}
      : {
          resourceRef: present({
            apiVersion: textOf(ref, 'apiVersion'),
            kind: textOf(ref, 'kind'),
            name: textOf(ref, 'name') ?? textOf(metadata, 'name'),
            namespace: textOf(ref, 'namespace') ?? textOf(metadata, 'namespace'),
          }),
        }),
    ...(field === undefined
      ? {}
      : {
          field: {
            path: textOf(field, 'path') ?? '',
            ...present({
              currentValue: partOf(field, 'currentValue'),
              proposedValue: partOf(field, 'proposedValue') ?? partOf(field, 'suggestedValue'),
            }),
          },
        }),
    ...(textOf(file, 'path') === undefined
      ? {}
      : {
          file: {
            path: textOf(file, 'path') ?? '',
            ...(typeof index === 'number' ? { index } : {}),
          },
        }),
    ...tagsOf(objectAt(json, 'tags')),
  }
}

function objectAt(json: Json | undefined, key: string): Json | undefined {
  const value = partOf(json, key)
  return isJsonObject(value) ? value : undefined
}

function textOf(json: Json | undefined, key: string): string | undefined {
  const value = partOf(json, key)
  return value === undefined || value === null || isJsonObject(value) || isJsonArray(value)
    ? undefined
    : String(value)
}

function present<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function tagsOf(tags: Json | undefined): Pick<FunctionResult, 'tags'> {
  if (!isJsonObject(tags)) return {}
  return {
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, String(value)])),
  }
}
