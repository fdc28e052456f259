/**
 * Paths of ignore rules: keyed field paths and JSON Pointers (RFC 6901), both with `*` for any text of one step. A path covers
 * everything below its location. The meaning of a path in a list with indexes depends on the live object, and on nothing else.
 */

import { type FieldPath, formatFieldPath, indexOfStep, isAnyStep, type PathStep, parseFieldPattern, valueAt } from '../../krm/field-path.ts'
import { shownPathOnly } from '../../krm/redaction/shown-path.ts'
import { hasWildcard, literalGlob, matchesGlob } from '../../text/glob.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject, jsonEquals } from '../../text/json.ts'
import { parsePointer } from '../../text/json-pointer.ts'
import type { Drift } from '../drift.ts'

/** Texts are patterns (src/text/glob.ts). `[*]` is any step, and an item matches when the keys that are named do. */
export type RulePath = { readonly keyed: FieldPath } | { readonly pointer: readonly string[] }

/** Reads a rule's path: a JSON Pointer when it begins with `/`, a keyed field path otherwise. */
export function parseRulePath(text: string): RulePath | { readonly problem: string } {
  if (!text.startsWith('/')) {
    const parsed = parseFieldPattern(text)
    return 'problem' in parsed ? parsed : { keyed: parsed.path }
  }
  const bad = /~(?![01])/.exec(text)
  if (bad !== null) return { problem: `"~" must be written "~0", and "/" "~1", at character ${bad.index + 1} of ${JSON.stringify(text)}` }
  return { pointer: parsePointer(text) }
}

/** Without credentials. */
export function describeRulePath(path: RulePath): string {
  return 'keyed' in path
    ? // As people write it.
      shownPathOnly(path.keyed).replace(/="\*"(?=[\],])/g, '=*')
    : path.pointer.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The rule's path that covers this place, and what is below it, and nothing else. */
export function literalRulePath(path: FieldPath): string {
  return formatFieldPath(
    path.map((step) => {
      if (step.kind === 'field') return { kind: 'field', name: literalGlob(step.name) }
      if (step.kind === 'member') return { kind: 'member', value: literalValue(step.value) }
      if (step.kind === 'index') return step
      return { kind: 'item', keys: Object.fromEntries(Object.entries(step.keys).map(([key, value]) => [key, literalValue(value)])) }
    }),
  )
}

function literalValue(value: Json): Json {
  return typeof value === 'string' ? literalGlob(value) : value
}

/**
 * Whether the paths cover the difference: its place, or every place at which its two values differ. A container that only one side
 * has is one difference, and is not covered by a path below it.
 * @param live the live object; without it no list place of a pointer is known
 */
export function coversDrift(paths: readonly RulePath[], { path, change, git, live: value }: Drift, live: JsonObject | undefined): boolean {
  const covers = (location: FieldPath): boolean => paths.some((rule) => coversPlace(rule, location, live))
  if (covers(path)) return true
  if (change !== 'modified' || git === undefined || value === undefined || !paths.some((rule) => lengthOf(rule) > path.length)) return false
  const locations: FieldPath[] = []
  differingLocations(git, value, path, locations)
  return locations.length > 0 && locations.length < MOST_PLACES && locations.every(covers)
}

const MOST_PLACES = 200

/** Where a list changed its length, the list differs: which of its items is which cannot be known. */
function differingLocations(git: Json | undefined, live: Json | undefined, path: FieldPath, into: FieldPath[]): void {
  if (into.length >= MOST_PLACES || jsonEquals(git, live)) return
  if (isJsonObject(git) && isJsonObject(live)) {
    for (const name of new Set([...Object.keys(git), ...Object.keys(live)]))
      differingLocations(getKey(git, name), getKey(live, name), [...path, { kind: 'field', name }], into)
  } else if (isJsonArray(git) && isJsonArray(live) && git.length === live.length) {
    for (const [index, item] of git.entries()) differingLocations(item, live[index], [...path, { kind: 'index', index }], into)
  } else into.push(path)
}

function lengthOf(rule: RulePath): number {
  return 'keyed' in rule ? rule.keyed.length : rule.pointer.length
}

/** The empty path is of a whole object, which no path of a field covers. */
export function coversPlace(rule: RulePath, path: FieldPath, live: JsonObject | undefined): boolean {
  if (path.length === 0 || lengthOf(rule) > path.length) return false
  if ('keyed' in rule) return rule.keyed.every((step, at) => matchesStep(step, path[at] as PathStep))
  return rule.pointer.every((part, at) => matchesPart(part, path, at, live))
}

function matchesStep(wanted: PathStep, step: PathStep): boolean {
  if (isAnyStep(wanted)) return true
  if (wanted.kind === 'field') return step.kind === 'field' && matchesGlob(wanted.name, step.name)
  if (wanted.kind === 'index') return step.kind === 'index' && wanted.index === step.index
  if (wanted.kind === 'member') return step.kind === 'member' && matchesValue(wanted.value, step.value)
  if (step.kind !== 'item') return false
  return Object.entries(wanted.keys).every(([key, value]) => {
    const found = getKey(step.keys, key)
    return found !== undefined && matchesValue(value, found)
  })
}

function matchesValue(pattern: Json, value: Json): boolean {
  if (typeof pattern !== 'string') return jsonEquals(pattern, value)
  if (typeof value === 'string') return matchesGlob(pattern, value)
  // `[containerPort=8*]`: a pattern is text, and a number is read as text where there is more than one that can be meant.
  return hasWildcard(pattern) && (value === null || typeof value !== 'object') && matchesGlob(pattern, String(value))
}

/** A place in a list is a number: of an atomic list its own, of other lists that of the item in the live object. */
function matchesPart(part: string, path: FieldPath, at: number, live: JsonObject | undefined): boolean {
  const step = path[at] as PathStep
  if (step.kind === 'field') return matchesGlob(part, step.name)
  if (step.kind === 'index') return matchesGlob(part, String(step.index))
  if (part === '*') return true
  const list = live === undefined ? undefined : valueAt(live, path.slice(0, at))
  const index = list === undefined ? -1 : indexOfStep(list, step)
  return index !== -1 && matchesGlob(part, String(index))
}
