/**
 * `settle: backporch`: the caller sends the first write and replans, because each write gives its
 * object a new version. Only the approved items, and only while the object shows no other
 * difference: a re-apply would also change what was not reviewed.
 */
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, field, formatFieldPath, valueAt } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject, jsonEquals } from '@backporch/kyaml/json'
import { isSecret, shownPathOnly } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  handedOver,
  type LiveView,
  metadataText,
  type Resource,
  type ResourceId,
  resourceKey,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { withSecretData } from '../../drift/compare/secret-data.ts'
import { isEncrypted, isEncryptedLocation } from '../../drift/detect/encrypted-fields.ts'
import { whyOutside } from '../../policy/boundary.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { whyNotDeleted } from '../../record/restore-losses.ts'
import type { Observation } from '../observation/observation.ts'
import { allChanges, type OpenChange, unverifiedMerges } from './commands/pick-changes.ts'

/**
 * First values, then, per object, a handover of the written fields to the syncer.
 * @throws Failure BP2005 when live is not what was approved, BP2015 when only forbidden deletions
 * are left, BP3017 when only changes outside the package's coverage are left
 */
export function planSettle(
  observed: Observation,
  record: DriftRecord,
  live: LiveView,
): ApprovedWrite[] {
  const uncovered = notCovered(observed, record)
  const { writes, stays } = planValues(observed, record, live)
  const all = [...writes, ...planHandOver(observed, record, live)].filter(
    (write) => !uncovered.has(resourceKey(targetOf(write))),
  )
  const [first] = [...uncovered.values(), ...stays]
  if (all.length === 0 && first !== undefined) throw first
  return all
}

/**
 * By `resourceKey`. The record may be older than the package's present placement, and a tenant may
 * own its repository.
 */
function notCovered(observed: Observation, { spec }: DriftRecord): ReadonlyMap<string, Failure> {
  const restored = spec.changes.filter(({ resolution }) => resolution === 'Restore')
  return new Map(
    restored.flatMap(({ ref }): [string, Failure][] => {
      const why = whyNotWritten(observed, ref)
      return why === undefined ? [] : [[resourceKey(ref), why]]
    }),
  )
}

function targetOf(write: ApprovedWrite): ResourceId {
  return write.kind === 'apply' ? write.resource.id : write.target.id
}

/**
 * The last check of a request before it is sent, whatever was planned.
 * @throws Failure BP3017 if it is outside the package's coverage
 */
export function assertMayWrite(observed: Observation, write: ApprovedWrite): void {
  const why = whyNotWritten(observed, targetOf(write))
  if (why !== undefined) throw why
}

function whyNotWritten({ verdicts, boundary }: Observation, id: ResourceId): Failure | undefined {
  const verdict = verdicts.find((one) => resourceKey(one.id) === resourceKey(id))
  return (
    whyOutside(boundary, id) ??
    (verdict?.state === 'outside' ? verdict.failure : verdict?.notSettled)
  )
}

export function settleTargets({ verdicts }: Observation, record: DriftRecord): WantedObject[] {
  const restored = restoredObjects(record)
  return verdicts
    .filter(
      ({ id, items, state }) =>
        state !== 'outside' && (items.length > 0 || restored.has(resourceKey(id))),
    )
    .map(({ id, apiVersion }) => ({ id, apiVersion }))
}

/**
 * Otherwise the syncer would meet a conflict at the field's next change, and would not remove it
 * when git does.
 */
function planHandOver(
  { syncer, verdicts }: Observation,
  record: DriftRecord,
  live: LiveView,
): ApprovedWrite[] {
  if (syncer === undefined) return []
  const restored = restoredObjects(record)
  const path = [field('metadata'), field('managedFields')]
  return verdicts.flatMap(({ id, apiVersion }) => {
    const object = restored.has(resourceKey(id)) ? objectOf(live, resourceKey(id)) : undefined
    const value = object === undefined ? undefined : handedOver(object, syncer)
    if (object === undefined || value === undefined) return []
    const fields = [{ path, expected: valueAt(object, path), value }]
    const resourceVersion = metadataText(object, 'resourceVersion')
    return [{ kind: 'patch-fields', target: { id, apiVersion }, fields, resourceVersion } as const]
  })
}

