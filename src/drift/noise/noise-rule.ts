/**
 * Differences that are no drift, because the server, a controller or the syncer makes them. Each is a named rule, so that people can find it and
 * switch it off. A rule tests kind, path, value and writer; the name of a writer never mutes alone. An uncertain rule does not mute.
 */
import { type FieldPath, formatFieldPath, type ManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { isSyncer } from '../attribute/actor.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import type { Scalers } from './scaler.ts'

export interface NoiseRule {
  /** Name behind `preset:` in a policy: `hpa`. */
  readonly name: string
  /** Why the difference is no drift, as a sentence. */
  readonly reason: string
  /** What the rule mutes, and what it shows, as sentences. */
  readonly mutes: string
  /** Documentation of the cause. */
  readonly link: string
  /** Undefined for another kind, field or change. */
  judge(drift: Drift, surroundings: Surroundings): Judgement | undefined
}

/** `why` and `because` are clauses for people, without values that may be secret. `scaler`: the autoscaler that sets a field which git declares too. */
export type Judgement =
  | { readonly mutes: true; readonly why: string; readonly scaler?: ResourceId }
  /** `note`: shown with the difference, and not only by `explain`. `releases`: Release is the plan without a choice. */
  | {
      readonly mutes: false
      readonly because: string
      readonly note?: boolean
      readonly scaler?: ResourceId
      readonly releases?: true
    }

/** Context of the difference. Absent metadata is empty, never an error. */
export interface Surroundings {
  /** The object in git. */
  readonly desired: JsonObject
  /** The live object; a Secret may have only metadata. */
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly syncer: SyncerManager | undefined
  /** Autoscalers of the cluster. */
  readonly scalers: Scalers
  /** Whether the live object has no owners, so that an unowned field may have any writer. */
  readonly withoutOwners?: boolean
  /** Another live object of the package; undefined if unread. */
  readonly liveOf: (id: ResourceId) => JsonObject | undefined
}

export function muted(why: string): Judgement {
  return { mutes: true, why }
}

export function shown(because: string): Judgement {
  return { mutes: false, because }
}

/** Whether git lacks the field. */
export function isAdded({ change }: Drift): boolean {
  return change === 'added'
}

/** Whether live has a value. */
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
export function metadataKey(
  { path }: Drift,
  map: 'labels' | 'annotations',
  under: readonly string[] = [],
): string | undefined {
  const above = [...under, 'metadata', map]
  const key = path.at(-1)
  return path.length === above.length + 1 && startsWith(path, above) && key?.kind === 'field'
    ? key.name
    : undefined
}

/** The finalizer that the difference is about. */
export function finalizerOf({ path }: Drift): string | undefined {
  const member = path[2]
  return path.length === 3 &&
    startsWith(path, ['metadata', 'finalizers']) &&
    member?.kind === 'member' &&
    typeof member.value === 'string'
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
  return (
    isOwned({ actor }) &&
    (managers instanceof RegExp ? managers.test(actor.manager) : managers(actor.manager))
  )
}

/** The syncer owns it, under its own name or one that it had before. */
export function fromSyncer({ actor }: Drift, syncer: SyncerManager | undefined): boolean {
  const { manager, operation, subresource, confidence } = actor
  return (
    confidence === 'field-manager' &&
    operation !== '' &&
    isSyncer({ manager, operation, subresource }, syncer)
  )
}

/** The server knows no owner: what admission and allocation write has none (docs/facts/noise-sources.md). */
export function hasNoOwner(
  { actor }: Drift,
  { withoutOwners }: Pick<Surroundings, 'withoutOwners'>,
): boolean {
  return actor.confidence === 'none' && withoutOwners !== true
}

/** A writer that is a controller or an admission webhook, as far as its name shows. Only together with a path and a value. */
export function isMachine({ actor }: Drift): boolean {
  return (
    actor.confidence === 'field-manager' &&
    (actor.class === 'controller' || actor.class === 'webhook')
  )
}

export function isPerson({ actor }: Drift): boolean {
  return actor.class === 'human-tool'
}
