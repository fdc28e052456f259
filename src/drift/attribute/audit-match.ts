/**
 * By the server's answers (level RequestResponse), or without bodies by object, manager and time
 * (docs/facts/audit-events.md).
 */
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  getManagedFields,
  indexOfStep,
  type ManagedFieldsEntry,
  ownsLocation,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  parsePointer,
} from '@backporch/kyaml/json'
import {
  type AuditedWrite,
  getMetadataText,
  isOfKind,
  isWriteTo,
  type ResourceId,
} from '@backporch/kyaml/resource'
import type { Drift, SyncerManager } from '../compare/drift.ts'

export interface AuditMatch {
  readonly write: AuditedWrite
  /**
   * `by-time`: its manager owns the field and wrote at the owner's time. `perhaps`: no other write
   * in the log can have caused it, and the log may be incomplete.
   */
  readonly proof: 'proven' | 'by-time' | 'perhaps'
}

/** @param writes to the object and its namespace, oldest first */
export function findAuditMatch(
  drift: Drift,
  writes: readonly AuditedWrite[],
  syncer: SyncerManager | undefined,
): AuditMatch | undefined {
  const own = writes.filter(({ object }) => isWriteTo(object, drift.id))
  if (drift.change === 'missing') return findDeletion(drift.id, own, writes)
  if (drift.change === 'unexpected') return findCreation(drift, own)
  const changing = listWritesSinceCreation(own).filter(
    ({ verb }) => verb === 'create' || verb === 'update' || verb === 'patch',
  )
  if (drift.change === 'removed') return findRemoval(drift.path, changing, syncer)
  return findProvenWriter(drift, changing) ?? findWriterByTime(drift, changing)
}

function listWritesSinceCreation(own: readonly AuditedWrite[]): readonly AuditedWrite[] {
  const gone = own.findLastIndex(({ verb }) => verb === 'delete')
  const created = own.findIndex(({ created }, index) => index > gone && created)
  // A finalizer may hold a deleted object.
  return gone === -1 || created === -1 ? own : own.slice(created)
}

function findProvenWriter(drift: Drift, writes: readonly AuditedWrite[]): AuditMatch | undefined {
  const { actor, path } = drift
  let first: AuditedWrite | undefined
  for (const write of writes.toReversed()) {
    // Without a comparable body there is no evidence.
    if (write.response === undefined || !isComparable(write, drift)) continue
    if (!hasLiveValue(write, drift)) break
    first = write
  }
  if (
    first === undefined ||
    first.manager !== actor.manager ||
    first.object.subresource !== actor.subresource
  )
    return undefined
  if (first.object.subresource === 'scale') return { write: first, proof: 'proven' }
  // A later write would have another time in the owner's entry.
  return isOwnedIn(first, path) ? { write: first, proof: 'proven' } : undefined
}

/** A Scale has only replicas, and another version may have other fields. */
function isComparable({ object, response }: AuditedWrite, { path, apiVersion }: Drift): boolean {
  if (object.subresource === 'scale') return hasSameText(path, REPLICAS)
  return response !== undefined && getKey(response, 'apiVersion') === apiVersion
}

function hasSameText(left: FieldPath, right: FieldPath): boolean {
  return formatFieldPath(left) === formatFieldPath(right)
}

function hasLiveValue(write: AuditedWrite, { path, live, liveUnread }: Drift): boolean {
  if (write.response === undefined) return false
  if (write.object.subresource === 'scale')
    return isJsonEqual(findValueAt(write.response, REPLICAS), live)
  const value = findValueAt(write.response, path)
  // The log has no values of a Secret.
  return write.hidden || liveUnread
    ? value !== undefined && isOwnedIn(write, path)
    : isJsonEqual(value, live)
}

const REPLICAS: FieldPath = [createFieldStep('spec'), createFieldStep('replicas')]

function findOwnEntry({ response, manager, object }: AuditedWrite): ManagedFieldsEntry | undefined {
  if (response === undefined) return undefined
  const own = getManagedFields(response).entries.filter(
    (entry) => entry.manager === manager && entry.subresource === object.subresource,
  )
  return own.toSorted((left, right) => (left.time < right.time ? 1 : -1))[0]
}

function isOwnedIn(write: AuditedWrite, path: FieldPath): boolean {
  const entry = findOwnEntry(write)
  if (entry === undefined || write.response === undefined) return false
  return ownsLocation(entry, path, getManagedFields(write.response)) && fitsTime(write, entry.time)
}

/** Whole seconds, between request and answer. */
function fitsTime({ receivedAt, answeredAt }: AuditedWrite, time: string | undefined): boolean {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return !Number.isNaN(at) && at >= Math.floor(receivedAt / 1000) * 1000 && at <= answeredAt
}

function findWriterByTime(
  { actor }: Drift,
  writes: readonly AuditedWrite[],
): AuditMatch | undefined {
  const own = writes.filter(
    ({ manager, object }) => manager === actor.manager && object.subresource === actor.subresource,
  )
  // The scale subresource has no time.
  const at =
    actor.at === undefined && actor.subresource === 'scale'
      ? own.slice(-1)
      : own.filter((write) => fitsTime(write, actor.at))
  return findOnlyUser(at, 'by-time')
}

function findOnlyUser(
  writes: readonly AuditedWrite[],
  proof: AuditMatch['proof'],
): AuditMatch | undefined {
  const last = writes.at(-1)
  if (
    last === undefined ||
    writes.some(({ user, actingAs }) => user !== last.user || actingAs !== last.actingAs)
  )
    return undefined
  return { write: last, proof }
}

