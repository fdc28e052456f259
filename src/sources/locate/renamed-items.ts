/** Treats a changed key of a list item as one edit in the sources. */
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { isJsonObject, type Json } from '@backporch/kyaml/json'
import { findRenamedItem } from '../../drift/compare/renamed-items.ts'
import { leaves } from '../edits/prove-edit.ts'
import {
  getWantedValue,
  getWrittenValue,
  isEdited,
  type ResolvedChange,
} from '../edits/resolution-edits.ts'
import type { Wanted } from './candidate.ts'

export interface RenamedField {
  readonly path: FieldPath
  readonly wanted: Wanted
}

/** Empty if the change is not a removed and an added item. */
export function listRenamedFields(
  change: ResolvedChange,
  changes: readonly ResolvedChange[],
): readonly RenamedField[] {
  const edited = changes.filter(isEdited)
  const pair = findRenamedItem(
    change.drift,
    edited.map(({ drift }) => drift),
  )
  const come = edited.find(({ drift }) => drift === pair?.come)
  if (pair === undefined || come?.desired === undefined) return []
  const { path } = pair.gone
  const was = findValueAt(come.desired.object, path)
  const is = omitDefaults(come, was)
  return [...leaves(was, is, [])].map((below) => ({
    path: [...path, ...below],
    wanted: is === undefined ? undefined : findValueAt(is, below),
  }))
}

/**
 * Without fields that git leaves to the server (a port's `protocol`), if the server gives them the
 * live value.
 */
function omitDefaults(come: ResolvedChange, declared: Json | undefined): Json | undefined {
  const [item, written] = [getWantedValue(come), getWrittenValue(come)]
  if (!isJsonObject(item) || !isJsonObject(declared) || !isJsonObject(written)) return item
  return Object.fromEntries(
    Object.entries(item).filter(
      ([key]) => Object.hasOwn(declared, key) || Object.hasOwn(written, key),
    ),
  )
}
