import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findKnownFields,
  findValueAt,
  getManagedFields,
  isWithin,
  type ManagedFields,
  ownsLocation,
  type PathSet,
} from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { getMetadataText, type LiveState, type Prediction } from '@backporch/kyaml/resource'
import { isMarkOf } from '../../syncers/marks.ts'
import {
  createActor,
  deriveRemover,
  isSyncer,
  listOwners,
  UNKNOWN_ACTOR,
} from '../attribute/actor.ts'
import { findAbsentBlock } from '../compare/compare-resource.ts'
import type { Actor, ChangeKind, Drift, ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { isEmptyValue } from '../compare/equal-values.ts'
import {
  type AppliedLast,
  findLastAppliedByTool,
  type StoredManifest,
} from '../compare/last-applied.ts'
import { isProvenByMetadata } from '../compare/ownership-proof.ts'
import { mergeSecretData } from '../compare/secret-data.ts'
import {
  type CreationAnswer,
  findUnownedFields,
  type UnownedFields,
} from '../unowned/unowned-fields.ts'
import { makeDrift } from './make-drift.ts'
import { isTakenByUpdate } from './why-blocked.ts'

export interface ObservedObject {
  readonly desired: DesiredResource
  readonly live: LiveState
  readonly schema: FieldSchema
  readonly prediction: Prediction | undefined
  readonly stored?: StoredManifest | undefined
  readonly creation?: CreationAnswer
}

export type Detector = (comparison: ObjectComparison, found: readonly Drift[]) => readonly Drift[]

interface Difference extends Pick<Drift, 'path' | 'git' | 'live'> {
  readonly change: ChangeKind
}

export class ObjectComparison {
  readonly observed: ObservedObject
  readonly live: JsonObject
  readonly metadataOnly: boolean
  readonly syncer: SyncerManager | undefined
  readonly managed: ManagedFields
  /** Without unknown fields, with `stringData` as stored. */
  readonly desired: JsonObject
  readonly unknown: readonly FieldPath[]
  readonly applied: AppliedLast | undefined
  readonly unowned: UnownedFields
  /** Only a server-side apply would be rejected, and the syncer uses none. */
  readonly isTaken: boolean
  readonly proof: ObjectVerdict['proof']
  private readonly waiting = new Set<Drift>()

  constructor(
    observed: ObservedObject,
    live: JsonObject,
    metadataOnly: boolean,
    syncer: SyncerManager | undefined,
  ) {
    const { desired, schema, creation, prediction } = observed
    const { id, apiVersion } = desired
    this.observed = observed
    this.live = live
    this.metadataOnly = metadataOnly
    this.syncer = syncer
    this.managed = getManagedFields(live)
    const known = findKnownFields(desired.object, schema)
    this.unknown = known.unknown
    this.desired = isSecret(id) ? mergeSecretData(known.object) : known.object
    this.applied = findLastAppliedByTool(observed, live, syncer)
    const subject = { id, apiVersion, desired: this.desired, live, schema }
    this.unowned = findUnownedFields(subject, creation, metadataOnly)
    this.isTaken = isTakenByUpdate(prediction, syncer)
    const isOwned = (): boolean =>
      this.isTaken ||
      (prediction === undefined &&
        (!metadataOnly || isProvenByMetadata({ ...subject, managed: this.managed, syncer })))
    this.proof = this.unowned.complete
      ? 'creation'
      : prediction?.state === 'predicted'
        ? 'dry-run'
        : isOwned()
          ? 'ownership'
          : 'none'
  }

  createDrift(difference: Difference, actor: Actor, notes: readonly string[] = []): Drift {
    const { change, path } = difference
    const { id, apiVersion } = this.observed.desired
    const drift = makeDrift({
      id,
      apiVersion,
      uid: getMetadataText(this.live, 'uid') || undefined,
      ...difference,
      actor,
      notes,
    })
    const lost =
      findValueAt(this.live, path) !== undefined &&
      isLostWhenReleased(path, this.applied, this.managed, this.syncer)
    const unread = this.metadataOnly && change !== 'removed'
    return {
      ...drift,
      ...(unread ? { liveUnread: true } : {}),
      ...(lost ? { lostWhenReleased: true } : {}),
    }
  }

  createExtraDrift(
    path: FieldPath,
    live: Json | undefined,
    actor: Actor,
    notes: readonly string[] = [],
  ): Drift {
    return this.createDrift({ change: 'added', path, git: undefined, live }, actor, notes)
  }

  createRemovedDrifts(
    path: FieldPath,
    git: Json | undefined,
    gone: PathSet,
    actor = deriveRemover(this.managed, this.syncer),
  ): readonly Drift[] {
    const block = findAbsentBlock(path, this.live, this.observed.schema)
    if (gone.covers(block)) return []
    gone.add(block)
    const above = path.findIndex(
      (_step, depth) => findValueAt(this.live, path.slice(0, depth + 1)) === undefined,
    )
    const drift = this.createDrift(
      { change: 'removed', path: block, git: this.findGitValue(block, git), live: undefined },
      actor,
    )
    return [
      this.open(
        above + 1 < block.length
          ? { ...drift, forEdit: { absentAbove: block.slice(0, above + 1) } }
          : drift,
      ),
    ]
  }

  open(drift: Drift): Drift {
    this.waiting.add(drift)
    return drift
  }

  isOpen(drift: Drift): boolean {
    return this.waiting.has(drift)
  }

  /** The owner of `stringData` owns the stored `data`. */
  isSyncers(path: FieldPath): boolean {
    const owners = listOwners(this.managed, path)
    const [first, ...below] = path
    const written =
      owners.length === 0 &&
      isSecret(this.observed.desired.id) &&
      first?.kind === 'field' &&
      first.name === 'data'
    const all = written
      ? listOwners(this.managed, [createFieldStep('stringData'), ...below])
      : owners
    return all.some((entry) => isSyncer(entry, this.syncer))
  }

  /** The syncer's marks are in each apply and in no manifest. */
  isOwnMark(path: FieldPath): boolean {
    const value = findValueAt(this.live, path)
    const owners = listOwners(this.managed, path)
    return (
      owners.length > 0 &&
      owners.every((entry) => isSyncer(entry, this.syncer) && isMarkOf(entry.manager, path, value))
    )
  }

  /**
   * Only an applied object can have lost a field. An absent field of the syncer is an empty value
   * that the server omits (docs/facts/removals-leave-no-owner.md). An Update owns only existing
   * fields, and kpt omits empty annotations.
   */
  wasRemoved(path: FieldPath, declared: Json | undefined): boolean {
    const own = this.managed.entries.filter((entry) => isSyncer(entry, this.syncer))
    if (own.length === 0 || own.some((entry) => ownsLocation(entry, path, this.managed)))
      return false
    return (
      !isEmptyValue(declared) ||
      (!isWithin(path, [createFieldStep('metadata')]) &&
        own.some(({ operation }) => operation === 'Apply'))
    )
  }

  getOwnerOrUnknown(path: FieldPath): Actor {
    const [owner] = listOwners(this.managed, path)
    return owner === undefined ? UNKNOWN_ACTOR : createActor(owner, 'field-manager')
  }

  findGitValue(path: FieldPath, predicted: Json | undefined): Json | undefined {
    return findValueAt(this.desired, path) ?? predicted
  }
}

/**
 * For a client-side apply the last-applied state decides (kubectl `util/apply`, helm
 * `pkg/kube/client.go`, apimachinery `strategicpatch`); for a server-side apply, other owners keep
 * the field (Kubernetes, Server-Side Apply, "Transferring ownership"). @param applied undefined if
 * unknown
 */
export function isLostWhenReleased(
  path: FieldPath,
  applied: AppliedLast | undefined,
  managed: ManagedFields,
  syncer: SyncerManager | undefined,
): boolean {
  if (syncer === undefined) return false
  if (syncer.operation === 'Update') return applied?.hasPath(path) === true
  const owners = listOwners(managed, path)
  return owners.length > 0 && owners.every((entry) => isSyncer(entry, syncer))
}
