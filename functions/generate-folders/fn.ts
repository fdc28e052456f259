/** kptdev/krm-functions-catalog `functions/ts/generate-folders/src/generate_folders.ts` */
import { type FunctionResult, failed, type KrmFunction, succeeded } from '@backporch/kpt/function'
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { jsonOf, nodeAt, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'
import { type Folder, foldersOf, HIERARCHIES, NoFolders } from './folders.ts'
import { indentedByJsYaml, NotRead, throughJsYaml, writtenByJsYaml } from './js-yaml.ts'

/** v0.1.1. Of equal objects only the last remains. */
export const generateFolders: KrmFunction = ({ items }) => {
  try {
    const objects = new Map<string, { readonly node: YamlMap; readonly value: JsonObject }>()
    const insert = (node: YamlMap): void => {
      const value = jsonOf(node)
      if (isJsonObject(value)) objects.set(keyOfObject(value), { node, value })
    }
    for (const item of items) insert({ ...(throughJsYaml(item) as YamlMap), writes: item.writes })
    const results: FunctionResult[] = []
    for (const apiVersion of HIERARCHIES)
      for (const { node, value } of inOrder(objects)) {
        if (
          getKey(value, 'apiVersion') !== apiVersion ||
          getKey(value, 'kind') !== 'ResourceHierarchy'
        )
          continue
        if (apiVersion !== HIERARCHIES[1]) results.push(olderThan(value))
        if (hasTime(nodeAt(node, 'spec'))) throw new NoFolders('a date in a hierarchy needs quotes')
        for (const folder of foldersOf(value, apiVersion))
          insert(writtenByJsYaml(objectOf(folder)) as YamlMap)
      }
    return succeeded(
      inOrder(objects).map(({ node }) => indentedByJsYaml(node)),
      results,
    )
  } catch (thrown) {
    // A TypeError means a number that JSON cannot represent.
    if (thrown instanceof NotRead || thrown instanceof NoFolders || thrown instanceof TypeError)
      return failed(items, thrown.message)
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

function inOrder<T>(objects: ReadonlyMap<string, T>): readonly T[] {
  return [...objects].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object)
}

function keyOfObject(value: JsonObject): string {
  const metadata = getKey(value, 'metadata')
  const of = (from: Json | undefined, name: string): Json | undefined =>
    isJsonObject(from) ? getKey(from, name) : undefined
  return `${of(value, 'apiVersion')}/${of(value, 'kind')}/${of(metadata, 'namespace') || ''}/${of(metadata, 'name')}`
}

function objectOf({ metadata, spec }: Folder): JsonObject {
  return {
    apiVersion: 'resourcemanager.cnrm.cloud.google.com/v1beta1',
    kind: 'Folder',
    metadata,
    spec,
  }
}

function olderThan(hierarchy: JsonObject): FunctionResult {
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
