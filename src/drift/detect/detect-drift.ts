/** A verdict per object from the content of git and the answers of the cluster. Pure: all requests are made before. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import {
  type FieldPath,
  type FieldSchema,
  field,
  fieldSetOf,
  isWithin,
  knownFieldsOf,
  type ManagedFields,
  managedFieldsOf,
  ownsLocation,
  PathSet,
  valueAt,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { isSecret, shownPathOnly } from '@backporch/kyaml/redaction'
import { describeResourceId, type LiveState, metadataText, type Prediction } from '@backporch/kyaml/resource'
import { BEFORE_FIRST_APPLY } from '../../syncers/kubectl.ts'
import { isMarkOf } from '../../syncers/marks.ts'
import { actorOf, foreignOwner, isSyncer, ownersOf, removerOf, UNKNOWN_ACTOR } from '../attribute/actor.ts'
import { absentBlock, compareObjects } from '../compare/compare-resource.ts'
import type { Actor, ChangeKind, Drift, ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { differingLeaves, isEmptyValue } from '../compare/equal-values.ts'
import { followsAnother } from '../compare/follows.ts'
import {
  type AppliedLast,
  appliedLast,
  droppedPaths,
  LEFT_OVER,
  OF_ANOTHER,
  OF_NOBODY,
  type StoredManifest,
  takenOver,
} from '../compare/last-applied.ts'
import { metadataProves, whyOwnershipProvesNothing } from '../compare/ownership-proof.ts'
import { withSecretData } from '../compare/secret-data.ts'
import { REPLICAS, unownedCount } from '../compare/unowned-count.ts'
import { type CreationProbe, creationProbeOf } from '../unowned/creation-probe.ts'
import { isLastApplied, type UnownedSubject } from '../unowned/server-written.ts'
import { type CreationAnswer, hasNoOwners, needsCreation, type UnownedFields, unownedFields } from '../unowned/unowned-fields.ts'
import { findAddedFields } from './added-fields.ts'
import { leftFields } from './left-data.ts'
import { isLostWhenReleased } from './lost-when-released.ts'
import { makeDrift, wholeObject } from './make-drift.ts'
import { hiddenLocations, writerInOtherVersion, writersInOtherVersions } from './other-version.ts'
import { contentNotRead, notExplained, notTried, unknownFields } from './verdict-failures.ts'
import { isTakenByUpdate, whyBlocked } from './why-blocked.ts'

/** A desired object and all that was read about it. */
export interface ObservedObject {
  readonly desired: DesiredResource
  readonly live: LiveState
  readonly schema: FieldSchema
  /** Undefined if no dry run was needed. */
  readonly prediction: Prediction | undefined
  /** The manifest that the syncer stores of its last apply. */
  readonly stored?: StoredManifest | undefined
  /** The dry run of a creation, for an object with unowned fields. */
  readonly creation?: CreationAnswer
}

/** The dry run of a creation, for an object without managers that git and the server's own writes do not explain; undefined if none is needed. */
export function creationProbe(observed: Omit<ObservedObject, 'prediction'>): CreationProbe | undefined {
  const { live, desired } = observed
  if (live.state !== 'present' || live.metadataOnly || !needsCreation(unownedSubject(observed, live.object))) return undefined
  return creationProbeOf(desired, appliedPart(observed))
}

function unownedSubject(
  { desired: { id, apiVersion, object }, schema }: Omit<ObservedObject, 'prediction'>,
  live: JsonObject,
): UnownedSubject {
  const known = knownFieldsOf(object, schema).object
  return { id, apiVersion, desired: isSecret(id) ? withSecretData(known) : known, live, schema }
}

/** Whether tier 1 does not decide, so that a dry run is needed. */
export function needsPrediction(observed: Omit<ObservedObject, 'prediction'>, syncer: SyncerManager | undefined): boolean {
  const { live, creation } = observed
  if (live.state !== 'present' || live.metadataOnly) return false
  // Without owners the creation shows the differences; an apply shows only whether one fails.
  if (hasNoOwners(managedFieldsOf(live.object))) {
    const { complete, differences } = unownedFields(unownedSubject(observed, live.object), creation, false)
    return !complete || differences.length > 0
  }
  const subject = { ...observed, apiVersion: observed.desired.apiVersion, desired: appliedPart(observed), live: live.object, syncer }
  return whyOwnershipProvesNothing({ ...subject, managed: managedFieldsOf(live.object) }) !== undefined
}

