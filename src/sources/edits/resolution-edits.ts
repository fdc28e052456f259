/**
 * Restore edits nothing, because git has the value. Adopt writes the live value where the value was
 * authored. Release removes the field from git (design §8).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { removeValueAt, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import { createFieldStep, findValueAt } from '@backporch/kyaml/field'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { formatRedactedPath, isSecret, isSensitive } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { ObjectManifest } from '../../drift/authored/object-manifest.ts'
import type { Drift, Resolution } from '../../drift/compare/drift.ts'
import { isEncrypted } from '../../drift/detect/encrypted-fields.ts'
import { omitServerDefaults } from '../../drift/noise/defaulted-fields.ts'
import { explainNotSigned } from './edit-authored.ts'
import { explainNotWhole } from './not-adopted.ts'
import { convertToSourceForm } from './source-form.ts'

export interface ResolvedChange {
  readonly drift: Drift
  readonly desired: DesiredResource | undefined
  readonly resolution: Resolution
  /** By its name in the refusal; one of several equal locations. */
  readonly via?: string | undefined
  readonly whole?: ObjectManifest | undefined
}

export interface FileEdit {
  /** From the repository root. */
  readonly path: string
  readonly edit: YamlEdit
}

/**
 * Undefined if the resolution needs none.
 * @throws Failure BP2001, BP2002 or BP2010 if the resolution does not fit the change
 */
export function createEdit(change: ResolvedChange): FileEdit | undefined {
  const { drift, desired, resolution } = change
  if (resolution === 'Restore') return undefined
  if (desired === undefined) {
    if (resolution === 'Adopt') assertWholeAdoptable(change)
    return undefined
  }
  if (isEncrypted(desired.object)) refuseEncrypted(change, desired.location.path)
  const at = { document: desired.location.document, item: desired.location.item }
  const path = desired.location.path
  if (drift.change === 'missing') return { path, edit: { ...at, kind: 'remove-object' } }
  if (resolution === 'Release') {
    assertReleasable(change)
    if (findValueAt(desired.object, drift.path) === undefined) return undefined
    return { path, edit: { ...at, kind: 'remove', path: drift.path } }
  }
  assertAdoptable(change)
  const value = getWrittenValue(change)
  return {
    path,
    edit:
      value === undefined
        ? { ...at, kind: 'remove', path: drift.path }
        : { ...at, kind: 'set', path: drift.path, value },
  }
}

/** Undefined for a removed field. */
export function getWantedValue({ drift, desired, resolution }: ResolvedChange): Json | undefined {
  if (resolution !== 'Adopt' || drift.change === 'removed' || drift.live === undefined)
    return undefined
  const { id, path, live, forEdit: { allocated = [] } = {} } = drift
  const declared = desired === undefined ? undefined : findValueAt(desired.object, path)
  return convertToSourceForm(
    id,
    declared,
    allocated.reduce((value, name) => removeValueAt(value, [createFieldStep(name)]), live),
  )
}

/** A block that git lacks has no defaults that the server adds again. */
export function getWrittenValue(change: ResolvedChange): Json | undefined {
  return omitDefaults(change, getWantedValue(change))
}

function omitDefaults({ drift }: ResolvedChange, value: Json | undefined): Json | undefined {
  return value === undefined || drift.change !== 'added' ? value : omitServerDefaults(drift, value)
}

export function isWanted(change: ResolvedChange, value: Json | undefined): boolean {
  return (
    isJsonEqual(value, getWantedValue(change)) ||
    isJsonEqual(omitDefaults(change, value), getWrittenValue(change))
  )
}

export function isEdited({ resolution, desired }: ResolvedChange): boolean {
  return resolution !== 'Restore' && desired !== undefined
}

type Refused = Pick<ResolvedChange, 'drift' | 'resolution'> &
  Partial<Pick<ResolvedChange, 'desired'>>

export class Refusal extends Failure {
  readonly drift: Drift

  constructor(drift: Drift, detail: FailureDetail) {
    super(detail)
    this.drift = drift
  }
}

/**
 * Default: BP2001, at the object in git. `what` follows `cannot adopt spec.replicas of Deployment
 * shop/web`.
 */
export function createCannotFailure(
  { drift, resolution, desired }: Refused,
  {
    what,
    where = desired === undefined ? undefined : formatLocation(desired),
    ...detail
  }: Pick<FailureDetail, 'why' | 'remedy'> &
    Partial<Pick<FailureDetail, 'code' | 'what' | 'where'>>,
): Failure {
  const field = formatRedactedPath(drift.path, drift.id)
  const subject = `cannot ${resolution.toLowerCase()} ${field === '' ? '' : `${field} of `}${describeResourceId(drift.id)}`
  return new Refusal(drift, {
    code: 'BP2001',
    what: what === undefined ? subject : `${subject} ${what}`,
    ...(where === undefined ? {} : { where }),
    ...detail,
  })
}

function formatLocation({ location: { path, line } }: DesiredResource): string {
  return `${path}:${line}`
}

function assertReleasable(change: Refused): void {
  if (change.drift.lostWhenReleased !== true) return
  throw createCannotFailure(change, {
    why: 'the syncer owns the field: if git does not declare it, the next apply removes it, and the live value is lost',
    remedy:
      'choose adopt; or first take the field from the syncer, then release (client-side apply of kubectl or kpt: kubectl apply edit-last-applied; server-side apply: apply the field under another manager; client-side Helm: not possible)',
  })
}

function assertAdoptable(change: Refused): void {
  const { drift } = change
  const ofSecret =
    isSecret(drift.id) && !(drift.path[0]?.kind === 'field' && drift.path[0].name === 'metadata')
  const hidden = ofSecret || isSensitive(drift, drift.live)
  if (!hidden && !drift.liveUnread) return
  throw createCannotFailure(change, {
    code: 'BP2002',
    why: 'the value is a credential, and a credential in git is readable by everybody who can read the repository',
    remedy: 'choose restore or release, or store the credential where the package refers to it',
  })
}

function refuseEncrypted(change: Refused, file: string): never {
  throw createCannotFailure(change, {
    code: change.resolution === 'Adopt' ? 'BP2002' : 'BP2001',
    ...explainNotSigned(file),
  })
}

function assertWholeAdoptable(change: Refused): void {
  const refused = explainNotWhole(change.drift)
  if (refused !== undefined) throw createCannotFailure(change, refused)
}
