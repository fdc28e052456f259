/** Rules of kustomize for a set of objects, which functions built on it share (kustomize `api/resmap/reswrangler.go`, `Append`; kyaml `yaml/rnode.go`, `GetValidatedMetadata`). */
import { isNamespacedKind } from '../../krm/known-scopes.ts'
import { mapAt, resolved, textAt, type YamlMap } from '../../yaml/yaml-node.ts'
import { describeObject, kindOf } from '../kpt/field-spec.ts'

/** The namespace of objects without one. */
export const CLUSTER = '_non_namespaceable_'

export function effectiveNamespaceOf(item: YamlMap): string {
  if (isNamespacedKind(textAt(item, 'apiVersion') ?? '', textAt(item, 'kind') ?? '') === false) return CLUSTER
  const namespace = textAt(item, 'metadata', 'namespace') ?? ''
  return namespace === '' ? 'default' : namespace
}

/** Why the objects are not a valid set: one without kind or name, or a duplicate; undefined for a valid set. */
export function findBadResource(items: readonly YamlMap[]): string | undefined {
  for (const item of items) {
    const kind = textAt(item, 'kind') ?? ''
    if (kind === '') return `missing kind in object ${goMetadata(item)}`
    if ((textAt(item, 'metadata', 'name') ?? '') === '' && !kind.endsWith('List'))
      return `missing metadata.name in object ${goMetadata(item)}`
  }
  return findDuplicate(items)
}

/** The same where local-config objects are resources too: then kustomize wants neither kind nor name. */
export function findDuplicate(items: readonly YamlMap[]): string | undefined {
  const observed = new Set<string>()
  for (const item of items) {
    const name = textAt(item, 'metadata', 'name') ?? ''
    const own = kindOf(item)
    const key = JSON.stringify([own.group, own.version, own.kind, effectiveNamespaceOf(item), name])
    if (observed.has(key)) return `may not add resource with an already registered id: ${describeObject(item)}`
    observed.add(key)
  }
  return undefined
}

/** `{{v1 ConfigMap} {{web shop} map[] map[]}}`: kyaml's `ResourceMeta`, printed by Go. */
function goMetadata(item: YamlMap): string {
  const [apiVersion, kind] = [textAt(item, 'apiVersion') ?? '', textAt(item, 'kind') ?? '']
  const [name, namespace] = [textAt(item, 'metadata', 'name') ?? '', textAt(item, 'metadata', 'namespace') ?? '']
  return `{{${apiVersion} ${kind}} {{${name} ${namespace}} ${goMap(item, 'labels')} ${goMap(item, 'annotations')}}}`
}

function goMap(item: YamlMap, field: string): string {
  const entries = (mapAt(item, 'metadata', field)?.entries ?? []).map(({ key, value }) => {
    const [name, text] = [resolved(key), resolved(value)]
    return `${name.kind === 'scalar' ? name.value : ''}:${text.kind === 'scalar' ? text.value : ''}`
  })
  return `map[${entries.sort().join(' ')}]`
}
