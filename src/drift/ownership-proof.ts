/**
 * Tier 1 of design §5: the proof, without a request, that applying the desired object would change nothing.
 * Server-side apply by a manager changes an object only where a value differs from the applied one, or where the manager
 * gives a field up. So: the manager's set equals the set of the desired object, the entry is of the desired API version,
 * and at every such place the live value is the desired one.
 */

import { valueAt } from '../krm/field-path.ts'
import type { FieldSchema } from '../krm/field-schema.ts'
import { fieldSetOf, leavesOf, sameLeaves } from '../krm/field-set.ts'
import type { JsonObject } from '../krm/json.ts'
import { jsonEquals } from '../krm/json.ts'
import { type ManagedFields, sameManager } from '../krm/managed-fields.ts'
import type { Syncer } from './drift.ts'

export interface ProofSubject {
  readonly apiVersion: string
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly schema: FieldSchema
  readonly syncer: Syncer | undefined
}

/** Undefined when the proof holds; otherwise the first reason why it does not, for people and for the benchmark. */
export function whyOwnershipProvesNothing(subject: ProofSubject): string | undefined {
  const { syncer, managed, desired, live, schema } = subject
  if (syncer === undefined) return 'the syncer is not known'
  if (syncer.operation !== 'Apply') return 'the syncer does not use server-side apply'
  if (managed.unreadable.length > 0) return managed.unreadable[0]
  const entry = managed.entries.find((candidate) => sameManager(candidate, syncer))
  if (entry === undefined) return `${syncer.manager} never applied the object`
  if (entry.apiVersion !== subject.apiVersion) return `${syncer.manager} applied ${entry.apiVersion}, git has ${subject.apiVersion}`
  const wanted = fieldSetOf(desired, schema)
  if (!sameLeaves(wanted, entry.fields)) return `${syncer.manager} does not own exactly the fields that git declares`
  for (const path of leavesOf(wanted)) {
    if (!jsonEquals(valueAt(desired, path), valueAt(live, path))) return 'a live value is not written as in git'
  }
  return undefined
}
