/** From what git says and what the cluster answered to a verdict per object. Pure: the requests were made before. */
import { Failure } from '../failure.ts'
import { type FieldPath, isWithin, valueAt } from '../krm/field-path.ts'
import type { FieldSchema } from '../krm/field-schema.ts'
import { fieldSetOf, leavesOf } from '../krm/field-set.ts'
import { type Json, type JsonObject, jsonEquals } from '../krm/json.ts'
import type { LiveState, Prediction } from '../krm/live-view.ts'
import { type ManagedFields, managedFieldsOf } from '../krm/managed-fields.ts'
import { isSecret } from '../krm/redacted.ts'
import { metadataText } from '../krm/resource.ts'
import { describeResourceId, type ResourceId } from '../krm/resource-id.ts'
import type { DesiredResource } from '../render/desired-set.ts'
import { actorOf, creatorOf, foreignOwner, isSyncer, ownersOf, removerOf, UNKNOWN_ACTOR } from './actor.ts'
import { findAddedFields } from './added-fields.ts'
import { compareObjects } from './compare-resource.ts'
import type { Actor, ChangeKind, Drift, ObjectVerdict, SetAside, Syncer } from './drift.ts'
import { whyOwnershipProvesNothing } from './ownership-proof.ts'
import { assessRisk } from './risk.ts'
import { withSecretData } from './secret-data.ts'

/** One desired object and everything that was read about it. */
export interface ObservedObject {
  readonly desired: DesiredResource
  readonly live: LiveState
  readonly schema: FieldSchema
  /** Undefined where no dry run was needed. */
  readonly prediction: Prediction | undefined
}

/** Whether tier 1 leaves the object open, so that a dry run has to answer. */
export function needsPrediction(observed: Omit<ObservedObject, 'prediction'>, syncer: Syncer | undefined): boolean {
  const { desired, live, schema } = observed
  if (live.state !== 'present' || live.metadataOnly) return false
  const managed = managedFieldsOf(live.object)
  return (
    whyOwnershipProvesNothing({ apiVersion: desired.apiVersion, desired: desired.object, live: live.object, managed, schema, syncer }) !==
    undefined
  )
}

/** The verdict on an object that git declares. Ignore rules are applied later, by the caller. */
export function detectDrift(observed: ObservedObject, syncer: Syncer | undefined): ObjectVerdict {
  const { desired, live } = observed
  const base = { id: desired.id, apiVersion: desired.apiVersion, desired, setAside: [], failure: undefined, reapplyFails: undefined }
  if (live.state === 'unreadable') return { ...base, state: 'unreadable', proof: 'none', items: [], failure: live.failure }
  if (live.state === 'absent') {
    const item = makeDrift(desired.id, desired.apiVersion, '', 'missing', [], desired.object, undefined, UNKNOWN_ACTOR)
    return { ...base, state: 'drifted', proof: 'none', items: [item] }
  }
  const subject = new Subject(observed, live.object, live.metadataOnly, syncer)
  const judgement = subject.judge()
  return { ...base, ...judgement, ...(judgement.items.length === 0 ? {} : { live: live.object }) }
}

/** An object of the inventory that is live and that git does not declare. */
export function unexpectedObject(id: ResourceId, live: JsonObject, inventory: string): ObjectVerdict {
  const apiVersion = typeof live['apiVersion'] === 'string' ? live['apiVersion'] : ''
  const item = makeDrift(id, apiVersion, metadataText(live, 'uid'), 'unexpected', [], undefined, live, creatorOf(managedFieldsOf(live)), [
    `listed by ${inventory}`,
  ])
  return {
    id,
    apiVersion,
    desired: undefined,
    state: 'drifted',
    proof: 'none',
    items: [item],
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  }
}

type Judgement = Pick<ObjectVerdict, 'state' | 'proof' | 'items' | 'setAside' | 'failure' | 'reapplyFails'>

