/**
 * Differences of fields without owners: the object has no managers (they were cleared, or an apply owned nothing:
 * docs/facts/objects-without-managers.md), or has `before-first-apply`. They are compared with git and the server's own writes, which costs no
 * request, and then with the server's answer to a creation.
 */
import {
  type FieldPath,
  fieldSetOf,
  type ManagedFields,
  managedFieldsOf,
  ownsLocation,
  valueAt,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { Prediction } from '@backporch/kyaml/resource'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import { compareObjects } from '../compare/compare-resource.ts'
import { differingLeaves, isEmptyValue } from '../compare/equal-values.ts'
import { followsAnother } from '../compare/follows.ts'
import { type CreationProbe, createdObject } from './creation-probe.ts'
import { isServerWritten, isSomebodys, type UnownedSubject } from './server-written.ts'

/** The answer to the dry run of a creation under another name. */
export interface CreationAnswer {
  readonly probe: CreationProbe
  readonly prediction: Prediction
}

interface UnownedDifference {
  readonly change: 'modified' | 'removed' | 'added'
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
}

export interface UnownedFields {
  readonly differences: readonly UnownedDifference[]
  /** Whether these are all differences, so that no dry run of an apply adds any. */
  readonly complete: boolean
  /** Undeclared fields that are defaults or edits. */
  readonly open: readonly FieldPath[]
}

const NONE: UnownedFields = { differences: [], complete: false, open: [] }

/** Whether no field has a known writer. */
export function hasNoOwners({ entries, unreadable }: ManagedFields): boolean {
  return (
    unreadable.length > 0 ||
    entries.every(
      ({ manager, subresource }) => manager === BEFORE_FIRST_APPLY || subresource === 'status',
    )
  )
}

/** Whether some field has no known writer. */
export function mayBeAnybodys(managed: ManagedFields): boolean {
  return (
    hasNoOwners(managed) || managed.entries.some(({ manager }) => manager === BEFORE_FIRST_APPLY)
  )
}

/** Whether git and the server's own writes leave something unexplained. */
export function needsCreation(subject: UnownedSubject): boolean {
  const managed = managedFieldsOf(subject.live)
  if (hasNoOwners(managed)) return !isPlainlyInSync(subject, managed)
  return mayBeAnybodys(managed) && beyondGit(subject, managed).length > 0
}

/** @param metadataOnly whether the content was not read */
export function unownedFields(
  subject: UnownedSubject,
  creation: CreationAnswer | undefined,
  metadataOnly: boolean,
): UnownedFields {
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
    return {
      differences: whole ? differences : differences.filter(({ change }) => change === 'added'),
      complete: whole,
      open: [],
    }
  }
  if (whole && !metadataOnly && isPlainlyInSync(subject, managed))
    return { ...NONE, complete: true }
  const beyond = beyondGit(subject, managed)
  const declared = whole ? differingDeclared(subject, metadataOnly) : []
  const somebodys = (each: UnownedDifference): boolean => isSomebodys(each.path, subject)
  const certain = [...declared.filter(isPlain), ...beyond].filter(somebodys)
  return {
    differences: certain,
    complete: false,
    open: beyond.filter((each) => !somebodys(each)).map(({ path }) => path),
  }
}

/** Undeclared fields without a known writer that the server does not write itself. */
function beyondGit(subject: UnownedSubject, managed: ManagedFields): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, desired, schema).flatMap(({ path, live: value, predicted }) =>
    predicted === undefined && value !== undefined && isOpen(path, value, subject, managed)
      ? [added(path, value)]
      : [],
  )
}

/** Whether an apply changes nothing, and there are no undeclared fields. */
function isPlainlyInSync(subject: UnownedSubject, managed: ManagedFields): boolean {
  return differingDeclared(subject, false).length === 0 && beyondGit(subject, managed).length === 0
}

/** Declared locations with a live value that the server would not store for git's. */
function differingDeclared(
  { live, desired, schema }: UnownedSubject,
  metadataOnly: boolean,
): UnownedDifference[] {
  const read = Object.fromEntries(
    Object.entries(desired).filter(
      ([name]) => name !== 'status' && (!metadataOnly || name === 'metadata'),
    ),
  )
  const found: UnownedDifference[] = []
  for (const { path, declared, live: value } of differingLeaves(
    fieldSetOf(read, schema),
    read,
    live,
    schema,
  )) {
    if (value === undefined && isEmptyValue(declared)) continue
    found.push({
      change: value === undefined ? 'removed' : 'modified',
      path,
      git: declared,
      live: value,
    })
  }
  return found
}

/** A value that is stored as a whole may have defaults inside. */
function isPlain({ git, live }: UnownedDifference): boolean {
  return [git, live].every((value) => typeof value !== 'object' || value === null)
}

function againstCreation(
  subject: UnownedSubject,
  created: JsonObject,
  managed: ManagedFields,
): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, created, schema).flatMap(
    ({ path, live: value, predicted }): UnownedDifference[] => {
      const git = valueAt(desired, path)
      if (value === undefined)
        return git === undefined ? [] : [{ change: 'removed', path, git, live: undefined }]
      if (git !== undefined && predicted !== undefined)
        return [{ change: 'modified', path, git, live: value }]
      return isOpen(path, value, subject, managed) ? [added(path, value)] : []
    },
  )
}

function added(path: FieldPath, live: Json): UnownedDifference {
  return { change: 'added', path, git: undefined, live }
}

function isOpen(
  path: FieldPath,
  value: Json,
  subject: UnownedSubject,
  managed: ManagedFields,
): boolean {
  if (
    isServerWritten(path, value, subject) ||
    followsAnother({ change: 'added', path }, subject.desired, subject.live)
  )
    return false
  const owners = managed.entries.filter(
    (entry) => entry.subresource !== 'status' && ownsLocation(entry, path, managed),
  )
  // In an object with owners, the server itself wrote unowned fields.
  return (
    owners.every(({ manager }) => manager === BEFORE_FIRST_APPLY) &&
    (owners.length > 0 || hasNoOwners(managed))
  )
}
