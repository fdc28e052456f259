import {
  type FieldManager,
  type FieldPath,
  isSameManager,
  type ManagedFields,
  type ManagedFieldsEntry,
  ownsLocation,
} from '@backporch/kyaml/field'
import { compareText } from '@backporch/kyaml/text'
import type { Actor, ActorClass, SyncerManager } from '../compare/drift.ts'
import { classify, isControlPlane } from './actor-classes.ts'

export function classifyManager(manager: string): ActorClass {
  return classify({ manager })
}

export const UNKNOWN_ACTOR: Actor = {
  manager: 'unknown',
  operation: undefined,
  subresource: '',
  class: 'unknown',
  at: undefined,
  confidence: 'none',
}

/** It owns the field, or the audit log has its request. */
export function isKnownWriter({ confidence }: Pick<Actor, 'confidence'>): boolean {
  return confidence === 'audit' || confidence === 'audit-time' || confidence === 'field-manager'
}

export function createActor(entry: ManagedFieldsEntry, confidence: Actor['confidence']): Actor {
  return {
    manager: entry.manager,
    operation: entry.operation,
    subresource: entry.subresource,
    class: classify(entry),
    at: entry.time || undefined,
    confidence,
  }
}

/** Latest first. */
export function listOwners(managed: ManagedFields, path: FieldPath): ManagedFieldsEntry[] {
  return managed.entries
    .filter((entry) => entry.subresource !== 'status' && ownsLocation(entry, path, managed))
    .sort(compareTimeLatestFirst)
}

/** Undefined when the syncer alone owns it, or nobody. */
export function findForeignOwner(
  managed: ManagedFields,
  path: FieldPath,
  syncer: SyncerManager | undefined,
): ManagedFieldsEntry | undefined {
  return listOwners(managed, path).find((entry) => !isSyncer(entry, syncer))
}

/**
 * A write that only removes leaves no entry (docs/facts/removals-leave-no-owner.md). The object's
 * only other writer is named as `last-writer`.
 */
export function deriveRemover(managed: ManagedFields, syncer: SyncerManager | undefined): Actor {
  const others = managed.entries.filter(
    (entry) =>
      entry.subresource === '' && !isSyncer(entry, syncer) && !isControlPlane(entry.manager),
  )
  const [only] = others
  return others.length === 1 && only !== undefined
    ? createActor(only, 'last-writer')
    : UNKNOWN_ACTOR
}

/** By the earliest entry for the object itself. */
export function deriveCreator(managed: ManagedFields): Actor {
  const own = managed.entries
    .filter((entry) => entry.subresource === '')
    .sort((left, right) => -compareTimeLatestFirst(left, right))
  const [first] = own
  return first === undefined ? UNKNOWN_ACTOR : createActor(first, 'field-manager')
}

export function isSyncer(entry: FieldManager, syncer: SyncerManager | undefined): boolean {
  return (
    syncer !== undefined &&
    (isSameManager(entry, syncer) ||
      (syncer.former?.some((other) => isSameManager(entry, other)) ?? false))
  )
}

export function compareTimeLatestFirst(
  left: ManagedFieldsEntry,
  right: ManagedFieldsEntry,
): number {
  return -compareText(left.time, right.time) || compareText(left.manager, right.manager)
}