class Subject {
  private readonly observed: ObservedObject
  private readonly live: JsonObject
  private readonly metadataOnly: boolean
  private readonly syncer: Syncer | undefined
  private readonly managed: ManagedFields
  /** The desired object with `stringData` as the server stores it. */
  private readonly desired: JsonObject
  private readonly uid: string

  constructor(observed: ObservedObject, live: JsonObject, metadataOnly: boolean, syncer: Syncer | undefined) {
    this.observed = observed
    this.live = live
    this.metadataOnly = metadataOnly
    this.syncer = syncer
    this.managed = managedFieldsOf(live)
    this.desired = isSecret(observed.desired.id) ? withSecretData(observed.desired.object) : observed.desired.object
    this.uid = metadataText(live, 'uid')
  }

  judge(): Judgement {
    const { prediction } = this.observed
    const setAside: SetAside[] = []
    let items: Drift[]
    let proof: ObjectVerdict['proof'] = 'dry-run'
    let failure: Failure | undefined
    let reapplyFails: string | undefined
    if (prediction?.state === 'predicted') items = this.againstPrediction(prediction.object, setAside)
    else if (prediction === undefined && !this.metadataOnly) {
      proof = 'ownership'
      items = []
    } else {
      proof = 'none'
      items = this.byOwnership()
      failure = this.metadataOnly ? this.contentNotRead() : prediction?.failure
      if (prediction?.state === 'refused') reapplyFails = prediction.failure.why
    }
    items = [...items, ...this.added(items)]
    const proven = proof !== 'none' && this.managed.unreadable.length === 0
    const state = items.length > 0 ? 'drifted' : proven ? 'in-sync' : 'unverified'
    if (!proven && failure === undefined) failure = this.ownershipUnknown()
    return { state, proof, items, setAside, failure: state === 'in-sync' ? undefined : failure, reapplyFails }
  }

  /** Tier 2: what the syncer's apply would change. Where only the syncer owns the live value, git moved, not the cluster. */
  private againstPrediction(predicted: JsonObject, setAside: SetAside[]): Drift[] {
    const items: Drift[] = []
    for (const { path, live, predicted: git } of compareObjects(this.live, predicted, this.observed.schema)) {
      if (live === undefined) {
        items.push(this.drift('removed', path, this.gitValue(path, git), undefined, removerOf(this.managed, this.syncer)))
        continue
      }
      const owner = foreignOwner(this.managed, path, this.syncer)
      if (git === undefined) {
        // Only the syncer's own apply gives a field up, so it owns it and git dropped it.
        const actor = this.ownerOrUnknown(path)
        setAside.push({
          drift: this.drift('added', path, undefined, live, actor),
          state: 'Behind',
          why: 'git no longer declares the field and the syncer has not applied that yet',
        })
      } else if (owner === undefined && ownersOf(this.managed, path).length > 0) {
        setAside.push({
          drift: this.drift('modified', path, this.gitValue(path, git), live, this.ownerOrUnknown(path)),
          state: 'Behind',
          why: 'the syncer itself wrote the live value: git moved, and the syncer has not applied it yet',
        })
      } else
        items.push(
          this.drift(
            'modified',
            path,
            this.gitValue(path, git),
            live,
            owner === undefined ? UNKNOWN_ACTOR : actorOf(owner, 'field-manager'),
          ),
        )
    }
    return items
  }

  /** Without a dry run: a declared field that somebody else owns and that does not hold the declared value. */
  private byOwnership(): Drift[] {
    const items: Drift[] = []
    for (const path of leavesOf(fieldSetOf(this.desired, this.observed.schema))) {
      const git = valueAt(this.desired, path)
      const live = valueAt(this.live, path)
      const owner = foreignOwner(this.managed, path, this.syncer)
      if (this.metadataOnly) {
        if (owner !== undefined) items.push(this.drift('modified', path, git, undefined, actorOf(owner, 'field-manager')))
        continue
      }
      if (jsonEquals(git, live)) continue
      if (live !== undefined && owner !== undefined) items.push(this.drift('modified', path, git, live, actorOf(owner, 'field-manager')))
      else if (live === undefined && this.lostPath()) items.push(this.removedTop(path, git, items))
    }
    return items.filter((item, index) => items.findIndex((other) => sameChange(other, item)) === index)
  }

