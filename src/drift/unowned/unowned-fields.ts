/**
 * Differences of a live object without owners on the server: it came without managers (they were cleared, or an apply that owned
 * nothing created it: docs/facts/objects-without-managers.md), or with what `before-first-apply` stands for. Compared with git and what the
 * server itself writes, which costs no request, and where that leaves something open with the server's answer to creating it.
 */
import { type FieldPath, valueAt } from '../../krm/field-path.ts'
import { fieldSetOf } from '../../krm/field-set.ts'
import type { Prediction } from '../../krm/live-view.ts'
import { type ManagedFields, managedFieldsOf, ownsLocation } from '../../krm/managed-fields.ts'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import type { Json, JsonObject } from '../../text/json.ts'
import { compareObjects } from '../compare/compare-resource.ts'
import { differingLeaves, isEmptyValue } from '../compare/equal-values.ts'
import { followsAnother } from '../compare/follows.ts'
import { type CreationProbe, createdObject } from './creation-probe.ts'
import { isServerWritten, isSomebodys, type UnownedSubject } from './server-written.ts'

/** The server's answer to creating the object, under another name and as a dry run. */
export interface CreationAnswer {
  readonly probe: CreationProbe
  readonly prediction: Prediction
}

export interface UnownedDifference {
  readonly change: 'modified' | 'removed' | 'added'
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
}

export interface UnownedFields {
  readonly differences: readonly UnownedDifference[]
  /** Whether this is all there is: no dry run of an apply could add anything. */
  readonly complete: boolean
  /** Fields beyond git that may be defaults, or edits: this is unknown. */
  readonly open: readonly FieldPath[]
}

const NONE: UnownedFields = { differences: [], complete: false, open: [] }

/** Whether the writer of a field is unknown, so that what is beyond git cannot be found by its owner. */
export function hasNoOwners({ entries, unreadable }: ManagedFields): boolean {
  return unreadable.length > 0 || entries.every(({ manager, subresource }) => manager === BEFORE_FIRST_APPLY || subresource === 'status')
}

/** Whether some field may have any writer: all of them, or those without a manager at the first apply. */
export function mayBeAnybodys(managed: ManagedFields): boolean {
  return hasNoOwners(managed) || managed.entries.some(({ manager }) => manager === BEFORE_FIRST_APPLY)
}

/** Whether a creation dry run is needed: git, and what the server writes by itself, do not explain all. */
export function needsCreation(subject: UnownedSubject): boolean {
  const managed = managedFieldsOf(subject.live)
  if (hasNoOwners(managed)) return !isPlainlyInSync(subject, managed)
  return mayBeAnybodys(managed) && beyondGit(subject, managed).length > 0
}

/** @param metadataOnly the content of the live object was not read */
export function unownedFields(subject: UnownedSubject, creation: CreationAnswer | undefined, metadataOnly: boolean): UnownedFields {
  const managed = managedFieldsOf(subject.live)
  const whole = hasNoOwners(managed)
  if (!mayBeAnybodys(managed)) return NONE
  const { prediction } = creation ?? {}
  const created =
    creation !== undefined && prediction?.state === 'predicted'
      ? createdObject(prediction.object, creation.probe, subject.desired, subject.live)
      : undefined
  if (created !== undefined) {
    const differences = againstCreation(subject, created, managed)
    return { differences: whole ? differences : differences.filter(({ change }) => change === 'added'), complete: whole, open: [] }
  }
  if (whole && !metadataOnly && isPlainlyInSync(subject, managed)) return { ...NONE, complete: true }
  const beyond = beyondGit(subject, managed)
  const declared = whole ? differingDeclared(subject, metadataOnly) : []
  const somebodys = (each: UnownedDifference): boolean => isSomebodys(each.path, subject)
  const certain = [...declared.filter(isPlain), ...beyond].filter(somebodys)
  return { differences: certain, complete: false, open: beyond.filter((each) => !somebodys(each)).map(({ path }) => path) }
}

/** Fields beyond git that no known writer owns and that the server does not write by itself. */
function beyondGit(subject: UnownedSubject, managed: ManagedFields): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, desired, schema).flatMap(({ path, live: value, predicted }) =>
    predicted === undefined && value !== undefined && isOpen(path, value, subject, managed) ? [added(path, value)] : [],
  )
}

/** Whether applying would change nothing, and nothing is there beside what it declares. No request. */
function isPlainlyInSync(subject: UnownedSubject, managed: ManagedFields): boolean {
  return differingDeclared(subject, false).length === 0 && beyondGit(subject, managed).length === 0
}

/** Declared places that are not as git has them, where the server would not store git's value as the live one. */
function differingDeclared({ live, desired, schema }: UnownedSubject, metadataOnly: boolean): UnownedDifference[] {
  const read = Object.fromEntries(Object.entries(desired).filter(([name]) => name !== 'status' && (!metadataOnly || name === 'metadata')))
  const found: UnownedDifference[] = []
  for (const { path, declared, live: value } of differingLeaves(fieldSetOf(read, schema), read, live, schema)) {
    if (value === undefined && isEmptyValue(declared)) continue
    found.push({ change: value === undefined ? 'removed' : 'modified', path, git: declared, live: value })
  }
  return found
}

/** Inside of what is stored as a whole there may be defaults. */
function isPlain({ git, live }: UnownedDifference): boolean {
  return [git, live].every((value) => typeof value !== 'object' || value === null)
}

function againstCreation(subject: UnownedSubject, created: JsonObject, managed: ManagedFields): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, created, schema).flatMap(({ path, live: value, predicted }): UnownedDifference[] => {
    const git = valueAt(desired, path)
    if (value === undefined) return git === undefined ? [] : [{ change: 'removed', path, git, live: undefined }]
    if (git !== undefined && predicted !== undefined) return [{ change: 'modified', path, git, live: value }]
    return isOpen(path, value, subject, managed) ? [added(path, value)] : []
  })
}

function added(path: FieldPath, live: Json): UnownedDifference {
  return { change: 'added', path, git: undefined, live }
}

function isOpen(path: FieldPath, value: Json, subject: UnownedSubject, managed: ManagedFields): boolean {
  if (isServerWritten(path, value, subject) || followsAnother({ change: 'added', path }, subject.desired, subject.live)) return false
  const owners = managed.entries.filter((entry) => entry.subresource !== 'status' && ownsLocation(entry, path, managed))
  // A field without an owner in an object with recorded owners came with the server's own writes.
  return owners.every(({ manager }) => manager === BEFORE_FIRST_APPLY) && (owners.length > 0 || hasNoOwners(managed))
}
