/**
 * People can find and switch off each rule. A rule tests kind, path, value and writer; a writer's
 * name alone never mutes. An uncertain rule does not mute.
 */
import { type FieldPath, formatFieldPath, type ManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { isSyncer } from '../attribute/actor.ts'
import type { Drift, SyncerManager } from '../compare/drift.ts'
import type { Scalers } from './scaler.ts'

export interface NoiseRule {
  readonly name: string
  readonly reason: string
  readonly mutes: string
  readonly link: string
  judge(drift: Drift, surroundings: Surroundings): Judgement | undefined
}

/**
 * `why` and `because` are clauses without values. `scaler` sets a field which git also declares.
 */
export type Judgement =
  | { readonly mutes: true; readonly why: string; readonly scaler?: ResourceId }
  /**
   * `note`: shown with the difference, not only by `explain`. `releases`: Release is the plan
   * without a choice.
   */
  | {
      readonly mutes: false
      readonly because: string
      readonly note?: boolean
      readonly scaler?: ResourceId
      readonly releases?: true
    }

export interface Surroundings {
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly syncer: SyncerManager | undefined
  readonly scalers: Scalers
  /** Any writer may have written an unowned field. */
  readonly withoutOwners?: boolean
  readonly liveOf: (id: ResourceId) => JsonObject | undefined
}

export function muteDrift(why: string): Judgement {
  return { mutes: true, why }
}

export function showDrift(because: string): Judgement {
  return { mutes: false, because }
}

export function isAdded({ change }: Drift): boolean {
  return change === 'added'
}

export function isLive({ change }: Drift): boolean {
  return change === 'added' || change === 'modified'
}

export function getGroupKind({ id }: Drift): string {
  return `${id.group}/${id.kind}`
}

export function formatDriftPath({ path }: Drift): string {
  return formatFieldPath(path)
}

export function findMetadataKey(
  { path }: Drift,
  map: 'labels' | 'annotations',
  under: readonly string[] = [],
): string | undefined {
  const above = [...under, 'metadata', map]
  const key = path.at(-1)
  return path.length === above.length + 1 && hasLeadingNames(path, above) && key?.kind === 'field'
    ? key.name
    : undefined
}

export function findFinalizer({ path }: Drift): string | undefined {
  const member = path[2]
  return path.length === 3 &&
    hasLeadingNames(path, ['metadata', 'finalizers']) &&
    member?.kind === 'member' &&
    typeof member.value === 'string'
    ? member.value
    : undefined
}

export function hasLeadingNames(path: FieldPath, names: readonly string[]): boolean {
  return names.every((name, index) => {
    const step = path[index]
    return step?.kind === 'field' && step.name === name
  })
}

export function describeWriter({ actor }: Drift): string {
  return actor.confidence === 'field-manager' ? actor.manager : 'an unknown writer'
}

export function isOwned({ actor }: Pick<Drift, 'actor'>): boolean {
  return actor.confidence === 'field-manager'
}

export type Managers = RegExp | ((manager: string) => boolean)

export function isWrittenBy({ actor }: Drift, managers: Managers): boolean {
  return (
    isOwned({ actor }) &&
    (managers instanceof RegExp ? managers.test(actor.manager) : managers(actor.manager))
  )
}

export function isFromSyncer({ actor }: Drift, syncer: SyncerManager | undefined): boolean {
  const { manager, operation, subresource, confidence } = actor
  return (
    confidence === 'field-manager' &&
    operation !== undefined &&
    isSyncer({ manager, operation, subresource }, syncer)
  )
}

/** Admission and allocation leave no owner (docs/facts/noise-sources.md). */
export function hasNoOwner(
  { actor }: Drift,
  { withoutOwners }: Pick<Surroundings, 'withoutOwners'>,
): boolean {
  return actor.confidence === 'none' && withoutOwners !== true
}

/** By the writer's name. Use only together with a path and a value. */
export function isMachine({ actor }: Drift): boolean {
  return (
    actor.confidence === 'field-manager' &&
    (actor.class === 'controller' || actor.class === 'webhook')
  )
}

export function isPerson({ actor }: Drift): boolean {
  return actor.class === 'human-tool'
}
