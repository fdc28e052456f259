/** Owners of an object in the cluster. Source: k8s.io/apimachinery `pkg/apis/meta/v1/types.go` OwnerReference. */
import { isJsonArray, type JsonObject, partOf } from '../text/json.ts'

/** Whether another object of the cluster owns this one, so that a controller creates and removes it. */
export function isControlled(object: JsonObject): boolean {
  const owners = partOf(object, 'metadata', 'ownerReferences')
  return isJsonArray(owners) && owners.length > 0
}
