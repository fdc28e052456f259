import type { DesiredResource } from '@backporch/kpt/desired-set'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { listMoved, RenderedBefore } from '../edits/moved-fields.ts'
import type { Rendered } from '../edits/prove-edit.ts'

export interface NewObject {
  readonly id: ResourceId
  readonly manifest: JsonObject
  readonly live: JsonObject
}

export interface NotAsLive {
  /** Undefined if other objects move. */
  readonly object: NewObject | undefined
  readonly why: string
}

/** Undefined if they render as live. */
export function explainNotAsLive(
  before: Rendered,
  after: Rendered,
  objects: readonly NewObject[],
): NotAsLive | undefined {
  for (const object of objects) {
    const why = explainNotLive(before, after, object)
    if (why !== undefined) return { object, why }
  }
  const added = new Set(objects.map(({ id }) => getResourceKey(id)))
  const rest = new Map([...after].filter(([key]) => !added.has(key)))
  const moved = new RenderedBefore(before, []).listOtherMoves(rest)
  return moved.length === 0
    ? undefined
    : { object: undefined, why: `its manifest would also change ${listMoved(moved)}` }
}

function explainNotLive(
  before: Rendered,
  after: Rendered,
  { id, manifest, live }: NewObject,
): string | undefined {
  const made = after.get(getResourceKey(id))
  if (made === undefined)
    return `the rendered package does not have ${describeResourceId(id)}${describeInstead(before, after, id)}`
  const [beyond] = listUnmatchedPaths(made.object, live, [])
  if (beyond !== undefined)
    return `the rendered package gives it ${formatRedactedPath(beyond, id)}, and live is different there`
  const lost = [...listUnmatchedPaths(manifest, made.object, [])].find((path) => !isName(path))
  return lost === undefined
    ? undefined
    : `the rendered package has a different ${formatRedactedPath(lost, id)} than its manifest`
}

/** Of a manifest with the live name; undefined if unchanged. */
export function findRenderedName(
  before: Rendered,
  after: Rendered,
  { group, kind, namespace, name }: ResourceId,
): string | undefined {
  const made = listAppeared(before, after).filter(
    ({ id }) => id.group === group && id.kind === kind && id.name.includes(name),
  )
  const own = made.find(({ id }) => id.namespace === namespace) ?? made[0]
  return own === undefined || own.id.name === name ? undefined : own.id.name
}

function describeInstead(before: Rendered, after: Rendered, { group, kind }: ResourceId): string {
  const other = listAppeared(before, after).find(({ id }) => id.group === group && id.kind === kind)
  return other === undefined ? '' : `: it becomes ${describeResourceId(other.id)}`
}

function listAppeared(before: Rendered, after: Rendered): readonly DesiredResource[] {
  return [...after].flatMap(([key, resource]) => (before.has(key) ? [] : [resource]))
}

function isName(path: FieldPath): boolean {
  return (
    path.length === 2 &&
    path.every((step, at) => step.kind === 'field' && step.name === ['metadata', 'name'][at])
  )
}

/** Paths that `part` has and `whole` lacks, or has with another value. */
function* listUnmatchedPaths(
  part: Json,
  whole: Json | undefined,
  path: FieldPath,
): Generator<FieldPath> {
  if (isJsonEqual(part, whole)) return
  if (isJsonObject(part) && isJsonObject(whole)) {
    for (const [name, below] of Object.entries(part))
      yield* listUnmatchedPaths(below, getKey(whole, name), [...path, createFieldStep(name)])
  } else if (isJsonArray(part) && isJsonArray(whole) && part.length === whole.length) {
    for (const [index, item] of part.entries())
      yield* listUnmatchedPaths(item, whole[index], [...path, { kind: 'index', index }])
  } else yield path
}