  /** A whole list item that is gone is one line. */
  private removedTop(path: FieldPath, git: Json | undefined, items: readonly Drift[]): Drift {
    const itemEnd = path.findIndex((step, index) => step.kind === 'item' && valueAt(this.live, path.slice(0, index + 1)) === undefined)
    const top = itemEnd === -1 ? path : path.slice(0, itemEnd + 1)
    const known = items.find((item) => item.change === 'removed' && isWithin(path, item.path))
    return (
      known ??
      this.drift('removed', top, itemEnd === -1 ? git : valueAt(this.desired, top), undefined, removerOf(this.managed, this.syncer))
    )
  }

  /** Only an object that the syncer applied can have lost a field; without its entry nobody can tell. */
  private lostPath(): boolean {
    return this.managed.entries.some((entry) => isSyncer(entry, this.syncer))
  }

  private added(known: readonly Drift[]): Drift[] {
    const fields = findAddedFields(this.live, this.desired, this.managed, this.syncer, this.metadataOnly)
    return fields
      .filter(({ path }) => !known.some((item) => isWithin(path, item.path) || isWithin(item.path, path)))
      .map(({ path, live, owner }) =>
        this.drift('added', path, undefined, live, actorOf(owner, 'field-manager'), ['no apply removes it: it belongs to another manager']),
      )
  }

  private gitValue(path: FieldPath, predicted: Json | undefined): Json | undefined {
    return valueAt(this.desired, path) ?? predicted
  }

  private ownerOrUnknown(path: FieldPath): Actor {
    const [owner] = ownersOf(this.managed, path)
    return owner === undefined ? UNKNOWN_ACTOR : actorOf(owner, 'field-manager')
  }

  private drift(
    change: ChangeKind,
    path: FieldPath,
    git: Json | undefined,
    live: Json | undefined,
    actor: Actor,
    notes: readonly string[] = [],
  ): Drift {
    const { id, apiVersion } = this.observed.desired
    const drift = makeDrift(id, apiVersion, this.uid, change, path, git, live, actor, notes)
    return this.metadataOnly && change !== 'removed' ? { ...drift, liveUnread: true } : drift
  }

  private contentNotRead(): Failure {
    return new Failure({
      code: 'BP3012',
      what: `the content of ${describeResourceId(this.observed.desired.id)} was not read`,
      why: 'only its metadata may be read, so ownership shows who wrote a key and not what it holds',
      remedy: 'nothing, or grant get and list on secrets to see whether the value differs',
    })
  }

  private ownershipUnknown(): Failure {
    return new Failure({
      code: 'BP3012',
      what: `the managed fields of ${describeResourceId(this.observed.desired.id)} cannot be read`,
      why: this.managed.unreadable[0] ?? 'the server gave none',
      remedy: 'read the object with kubectl get -o yaml --show-managed-fields and look at the entry',
    })
  }
}

function sameChange(left: Drift, right: Drift): boolean {
  return left.change === right.change && left.path.length === right.path.length && isWithin(left.path, right.path)
}

function makeDrift(
  id: ResourceId,
  apiVersion: string,
  uid: string,
  change: ChangeKind,
  path: FieldPath,
  git: Json | undefined,
  live: Json | undefined,
  actor: Actor,
  notes: readonly string[] = [],
): Drift {
  const { risk, code } = assessRisk({ id, change, path, git, live })
  return { id, apiVersion, uid, change, path, git, live, liveUnread: false, actor, risk, reason: code, notes }
}
