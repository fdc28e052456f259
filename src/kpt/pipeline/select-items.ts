/** kpt `internal/fnruntime/utils.go`. */
import { findTextAt, mapAt, type YamlMap } from '@backporch/kyaml/yaml'
import {
  clearAnnotation,
  findAnnotation,
  RESOURCE_ID,
  setAnnotation,
} from '../function/item-annotations.ts'
import type { FunctionSelector } from '../package/kptfile-value.ts'

/** Like in kpt, two matching selectors pass a resource twice. */
export function selectItems(
  items: readonly YamlMap[],
  selectors: readonly FunctionSelector[],
  exclude: readonly FunctionSelector[],
): readonly YamlMap[] {
  const selected =
    selectors.length === 0
      ? items
      : items.flatMap((item) =>
          selectors.filter((selector) => matches(item, selector)).map(() => item),
        )
  return selected.filter(
    (item) => !exclude.some((selector) => !isEmpty(selector) && matches(item, selector)),
  )
}

function matches(item: YamlMap, selector: FunctionSelector): boolean {
  return (
    holds(selector.name, findTextAt(item, 'metadata', 'name')) &&
    holds(selector.namespace, findTextAt(item, 'metadata', 'namespace')) &&
    holds(selector.kind, findTextAt(item, 'kind')) &&
    holds(selector.apiVersion, findTextAt(item, 'apiVersion')) &&
    holdAll(selector.labels, item, 'labels') &&
    holdAll(selector.annotations, item, 'annotations')
  )
}

function holds(wanted: string | undefined, is: string | undefined): boolean {
  return wanted === undefined || wanted === (is ?? '')
}

function holdAll(
  wanted: ReadonlyMap<string, string>,
  item: YamlMap,
  field: 'labels' | 'annotations',
): boolean {
  const map = mapAt(item, 'metadata', field)
  return [...wanted].every(([name, value]) => findTextAt(map, name) === value)
}

function isEmpty({
  apiVersion,
  kind,
  name,
  namespace,
  labels,
  annotations,
}: FunctionSelector): boolean {
  return (
    apiVersion === undefined &&
    kind === undefined &&
    name === undefined &&
    namespace === undefined &&
    labels.size === 0 &&
    annotations.size === 0
  )
}

export function setResourceIds(items: readonly YamlMap[]): void {
  for (const [index, item] of items.entries()) setAnnotation(item, RESOURCE_ID, String(index))
}

/** Other resources stay, new ones go to the end. Removes the numbers. */
export function mergeItems(
  output: readonly YamlMap[],
  selected: readonly YamlMap[],
  items: readonly YamlMap[],
): YamlMap[] {
  const given = new Set(selected)
  const back = new Map<string, YamlMap>()
  for (const item of output) {
    const id = findAnnotation(item, RESOURCE_ID) ?? ''
    if (!back.has(id)) back.set(id, item)
  }
  // A function may change its input in place, so the position identifies a resource.
  const merged = items.flatMap((item, index) => {
    if (!given.has(item)) return [item]
    const replaced = back.get(String(index))
    return replaced === undefined ? [] : [replaced]
  })
  const created = output.filter((item) => (findAnnotation(item, RESOURCE_ID) ?? '') === '')
  const all = [...merged, ...created]
  for (const item of all) clearAnnotation(item, RESOURCE_ID)
  return all
}
