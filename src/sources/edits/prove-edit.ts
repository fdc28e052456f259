/** Proves an edit (design §8): every chosen field has its chosen value and nothing else moved. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, type FieldPath, findValueAt, isWithin } from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { isWanted, type ResolvedChange } from './resolution-edits.ts'

/** By `getResourceKey`. */
export type Rendered = ReadonlyMap<string, DesiredResource>

/** @throws Failure BP2001 that names the first field or object that is not as chosen */
export function proveEdit(
  before: Rendered,
  after: Rendered,
  changes: readonly ResolvedChange[],
): void {
  const chosen = new Map<string, ResolvedChange[]>()
  for (const change of changes) {
    if (change.resolution === 'Restore' || change.desired === undefined) continue
    const key = getLocationKey(change.desired)
    chosen.set(key, [...(chosen.get(key) ?? []), change])
  }
  for (const [key, was] of before)
    proveObject(was, after.get(key), chosen.get(getLocationKey(was)) ?? [])
  for (const [key, { id }] of after)
    if (!before.has(key))
      throw createMovedMoreFailure(
        describeResourceId(id),
        'the object appears, and git did not declare it',
      )
}

/** The id of an object may lack the namespace that the cluster adds. */
function getLocationKey({ location: { path, document, item } }: DesiredResource): string {
  return `${path}#${document}#${item ?? ''}`
}

function proveObject(
  was: DesiredResource,
  is: DesiredResource | undefined,
  chosen: readonly ResolvedChange[],
): void {
  const other = chosen.find(
    ({ drift: { id } }) =>
      id.group !== was.id.group || id.kind !== was.id.kind || id.name !== was.id.name,
  )
  if (other !== undefined)
    throw createMovedMoreFailure(
      describeResourceId(was.id),
      `it is not ${describeResourceId(other.drift.id)}, which the change is about`,
    )
  const removed = chosen.some(({ drift }) => drift.change === 'missing')
  if (removed !== (is === undefined))
    throw createMovedMoreFailure(
      describeResourceId(was.id),
      removed ? 'the object is still declared' : 'the object is no longer declared',
    )
  if (is === undefined) return
  for (const change of chosen) {
    const { drift } = change
    const value = findValueAt(is.object, drift.path)
    if (!isWanted(change, value))
      throw createMovedMoreFailure(
        describeResourceId(was.id),
        `${formatRedactedPath(drift.path, drift.id)} does not hold the chosen value afterwards`,
      )
  }
  const [moved] = listOtherDifferences(
    was.object,
    is.object,
    [],
    chosen.map(({ drift }) => drift.path),
  )
  if (moved === undefined) return
  const [path = moved] = leaves(
    findValueAt(was.object, moved),
    findValueAt(is.object, moved),
    moved,
  )
  throw createMovedMoreFailure(
    describeResourceId(was.id),
    `${formatRedactedPath(path, was.id)} changes too`,
  )
}

/** Neither chosen, nor below a chosen path, nor containers of only chosen paths. */
export function* listOtherDifferences(
  was: Json | undefined,
  is: Json | undefined,
  path: FieldPath,
  chosen: readonly FieldPath[],
): Generator<FieldPath> {
  if (isJsonEqual(was, is) || chosen.some((location) => isWithin(path, location))) return
  const above = chosen.some((position) => isWithin(position, path))
  const [left, right] = [was ?? (isJsonObject(is) ? {} : []), is ?? (isJsonObject(was) ? {} : [])]
  if (above && isJsonObject(left) && isJsonObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      yield* listOtherDifferences(
        getKey(left, key),
        getKey(right, key),
        [...path, createFieldStep(key)],
        chosen,
      )
  } else if (above && Array.isArray(left) && Array.isArray(right))
    yield* listOtherListDifferences(left, right, path, chosen)
  else yield path
}

/** Items other than the chosen ones must be equal and in the same order. */
function* listOtherListDifferences(
  was: readonly Json[],
  is: readonly Json[],
  path: FieldPath,
  chosen: readonly FieldPath[],
): Generator<FieldPath> {
  const steps = chosen
    .filter((location) => isWithin(location, path) && location.length > path.length)
    .map((position) => position.slice(path.length, path.length + 1))
  const rest = (list: readonly Json[]): Json[] =>
    list.filter((item) => !steps.some((step) => isJsonEqual(findValueAt(list, step), item)))
  if (!isJsonEqual(rest(was), rest(is))) yield path
  else
    for (const step of steps)
      yield* listOtherDifferences(
        findValueAt(was, step),
        findValueAt(is, step),
        [...path, ...step],
        chosen,
      )
}

export function* leaves(
  was: Json | undefined,
  is: Json | undefined,
  path: FieldPath,
): Generator<FieldPath> {
  if (isJsonEqual(was, is)) return
  if (isJsonObject(was) && isJsonObject(is)) {
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)]))
      yield* leaves(getKey(was, key), getKey(is, key), [...path, createFieldStep(key)])
  } else if (isJsonArray(was) && isJsonArray(is) && was.length === is.length) {
    for (const [index, item] of was.entries())
      yield* leaves(item, is[index], [...path, { kind: 'index', index }])
  } else yield path
}

function createMovedMoreFailure(where: string, why: string): Failure {
  return new Failure({
    code: 'BP2001',
    what: 'rendering the edited package does not give the chosen values',
    where,
    why,
    remedy: 'edit the file by hand and commit it, or choose another resolution for this change',
  })
}