export function isHandOver(write: ApprovedWrite): boolean {
  return (
    write.kind === 'patch-fields' &&
    write.fields.every(({ path }) => formatFieldPath(path) === 'metadata.managedFields')
  )
}

export function restoredObjects({ spec }: DriftRecord): ReadonlySet<string> {
  return new Set(
    spec.changes
      .filter(({ resolution }) => resolution === 'Restore')
      .map(({ ref }) => resourceKey(ref)),
  )
}

/** `stays`: why approved deletions are not made. */
function planValues(
  observed: Observation,
  record: DriftRecord,
  live: LiveView,
): { readonly writes: ApprovedWrite[]; readonly stays: readonly Failure[] } {
  // The same drift coming back is another decision. What was never proposed is not settled
  // automatically.
  const isDecided = ({ spec, status }: ClosedEpisode): boolean =>
    spec.episode === record.spec.episode && status.altered === undefined
  if (!unverifiedMerges(observed.git.ledger.closed).some(isDecided))
    return { writes: [], stays: [] }
  const approved = new Set(
    record.spec.changes
      .filter(({ resolution }) => resolution === 'Restore')
      .map(({ fingerprint }) => fingerprint),
  )
  const now = allChanges(observed.verdicts, observed.key)
  const missing = [...approved].filter(
    (fingerprint) => !now.some((change) => change.fingerprint === fingerprint),
  )
  const stays: Failure[] = []
  const writes = observed.verdicts.flatMap((verdict) => {
    const own = now.filter(({ drift }) => verdict.items.includes(drift))
    // What reverted by itself needs no write; what changed again was not reviewed.
    const changes = own.filter(({ fingerprint }) => approved.has(fingerprint))
    if (changes.length === 0) return []
    if (changes.length < own.length)
      throw changedSince(
        verdict,
        own.filter((change) => !changes.includes(change)),
        missing.length,
      )
    assertPlain(changes)
    const undeleted = changes.flatMap(({ drift }) =>
      drift.change === 'unexpected' ? notDeleted(record, drift) : [],
    )
    stays.push(...undeleted)
    if (undeleted.length > 0) return []
    const state = objectOf(live, resourceKey(verdict.id))
    return verdict.reapplyFails === undefined ? writesFor(changes, state) : patchFor(changes, state)
  })
  return { writes, stays }
}

function notDeleted({ spec: { copies = [] } }: DriftRecord, { id }: Drift): Failure[] {
  const why = whyNotDeleted(copies.find(({ ref }) => resourceKey(ref) === resourceKey(id)))
  if (why === undefined) return []
  return [
    new Failure({
      code: 'BP2015',
      what: `${describeResourceId(id)} is not deleted`,
      why,
      remedy:
        'keep what you need of it, and delete it by hand; or choose release, so that the package does not claim it',
    }),
  ]
}

/**
 * @param others unapproved changes
 * @param gone approved changes that no longer exist
 */
function changedSince({ id }: ObjectVerdict, others: readonly OpenChange[], gone: number): Failure {
  const paths = others.map(({ drift }) => shownPathOnly(drift.path, drift.id) || drift.change)
  return notWritten(
    id,
    `it changed since the review: ${paths.slice(0, 5).join(', ')}${gone > 0 ? `; ${gone} approved changes are gone` : ''}`,
  )
}

function notWritten(id: ResourceId, why: string): Failure {
  return new Failure({
    code: 'BP2005',
    what: `${describeResourceId(id)} is not written`,
    why,
    remedy: 'scan again, and decide about what differs now',
    retry: 'on-change',
  })
}

/** Git has only ciphertext, and only a hash was stored of a value written over it. */
function assertPlain(changes: readonly OpenChange[]): void {
  const encrypted = changes.find(
    ({ drift, desired }) =>
      desired !== undefined &&
      (drift.change === 'missing'
        ? isEncrypted(desired.object)
        : isEncryptedLocation(drift.path, desired.object)),
  )
  if (encrypted === undefined) return
  const { id, path } = encrypted.drift
  throw new Failure({
    code: 'BP3014',
    what: `${describeResourceId(id)} is not written`,
    why: `git encrypts ${shownPathOnly(path, id) || 'its values'} with SOPS, and backporch has no key: it would write the ciphertext`,
    remedy: 'apply the package with the syncer, which decrypts it',
    retry: 'on-change',
  })
}

