/**
 * Joins removals: a map or list that becomes empty and that live lacks is removed too, as a person
 * would do it. An API server refuses many empty maps, such as `rollingUpdate: {}`.
 */
import { removeValueAt } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, findValueAt, formatFieldPath, stepKey } from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { ResolvedChange } from './resolution-edits.ts'

/** One per group stands for the others, with the path of the emptied container. */
export function joinRemovals(changes: readonly ResolvedChange[]): readonly ResolvedChange[] {
  const groups = Map.groupBy(changes.filter(isEmptying), (change) => {
    const { path, document, item } = change.desired.location
    return JSON.stringify([
      path,
      document,
      item,
      change.via,
      formatFieldPath(change.drift.forEdit.absentAbove),
    ])
  })
  const joined = [...groups.values()].flatMap((own) =>
    join(own[0]?.drift.forEdit.absentAbove ?? [], own),
  )
  if (joined.every((change) => changes.includes(change))) return changes
  return [...changes.filter((change) => !isEmptying(change)), ...joined]
}

type Emptying = ResolvedChange & {
  readonly desired: NonNullable<ResolvedChange['desired']>
  readonly drift: { readonly forEdit: { readonly absentAbove: FieldPath } }
}

function isEmptying(change: ResolvedChange): change is Emptying {
  const { resolution, desired, drift } = change
  return (
    resolution === 'Adopt' &&
    drift.change === 'removed' &&
    desired !== undefined &&
    drift.forEdit?.absentAbove !== undefined
  )
}

function join(above: FieldPath, changes: readonly Emptying[]): readonly ResolvedChange[] {
  const [first] = changes
  const declared = first === undefined ? undefined : findValueAt(first.desired.object, above)
  if (first === undefined || declared === undefined) return changes
  const rest = changes.reduce(
    (value, { drift }) => removeValueAt(value, drift.path.slice(above.length)),
    declared,
  )
  if (isHollow(rest)) return [{ ...first, drift: { ...first.drift, path: above, git: declared } }]
  const below = Map.groupBy(changes, ({ drift }) => {
    const step = drift.path[above.length]
    return step === undefined || drift.path.length === above.length + 1 ? undefined : stepKey(step)
  })
  return [...below].flatMap(([key, own]) =>
    key === undefined ? own : join(own[0]?.drift.path.slice(0, above.length + 1) ?? [], own),
  )
}

function isHollow(value: Json): boolean {
  if (isJsonArray(value)) return value.length === 0
  return isJsonObject(value) && Object.values(value).every(isHollow)
}
