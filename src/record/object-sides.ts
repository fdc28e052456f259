/**
 * Git's side is the live object with the drift undone, so that the texts differ exactly by the
 * drift. The values at the drift are those of the report, the others as in `shownObject`.
 */
import { EditRefusal, withoutValueAt, withValueAt } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, indexOfStep, type PathStep, valueAt } from '@backporch/kyaml/field'
import {
  canonicalJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { type RedactionKey, shownObject, shownPath } from '@backporch/kyaml/redaction'
import { type ResourceId, withoutBookkeeping } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../drift/compare/drift.ts'
import { showChange } from './build-report.ts'
import { formatDocument } from './write-document.ts'

export interface ObjectSides {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly git: string | undefined
  readonly live: string | undefined
  /** A value of another kind is at the path. */
  readonly unplaced: readonly string[]
}

/** Undefined if there is nothing to show. `shows`: differences to undo; the others stay live. */
export function objectSides(
  verdict: ObjectVerdict,
  shows: (drift: Drift) => boolean,
  key: RedactionKey,
): ObjectSides | undefined {
  const items = verdict.items.filter(shows)
  const [first] = items
  if (first === undefined) return undefined
  const { id, apiVersion } = verdict
  const text = (object: JsonObject): string =>
    formatDocument(sorted(shownObject(key, id, object, verdict.visibilityOf)))
  const head = { id, apiVersion, unplaced: [] }
  if (first.change === 'missing' && isJsonObject(first.git))
    return { ...head, git: text(withoutBookkeeping(first.git)), live: undefined }
  if (first.change === 'unexpected' && isJsonObject(first.live))
    return { ...head, git: undefined, live: text(withoutBookkeeping(first.live)) }
  if (verdict.live === undefined) return undefined
  const whole = withoutBookkeeping(verdict.live)
  let sides = { git: whole, live: whole }
  const unplaced: string[] = []
  for (const drift of items) {
    try {
      sides = location(sides, drift, verdict.desired?.object ?? {}, key)
    } catch (thrown) {
      if (!(thrown instanceof EditRefusal)) throw thrown
      unplaced.push(shownPath(key, id, drift.path))
    }
  }
  return { id, apiVersion, git: text(sides.git), live: text(sides.live), unplaced }
}

interface Sides {
  readonly git: JsonObject
  readonly live: JsonObject
}

/** @throws EditRefusal */
function location(sides: Sides, drift: Drift, desired: JsonObject, key: RedactionKey): Sides {
  const { path } = drift
  const shown = showChange({ drift, resolution: 'Restore' }, key)
  const live =
    shown.live === undefined
      ? sides.live
      : asObject(withValueAt(sides.live, path, shown.live as Json))
  if (shown.git === undefined) return { git: asObject(without(sides.git, path, desired)), live }
  const there = valueAt(sides.git, path) !== undefined
  return {
    git: asObject(
      there
        ? withValueAt(sides.git, path, shown.git as Json)
        : inserted(sides.git, path, shown.git as Json, desired),
    ),
    live,
  }
}

function without(object: Json, path: FieldPath, desired: JsonObject): Json {
  const less = withoutValueAt(object, path)
  const parent = path.slice(0, -1)
  const left = valueAt(less, parent)
  const empty = isJsonArray(left)
    ? left.length === 0
    : isJsonObject(left) && Object.keys(left).length === 0
  return empty && parent.length > 0 && valueAt(desired, parent) === undefined
    ? without(less, parent, desired)
    : less
}

function inserted(object: Json, path: FieldPath, value: Json, desired: JsonObject): Json {
  const last = path.at(-1)
  const parent = path.slice(0, -1)
  const list = valueAt(object, parent)
  const wanted = valueAt(desired, parent)
  if (last === undefined || last.kind === 'field' || !isJsonArray(list) || !isJsonArray(wanted))
    return withValueAt(object, path, value)
  const before = wanted
    .slice(0, Math.max(0, indexOfStep(wanted, last)))
    .map((item) => indexOfStep(list, stepLike(last, item)))
  return withValueAt(object, parent, list.toSpliced(Math.max(-1, ...before) + 1, 0, value))
}

function stepLike(step: PathStep, item: Json): PathStep {
  if (step.kind !== 'item' || !isJsonObject(item)) return { kind: 'member', value: item }
  const keys = Object.keys(step.keys).flatMap((name): [string, Json][] => {
    const value = getKey(item, name)
    return value === undefined ? [] : [[name, value]]
  })
  return { kind: 'item', keys: Object.fromEntries(keys) }
}

function sorted(object: JsonObject): JsonObject {
  return asObject(parseJson(canonicalJson(object)))
}

function asObject(value: Json): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('an object is a map')
  return value
}
