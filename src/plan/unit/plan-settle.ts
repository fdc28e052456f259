/**
 * Plans the writes of `settle: backporch`. The caller sends the first write and replans, because
 * each write gives its object a new version. Only approved items are written, and only while the
 * object shows no other difference: a re-apply would also change what was not reviewed.
 */
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { formatRedactedPath, isSecret } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getMetadataText,
  getResourceKey,
  handOverFields,
  type LiveView,
  type Resource,
  type ResourceId,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { mergeSecretData } from '../../drift/compare/secret-data.ts'
import { isEncrypted, isEncryptedLocation } from '../../drift/detect/encrypted-fields.ts'
import { explainOutside } from '../../policy/boundary.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { explainNotDeleted } from '../../record/restore-losses.ts'
import type { Observation } from '../observation/observation.ts'
import { listAllChanges, listUnverifiedMerges, type OpenChange } from './commands/pick-changes.ts'

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
  const uncovered = listNotCovered(observed, record)
  const { writes, stays } = planValues(observed, record, live)
  const all = [...writes, ...planHandOver(observed, record, live)].filter(
    (write) => !uncovered.has(getResourceKey(getTarget(write))),
  )
  const [first] = [...uncovered.values(), ...stays]
  if (all.length === 0 && first !== undefined) throw first
  return all
}

/**
 * By `getResourceKey`. The record may be older than the package's present placement, and a tenant may
 * own its repository.
 */
function listNotCovered(
  observed: Observation,
  { spec }: DriftRecord,
): ReadonlyMap<string, Failure> {
  const restored = spec.changes.filter(({ resolution }) => resolution === 'Restore')
  return new Map(
    restored.flatMap(({ ref }): [string, Failure][] => {
      const why = explainNotWritten(observed, ref)
      return why === undefined ? [] : [[getResourceKey(ref), why]]
    }),
  )
}

function getTarget(write: ApprovedWrite): ResourceId {
  return write.kind === 'apply' ? write.resource.id : write.target.id
}

/**
 * The last check of a request before it is sent, whatever was planned.
 * @throws Failure BP3017 if it is outside the package's coverage
 */
export function assertMayWrite(observed: Observation, write: ApprovedWrite): void {
  const why = explainNotWritten(observed, getTarget(write))
  if (why !== undefined) throw why
}

function explainNotWritten(
  { verdicts, boundary }: Observation,
  id: ResourceId,
): Failure | undefined {
  const verdict = verdicts.find((one) => getResourceKey(one.id) === getResourceKey(id))
  return (
    explainOutside(boundary, id) ??
    (verdict?.state === 'outside' ? verdict.failure : verdict?.notSettled)
  )
}

export function settleTargets({ verdicts }: Observation, record: DriftRecord): WantedObject[] {
  const restored = listRestoredObjects(record)
  return verdicts
    .filter(
      ({ id, items, state }) =>
        state !== 'outside' && (items.length > 0 || restored.has(getResourceKey(id))),
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
  const restored = listRestoredObjects(record)
  const path = [createFieldStep('metadata'), createFieldStep('managedFields')]
  return verdicts.flatMap(({ id, apiVersion }) => {
    const object = restored.has(getResourceKey(id))
      ? findObject(live, getResourceKey(id))
      : undefined
    const value = object === undefined ? undefined : handOverFields(object, syncer)
    if (object === undefined || value === undefined) return []
    const fields = [{ path, expected: findValueAt(object, path), value }]
    const resourceVersion = getMetadataText(object, 'resourceVersion')
    return [{ kind: 'patch-fields', target: { id, apiVersion }, fields, resourceVersion } as const]
  })
}

export function isHandOver(write: ApprovedWrite): boolean {
  return (
    write.kind === 'patch-fields' &&
    write.fields.every(({ path }) => formatFieldPath(path) === 'metadata.managedFields')
  )
}

export function listRestoredObjects({ spec }: DriftRecord): ReadonlySet<string> {
  return new Set(
    spec.changes
      .filter(({ resolution }) => resolution === 'Restore')
      .map(({ ref }) => getResourceKey(ref)),
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
  if (!listUnverifiedMerges(observed.git.ledger.closed).some(isDecided))
    return { writes: [], stays: [] }
  const approved = new Set(
    record.spec.changes
      .filter(({ resolution }) => resolution === 'Restore')
      .map(({ fingerprint }) => fingerprint),
  )
  const now = listAllChanges(observed.verdicts, observed.key)
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
      throw createChangedFailure(
        verdict,
        own.filter((change) => !changes.includes(change)),
        missing.length,
      )
    assertPlain(changes)
    const undeleted = changes.flatMap(({ drift }) =>
      drift.change === 'unexpected' ? listNotDeleted(record, drift) : [],
    )
    stays.push(...undeleted)
    if (undeleted.length > 0) return []
    const state = findObject(live, getResourceKey(verdict.id))
    return verdict.reapplyFails === undefined
      ? buildWrites(changes, state)
      : buildPatch(changes, state)
  })
  return { writes, stays }
}