function findRemoval(
  path: FieldPath,
  writes: readonly AuditedWrite[],
  syncer: SyncerManager | undefined,
): AuditMatch | undefined {
  const whole = writes.filter(({ object }) => object.subresource === '')
  const had = whole.findLastIndex(
    ({ response }) => response !== undefined && findValueAt(response, path) !== undefined,
  )
  const after = whole.slice(had + 1)
  const without = after.findIndex(({ response }) => response !== undefined)
  const remover = after[without]
  const before = whole[had]
  if (before !== undefined && remover !== undefined && without === 0) {
    const follows =
      before.response !== undefined &&
      remover.object.resourceVersion === getMetadataText(before.response, 'resourceVersion')
    if (follows || hasRemovalAt(remover.request, path)) return { write: remover, proof: 'proven' }
    return { write: remover, proof: 'perhaps' }
  }
  // Each apply of the syncer restores the field.
  const synced = after.findLastIndex(
    ({ manager }) => syncer !== undefined && manager === syncer.manager,
  )
  const later = after.slice(synced + 1).filter(({ user }) => !isControlPlaneUser(user))
  const requested = later.filter(({ request }) => hasRemovalAt(request, path))
  return findOnlyUser(requested.length > 0 ? requested : later, 'perhaps')
}

/** By `null`, a directive, an operation, or a replaced list. */
export function hasRemovalAt(patch: Json | undefined, path: FieldPath): boolean {
  if (isJsonArray(patch)) return patch.some((operation) => isOperationAbove(operation, path))
  return patch !== undefined && !isWhole(patch) && isTakenAway(patch, path)
}

function isWhole(patch: Json): boolean {
  return (
    isJsonObject(patch) &&
    getKey(patch, 'kind') !== undefined &&
    getKey(patch, 'apiVersion') !== undefined
  )
}

function isTakenAway(patch: Json, path: FieldPath): boolean {
  const [step, ...rest] = path
  if (patch === null) return true
  if (isJsonObject(patch) && getKey(patch, '$patch') !== undefined) return true
  if (step === undefined) return false
  if (isJsonArray(patch)) {
    if (step.kind === 'field') return false
    const index = indexOfStep(patch, step)
    // A list with keys may be a strategic patch of named items.
    return index === -1 ? step.kind !== 'item' : isTakenAway(patch[index] ?? null, rest)
  }
  if (!isJsonObject(patch) || step.kind !== 'field') return false
  if (Object.hasOwn(patch, `$deleteFromPrimitiveList/${step.name}`)) return true
  const below = getKey(patch, step.name)
  return below !== undefined && isTakenAway(below, rest)
}

/** A pointer has indexes, so only field names are compared. */
function isOperationAbove(operation: Json, path: FieldPath): boolean {
  if (!isJsonObject(operation)) return false
  const [op, pointer] = [getKey(operation, 'op'), getKey(operation, 'path')]
  if (typeof pointer !== 'string' || (op !== 'remove' && op !== 'replace' && op !== 'move'))
    return false
  const parts = parsePointer(pointer)
  return (
    parts.length <= path.length &&
    parts.every((part, index) =>
      path[index]?.kind === 'field' ? part === path[index].name : /^\d+$/.test(part),
    )
  )
}

const NAMESPACE_CONTROLLER = 'system:serviceaccount:kube-system:namespace-controller'

/** Or of its collection or namespace. */
function findDeletion(
  id: ResourceId,
  own: readonly AuditedWrite[],
  writes: readonly AuditedWrite[],
): AuditMatch | undefined {
  const around = writes.filter(
    ({ verb, object }) =>
      (verb === 'deletecollection' && object.namespace === id.namespace && isOfKind(object, id)) ||
      (verb === 'delete' &&
        id.namespace !== '' &&
        isWriteTo(object, { group: '', kind: 'Namespace', namespace: '', name: id.namespace })),
  )
  const last = [...own.filter(({ verb }) => verb === 'delete'), ...around].toSorted(
    (left, right) => left.answeredAt - right.answeredAt,
  )
  const write = last.findLast(
    ({ user, verb }) => !(verb === 'deletecollection' && user === NAMESPACE_CONTROLLER),
  )
  if (write === undefined) return undefined
  // Created again: the log lacks the last delete.
  if (own.some((other) => other.created && other.answeredAt > write.answeredAt)) return undefined
  const named = write.verb === 'delete' && isWriteTo(write.object, id)
  return { write, proof: named || containsObject(write, id) ? 'proven' : 'perhaps' }
}

/** The answer lists the deleted objects. */
function containsObject({ response }: AuditedWrite, { name }: ResourceId): boolean {
  const items = response === undefined ? undefined : getKey(response, 'items')
  return (
    isJsonArray(items) &&
    items.some(
      (item) => findValueAt(item, [createFieldStep('metadata'), createFieldStep('name')]) === name,
    )
  )
}

function findCreation({ uid, live }: Drift, own: readonly AuditedWrite[]): AuditMatch | undefined {
  const created = own.filter(({ created, object }) => created && object.subresource === '')
  const same = uid === undefined ? undefined : created.findLast(({ object }) => object.uid === uid)
  if (same !== undefined) return { write: same, proof: 'proven' }
  const at = findValueAt(live, [createFieldStep('metadata'), createFieldStep('creationTimestamp')])
  return typeof at === 'string'
    ? findOnlyUser(
        created.filter((write) => fitsTime(write, at)),
        'by-time',
      )
    : undefined
}

export function isControlPlaneUser(user: string): boolean {
  return /^system:(kube-|node:|apiserver$|serviceaccount:kube-system:[a-z-]*controller$)/.test(user)
}
