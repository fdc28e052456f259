/**
 * A manifest that the server rejects whatever is live comes before an object being deleted. Their
 * differences are nobody's decision.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, findKnownFields } from '@backporch/kyaml/field'
import {
  getMetadataText,
  type LiveState,
  type Prediction,
  type RefusalReason,
} from '@backporch/kyaml/resource'
import type { ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { createBeingDeletedFailure, createUnknownFieldsFailure } from './verdict-failures.ts'

interface Asked {
  readonly desired: DesiredResource
  readonly live: LiveState
  readonly schema: FieldSchema
  readonly prediction: Prediction | undefined
}

type Blocked = Pick<ObjectVerdict, 'failure' | 'reapplyFails'>

/** Undefined if the object must be compared, is missing, or is unreadable. */
export function findBlocked(
  { desired, live, schema, prediction }: Asked,
  syncer: SyncerManager | undefined,
): Blocked | undefined {
  const refused =
    prediction?.state === 'refused' && !isTakenByUpdate(prediction, syncer) ? prediction : undefined
  if (live.state === 'absent') {
    if (refused !== undefined && refused.reason !== 'NamespaceMissing')
      return createBlocked(
        refused.failure.replaceReason(
          `the object is missing, and the API server rejects its manifest: ${refused.failure.why}`,
        ),
        refused.failure,
      )
    // The applier is unknown if nothing is live, and kubectl rejects such a field too.
    const { unknown } = findKnownFields(desired.object, schema)
    return unknown.length > 0 && syncer?.operation !== 'Update'
      ? createBlocked(createUnknownFieldsFailure(desired.id, unknown))
      : undefined
  }
  if (live.state !== 'present') return undefined
  if (getMetadataText(live.object, 'deletionTimestamp') !== '') {
    const leaving = createBeingDeletedFailure(desired.id, live.object)
    return refused === undefined
      ? { failure: leaving, reapplyFails: undefined }
      : createBlocked(
          refused.failure.replaceReason(`${refused.failure.why}; ${leaving.why}`),
          refused.failure,
        )
  }
  return refused?.reason !== undefined && OF_MANIFEST.has(refused.reason)
    ? createBlocked(refused.failure)
    : undefined
}

const OF_MANIFEST: ReadonlySet<RefusalReason> = new Set([
  'Malformed',
  'UnknownField',
  'TwoOfOneKey',
])

/**
 * Whether only a server-side apply rejects it, and the syncer uses none: the values are compared as
 * they are.
 */
export function isTakenByUpdate(
  prediction: Prediction | undefined,
  syncer: SyncerManager | undefined,
): boolean {
  return (
    prediction?.state === 'refused' &&
    prediction.reason === 'TwoOfOneKey' &&
    syncer?.operation !== 'Apply'
  )
}

function createBlocked(failure: Failure, refusal = failure): Blocked {
  return { failure, reapplyFails: refusal.why }
}
