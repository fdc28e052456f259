/** A changed key is one edit in the sources. */
import { type FieldPath, valueAt } from '@backporch/kyaml/field'
import { isJsonObject, type Json } from '@backporch/kyaml/json'
import { renamedItem } from '../../drift/compare/renamed-items.ts'
import { leaves } from '../edits/prove-edit.ts'
import { isEdited, type ResolvedChange, wantedBy, writtenBy } from '../edits/resolution-edits.ts'
import type { Wanted } from './candidate.ts'

export interface RenamedField {
  readonly path: FieldPath
  readonly wanted: Wanted
}

/** Empty if the change is not a removed and an added item. */
export function renamedFields(
  change: ResolvedChange,
  changes: readonly ResolvedChange[],
): readonly RenamedField[] {
  const edited = changes.filter(isEdited)
  const pair = renamedItem(
    change.drift,
    edited.map(({ drift }) => drift),
  )
  const come = edited.find(({ drift }) => drift === pair?.come)
  if (pair === undefined || come?.desired === undefined) return []
  const { path } = pair.gone
  const was = valueAt(come.desired.object, path)
  const is = withoutDefaults(come, was)
  return [...leaves(was, is, [])].map((below) => ({
    path: [...path, ...below],
    wanted: is === undefined ? undefined : valueAt(is, below),
  }))
}

/**
 * Without fields that git leaves to the server (a port's `protocol`), if the server gives them the
 * live value.
 */
function withoutDefaults(come: ResolvedChange, declared: Json | undefined): Json | undefined {
  const [item, written] = [wantedBy(come), writtenBy(come)]
  if (!isJsonObject(item) || !isJsonObject(declared) || !isJsonObject(written)) return item
  return Object.fromEntries(
    Object.entries(item).filter(
      ([key]) => Object.hasOwn(declared, key) || Object.hasOwn(written, key),
    ),
  )
}
