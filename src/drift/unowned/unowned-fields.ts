/**
 * The managers were cleared, or an apply owned nothing (docs/facts/objects-without-managers.md), or
 * there is `before-first-apply`. The fields are compared first with git and the server's own
 * writes, which needs no request, and then with the answer to a creation.
 */
import {
  buildFieldSet,
  type FieldPath,
  findValueAt,
  getManagedFields,
  type ManagedFields,
  ownsLocation,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { Prediction } from '@backporch/kyaml/resource'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import { compareObjects } from '../compare/compare-resource.ts'
import { isEmptyValue, listDifferingLeaves } from '../compare/equal-values.ts'
import { followsAnother } from '../compare/follows.ts'
import { type CreationProbe, findCreatedObject } from './creation-probe.ts'
import { isServerWritten, isSomebodys, type UnownedSubject } from './server-written.ts'

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
  readonly complete: boolean
  readonly open: readonly FieldPath[]
}

const NONE: UnownedFields = { differences: [], complete: false, open: [] }

export function hasNoOwners({ entries, unreadable }: ManagedFields): boolean {
  return (
    unreadable.length > 0 ||
    entries.every(
      ({ manager, subresource }) => manager === BEFORE_FIRST_APPLY || subresource === 'status',
    )
  )
}

export function mayBeAnybodys(managed: ManagedFields): boolean {
  return (
    hasNoOwners(managed) || managed.entries.some(({ manager }) => manager === BEFORE_FIRST_APPLY)
  )
}

export function needsCreation(subject: UnownedSubject): boolean {
  const managed = getManagedFields(subject.live)
  if (hasNoOwners(managed)) return !isPlainlyInSync(subject, managed)
  return mayBeAnybodys(managed) && listBeyondGit(subject, managed).length > 0
}

export function findUnownedFields(
  subject: UnownedSubject,
  creation: CreationAnswer | undefined,
  metadataOnly: boolean,
): UnownedFields {
  const managed = getManagedFields(subject.live)
  const whole = hasNoOwners(managed)
  if (!mayBeAnybodys(managed)) return NONE
  const { prediction } = creation ?? {}
  const created =
    creation !== undefined && prediction?.state === 'predicted'
      ? findCreatedObject(prediction.object, creation.probe, subject.desired, subject.live)
      : undefined
  if (created !== undefined) {
    const differences = compareWithCreation(subject, created, managed)
    return {
      differences: whole ? differences : differences.filter(({ change }) => change === 'added'),
      complete: whole,
      open: [],
    }
  }
  if (whole && !metadataOnly && isPlainlyInSync(subject, managed))
    return { ...NONE, complete: true }
  const beyond = listBeyondGit(subject, managed)
  const declared = whole ? listDifferingDeclared(subject, metadataOnly) : []
  const somebodys = (each: UnownedDifference): boolean => isSomebodys(each.path, subject)
  const certain = [...declared.filter(isPlain), ...beyond].filter(somebodys)
  return {
    differences: certain,
    complete: false,
    open: beyond.filter((each) => !somebodys(each)).map(({ path }) => path),
  }
}

function listBeyondGit(subject: UnownedSubject, managed: ManagedFields): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, desired, schema).flatMap(({ path, live: value, predicted }) =>
    predicted === undefined && value !== undefined && isOpen(path, value, subject, managed)
      ? [createAddition(path, value)]
      : [],
  )
}

function isPlainlyInSync(subject: UnownedSubject, managed: ManagedFields): boolean {
  return (
    listDifferingDeclared(subject, false).length === 0 &&
    listBeyondGit(subject, managed).length === 0
  )
}

function listDifferingDeclared(
  { live, desired, schema }: UnownedSubject,
  metadataOnly: boolean,
): UnownedDifference[] {
  const read = Object.fromEntries(
    Object.entries(desired).filter(
      ([name]) => name !== 'status' && (!metadataOnly || name === 'metadata'),
    ),
  )
  const found: UnownedDifference[] = []
  for (const { path, declared, live: value } of listDifferingLeaves(
    buildFieldSet(read, schema),
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

/** A value that is stored as a whole may contain defaults. */
function isPlain({ git, live }: UnownedDifference): boolean {
  return [git, live].every((value) => typeof value !== 'object' || value === null)
}

function compareWithCreation(
  subject: UnownedSubject,
  created: JsonObject,
  managed: ManagedFields,
): UnownedDifference[] {
  const { live, desired, schema } = subject
  return compareObjects(live, created, schema).flatMap(
    ({ path, live: value, predicted }): UnownedDifference[] => {
      const git = findValueAt(desired, path)
      if (value === undefined)
        return git === undefined ? [] : [{ change: 'removed', path, git, live: undefined }]
      if (git !== undefined && predicted !== undefined)
        return [{ change: 'modified', path, git, live: value }]
      return isOpen(path, value, subject, managed) ? [createAddition(path, value)] : []
    },
  )
}

function createAddition(path: FieldPath, live: Json): UnownedDifference {
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
  // In an object with owners, the server wrote unowned fields.
  return (
    owners.every(({ manager }) => manager === BEFORE_FIRST_APPLY) &&
    (owners.length > 0 || hasNoOwners(managed))
  )
}