function objectOf(live: LiveView, key: string): JsonObject | undefined {
  const state = live.get(key)
  return state?.state === 'present' ? state.object : undefined
}

/** In one patch, removals first, because the server rejects an apply of the present object. */
function patchFor(changes: readonly OpenChange[], live: JsonObject | undefined): ApprovedWrite[] {
  const [first] = changes
  if (first === undefined || live === undefined) return []
  const { id, apiVersion } = first.drift
  const fields = changes.map(({ drift }) => ({
    path: drift.path,
    expected: drift.live,
    value: drift.git,
  }))
  const ordered = [
    ...fields.filter(({ value }) => value === undefined),
    ...fields.filter(({ value }) => value !== undefined),
  ]
  return [
    {
      kind: 'patch-fields',
      target: { id, apiVersion },
      fields: ordered,
      resourceVersion: metadataText(live, 'resourceVersion'),
    },
  ]
}

function writesFor(changes: readonly OpenChange[], live: JsonObject | undefined): ApprovedWrite[] {
  const writes: ApprovedWrite[] = []
  const restored = changes.filter(
    ({ drift }) => drift.change === 'modified' || drift.change === 'removed',
  )
  const [first] = changes
  if (first?.drift.change === 'missing' && first.desired !== undefined)
    writes.push({ kind: 'apply', resource: first.desired })
  if (restored[0]?.desired !== undefined) {
    // `live` was read after the comparison: its version must be the compared one.
    const moved =
      live === undefined
        ? undefined
        : restored.find(({ drift }) => !jsonEquals(valueAt(live, drift.path), drift.live))
    if (moved !== undefined)
      throw notWritten(
        moved.drift.id,
        `${shownPathOnly(moved.drift.path, moved.drift.id)} changed while the write was prepared`,
      )
    const paths = restored.map(({ drift }) => drift.path)
    writes.push({ kind: 'apply', resource: onlyFields(restored[0].desired, paths, live) })
  }
  for (const { drift } of changes) {
    if (live === undefined) continue
    const target = { id: drift.id, apiVersion: drift.apiVersion }
    const resourceVersion = metadataText(live, 'resourceVersion')
    if (drift.change === 'added' && drift.live !== undefined) {
      writes.push({
        kind: 'remove-field',
        target,
        path: drift.path,
        expected: drift.live,
        resourceVersion,
      })
    }
    if (drift.change === 'unexpected')
      writes.push({ kind: 'delete', target, uid: drift.uid, resourceVersion })
  }
  return writes
}

/**
 * An apply of the identity and these fields owns nothing else; uid and resourceVersion are the
 * server's guard that it is still the observed object.
 */
function onlyFields(
  desired: Resource,
  paths: readonly FieldPath[],
  live: JsonObject | undefined,
): Resource {
  const { id } = desired
  const guard =
    live === undefined
      ? {}
      : { uid: metadataText(live, 'uid'), resourceVersion: metadataText(live, 'resourceVersion') }
  let object: Json = {
    apiVersion: desired.apiVersion,
    kind: id.kind,
    metadata: {
      name: id.name,
      ...(id.namespace === '' ? {} : { namespace: id.namespace }),
      ...guard,
    },
  }
  // The server keeps a Secret's stringData as data.
  const source = isSecret(id) ? withSecretData(desired.object) : desired.object
  for (const path of paths) object = withValue(object, source, path, 0)
  return { ...desired, object: object as JsonObject }
}

/** With the key fields of every list item on the way. */
function withValue(target: Json | undefined, source: Json, path: FieldPath, depth: number): Json {
  const step = path[depth]
  if (step === undefined) return source
  const next = valueAt(source, [step])
  if (next === undefined) return target ?? {}
  if (step.kind === 'field') {
    const map = isJsonObject(target) ? target : {}
    return { ...map, [step.name]: withValue(getKey(map, step.name), next, path, depth + 1) }
  }
  const list = Array.isArray(target) ? (target as readonly Json[]) : []
  const known = valueAt(list, [step])
  const start = known ?? (step.kind === 'item' ? step.keys : undefined)
  const item = withValue(start, next, path, depth + 1)
  return known === undefined
    ? [...list, item]
    : list.map((other) => (other === known ? item : other))
}
