/**
 * Git's side is the live object with the drift undone, so that the texts differ exactly by the
 * drift. The values at the drift are those of the report, the others as in `showObject`.
 */
import { EditRefusal, removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import { type FieldPath, findValueAt, indexOfStep, type PathStep } from '@backporch/kyaml/field'
import {
  formatCanonicalJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { formatShownPath, type RedactionKey, showObject } from '@backporch/kyaml/redaction'
import { omitBookkeeping, type ResourceId } from '@backporch/kyaml/resource'
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
export function buildObjectSides(
  verdict: ObjectVerdict,
  shows: (drift: Drift) => boolean,
  key: RedactionKey,
): ObjectSides | undefined {
  const items = verdict.items.filter(shows)
  const [first] = items
  if (first === undefined) return undefined
  const { id, apiVersion } = verdict
  const text = (object: JsonObject): string =>
    formatDocument(sortFields(showObject(key, id, object, verdict.visibilityOf)))
  const head = { id, apiVersion, unplaced: [] }
  if (first.change === 'missing' && isJsonObject(first.git))
    return { ...head, git: text(omitBookkeeping(first.git)), live: undefined }
  if (first.change === 'unexpected' && isJsonObject(first.live))
    return { ...head, git: undefined, live: text(omitBookkeeping(first.live)) }
  if (verdict.live === undefined) return undefined
  const whole = omitBookkeeping(verdict.live)
  let sides = { git: whole, live: whole }
  const unplaced: string[] = []
  for (const drift of items) {
    try {
      sides = addLocation(sides, drift, verdict.desired?.object ?? {}, key)
    } catch (thrown) {
      if (!(thrown instanceof EditRefusal)) throw thrown
      unplaced.push(formatShownPath(key, id, drift.path))
    }
  }
  return { id, apiVersion, git: text(sides.git), live: text(sides.live), unplaced }
}

interface Sides {
  readonly git: JsonObject
  readonly live: JsonObject
}

/** @throws EditRefusal */
function addLocation(sides: Sides, drift: Drift, desired: JsonObject, key: RedactionKey): Sides {
  const { path } = drift
  const shown = showChange({ drift, resolution: 'Restore' }, key)
  const live =
    shown.live === undefined
      ? sides.live
      : ensureObject(writeValueAt(sides.live, path, shown.live as Json))
  if (shown.git === undefined)
    return { git: ensureObject(omitLocation(sides.git, path, desired)), live }
  const there = findValueAt(sides.git, path) !== undefined
  return {
    git: ensureObject(
      there
        ? writeValueAt(sides.git, path, shown.git as Json)
        : insertValue(sides.git, path, shown.git as Json, desired),
    ),
    live,
  }
}

function omitLocation(object: Json, path: FieldPath, desired: JsonObject): Json {
  const less = removeValueAt(object, path)
  const parent = path.slice(0, -1)
  const left = findValueAt(less, parent)
  const empty = isJsonArray(left)
    ? left.length === 0
    : isJsonObject(left) && Object.keys(left).length === 0
  return empty && parent.length > 0 && findValueAt(desired, parent) === undefined
    ? omitLocation(less, parent, desired)
    : less
}

function insertValue(object: Json, path: FieldPath, value: Json, desired: JsonObject): Json {
  const last = path.at(-1)
  const parent = path.slice(0, -1)
  const list = findValueAt(object, parent)
  const wanted = findValueAt(desired, parent)
  if (last === undefined || last.kind === 'field' || !isJsonArray(list) || !isJsonArray(wanted))
    return writeValueAt(object, path, value)
  const before = wanted
    .slice(0, Math.max(0, indexOfStep(wanted, last)))
    .map((item) => indexOfStep(list, stepLike(last, item)))
  return writeValueAt(object, parent, list.toSpliced(Math.max(-1, ...before) + 1, 0, value))
}

function stepLike(step: PathStep, item: Json): PathStep {
  if (step.kind !== 'item' || !isJsonObject(item)) return { kind: 'member', value: item }
  const keys = Object.keys(step.keys).flatMap((name): [string, Json][] => {
    const value = getKey(item, name)
    return value === undefined ? [] : [[name, value]]
  })
  return { kind: 'item', keys: Object.fromEntries(keys) }
}

function sortFields(object: JsonObject): JsonObject {
  return ensureObject(parseJson(formatCanonicalJson(object)))
}

function ensureObject(value: Json): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('an object is a map')
  return value
}
