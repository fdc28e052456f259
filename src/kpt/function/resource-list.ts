/** docs/facts/kpt-render.md. kpt sends `config.kubernetes.io/v1` and accepts every version. */
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import {
  emptyObject,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  setKey,
} from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertJsonToYaml,
  convertYamlToJson,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  findNodeAt,
  findTextAt,
  listItemsAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import type { FunctionInput, FunctionOutput, FunctionResult } from './krm-function.ts'

/** These nodes are in no file of the package. */
export const FUNCTION_TEXT = 'ResourceList'

const API_VERSION = 'config.kubernetes.io/v1'

export function formatFunctionInput({ items, config }: FunctionInput): string {
  return writeYamlNode(
    createYamlMap([
      ['apiVersion', createYamlPlain(API_VERSION)],
      ['kind', createYamlPlain('ResourceList')],
      ['items', createYamlList(items)],
      ...(config === undefined ? [] : ([['functionConfig', config]] as const)),
    ]),
  )
}

export function formatFunctionOutput(
  { items, results }: FunctionOutput,
  config: YamlMap | undefined,
): string {
  return writeYamlNode(
    createYamlMap([
      ['apiVersion', createYamlPlain(API_VERSION)],
      ['kind', createYamlPlain('ResourceList')],
      ['items', createYamlList(items)],
      ...(config === undefined ? [] : ([['functionConfig', config]] as const)),
      ...(results.length === 0
        ? []
        : ([['results', convertJsonToYaml(results.map(convertResultToJson))]] as const)),
    ]),
  )
}

/** In the order of kpt's `FunctionResultList`. */
function convertResultToJson({
  message,
  severity,
  resourceRef,
  field,
  file,
  tags,
}: FunctionResult): Json {
  const json = emptyObject()
  setKey(json, 'message', message)
  setKey(json, 'severity', severity)
  for (const [key, value] of Object.entries({ resourceRef, field, file, tags }))
    if (value !== undefined) setKey(json, key, omitUndefinedFields(value))
  return json
}

function omitUndefinedFields(value: object): Json {
  const retained = emptyObject()
  for (const [key, below] of Object.entries(value))
    if (below !== undefined) setKey(retained, key, below as Json)
  return retained
}

/** @throws Failure BP1110 or BP1111 if it is not YAML, BP1112 if it is not a ResourceList */
export function readFunctionInput(text: string, where: string): FunctionInput {
  const list = readResourceList(text, where)
  const config = findNodeAt(list, 'functionConfig')
  return { items: listItemMaps(list, where), config: config?.kind === 'map' ? config : undefined }
}

/**
 * Both shapes of `results`, and older names (kpt `internal/fnruntime/runner.go`).
 * @throws Failure as `readFunctionInput`
 */
export function readFunctionOutput(
  text: string,
  where: string,
): Pick<FunctionOutput, 'items' | 'results'> {
  const list = readResourceList(text, where)
  const results = findNodeAt(list, 'results')
  const listed =
    results?.kind === 'map' ? listItemsAt(results, 'items') : listItemsAt(list, 'results')
  return {
    items: listItemMaps(list, where),
    results: listed.map((node) => readResult(convertYamlToJson(node))),
  }
}

function readResourceList(text: string, where: string): YamlMap {
  const documents = readYamlNodes(text, where)
  const [only] = documents
  if (only?.kind !== 'map' || documents.length > 1 || findTextAt(only, 'kind') !== 'ResourceList')
    throw createNoListFailure(
      where,
      documents.length > 1
        ? `it has ${documents.length} documents`
        : 'its kind is not ResourceList',
    )
  return only
}

function listItemMaps(list: YamlMap, where: string): YamlMap[] {
  return listItemsAt(list, 'items').map((item: YamlNode, index) => {
    const target = resolveAlias(item)
    if (target.kind !== 'map') throw createNoListFailure(where, `item ${index + 1} is not a map`)
    return target
  })
}

function createNoListFailure(where: string, why: string): Failure {
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
  const ref = findObject(json, 'resourceRef')
  const metadata = findObject(ref, 'metadata')
  const field = findObject(json, 'field')
  const file = findObject(json, 'file')
  const index = getPartAt(file, 'index')
  const severity = findText(json, 'severity')
  return {
    message: findText(json, 'message') ?? '',
    severity: (severity === undefined ? undefined : SEVERITIES[severity]) ?? 'info',
    ...(ref === undefined
      ? {}
      : {
          resourceRef: omitUndefined({
            apiVersion: findText(ref, 'apiVersion'),
            kind: findText(ref, 'kind'),
            name: findText(ref, 'name') ?? findText(metadata, 'name'),
            namespace: findText(ref, 'namespace') ?? findText(metadata, 'namespace'),
          }),
        }),
    ...(field === undefined
      ? {}
      : {
          field: {
            path: findText(field, 'path') ?? '',
            ...omitUndefined({
              currentValue: getPartAt(field, 'currentValue'),
              proposedValue:
                getPartAt(field, 'proposedValue') ?? getPartAt(field, 'suggestedValue'),
            }),
          },
        }),
    ...(findText(file, 'path') === undefined
      ? {}
      : {
          file: {
            path: findText(file, 'path') ?? '',
            ...(typeof index === 'number' ? { index } : {}),
          },
        }),
    ...readTags(findObject(json, 'tags')),
  }
}

function findObject(json: Json | undefined, key: string): Json | undefined {
  const value = getPartAt(json, key)
  return isJsonObject(value) ? value : undefined
}

function findText(json: Json | undefined, key: string): string | undefined {
  const value = getPartAt(json, key)
  return value === undefined || value === null || isJsonObject(value) || isJsonArray(value)
    ? undefined
    : String(value)
}

function omitUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function readTags(tags: Json | undefined): Pick<FunctionResult, 'tags'> {
  if (!isJsonObject(tags)) return {}
  return {
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, String(value)])),
  }
}