function listNotDeleted({ spec: { copies = [] } }: DriftRecord, { id }: Drift): Failure[] {
  const why = explainNotDeleted(
    copies.find(({ ref }) => getResourceKey(ref) === getResourceKey(id)),
  )
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
function createChangedFailure(
  { id }: ObjectVerdict,
  others: readonly OpenChange[],
  gone: number,
): Failure {
  const paths = others.map(({ drift }) => formatRedactedPath(drift.path, drift.id) || drift.change)
  return createNotWrittenFailure(
    id,
    `it changed since the review: ${paths.slice(0, 5).join(', ')}${gone > 0 ? `; ${gone} approved changes are gone` : ''}`,
  )
}

function createNotWrittenFailure(id: ResourceId, why: string): Failure {
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
    why: `git encrypts ${formatRedactedPath(path, id) || 'its values'} with SOPS, and backporch has no key: it would write the ciphertext`,
    remedy: 'apply the package with the syncer, which decrypts it',
    retry: 'on-change',
  })
}

function findObject(live: LiveView, key: string): JsonObject | undefined {
  const state = live.get(key)
  return state?.state === 'present' ? state.object : undefined
}

/** In one patch, removals first, because the server rejects an apply of the present object. */
function buildPatch(changes: readonly OpenChange[], live: JsonObject | undefined): ApprovedWrite[] {
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
      resourceVersion: getMetadataText(live, 'resourceVersion'),
    },
  ]
}

function buildWrites(
  changes: readonly OpenChange[],
  live: JsonObject | undefined,
): ApprovedWrite[] {
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
        : restored.find(({ drift }) => !isJsonEqual(findValueAt(live, drift.path), drift.live))
    if (moved !== undefined)
      throw createNotWrittenFailure(
        moved.drift.id,
        `${formatRedactedPath(moved.drift.path, moved.drift.id)} changed while the write was prepared`,
      )
    const paths = restored.map(({ drift }) => drift.path)
    writes.push({ kind: 'apply', resource: retainFields(restored[0].desired, paths, live) })
  }
  for (const { drift } of changes) {
    if (live === undefined) continue
    const target = { id: drift.id, apiVersion: drift.apiVersion }
    const resourceVersion = getMetadataText(live, 'resourceVersion')
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
      writes.push({
        kind: 'delete',
        target,
        uid: drift.uid,
        resourceVersion: resourceVersion || undefined,
      })
  }
  return writes
}

/**
 * An apply of the identity and these fields owns nothing else; uid and resourceVersion are the
 * server's guard that it is still the observed object.
 */
function retainFields(
  desired: Resource,
  paths: readonly FieldPath[],
  live: JsonObject | undefined,
): Resource {
  const { id } = desired
  const guard =
    live === undefined
      ? {}
      : {
          uid: getMetadataText(live, 'uid'),
          resourceVersion: getMetadataText(live, 'resourceVersion'),
        }
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
  const source = isSecret(id) ? mergeSecretData(desired.object) : desired.object
  for (const path of paths) object = setValue(object, source, path, 0)
  return { ...desired, object: object as JsonObject }
}

/** With the key fields of every list item on the way. */
function setValue(target: Json | undefined, source: Json, path: FieldPath, depth: number): Json {
  const step = path[depth]
  if (step === undefined) return source
  const next = findValueAt(source, [step])
  if (next === undefined) return target ?? {}
  if (step.kind === 'field') {
    const map = isJsonObject(target) ? target : {}
    return { ...map, [step.name]: setValue(getKey(map, step.name), next, path, depth + 1) }
  }
  const list = Array.isArray(target) ? (target as readonly Json[]) : []
  const known = findValueAt(list, [step])
  const start = known ?? (step.kind === 'item' ? step.keys : undefined)
  const item = setValue(start, next, path, depth + 1)
  return known === undefined
    ? [...list, item]
    : list.map((other) => (other === known ? item : other))
}