/** The desired object without fields that the server does not know. */
export function appliedPart({ desired, schema }: Pick<ObservedObject, 'desired' | 'schema'>): JsonObject {
  return knownFieldsOf(desired.object, schema).object
}

/** The verdict on a declared object, before ignore rules. */
export function detectDrift(observed: ObservedObject, syncer: SyncerManager | undefined): ObjectVerdict {
  const { desired, live } = observed
  const base = { id: desired.id, apiVersion: desired.apiVersion, desired, setAside: [], failure: undefined, reapplyFails: undefined }
  if (live.state === 'unreadable') return { ...base, state: 'unreadable', proof: 'none', items: [], failure: live.failure }
  const blocked = whyBlocked(observed, syncer)
  if (blocked !== undefined) return { ...base, ...blocked, state: 'blocked', proof: 'none', items: [] }
  if (live.state === 'absent') {
    const { id, apiVersion, object: git } = desired
    return wholeObject(desired, { id, apiVersion, uid: '', change: 'missing', git, live: undefined, actor: UNKNOWN_ACTOR, notes: [] })
  }
  const subject = new Subject(observed, live.object, live.metadataOnly, syncer)
  const judgement = subject.judge()
  return { ...base, ...judgement, ...(judgement.items.length === 0 ? {} : { live: live.object }) }
}

type Judgement = Pick<ObjectVerdict, 'state' | 'proof' | 'items' | 'mayBeBehind' | 'notes' | 'failure' | 'reapplyFails'>

class Subject {
  private readonly observed: ObservedObject
  private readonly live: JsonObject
  private readonly metadataOnly: boolean
  private readonly syncer: SyncerManager | undefined
  private readonly managed: ManagedFields
  /** The desired object without unknown fields, with `stringData` as stored. */
  private readonly desired: JsonObject
  private readonly unknown: readonly FieldPath[]
  private readonly applied: AppliedLast | undefined
  private readonly uid: string
  private readonly mayBeBehind = new Set<Drift>()

  constructor(observed: ObservedObject, live: JsonObject, metadataOnly: boolean, syncer: SyncerManager | undefined) {
    this.observed = observed
    this.live = live
    this.metadataOnly = metadataOnly
    this.syncer = syncer
    this.managed = managedFieldsOf(live)
    const known = knownFieldsOf(observed.desired.object, observed.schema)
    this.unknown = known.unknown
    this.desired = isSecret(observed.desired.id) ? withSecretData(known.object) : known.object
    this.applied = appliedLast(observed, live, syncer)
    this.uid = metadataText(live, 'uid')
  }

  judge(): Judgement {
    const { prediction, creation } = this.observed
    const { id, apiVersion } = this.observed.desired
    const subject = { id, apiVersion, desired: this.desired, live: this.live, schema: this.observed.schema }
    const unowned = unownedFields(subject, creation, this.metadataOnly)
    const metadata = { ...subject, managed: this.managed, syncer: this.syncer }
    let items: readonly Drift[] = []
    let failure: Failure | undefined
    const isTaken = isTakenByUpdate(prediction, this.syncer)
    let proof: ObjectVerdict['proof'] = isTaken ? 'ownership' : 'dry-run'
    let reapplyFails = prediction?.state === 'refused' && !isTaken ? prediction.failure.why : undefined
    if (unowned.complete) proof = 'creation'
    else if (isTaken) items = this.byOwnership(true)
    else if (prediction?.state === 'predicted') items = this.againstPrediction(prediction.object)
    else if (prediction === undefined && (!this.metadataOnly || metadataProves(metadata))) proof = 'ownership'
    else {
      proof = 'none'
      items = this.byOwnership(false)
      failure = this.metadataOnly ? contentNotRead(id) : prediction?.failure
    }
    items = [...items, ...this.unowned(unowned, items)]
    items = [...items, ...this.dropped(items)]
    items = [...items, ...this.added(items)]
    items = [...items, ...this.hidden(items)]
    const proven = proof !== 'none' && unowned.open.length === 0
    if (!proven) failure = unowned.open.length > 0 ? notExplained(id, unowned.open, creation) : failure
    const notes = this.unknown.map((path) => this.printUnknown(path))
    // A server-side apply refuses a field that an update drops.
    const refused = this.syncer?.operation === 'Apply' && notes.length > 0 ? unknownFields(id, this.unknown) : undefined
    reapplyFails ??= refused?.why
    if (refused !== undefined) failure = prediction?.state === 'refused' ? failure : refused
    const state = items.length > 0 ? 'drifted' : reapplyFails !== undefined ? 'blocked' : proven ? 'in-sync' : 'unverified'
    const open = items.filter((item) => this.mayBeBehind.has(item))
    // What refuses the object names the fields too.
    const told = state === 'blocked' && refused !== undefined ? [] : notes
    return {
      state,
      proof,
      items,
      ...(open.length === 0 ? {} : { mayBeBehind: new Set(open) }),
      ...(told.length === 0 ? {} : { notes: told }),
      failure: state === 'in-sync' ? undefined : failure,
      reapplyFails,
    }
  }

