/**
 * Identity of a Kubernetes object: group, kind, namespace and name, as `ObjMetadata` of sigs.k8s.io/cli-utils. It has no version, so that an
 * object has one id in all API versions.
 */
export interface ResourceId {
  /** API group; empty for the core group. */
  readonly group: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** Key for maps, unique and stable across releases: `group/Kind/namespace/name`. */
export function resourceKey(id: ResourceId): string {
  return `${id.group}/${id.kind}/${id.namespace}/${id.name}`
}

/** The id in records and trailers, `apps/Deployment/shop/web`: the text of the key. */
export const formatResourceId = resourceKey

/** The id for people: `Deployment shop/web`, `Namespace shop`. */
export function describeResourceId(id: ResourceId): string {
  return id.namespace === '' ? `${id.kind} ${id.name}` : `${id.kind} ${id.namespace}/${id.name}`
}

export function sameResource(left: ResourceId, right: ResourceId): boolean {
  return (
    left.group === right.group &&
    left.kind === right.kind &&
    left.namespace === right.namespace &&
    left.name === right.name
  )
}

/** `apps/v1` to `{ group: 'apps', version: 'v1' }`; `v1` has the empty group. */
export function parseApiVersion(apiVersion: string): {
  readonly group: string
  readonly version: string
} {
  const slash = apiVersion.indexOf('/')
  return slash === -1
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** The key of an inventory: the ResourceGroup's own name, or its id (label `cli-utils.sigs.k8s.io/inventory-id`), or both. */
export interface InventoryRef {
  readonly namespace: string
  readonly name: string
  readonly id: string
}
