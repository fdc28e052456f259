/**
 * What a client-side apply remembers of itself: the manifest as it was applied last, in an annotation of the object. It is the only
 * trace of what such a syncer declared, because an Update owns whatever the write changed, defaults of the server included.
 * Source: k8s.io/api core/v1 `LastAppliedConfigAnnotation`; kubectl, kpt's client-side apply and Argo CD write it.
 */
import { type FieldPath, valueAt } from '../krm/field-path.ts'
import type { FieldSchema } from '../krm/field-schema.ts'
import { fieldSetOf, leavesOf } from '../krm/field-set.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../krm/json.ts'
import { PathSet } from '../krm/path-set.ts'
import { annotationsOf } from '../krm/resource.ts'

export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Undefined where there is none, or it cannot be read: then nothing is known of what was applied. */
export function lastAppliedOf(live: JsonObject): JsonObject | undefined {
  const text = annotationsOf(live).get(LAST_APPLIED)
  if (text === undefined) return undefined
  try {
    const applied = parseJson(text)
    return isJsonObject(applied) ? applied : undefined
  } catch {
    return undefined
  }
}

/**
 * Places that were applied last, that are live still, and that `desired` does not declare any more: the next apply removes them.
 * A whole list item where the item is gone from `desired`, each place once, in the order of the annotation.
 */
export function droppedPaths(applied: JsonObject, desired: JsonObject, live: JsonObject, schema: FieldSchema): FieldPath[] {
  const dropped: FieldPath[] = []
  const told = new PathSet()
  for (const leaf of leavesOf(fieldSetOf(applied, schema))) {
    if (leaf[0]?.kind === 'field' && leaf[0].name === 'status') continue
    if (valueAt(desired, leaf) !== undefined || isEmpty(valueAt(applied, leaf))) continue
    const item = leaf.findIndex((step, index) => step.kind !== 'field' && valueAt(desired, leaf.slice(0, index + 1)) === undefined)
    const top = item === -1 ? leaf : leaf.slice(0, item + 1)
    if (valueAt(live, top) === undefined || told.covers(top)) continue
    dropped.push(top)
    told.add(top)
  }
  return dropped
}

/** Nothing is declared by it: kubectl writes `annotations: {}` and `creationTimestamp: null` into what it remembers. */
function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (isJsonArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}
