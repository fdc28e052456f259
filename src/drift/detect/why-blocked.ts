/**
 * What is decided before any comparison, in this order: a manifest that the server refuses whatever is live, and an object that is being
 * deleted. What differs in them is nobody's decision.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, knownFieldsOf } from '@backporch/kyaml/field'
import {
  type LiveState,
  metadataText,
  type Prediction,
  type RefusalReason,
} from '@backporch/kyaml/resource'
import type { ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { beingDeleted, unknownFields } from './verdict-failures.ts'

interface Asked {
  readonly desired: DesiredResource
  readonly live: LiveState
  readonly schema: FieldSchema
  readonly prediction: Prediction | undefined
}

type Blocked = Pick<ObjectVerdict, 'failure' | 'reapplyFails'>

/** Undefined where the object is to be compared, is missing, or cannot be read. */
export function whyBlocked(
  { desired, live, schema, prediction }: Asked,
  syncer: SyncerManager | undefined,
): Blocked | undefined {
  const refused =
    prediction?.state === 'refused' && !isTakenByUpdate(prediction, syncer) ? prediction : undefined
  if (live.state === 'absent') {
    if (refused !== undefined && refused.reason !== 'NamespaceMissing')
      return by(
        refused.failure.because(
          `it is not there, and the server refuses it: ${refused.failure.why}`,
        ),
        refused.failure,
      )
    // Who applies it is not known where nothing of the package is live, and kubectl refuses such a field too.
    const { unknown } = knownFieldsOf(desired.object, schema)
    return unknown.length > 0 && syncer?.operation !== 'Update'
      ? by(unknownFields(desired.id, unknown))
      : undefined
  }
  if (live.state !== 'present') return undefined
  if (metadataText(live.object, 'deletionTimestamp') !== '') {
    const leaving = beingDeleted(desired.id, live.object)
    return refused === undefined
      ? { failure: leaving, reapplyFails: undefined }
      : by(refused.failure.because(`${refused.failure.why}; ${leaving.why}`), refused.failure)
  }
  return refused?.reason !== undefined && OF_MANIFEST.has(refused.reason)
    ? by(refused.failure)
    : undefined
}

/** Said of the manifest alone, whatever is live. */
const OF_MANIFEST: ReadonlySet<RefusalReason> = new Set([
  'Malformed',
  'UnknownField',
  'TwoOfOneKey',
])

/** Whether a server-side apply alone refuses it, and the syncer uses none: the values are compared as they are. */
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

function by(failure: Failure, refusal = failure): Blocked {
  return { failure, reapplyFails: refusal.why }
}
