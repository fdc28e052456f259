/**
 * Like `ObjMetadata` of sigs.k8s.io/cli-utils. Without a version, so an object has one id in all
 * API versions.
 */
export interface ResourceId {
  /** API group; empty for the core group. */
  readonly group: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** Unique and stable across releases. */
export function getResourceKey(id: ResourceId): string {
  return `${id.group}/${id.kind}/${id.namespace}/${id.name}`
}

/** For records and trailers. */
export const formatResourceId = getResourceKey

export function describeResourceId(id: ResourceId): string {
  return id.namespace === '' ? `${id.kind} ${id.name}` : `${id.kind} ${id.namespace}/${id.name}`
}

export function isSameResourceId(left: ResourceId, right: ResourceId): boolean {
  return (
    left.group === right.group &&
    left.kind === right.kind &&
    left.namespace === right.namespace &&
    left.name === right.name
  )
}

export function parseApiVersion(apiVersion: string): {
  readonly group: string
  readonly version: string
} {
  const slash = apiVersion.indexOf('/')
  return slash === -1
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** The ResourceGroup's name, its id (label `cli-utils.sigs.k8s.io/inventory-id`), or both. */
export interface InventoryRef {
  readonly namespace: string
  readonly name: string | undefined
  readonly id: string | undefined
}