  /** Tier 2: the changes of the syncer's apply. */
  private againstPrediction(predicted: JsonObject): Drift[] {
    const differences = compareObjects(this.live, predicted, this.observed.schema)
    const own = differences.filter(
      ({ path, live, predicted: git }) =>
        !followsAnother({ change: live === undefined ? 'removed' : 'modified', path }, this.desired, this.live) &&
        !(git === undefined && this.isOwnMark(path)) &&
        // The merge patch of a client-side apply takes a null for "absent".
        !(git === null && live === undefined && this.syncer?.operation === 'Update') &&
        // An apply as `kubectl` updates the annotation of a client-side one.
        !(git !== undefined && valueAt(this.desired, path) === undefined && isLastApplied(path, git, this.observed.desired.id)),
    )
    const gone = new PathSet()
    return own.flatMap(({ path, live, predicted: git }) => {
      if (live === undefined) return this.removed(path, git, gone)
      // The apply gives up only the syncer's own fields, which git dropped.
      if (git === undefined) return this.open(this.extra(path, live, this.ownerOrUnknown(path)))
      const owner = foreignOwner(this.managed, path, this.syncer)
      const actor = owner === undefined ? this.writerOrOwner(path) : actorOf(owner, 'field-manager')
      const drift = this.drift({ change: 'modified', path, git: this.gitValue(path, git), live }, actor)
      // The syncer may share the field with another manager.
      return this.isSyncers(path) ? this.open(drift) : drift
    })
  }

  /** Differences without an owner: git moved, or a person wrote. */
  private unowned({ differences, complete }: UnownedFields, known: readonly Drift[]): Drift[] {
    const { prediction, creation } = this.observed
    const reported = new PathSet(known.map(({ path }) => path))
    const perhaps = creation === undefined || creation.prediction.state === 'predicted' ? [] : [notTried(creation.prediction.failure)]
    // Where the syncer applied the object, what it declared is its own.
    const applied = this.managed.entries.some((entry) => isSyncer(entry, this.syncer))
    const gone = new PathSet()
    return (
      differences
        // A dry run of the apply decides about declared fields.
        .filter(({ change, path }) => !reported.overlaps(path) && (complete || change === 'added' || prediction?.state !== 'predicted'))
        .flatMap(({ change, path, git, live }) => {
          if (change === 'removed') return this.removed(path, git, gone, UNKNOWN_ACTOR)
          const owner = foreignOwner(this.managed, path, this.syncer)
          const actor = owner === undefined || owner.manager === BEFORE_FIRST_APPLY ? UNKNOWN_ACTOR : actorOf(owner, 'field-manager')
          const notes = change === 'added' ? [this.applied?.note(path, OF_NOBODY) ?? OF_NOBODY, ...perhaps] : []
          const drift = this.drift({ change, path, git, live }, actor, notes)
          return applied ? drift : this.open(drift)
        })
    )
  }

