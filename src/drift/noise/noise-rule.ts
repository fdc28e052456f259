/**
 * Differences that are no drift, because the server, a controller or the syncer itself makes them: each a named rule, so that what
 * is hidden can be named, looked up and switched off. A rule tests the kind, the path, the value and the writer; the name that a
 * writer gave itself never mutes alone. A rule that is not sure does not mute.
 */
import { type FieldPath, formatFieldPath } from '../../krm/field-path.ts'
import type { ManagedFields } from '../../krm/managed-fields.ts'
import type { ResourceId } from '../../krm/resource-id.ts'
import type { JsonObject } from '../../text/json.ts'
import { isSyncer } from '../attribute/actor.ts'
import type { Drift, SyncerManager } from '../drift.ts'
import type { Scalers } from './scaler.ts'

export interface NoiseRule {
  /** As a policy names it behind `preset:`, for instance `hpa`. */
  readonly name: string
  /** Why such a difference is no drift, as a sentence. */
  readonly reason: string
  /** What it mutes, and what it still shows, as sentences. */
  readonly mutes: string
  /** Documentation of what makes the difference. */
  readonly link: string
  /** Undefined where the rule is about another kind, field or change. */
  judge(drift: Drift, surroundings: Surroundings): Judgement | undefined
}

/**
 * `why` and `because` are clauses for people, without a value of the object that could be a secret. `scaler`: the autoscaler that sets
 * the field which git declares too, so that the two undo each other.
 */
export type Judgement =
  | { readonly mutes: true; readonly why: string; readonly scaler?: ResourceId }
  /** `note`: also reported to people who see the difference, and not only by `explain`. */
  | { readonly mutes: false; readonly because: string; readonly note?: boolean; readonly scaler?: ResourceId }

/** What was read besides the difference itself. Absent metadata gives empty values, never an error. */
export interface Surroundings {
  /** As git has it. */
  readonly desired: JsonObject
  /** As it was read; of a Secret perhaps its metadata only. */
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly syncer: SyncerManager | undefined
  /** Autoscalers of the cluster, those that target this object among them. */
  readonly scalers: Scalers
  /** The live object has no writer for any of its fields, so that a field without an owner may have any writer. */
  readonly withoutOwners?: boolean
  /** Another live object of the same package; undefined where it was not read. */
  readonly liveOf: (id: ResourceId) => JsonObject | undefined
}

export function muted(why: string): Judgement {
  return { mutes: true, why }
}

export function shown(because: string): Judgement {
  return { mutes: false, because }
}

/** A field that git does not have and live does. */
export function isAdded({ change }: Drift): boolean {
  return change === 'added'
}

/** Live has a value, whether git has one too or not. */
export function isLive({ change }: Drift): boolean {
  return change === 'added' || change === 'modified'
}

/** Group and kind as one text: `apps/Deployment`, `/Service`. */
export function kindOf({ id }: Drift): string {
  return `${id.group}/${id.kind}`
}

/** The path as `formatFieldPath` writes it. */
export function pathText({ path }: Drift): string {
  return formatFieldPath(path)
}

/** The key of a label or annotation of the object itself; `under` names the template instead, as in `['spec', 'template']`. */
export function metadataKey({ path }: Drift, map: 'labels' | 'annotations', under: readonly string[] = []): string | undefined {
  const above = [...under, 'metadata', map]
  const key = path.at(-1)
  return path.length === above.length + 1 && startsWith(path, above) && key?.kind === 'field' ? key.name : undefined
}

/** The finalizer that the difference is about. */
export function finalizerOf({ path }: Drift): string | undefined {
  const member = path[2]
  return path.length === 3 && startsWith(path, ['metadata', 'finalizers']) && member?.kind === 'member' && typeof member.value === 'string'
    ? member.value
    : undefined
}

export function startsWith(path: FieldPath, names: readonly string[]): boolean {
  return names.every((name, index) => {
    const step = path[index]
    return step?.kind === 'field' && step.name === name
  })
}

/** Who wrote it, as people read it. */
export function writerOf({ actor }: Drift): string {
  return actor.confidence === 'field-manager' ? actor.manager : 'nobody that the server knows'
}

/** The server names an owner of the field. */
export function isOwned({ actor }: Pick<Drift, 'actor'>): boolean {
  return actor.confidence === 'field-manager'
}

export type Managers = RegExp | ((manager: string) => boolean)

/** The server names one of these as the owner of the field. */
export function writtenBy({ actor }: Drift, managers: Managers): boolean {
  return isOwned({ actor }) && (managers instanceof RegExp ? managers.test(actor.manager) : managers(actor.manager))
}

/** The syncer owns it, under its own name or one that it had before. */
export function fromSyncer({ actor }: Drift, syncer: SyncerManager | undefined): boolean {
  const { manager, operation, subresource, confidence } = actor
  return confidence === 'field-manager' && operation !== '' && isSyncer({ manager, operation, subresource }, syncer)
}

/** The server knows no owner: what admission and allocation write has none (docs/facts/noise-sources.md). */
export function hasNoOwner({ actor }: Drift, { withoutOwners }: Pick<Surroundings, 'withoutOwners'>): boolean {
  return actor.confidence === 'none' && withoutOwners !== true
}

/** A writer that is a controller or an admission webhook, as far as its name shows. Only together with a path and a value. */
export function isMachine({ actor }: Drift): boolean {
  return actor.confidence === 'field-manager' && (actor.class === 'controller' || actor.class === 'webhook')
}

export function isPerson({ actor }: Drift): boolean {
  return actor.class === 'human-tool'
}
