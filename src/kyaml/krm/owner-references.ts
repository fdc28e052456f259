/** k8s.io/apimachinery `pkg/apis/meta/v1/types.go` OwnerReference. */
import { filterObjects, getPartAt, getTextAt, isJsonArray, type JsonObject } from '../text/json.ts'

/** A controller creates and removes such an object. */
export function isControlled(object: JsonObject): boolean {
  const owners = getPartAt(object, 'metadata', 'ownerReferences')
  return isJsonArray(owners) && owners.length > 0
}

export function findOwnerName(object: JsonObject, kind: string): string | undefined {
  const owner = filterObjects(getPartAt(object, 'metadata', 'ownerReferences')).find(
    (each) => getTextAt(each, 'kind') === kind,
  )
  return owner === undefined ? undefined : getTextAt(owner, 'name')
}