  /** Fields of the syncer that git dropped: the last-applied manifest shows them, and `data`, because an Update owns defaults too. */
  private dropped(known: readonly Drift[]): Drift[] {
    if (this.metadataOnly) return []
    const { applied, desired, live, managed, observed, syncer } = this
    const paths = applied === undefined ? [] : droppedPaths(applied.object, desired, live, observed.schema)
    const dropped = paths.filter((path) => this.isSyncers(path) && !this.isOwnMark(path)).map((path) => ({ path, declared: true }))
    const left = leftFields({ id: observed.desired.id, desired, live, managed, syncer, applied })
    const reported = new PathSet(known.map(({ path }) => path))
    return [...dropped, ...left].flatMap(({ path, declared }) => {
      if (reported.overlaps(path)) return []
      const note = applied?.note(path, LEFT_OVER) ?? LEFT_OVER
      const item = this.extra(path, valueAt(live, path), this.ownerOrUnknown(path), [note])
      return [declared ? this.open(item) : item]
    })
  }

  /** The owner of `stringData` owns the stored `data`. */
  private isSyncers(path: FieldPath): boolean {
    const owners = ownersOf(this.managed, path)
    const [first, ...below] = path
    const written = owners.length === 0 && isSecret(this.observed.desired.id) && first?.kind === 'field' && first.name === 'data'
    const all = written ? ownersOf(this.managed, [field('stringData'), ...below]) : owners
    return all.some((entry) => isSyncer(entry, this.syncer))
  }

  /** Marks of the syncer are in each apply and in no manifest. */
  private isOwnMark(path: FieldPath): boolean {
    const value = valueAt(this.live, path)
    const owners = ownersOf(this.managed, path)
    return owners.length > 0 && owners.every((entry) => isSyncer(entry, this.syncer) && isMarkOf(entry.manager, path, value))
  }

  private open(drift: Drift): Drift {
    this.mayBeBehind.add(drift)
    return drift
  }

  private remover(): Actor {
    return removerOf(this.managed, this.syncer)
  }

  /**
   * Without a dry run: declared fields of other managers with other values, and removed fields.
   * @param isExact whether every declared value counts that is not live as the server would store it
   */
  private byOwnership(isExact: boolean): readonly Drift[] {
    const { schema } = this.observed
    const gone = new PathSet()
    const leaves = [...differingLeaves(fieldSetOf(this.desired, schema), this.desired, this.live, schema)]
    return leaves.flatMap(({ path, declared, live }) => {
      if (live === undefined && !this.metadataOnly) {
        const isRemoved = isExact ? !isEmptyValue(declared) : this.wasRemoved(path, declared)
        return isRemoved ? this.removed(path, declared, gone) : []
      }
      const owner = foreignOwner(this.managed, path, this.syncer)
      if (owner === undefined && !isExact) return []
      const actor = owner === undefined ? this.ownerOrUnknown(path) : actorOf(owner, 'field-manager')
      const drift = this.drift({ change: 'modified', path, git: declared, live }, actor)
      return isExact && this.isSyncers(path) ? this.open(drift) : drift
    })
  }

  /**
   * One line for all that went with the same block.
   * @param gone blocks that have their line
   */
  private removed(path: FieldPath, git: Json | undefined, gone: PathSet, actor = this.remover()): readonly Drift[] {
    const block = absentBlock(path, this.live, this.observed.schema)
    if (gone.covers(block)) return []
    gone.add(block)
    const above = path.findIndex((_step, depth) => valueAt(this.live, path.slice(0, depth + 1)) === undefined)
    const drift = this.drift({ change: 'removed', path: block, git: this.gitValue(block, git), live: undefined }, actor)
    return [this.open(above + 1 < block.length ? { ...drift, absentAbove: block.slice(0, above + 1) } : drift)]
  }

  /**
   * Only an applied object can have lost a field. A removed field has no owner; an absent field of the syncer is an empty value that the server
   * omits (docs/facts/removals-leave-no-owner.md). An Update owns only what exists, and kpt omits empty annotations.
   */
  private wasRemoved(path: FieldPath, declared: Json | undefined): boolean {
    const own = this.managed.entries.filter((entry) => isSyncer(entry, this.syncer))
    if (own.length === 0 || own.some((entry) => ownsLocation(entry, path, this.managed))) return false
    return !isEmptyValue(declared) || (!isWithin(path, [field('metadata')]) && own.some(({ operation }) => operation === 'Apply'))
  }

