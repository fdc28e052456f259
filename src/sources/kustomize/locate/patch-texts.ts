import type { DesiredResource } from '@backporch/kpt/desired-set'
import { EditRefusal, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { createFieldStep, type FieldPath, findValueAt, type PathStep } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Wanted } from '../../locate/candidate.ts'
import { buildPointer } from './kustomize-patches.ts'

export interface OverlaidField {
  readonly path: FieldPath
  readonly wanted: Wanted
}

export interface PatchedObject {
  readonly desired: DesiredResource
  /** As the file declares them: kustomize finds an object by each of its former names. */
  readonly identity: JsonObject
}

/** Null removes a value, and `$patch: delete` an item. */
export function deriveMergedPath(
  { desired }: PatchedObject,
  path: FieldPath,
  wanted: Wanted,
): { readonly path: FieldPath; readonly value: Json } {
  const steps = path.map((step, at) =>
    renameAsDeclared(step, findValueAt(desired.object, path.slice(0, at + 1))),
  )
  if (wanted !== undefined)
    return { path: steps, value: orderLike(wanted, findTemplateValue(desired, path)) }
  if (path.at(-1)?.kind === 'item')
    return { path: [...steps, createFieldStep('$patch')], value: 'delete' }
  const now = findValueAt(desired.object, path)
  // A key that the base adds later is not affected.
  const isMap = isAnyOf(path.at(-1), 'annotations', 'labels') && isJsonObject(now)
  return {
    path: steps,
    value: isMap ? Object.fromEntries(Object.keys(now).map((key) => [key, null])) : null,
  }
}

function isAnyOf(step: PathStep | undefined, ...names: readonly string[]): boolean {
  return step?.kind === 'field' && names.includes(step.name)
}

function findTemplateValue({ object }: DesiredResource, path: FieldPath): Json | undefined {
  const now = findValueAt(object, path)
  if (now !== undefined || path.at(-1)?.kind !== 'item') return now
  const list = findValueAt(object, path.slice(0, -1))
  return isJsonArray(list) ? list[0] : undefined
}

/** kustomize puts the items of the patch first, and another order is another Pod template. */
export function movesItems(
  { desired: { object } }: PatchedObject,
  path: FieldPath,
  wanted: Wanted,
): boolean {
  return path.some((step, at) => {
    if (step.kind !== 'item' || (wanted === undefined && at === path.length - 1)) return false
    const list = findValueAt(object, path.slice(0, at))
    const item = findValueAt(object, path.slice(0, at + 1))
    return isJsonArray(list) && list.length > 0 && (item === undefined || list[0] !== item)
  })
}

export function getListPath(path: FieldPath): FieldPath {
  return path.slice(
    0,
    path.findLastIndex(({ kind }) => kind === 'item'),
  )
}

/** The server has its own order. */
function orderLike(value: Json, like: Json | undefined): Json {
  if (isJsonArray(value))
    return value.map((each, at) =>
      orderLike(each, isJsonArray(like) ? (like[at] ?? like[0]) : undefined),
    )
  if (!isJsonObject(value) || !isJsonObject(like)) return value
  const keys = [...Object.keys(like), ...Object.keys(value)]
  return Object.fromEntries(
    keys.flatMap((key) => {
      const own = getKey(value, key)
      return own === undefined ? [] : [[key, orderLike(own, getKey(like, key))]]
    }),
  )
}

/** Omits keys that the server adds (a port's `protocol`). */
function renameAsDeclared(step: PathStep, item: Json | undefined): PathStep {
  if (step.kind !== 'item' || !isJsonObject(item)) return step
  const keys = Object.entries(step.keys).filter(([key]) => Object.hasOwn(item, key))
  return keys.length === 0 ? step : { kind: 'item', keys: Object.fromEntries(keys) }
}

export function mergePatches(
  object: PatchedObject,
  changed: readonly OverlaidField[],
): readonly Json[] {
  const operations = changed
    .map(({ path, wanted }) => buildOperation(object, path, wanted))
    .filter((operation) => operation !== undefined)
  const others = operations.length === changed.length ? [operations] : []
  try {
    let patch: Json = object.identity
    for (const { path, wanted } of changed) {
      const merged = deriveMergedPath(object, path, wanted)
      patch = writeValueAt(patch, merged.path, merged.value)
    }
    return changed.some(({ path, wanted }) => movesItems(object, path, wanted))
      ? [...others, patch]
      : [patch, ...others]
  } catch (thrown) {
    if (thrown instanceof EditRefusal) return others
    throw thrown
  }
}

export function buildOperation(
  { desired }: PatchedObject,
  path: FieldPath,
  wanted: Wanted,
): JsonObject | undefined {
  const { object } = desired
  let [at, value] = [
    path,
    wanted === undefined ? undefined : orderLike(wanted, findTemplateValue(desired, path)),
  ]
  const isThere = findValueAt(object, path) !== undefined
  if (!isThere && value === undefined) return undefined
  while (!isThere && at.length > 1 && findValueAt(object, at.slice(0, -1)) === undefined) {
    value = writeValueAt(undefined, at.slice(-1), value ?? null)
    at = at.slice(0, -1)
  }
  const last = at.at(-1)
  const above = buildPointer(object, isThere ? at : at.slice(0, -1))
  if (above === undefined || last === undefined) return undefined
  const name = isThere ? [] : [last.kind === 'field' ? last.name : '-']
  const pointer = [...above, ...name].map(
    (part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  )
  const op = !isThere ? 'add' : value === undefined ? 'remove' : 'replace'
  return { op, path: pointer.join(''), ...(value === undefined ? {} : { value }) }
}
