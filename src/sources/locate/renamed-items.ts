/**
 * An item of a list whose key changed: a Service's port is the key of its item, so another port is one item less and one more. In the sources it is
 * one edit, of the key.
 */
import { type FieldPath, isWithin, type PathStep, valueAt } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json } from '@backporch/kyaml/json'
import { resourceKey } from '@backporch/kyaml/resource'
import { leaves } from '../edits/prove-edit.ts'
import { isEdited, type ResolvedChange, wantedBy } from '../edits/resolution-edits.ts'
import type { Wanted } from './candidate.ts'

/** A field of the item as git has it, with its value afterwards. */
export interface RenamedField {
  readonly path: FieldPath
  readonly wanted: Wanted
}

/** The fields that differ between the removed and the added item; empty where the change is not one of such two. */
export function renamedFields(
  change: ResolvedChange,
  changes: readonly ResolvedChange[],
): readonly RenamedField[] {
  const alike = changes.filter((each) => isEdited(each) && isInList(each, change))
  const removed = alike.filter((each) => wantedBy(each) === undefined)
  const added = alike.filter(
    (each) =>
      each.desired !== undefined && valueAt(each.desired.object, each.drift.path) === undefined,
  )
  const pair = removed
    .map((gone) => ({
      gone,
      come:
        removed.length === 1 && added.length === 1
          ? added[0]
          : added.find((each) => isNamedAlike(gone, each)),
    }))
    .find(({ gone, come }) => gone === change || come === change)
  if (pair?.come?.desired === undefined) return []
  const { path } = pair.gone.drift
  const was = valueAt(pair.come.desired.object, path)
  const is = withoutKeys(wantedBy(pair.come), was, pair.come.drift.path.at(-1))
  return [...leaves(was, is, [])].map((below) => ({
    path: [...path, ...below],
    wanted: is === undefined ? undefined : valueAt(is, below),
  }))
}

function isInList({ drift }: ResolvedChange, { drift: { id, path } }: ResolvedChange): boolean {
  const [last, own] = [drift.path.at(-1), path.at(-1)]
  return (
    last?.kind === 'item' &&
    own?.kind === 'item' &&
    resourceKey(drift.id) === resourceKey(id) &&
    drift.path.length === path.length &&
    isWithin(drift.path, path.slice(0, -1))
  )
}

function isNamedAlike(removed: ResolvedChange, added: ResolvedChange): boolean {
  const declared =
    removed.desired === undefined ? undefined : valueAt(removed.desired.object, removed.drift.path)
  const [was, is] = [declared, wantedBy(added)].map((item) =>
    isJsonObject(item) ? getKey(item, 'name') : undefined,
  )
  return was !== undefined && was === is
}

/** Without the keys that git leaves to the server (a port's `protocol`). */
function withoutKeys(
  item: Json | undefined,
  declared: Json | undefined,
  step: PathStep | undefined,
): Json | undefined {
  if (!isJsonObject(item) || !isJsonObject(declared) || step?.kind !== 'item') return item
  return Object.fromEntries(
    Object.entries(item).filter(
      ([key]) => !Object.hasOwn(step.keys, key) || Object.hasOwn(declared, key),
    ),
  )
}
