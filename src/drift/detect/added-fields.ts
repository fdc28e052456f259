/**
 * An apply leaves them alone, so a dry run does not show them (15 of 25 hand edits are of this
 * kind). The rules of src/drift/noise recognise controllers' fields.
 */
import {
  type FieldPath,
  type FieldSchema,
  type FieldSet,
  findValueAt,
  formatFieldPath,
  isPartlyOwned,
  type ManagedFields,
  type ManagedFieldsEntry,
  PathSet,
  type PathStep,
  stepKey,
  stepOfItem,
  UNKNOWN_SCHEMA,
} from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonEqual, type Json, type JsonObject } from '@backporch/kyaml/json'
import { compareText } from '@backporch/kyaml/text'
import { compareTimeLatestFirst, createActor, isSyncer, UNKNOWN_ACTOR } from '../attribute/actor.ts'
import type { SyncerManager } from '../compare/drift.ts'
import { followsAnother } from '../compare/follows.ts'
import { explainTakeover, OF_ANOTHER } from '../compare/last-applied.ts'
import { findUnownedCount, REPLICAS } from '../compare/unowned-count.ts'
import type { Detector } from './object-comparison.ts'

interface AddedField {
  readonly path: FieldPath
  readonly live: Json | undefined
  readonly owner: ManagedFieldsEntry
}

/** Written with each status, so it identifies no other writer. */
const REVISION = 'metadata.annotations["deployment.kubernetes.io/revision"]'

export const detectAdded: Detector = (comparison, found) => {
  const { live: object, desired, managed, syncer, metadataOnly, applied, observed } = comparison
  const fields = findAddedFields(
    { live: object, desired, managed },
    syncer,
    metadataOnly,
    observed.schema,
  )
  const reported = new PathSet(found.map(({ path }) => path))
  const items = fields
    .filter(
      ({ path }) =>
        !reported.overlaps(path) && !followsAnother({ change: 'added', path }, desired, object),
    )
    .map(({ path, live, owner }) => {
      const taken =
        observed.prediction?.state === 'refused'
          ? undefined
          : explainTakeover(syncer, owner, object)
      const note = taken ?? applied?.note(path, OF_ANOTHER) ?? OF_ANOTHER
      return comparison.createExtraDrift(path, live, createActor(owner, 'field-manager'), [note])
    })
  const count = metadataOnly
    ? undefined
    : findUnownedCount(observed.desired.id, desired, object, managed)
  if (count === undefined) return items
  const note =
    'no apply changes it: git leaves it to its default, and the API server did not record who scaled it'
  return [...items, comparison.createExtraDrift(REPLICAS, count, UNKNOWN_ACTOR, [note])]
}

export function findAddedFields(
  {
    live,
    desired,
    managed,
  }: { readonly live: JsonObject; readonly desired: JsonObject; readonly managed: ManagedFields },
  syncer: SyncerManager | undefined,
  metadataOnly: boolean,
  schema: FieldSchema = UNKNOWN_SCHEMA,
): AddedField[] {
  const found = new Map<string, AddedField>()
  const foreign = managed.entries
    .filter((entry) => !isSyncer(entry, syncer))
    .sort(compareTimeLatestFirst)
  for (const owner of foreign) {
    for (const path of listAddedPaths(owner.fields, desired, schema, [])) {
      if (path[0]?.kind === 'field' && path[0].name === 'status') continue
      if (owner.subresource === 'status' && formatFieldPath(path) === REVISION) continue
      // The owners of its parts are reported (docs/facts/owner-of-an-empty-map.md).
      if (!isItemPath(path) && isPartlyOwned(managed, path)) continue
      const value = findValueAt(live, path)
      if (value === undefined && !metadataOnly) continue
      const key = formatFieldPath(path)
      if (!found.has(key)) found.set(key, { path, live: value, owner })
    }
  }
  // The line order is written to git.
  return [...found].sort(([left], [right]) => compareText(left, right)).map(([, field]) => field)
}

function isItemPath(path: FieldPath): boolean {
  return path.at(-1)?.kind !== 'field'
}

function* listAddedPaths(
  set: FieldSet,
  desired: Json | undefined,
  schema: FieldSchema,
  path: FieldPath,
): Generator<FieldPath> {
  const parent = path.at(-1)
  for (const { step, set: below } of set.children.values()) {
    // Such as a port's protocol.
    if (step.kind === 'field' && parent?.kind === 'item' && Object.hasOwn(parent.keys, step.name))
      continue
    const here = [...path, step]
    const wanted =
      step.kind === 'item' ? findDeclaredItem(desired, step, schema) : findValueAt(desired, [step])
    const item = step.kind === 'item' || step.kind === 'member' || step.kind === 'index'
    if (wanted === undefined && (item || below.children.size === 0)) yield here
    else if (below.children.size > 0)
      yield* listAddedPaths(
        below,
        wanted,
        step.kind === 'field' ? schema.getChildSchema(step.name) : schema.getItemSchema(),
        here,
      )
  }
}

/** An item without a key in git has that key's default: UDP port 8080 is not git's port 8080. */
function findDeclaredItem(
  desired: Json | undefined,
  step: PathStep,
  schema: FieldSchema,
): Json | undefined {
  const item = findValueAt(desired, [step])
  // Ambiguous: the list is compared as a whole.
  if (item === undefined && isJsonArray(desired))
    return desired.find((each) => isSameItem(stepOfItem(each, schema), step))
  const own = item === undefined || schema.listType !== 'map' ? undefined : stepOfItem(item, schema)
  return own !== undefined && step.kind === 'item' && matchesStep(step, own) ? undefined : item
}

function isSameItem(own: PathStep | undefined, step: PathStep): boolean {
  return own !== undefined && stepKey(own) === stepKey(step)
}

function matchesStep(step: Extract<PathStep, { kind: 'item' }>, own: PathStep): boolean {
  return (
    own.kind === 'item' &&
    Object.entries(own.keys).some(
      ([key, value]) =>
        Object.hasOwn(step.keys, key) && !isJsonEqual(getKey(step.keys, key), value),
    )
  )
}