  private added(known: readonly Drift[]): Drift[] {
    const { live: object, desired, managed, syncer, metadataOnly } = this
    const fields = findAddedFields({ live: object, desired, managed }, syncer, metadataOnly, this.observed.schema)
    const reported = new PathSet(known.map(({ path }) => path))
    const items = fields
      .filter(({ path }) => !reported.overlaps(path) && !followsAnother({ change: 'added', path }, this.desired, this.live))
      .map(({ path, live, owner }) => {
        const taken = this.observed.prediction?.state === 'refused' ? undefined : takenOver(syncer, owner, object)
        const note = taken ?? this.applied?.note(path, OF_ANOTHER) ?? OF_ANOTHER
        return this.extra(path, live, actorOf(owner, 'field-manager'), [note])
      })
    const count = this.metadataOnly ? undefined : unownedCount(this.observed.desired.id, this.desired, this.live, this.managed)
    if (count === undefined) return items
    const note = 'no apply changes it: git leaves it to its default, and whoever scaled left no trace'
    return [...items, this.extra(REPLICAS, count, UNKNOWN_ACTOR, [note])]
  }

  private gitValue(path: FieldPath, predicted: Json | undefined): Json | undefined {
    return valueAt(this.desired, path) ?? predicted
  }

  /** A writer in another version owns the value under another name. */
  private writerOrOwner(path: FieldPath): Actor {
    const writer = writerInOtherVersion(this.managed, this.observed.desired.apiVersion, this.syncer)
    return writer === undefined ? this.ownerOrUnknown(path) : actorOf(writer, 'last-writer')
  }

  /** Fields that git's version lacks, of writers without any other reported field. */
  private hidden(known: readonly Drift[]): Drift[] {
    const { desired, schema } = this.observed
    const writers = writersInOtherVersions(this.managed, desired.apiVersion, this.syncer)
    const locations = hiddenLocations(writers, schema).filter(({ owner }) => {
      return !known.some(({ actor }) => actor.confidence === 'last-writer' && actor.manager === owner.manager)
    })
    return locations.map(({ path, owner }) => {
      const note = `written as ${owner.apiVersion}; ${desired.apiVersion}, which git declares, has no such field, so its value was not read`
      return { ...this.extra(path, undefined, actorOf(owner, 'field-manager'), [note]), liveUnread: true }
    })
  }

  private ownerOrUnknown(path: FieldPath): Actor {
    const [owner] = ownersOf(this.managed, path)
    return owner === undefined ? UNKNOWN_ACTOR : actorOf(owner, 'field-manager')
  }

  private extra(path: FieldPath, live: Json | undefined, actor: Actor, notes: readonly string[] = []): Drift {
    return this.drift({ change: 'added', path, git: undefined, live }, actor, notes)
  }

  private drift(difference: Difference, actor: Actor, notes: readonly string[] = []): Drift {
    const { change, path } = difference
    const { id, apiVersion } = this.observed.desired
    const drift = makeDrift({ id, apiVersion, uid: this.uid, ...difference, actor, notes })
    const lost = valueAt(this.live, path) !== undefined && isLostWhenReleased(path, this.applied, this.managed, this.syncer)
    const unread = this.metadataOnly && change !== 'removed'
    return { ...drift, ...(unread ? { liveUnread: true } : {}), ...(lost ? { lostWhenReleased: true } : {}) }
  }

  private printUnknown(path: FieldPath): Note {
    const does = this.syncer?.operation === 'Apply' ? 'refuses a server-side apply that has it' : 'drops it'
    const subject = describeResourceId(this.observed.desired.id)
    return {
      cause: 'field-not-on-server',
      subject,
      text: `the server does not know ${shownPathOnly(path, this.observed.desired.id)} and ${does}`,
    }
  }
}

interface Difference extends Pick<Drift, 'path' | 'git' | 'live'> {
  readonly change: ChangeKind
}
