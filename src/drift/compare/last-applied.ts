/**
 * The last manifest of a client-side apply, in an annotation of the object or in Helm's stored release. Only it shows the declared fields,
 * because an Update owns all changes of the write, also defaults. Source: k8s.io/api core/v1 `LastAppliedConfigAnnotation`, which kubectl, kpt and
 * Argo CD write; helm `pkg/kube/client.go`, createPatch.
 */
import {
  type FieldManager,
  type FieldPath,
  type FieldSchema,
  fieldSetOf,
  leavesOf,
  PathSet,
  valueAt,
} from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { annotationsOf, type Resource } from '@backporch/kyaml/resource'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { takesOver } from '../../syncers/registry.ts'
import type { SyncerManager } from './drift.ts'
import { withSecretData } from './secret-data.ts'

/** The last applied object, as the syncer stores it outside of the object. It may have the content of a Secret. */
export interface StoredManifest {
  readonly apiVersion: string
  readonly object: JsonObject
  /** For people: `Helm release shop/web revision 2`. */
  readonly storedIn: string
  /** Set for a rollback: the restored revision, and the time, RFC 3339 UTC. */
  readonly rollback?: { readonly to: number; readonly at: string } | undefined
}

/** The annotation of the object; undefined if there is none, or it cannot be read. */
export function lastAppliedOf(live: JsonObject): JsonObject | undefined {
  const text = annotationsOf(live).get(LAST_APPLIED)
  if (text === undefined) return undefined
  try {
    const applied = parseJson(text)
    return isJsonObject(applied) ? applied : undefined
  } catch {
    return undefined
  }
}

/** The manifest with which a client-side apply compares its next one. */
export class AppliedLast {
  /** A Secret has its `stringData` in `data`. */
  readonly object: JsonObject
  private readonly manifest: JsonObject
  private readonly whyRemoved: string

  constructor(manifest: JsonObject, whyRemoved: string) {
    this.object = withSecretData(manifest)
    this.manifest = manifest
    this.whyRemoved = whyRemoved
  }

  /** Whether the next apply removes the field if git lacks it, regardless of its writer. Former `stringData` stays in `data`. */
  removes(path: FieldPath): boolean {
    return valueAt(this.manifest, path) !== undefined
  }

  /** The fate of a live field that git lacks, for people; `otherwise` if it stays. */
  note(path: FieldPath, otherwise: string): string {
    return this.removes(path) ? this.whyRemoved : otherwise
  }
}

export const OF_ANOTHER = 'no apply removes it: it belongs to another manager'
export const OF_NOBODY = 'no apply removes it: the object does not say whose it is'
export const LEFT_OVER = 'no apply removes it: it is left over from what the syncer applied before'

/** For a field that git lacks, of another manager whose fields the syncer makes its own before it applies; undefined for others. */
export function takenOver(
  syncer: SyncerManager | undefined,
  owner: FieldManager,
  live: JsonObject,
): string | undefined {
  if (
    syncer?.operation !== 'Apply' ||
    owner.subresource !== '' ||
    !takesOver(syncer.manager, owner.manager, live)
  )
    return undefined
  return `the next apply removes it: ${syncer.manager} takes over what ${owner.manager} wrote`
}

/** Whether a note says that an apply removes the field, although git does not declare it. */
export function isRemovedByApply(note: string): boolean {
  return /^the next (?:apply|upgrade) removes it: /.test(note)
}

/** Whether a note says that no apply removes the field. */
export function isLeftByApply(note: string): boolean {
  return [OF_ANOTHER, OF_NOBODY, LEFT_OVER].includes(note)
}

/** @returns undefined for a server-side apply, and if it is unknown */
export function appliedLast(
  {
    desired: { apiVersion },
    stored,
  }: {
    readonly desired: Pick<Resource, 'apiVersion'>
    readonly stored?: StoredManifest | undefined
  },
  live: JsonObject,
  syncer: SyncerManager | undefined,
): AppliedLast | undefined {
  if (syncer?.operation !== 'Update') return undefined
  // A manifest of another API version has other fields.
  const retained = stored?.apiVersion === apiVersion ? stored : undefined
  if (retained !== undefined)
    return new AppliedLast(
      retained.object,
      `the next upgrade removes it: ${retained.storedIn} has it`,
    )
  const annotated = lastAppliedOf(live)
  return (
    annotated &&
    new AppliedLast(annotated, `the next apply removes it: the annotation ${LAST_APPLIED} has it`)
  )
}

/**
 * Live locations of the last apply that `desired` lacks, which the next apply removes: topmost list items and fields, in the order of the
 * annotation.
 */
export function droppedPaths(
  applied: JsonObject,
  desired: JsonObject,
  live: JsonObject,
  schema: FieldSchema,
): FieldPath[] {
  const dropped: FieldPath[] = []
  const reported = new PathSet()
  for (const leaf of leavesOf(fieldSetOf(applied, schema))) {
    if (leaf[0]?.kind === 'field' && leaf[0].name === 'status') continue
    if (valueAt(desired, leaf) !== undefined || isEmpty(valueAt(applied, leaf))) continue
    const item = leaf.findIndex(
      (step, index) =>
        step.kind !== 'field' && valueAt(desired, leaf.slice(0, index + 1)) === undefined,
    )
    const top = item === -1 ? leaf : leaf.slice(0, item + 1)
    if (valueAt(live, top) === undefined || reported.covers(top)) continue
    dropped.push(top)
    reported.add(top)
  }
  return dropped
}

/** It declares nothing: kubectl writes `annotations: {}` and `creationTimestamp: null` into the annotation. */
function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
