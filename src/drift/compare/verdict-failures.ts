/** Failures of objects that are unproven or blocked. */
import { Failure } from '../../failure.ts'
import type { FieldPath } from '../../krm/field-path.ts'
import { shownPathOnly } from '../../krm/redaction/shown-path.ts'
import { describeResourceId, type ResourceId } from '../../krm/resource-id.ts'
import { isJsonArray, type JsonObject, partOf } from '../../text/json.ts'
import type { CreationAnswer } from '../unowned/unowned-fields.ts'

export function contentNotRead(id: ResourceId): Failure {
  return new Failure({
    code: 'BP3012',
    what: `the content of ${describeResourceId(id)} was not read`,
    why: 'only its metadata may be read, so ownership shows who wrote a key and not what it holds',
    remedy: 'nothing, or grant get and list on secrets to see whether the value differs',
  })
}

export function beingDeleted(id: ResourceId, live: JsonObject, since: string): Failure {
  const finalizers = partOf(live, 'metadata', 'finalizers')
  const held = isJsonArray(finalizers) && finalizers.length > 0 ? `, and its finalizers hold it: ${finalizers.join(', ')}` : ''
  return new Failure({
    code: 'BP3012',
    what: `${describeResourceId(id)} is being deleted`,
    why: `somebody deleted it at ${since}${held}; git still has it`,
    remedy: 'wait until it is gone, then apply the package again; where it does not go, look at who is to remove the finalizers',
  })
}

/** The note of an added field without a dry run of the creation. */
export function notTried({ why }: Failure): string {
  return `it may be what an admission webhook writes: the server could not be asked what it makes of the object (${why})`
}

const SHOWN = 5

/** @param paths of fields that git does not declare and that have no known owner */
export function notExplained(id: ResourceId, paths: readonly FieldPath[], creation: CreationAnswer | undefined): Failure {
  const fields = paths.slice(0, SHOWN).map((path) => shownPathOnly(path))
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  const requested = creation?.prediction.state === 'predicted' ? undefined : creation?.prediction.failure
  return new Failure({
    code: 'BP3012',
    what: `some fields of ${describeResourceId(id)} cannot be explained`,
    why: `the object does not say who wrote ${fields.join(', ')}${more}, which git does not declare; they may be defaults, and what the server makes of the object by itself is not known${requested === undefined ? '' : `: ${requested.why}`}`,
    remedy: requested?.remedy ?? 'apply the package with kubectl apply --server-side, which begins to keep owners',
  })
}
