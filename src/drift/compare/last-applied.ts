/**
 * From the annotation or Helm's stored release. Only this shows the declared fields, because an
 * Update owns all changes, including defaults. Source: k8s.io api core/v1
 * `LastAppliedConfigAnnotation`; helm `pkg/kube/client.go`, createPatch.
 */
import {
  buildFieldSet,
  type FieldManager,
  type FieldPath,
  type FieldSchema,
  findValueAt,
  listLeaves,
  PathSet,
} from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { getAnnotations, type Resource } from '@backporch/kyaml/resource'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { takesOver } from '../../syncers/registry.ts'
import type { SyncerManager } from './drift.ts'
import { mergeSecretData } from './secret-data.ts'

/** Outside the object. May contain a Secret's content. */
export interface StoredManifest {
  readonly apiVersion: string
  readonly object: JsonObject
  readonly storedIn: string
  /** A rollback. RFC 3339 UTC. */
  readonly rollback?: { readonly to: number; readonly at: string } | undefined
}

export function findLastApplied(live: JsonObject): JsonObject | undefined {
  const text = getAnnotations(live).get(LAST_APPLIED)
  if (text === undefined) return undefined
  try {
    const applied = parseJson(text)
    return isJsonObject(applied) ? applied : undefined
  } catch {
    return undefined
  }
}

export class AppliedLast {
  /** `stringData` of a Secret is merged into `data`. */
  readonly object: JsonObject
  private readonly manifest: JsonObject
  private readonly whyRemoved: string

  constructor(manifest: JsonObject, whyRemoved: string) {
    this.object = mergeSecretData(manifest)
    this.manifest = manifest
    this.whyRemoved = whyRemoved
  }

  /** Whoever wrote it. Former `stringData` stays in `data`. */
  hasPath(path: FieldPath): boolean {
    return findValueAt(this.manifest, path) !== undefined
  }

  note(path: FieldPath, otherwise: string): string {
    return this.hasPath(path) ? this.whyRemoved : otherwise
  }
}

export const OF_ANOTHER = 'no apply removes it: it belongs to another manager'
export const OF_NOBODY = 'no apply removes it: the object does not say whose it is'
export const LEFT_OVER = 'no apply removes it: it is left over from what the syncer applied before'

/** The manager whose fields the syncer takes over before it applies. */
export function explainTakeover(
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

export function isRemovedByApply(note: string): boolean {
  return /^the next (?:apply|upgrade) removes it: /.test(note)
}

export function isLeftByApply(note: string): boolean {
  return [OF_ANOTHER, OF_NOBODY, LEFT_OVER].includes(note)
}

/** @returns undefined for a server-side apply, and if unknown */
export function findLastAppliedByTool(
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
  // Another API version has other fields.
  const retained = stored?.apiVersion === apiVersion ? stored : undefined
  if (retained !== undefined)
    return new AppliedLast(
      retained.object,
      `the next upgrade removes it: ${retained.storedIn} has it`,
    )
  const annotated = findLastApplied(live)
  return (
    annotated &&
    new AppliedLast(annotated, `the next apply removes it: the annotation ${LAST_APPLIED} has it`)
  )
}

/** The next apply removes these topmost items and fields; in the annotation's order. */
export function listDroppedPaths(
  applied: JsonObject,
  desired: JsonObject,
  live: JsonObject,
  schema: FieldSchema,
): FieldPath[] {
  const dropped: FieldPath[] = []
  const reported = new PathSet()
  for (const leaf of listLeaves(buildFieldSet(applied, schema))) {
    if (leaf[0]?.kind === 'field' && leaf[0].name === 'status') continue
    if (findValueAt(desired, leaf) !== undefined || isEmpty(findValueAt(applied, leaf))) continue
    const item = leaf.findIndex(
      (step, index) =>
        step.kind !== 'field' && findValueAt(desired, leaf.slice(0, index + 1)) === undefined,
    )
    const top = item === -1 ? leaf : leaf.slice(0, item + 1)
    if (findValueAt(live, top) === undefined || reported.covers(top)) continue
    dropped.push(top)
    reported.add(top)
  }
  return dropped
}

/** kubectl writes `annotations: {}` and `creationTimestamp: null`. */
function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
