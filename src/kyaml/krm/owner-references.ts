/** Owners of an object in the cluster. Source: k8s.io/apimachinery `pkg/apis/meta/v1/types.go` OwnerReference. */
import { isJsonArray, type JsonObject, objectsIn, partOf, textOf } from '../text/json.ts'

/** Whether another object of the cluster owns this one, so that a controller creates and removes it. */
export function isControlled(object: JsonObject): boolean {
  const owners = partOf(object, 'metadata', 'ownerReferences')
  return isJsonArray(owners) && owners.length > 0
}

/** The name of the owner of a kind; undefined without one. */
export function ownerNamed(object: JsonObject, kind: string): string | undefined {
  const owner = objectsIn(partOf(object, 'metadata', 'ownerReferences')).find(
    (each) => textOf(each, 'kind') === kind,
  )
  return owner === undefined ? undefined : textOf(owner, 'name')
}
