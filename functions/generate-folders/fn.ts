/** kptdev/krm-functions-catalog `functions/ts/generate-folders/src/generate_folders.ts` */
import {
  createFailedOutput,
  createSuccess,
  type FunctionResult,
  type KrmFunction,
} from '@backporch/kpt/function'
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { convertYamlToJson, findNodeAt, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'
import { buildFolders, type Folder, HIERARCHIES, NoFolders } from './folders.ts'
import { convertThroughJsYaml, indentLikeJsYaml, NotRead, writeWithJsYaml } from './js-yaml.ts'

/** v0.1.1. Of equal objects only the last remains. */
export const generateFolders: KrmFunction = ({ items }) => {
  try {
    const objects = new Map<string, { readonly node: YamlMap; readonly value: JsonObject }>()
    const insert = (node: YamlMap): void => {
      const value = convertYamlToJson(node)
      if (isJsonObject(value)) objects.set(getObjectKey(value), { node, value })
    }
    for (const item of items)
      insert({ ...(convertThroughJsYaml(item) as YamlMap), writes: item.writes })
    const results: FunctionResult[] = []
    for (const apiVersion of HIERARCHIES)
      for (const { node, value } of sortByKey(objects)) {
        if (
          getKey(value, 'apiVersion') !== apiVersion ||
          getKey(value, 'kind') !== 'ResourceHierarchy'
        )
          continue
        if (apiVersion !== HIERARCHIES[1]) results.push(createOldVersionResult(value))
        if (hasTime(findNodeAt(node, 'spec')))
          throw new NoFolders('a date in a hierarchy needs quotes')
        for (const folder of buildFolders(value, apiVersion))
          insert(writeWithJsYaml(createFolderObject(folder)) as YamlMap)
      }
    return createSuccess(
      sortByKey(objects).map(({ node }) => indentLikeJsYaml(node)),
      results,
    )
  } catch (thrown) {
    // A TypeError means a number that JSON cannot represent.
    if (thrown instanceof NotRead || thrown instanceof NoFolders || thrown instanceof TypeError)
      return createFailedOutput(items, thrown.message)
    throw thrown
  }
}

/** js-yaml quotes a text that looks like a time. */
function hasTime(node: YamlNode | undefined): boolean {
  if (node?.kind === 'scalar')
    return node.style === 'plain' && /^[0-9]{4}-[0-9]{2}-[0-9]{2}T/.test(node.value)
  return node?.kind === 'list'
    ? node.items.some(hasTime)
    : node?.kind === 'map' && node.entries.some(({ value }) => hasTime(value))
}

function sortByKey<T>(objects: ReadonlyMap<string, T>): readonly T[] {
  return [...objects].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object)
}

function getObjectKey(value: JsonObject): string {
  const metadata = getKey(value, 'metadata')
  const of = (from: Json | undefined, name: string): Json | undefined =>
    isJsonObject(from) ? getKey(from, name) : undefined
  return `${of(value, 'apiVersion')}/${of(value, 'kind')}/${of(metadata, 'namespace') || ''}/${of(metadata, 'name')}`
}

function createFolderObject({ metadata, spec }: Folder): JsonObject {
  return {
    apiVersion: 'resourcemanager.cnrm.cloud.google.com/v1beta1',
    kind: 'Folder',
    metadata,
    spec,
  }
}

function createOldVersionResult(hierarchy: JsonObject): FunctionResult {
  const metadata = getKey(hierarchy, 'metadata')
  const name = isJsonObject(metadata) ? String(getKey(metadata, 'name')) : ''
  return {
    message: `the ResourceHierarchy ${name} is of an older version than ${HIERARCHIES[1]}`,
    severity: 'warning',
    resourceRef: {
      apiVersion: String(getKey(hierarchy, 'apiVersion')),
      kind: 'ResourceHierarchy',
      name,
    },
  }
}
