/** As kustomize `api/resmap/reswrangler.go`, `Append`. */
import { describeObject, kindOf } from '@backporch/kpt/field'
import { isNamespacedKind } from '@backporch/kyaml/resource'
import { textAt, type YamlMap } from '@backporch/kyaml/yaml'

export const CLUSTER = '_non_namespaceable_'

export function effectiveNamespaceOf(item: YamlMap): string {
  if (isNamespacedKind(textAt(item, 'apiVersion') ?? '', textAt(item, 'kind') ?? '') === false)
    return CLUSTER
  const namespace = textAt(item, 'metadata', 'namespace') ?? ''
  return namespace === '' ? 'default' : namespace
}

/** If local-config objects are resources too, kustomize requires neither kind nor name. */
export function findDuplicate(items: readonly YamlMap[]): string | undefined {
  const observed = new Set<string>()
  for (const item of items) {
    const name = textAt(item, 'metadata', 'name') ?? ''
    const own = kindOf(item)
    const key = JSON.stringify([own.group, own.version, own.kind, effectiveNamespaceOf(item), name])
    if (observed.has(key))
      return `may not add resource with an already registered id: ${describeObject(item)}`
    observed.add(key)
  }
  return undefined
}
