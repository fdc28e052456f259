import type { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findKnownFields, getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { formatRedactedPath, isSecret } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { UNKNOWN_ACTOR } from '../attribute/actor.ts'
import type { Drift, ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { explainUnprovenOwnership } from '../compare/ownership-proof.ts'
import { mergeSecretData } from '../compare/secret-data.ts'
import { type CreationProbe, createCreationProbe } from '../unowned/creation-probe.ts'
import type { UnownedSubject } from '../unowned/server-written.ts'
import { findUnownedFields, hasNoOwners, needsCreation } from '../unowned/unowned-fields.ts'
import { detectAdded } from './added-fields.ts'
import { markAllocated } from './allocated-fields.ts'
import { detectChanged } from './changed-fields.ts'
import { detectDropped } from './dropped-fields.ts'
import { createWholeObjectVerdict } from './make-drift.ts'
import { type Detector, ObjectComparison, type ObservedObject } from './object-comparison.ts'
import { detectHidden } from './other-version.ts'
import { detectOwnerless } from './ownerless-fields.ts'
import {
  createContentNotReadFailure,
  createNotExplainedFailure,
  createUnknownFieldsFailure,
} from './verdict-failures.ts'
import { findBlocked } from './why-blocked.ts'

const DETECTORS: readonly Detector[] = [
  detectChanged,
  detectOwnerless,
  detectDropped,
  detectAdded,
  detectHidden,
]

/** For an object without managers; undefined if not needed. */
export function buildCreationProbe(
  observed: Omit<ObservedObject, 'prediction'>,
): CreationProbe | undefined {
  const { live, desired } = observed
  if (
    live.state !== 'present' ||
    live.metadataOnly ||
    !needsCreation(createUnownedSubject(observed, live.object))
  )
    return undefined
  return createCreationProbe(desired, getAppliedPart(observed))
}

function createUnownedSubject(
  { desired: { id, apiVersion, object }, schema }: Omit<ObservedObject, 'prediction'>,
  live: JsonObject,
): UnownedSubject {
  const known = findKnownFields(object, schema).object
  return { id, apiVersion, desired: isSecret(id) ? mergeSecretData(known) : known, live, schema }
}

export function needsPrediction(
  observed: Omit<ObservedObject, 'prediction'>,
  syncer: SyncerManager | undefined,
): boolean {
  const { live, creation } = observed
  if (live.state !== 'present' || live.metadataOnly) return false
  // Without owners an apply shows only whether it fails.
  if (hasNoOwners(getManagedFields(live.object))) {
    const { complete, differences } = findUnownedFields(
      createUnownedSubject(observed, live.object),
      creation,
      false,
    )
    return !complete || differences.length > 0
  }
  const subject = {
    ...observed,
    apiVersion: observed.desired.apiVersion,
    desired: getAppliedPart(observed),
    live: live.object,
    syncer,
  }
  return (
    explainUnprovenOwnership({ ...subject, managed: getManagedFields(live.object) }) !== undefined
  )
}

export function getAppliedPart({
  desired,
  schema,
}: Pick<ObservedObject, 'desired' | 'schema'>): JsonObject {
  return findKnownFields(desired.object, schema).object
}

export function detectDrift(
  observed: ObservedObject,
  syncer: SyncerManager | undefined,
): ObjectVerdict {
  const { desired, live } = observed
  const base = {
    id: desired.id,
    apiVersion: desired.apiVersion,
    desired,
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  }
  if (live.state === 'unreadable')
    return { ...base, state: 'unreadable', proof: 'none', items: [], failure: live.failure }
  const blocked = findBlocked(observed, syncer)
  if (blocked !== undefined)
    return { ...base, ...blocked, state: 'blocked', proof: 'none', items: [] }
  if (live.state === 'absent') {
    const { id, apiVersion, object: git } = desired
    return createWholeObjectVerdict(desired, {
      id,
      apiVersion,
      uid: undefined,
      change: 'missing',
      git,
      live: undefined,
      actor: UNKNOWN_ACTOR,
      notes: [],
    })
  }
  const judgement = judge(new ObjectComparison(observed, live.object, live.metadataOnly, syncer))
  return { ...base, ...judgement, ...(judgement.items.length === 0 ? {} : { live: live.object }) }
}

type Judgement = Pick<
  ObjectVerdict,
  'state' | 'proof' | 'items' | 'mayBeBehind' | 'notes' | 'failure' | 'reapplyFails'
>

function judge(comparison: ObjectComparison): Judgement {
  const { observed, syncer, unowned, isTaken, unknown } = comparison
  const { prediction, creation, desired } = observed
  const found: Drift[] = []
  for (const detect of DETECTORS) found.push(...detect(comparison, found))
  const items = found.map((drift) => markAllocated(drift, found, comparison.managed))
  const proven = comparison.proof !== 'none' && unowned.open.length === 0
  let failure = comparison.proof === 'none' ? explainUnproven(comparison) : undefined
  if (unowned.open.length > 0)
    failure = createNotExplainedFailure(desired.id, unowned.open, creation)
  const notes = unknown.map((path) => createUnknownNote(path, comparison))
  // A server-side apply rejects a field that an update drops.
  const refused =
    syncer?.operation === 'Apply' && notes.length > 0
      ? createUnknownFieldsFailure(desired.id, unknown)
      : undefined
  const reapplyFails =
    prediction?.state === 'refused' && !isTaken ? prediction.failure.why : refused?.why
  if (refused !== undefined && prediction?.state !== 'refused') failure = refused
  const state =
    items.length > 0
      ? 'drifted'
      : reapplyFails !== undefined
        ? 'blocked'
        : proven
          ? 'in-sync'
          : 'unverified'
  const open = items.filter((_item, at) => comparison.isOpen(found[at] as Drift))
  const told = state === 'blocked' && refused !== undefined ? [] : notes
  return {
    state,
    proof: comparison.proof,
    items,
    ...(open.length === 0 ? {} : { mayBeBehind: new Set(open) }),
    ...(told.length === 0 ? {} : { notes: told }),
    failure: state === 'in-sync' ? undefined : failure,
    reapplyFails,
  }
}

function explainUnproven({
  observed: { desired, prediction },
  metadataOnly,
}: ObjectComparison): Failure | undefined {
  if (metadataOnly) return createContentNotReadFailure(desired.id)
  return prediction?.state === 'predicted' ? undefined : prediction?.failure
}

function createUnknownNote(
  path: FieldPath,
  { observed: { desired }, syncer }: ObjectComparison,
): Note {
  const does =
    syncer?.operation === 'Apply' ? 'refuses a server-side apply that has it' : 'drops it'
  const text = `the server does not know ${formatRedactedPath(path, desired.id)} and ${does}`
  return { cause: 'field-not-on-server', subject: describeResourceId(desired.id), text }
}
