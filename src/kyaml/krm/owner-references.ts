/** k8s.io/apimachinery `pkg/apis/meta/v1/types.go` OwnerReference. */
import { isJsonArray, type JsonObject, objectsIn, partOf, textOf } from '../text/json.ts'

/** A controller creates and removes such an object. */
export function isControlled(object: JsonObject): boolean {
  const owners = partOf(object, 'metadata', 'ownerReferences')
  return isJsonArray(owners) && owners.length > 0
}

export function ownerNamed(object: JsonObject, kind: string): string | undefined {
  const owner = objectsIn(partOf(object, 'metadata', 'ownerReferences')).find(
    (each) => textOf(each, 'kind') === kind,
  )
  return owner === undefined ? undefined : textOf(owner, 'name')
}
