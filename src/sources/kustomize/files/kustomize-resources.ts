/** Finds duplicate resources as kustomize does (`api/resmap/reswrangler.go`, `Append`). */
import { describeObject, getGroupVersionKind } from '@backporch/kpt/field'
import { isNamespacedKind } from '@backporch/kyaml/resource'
import { findTextAt, type YamlMap } from '@backporch/kyaml/yaml'

export const CLUSTER = '_non_namespaceable_'

export function deriveEffectiveNamespace(item: YamlMap): string {
  if (
    isNamespacedKind(findTextAt(item, 'apiVersion') ?? '', findTextAt(item, 'kind') ?? '') === false
  )
    return CLUSTER
  return findTextAt(item, 'metadata', 'namespace') || 'default'
}

/** If local-config objects are resources too, kustomize requires neither kind nor name. */
export function findDuplicate(items: readonly YamlMap[]): string | undefined {
  const observed = new Set<string>()
  for (const item of items) {
    const name = findTextAt(item, 'metadata', 'name') ?? ''
    const own = getGroupVersionKind(item)
    const key = JSON.stringify([
      own.group,
      own.version,
      own.kind,
      deriveEffectiveNamespace(item),
      name,
    ])
    if (observed.has(key))
      return `may not add resource with an already registered id: ${describeObject(item)}`
    observed.add(key)
  }
  return undefined
}
