import type { DesiredResource } from '@backporch/kpt/desired-set'
import { findValueAt, parseFieldPath } from '@backporch/kyaml/field'
import { isJsonArray, isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { isSensitive } from '@backporch/kyaml/redaction'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { ResolvedChange } from '../../sources/edits/resolution-edits.ts'
import { convertToSourceForm } from '../../sources/edits/source-form.ts'

export interface ChosenChange {
  readonly change: Change
  readonly resolved: ResolvedChange
}

export interface RefusedChange {
  readonly change: Change
  readonly why: string
}

interface ChosenChanges {
  readonly chosen: readonly ChosenChange[]
  readonly refused: readonly RefusedChange[]
}

/**
 * Of a record the changes with resolution Adopt, of a report all, because the person who passes it
 * decides. Changes that the package already has are in neither list.
 */
export function chooseChanges(
  { kind, spec }: DriftReport | DriftRecord,
  desired: readonly DesiredResource[],
): ChosenChanges {
  const chosen: ChosenChange[] = []
  const refused: RefusedChange[] = []
  for (const change of spec.changes) {
    if (kind === 'DriftRecord' && change.resolution !== 'Adopt') continue
    const resolved = resolve(change, desired)
    if (typeof resolved === 'string') refused.push({ change, why: resolved })
    else if (resolved !== undefined) chosen.push({ change, resolved })
  }
  return { chosen, refused }
}

const CREDENTIAL =
  'the live value is a credential, which reports omit and which must not be in git: restore it, or store it where the package refers to it'
/** Of `convertShownToJson` or `formatShownPath`. */
const HIDDEN = /hmac-sha256:[0-9a-f]{16}|^redacted \(not read\)$/

/** @returns undefined if the package has the value; a sentence if it cannot be written */
function resolve(
  change: Change,
  desired: readonly DesiredResource[],
): ResolvedChange | string | undefined {
  const own = findDeclaration(change, desired)
  if (change.change === 'unexpected')
    return own === undefined
      ? 'git does not declare the object, so no file shows where it belongs: commit its manifest to the package'
      : undefined
  if (change.change === 'missing')
    return own === undefined ? undefined : createResolvedChange(change, own, [])
  const read = parseFieldPath(change.path ?? '')
  if ('problem' in read) return 'its path is not a field path'
  if (HIDDEN.test(change.path ?? '')) return CREDENTIAL
  if (own === undefined) return 'the package does not declare the object'
  const { path } = read
  const removed = change.change === 'removed'
  if (!removed && change.live === undefined && change.redacted !== true)
    return 'it has no live value'
  const hidden =
    !removed &&
    (change.redacted === true ||
      holdsHidden(change.live) ||
      isSensitive({ id: own.id, path }, change.live))
  if (hidden) return CREDENTIAL
  if (canBreakMetadata(path, change.live)) return 'no object can be written with this value'
  const live = removed ? undefined : change.live
  const now = findValueAt(own.object, path)
  if (isJsonEqual(now, live === undefined ? undefined : convertToSourceForm(own.id, now, live)))
    return undefined
  if (now !== undefined && change.redacted !== true && !isJsonEqual(now, change.git))
    return 'git has changed since the comparison, and has neither the value of then nor the live value: compare again'
  return createResolvedChange({ ...change, live }, own, path)
}

/** A declaration may omit the namespace that the object has in the cluster. */
function findDeclaration(
  { ref }: Change,
  desired: readonly DesiredResource[],
): DesiredResource | undefined {
  const same = desired.filter(
    ({ id }) =>
      id.group === ref.group &&
      id.kind === ref.kind &&
      id.name === ref.name &&
      (id.namespace === ref.namespace || id.namespace === ''),
  )
  return same.find(({ id }) => id.namespace === ref.namespace) ?? same[0]
}

/** An annotation of kpt's functions locates the object, so it must stay valid. */
function canBreakMetadata(
  [first, second, ...below]: ResolvedChange['drift']['path'],
  live: Json | undefined,
): boolean {
  if (first?.kind !== 'field' || first.name !== 'metadata') return false
  if (second === undefined) return true
  const isAnnotations =
    second.kind === 'field' && second.name === 'annotations' && below.length === 0
  return (
    isAnnotations &&
    live !== undefined &&
    !(isJsonObject(live) && Object.values(live).every((text) => typeof text === 'string'))
  )
}

function holdsHidden(value: Json | undefined): boolean {
  if (typeof value === 'string') return HIDDEN.test(value)
  if (isJsonArray(value)) return value.some(holdsHidden)
  return (
    isJsonObject(value) &&
    Object.entries(value).some(([key, below]) => HIDDEN.test(key) || holdsHidden(below))
  )
}

function createResolvedChange(
  change: Change,
  desired: DesiredResource,
  path: ResolvedChange['drift']['path'],
): ResolvedChange {
  return {
    drift: {
      id: { ...change.ref },
      apiVersion: desired.apiVersion,
      uid: undefined,
      change: change.change,
      path,
      git: change.git,
      live: change.live,
      liveUnread: false,
      // Does not affect the edit.
      actor: {
        manager: 'unknown',
        operation: undefined,
        subresource: '',
        class: 'unknown',
        at: undefined,
        confidence: 'none',
      },
      risk: change.risk,
      reason: change.reason,
      notes: [],
    },
    desired,
    resolution: 'Adopt',
    via: change.via,
  }
}
