/**
 * Keyed field paths and JSON Pointers (RFC 6901), with `*` for any text of one step. A path covers
 * everything below it. A list index refers to the live object.
 */
import {
  type FieldPath,
  findValueAt,
  formatFieldPath,
  indexOfStep,
  isAnyStep,
  type PathStep,
  parseFieldPattern,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  parsePointer,
} from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { escapeGlob, hasWildcard, matchesGlob } from '@backporch/kyaml/text'
import type { Drift } from '../compare/drift.ts'

/** `[*]` is any step, and an item matches by its given keys. */
export type RulePath = { readonly keyed: FieldPath } | { readonly pointer: readonly string[] }

export function parseRulePath(text: string): RulePath | { readonly problem: string } {
  if (!text.startsWith('/')) {
    const parsed = parseFieldPattern(text)
    return 'problem' in parsed ? parsed : { keyed: parsed.path }
  }
  const bad = /~(?![01])/.exec(text)
  if (bad !== null)
    return {
      problem: `"~" must be written "~0", and "/" "~1", at character ${bad.index + 1} of ${JSON.stringify(text)}`,
    }
  return { pointer: parsePointer(text) }
}

export function describeRulePath(path: RulePath): string {
  return 'keyed' in path
    ? formatRedactedPath(path.keyed, undefined).replace(/="\*"(?=[\],])/g, '=*')
    : path.pointer.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

export function formatLiteralRulePath(path: FieldPath): string {
  return formatFieldPath(
    path.map((step) => {
      if (step.kind === 'field') return { kind: 'field', name: escapeGlob(step.name) }
      if (step.kind === 'member') return { kind: 'member', value: escapeLiteralValue(step.value) }
      if (step.kind === 'index') return step
      return {
        kind: 'item',
        keys: Object.fromEntries(
          Object.entries(step.keys).map(([key, value]) => [key, escapeLiteralValue(value)]),
        ),
      }
    }),
  )
}

function escapeLiteralValue(value: Json): Json {
  return typeof value === 'string' ? escapeGlob(value) : value
}

/**
 * Every location at which the values differ must be covered. A one-sided container is one
 * difference, which no path below it covers.
 * @param live for list indexes of pointers
 */
export function coversDrift(
  paths: readonly RulePath[],
  { path, change, git, live: value }: Drift,
  live: JsonObject | undefined,
): boolean {
  const covers = (location: FieldPath): boolean =>
    paths.some((rule) => coversPlace(rule, location, live))
  if (covers(path)) return true
  if (
    change !== 'modified' ||
    git === undefined ||
    value === undefined ||
    !paths.some((rule) => getPathLength(rule) > path.length)
  )
    return false
  const locations: FieldPath[] = []
  collectDifferingLocations(git, value, path, locations)
  return locations.length > 0 && locations.length < MOST_PLACES && locations.every(covers)
}

const MOST_PLACES = 200

/** Items of a list of another length cannot be matched. */
function collectDifferingLocations(
  git: Json | undefined,
  live: Json | undefined,
  path: FieldPath,
  into: FieldPath[],
): void {
  if (into.length >= MOST_PLACES || isJsonEqual(git, live)) return
  if (isJsonObject(git) && isJsonObject(live)) {
    for (const name of new Set([...Object.keys(git), ...Object.keys(live)]))
      collectDifferingLocations(
        getKey(git, name),
        getKey(live, name),
        [...path, { kind: 'field', name }],
        into,
      )
  } else if (isJsonArray(git) && isJsonArray(live) && git.length === live.length) {
    for (const [index, item] of git.entries())
      collectDifferingLocations(item, live[index], [...path, { kind: 'index', index }], into)
  } else into.push(path)
}

function getPathLength(rule: RulePath): number {
  return 'keyed' in rule ? rule.keyed.length : rule.pointer.length
}

/** The empty path is a whole object, which no path covers. */
export function coversPlace(
  rule: RulePath,
  path: FieldPath,
  live: JsonObject | undefined,
): boolean {
  if (path.length === 0 || getPathLength(rule) > path.length) return false
  if ('keyed' in rule)
    return rule.keyed.every((step, at) => matchesStep(step, path[at] as PathStep))
  return rule.pointer.every((part, at) => matchesPart(part, path, at, live))
}

function matchesStep(wanted: PathStep, step: PathStep): boolean {
  if (isAnyStep(wanted)) return true
  if (wanted.kind === 'field') return step.kind === 'field' && matchesGlob(wanted.name, step.name)
  if (wanted.kind === 'index') return step.kind === 'index' && wanted.index === step.index
  if (wanted.kind === 'member')
    return step.kind === 'member' && matchesValue(wanted.value, step.value)
  if (step.kind !== 'item') return false
  return Object.entries(wanted.keys).every(([key, value]) => {
    const found = getKey(step.keys, key)
    return found !== undefined && matchesValue(value, found)
  })
}

function matchesValue(pattern: Json, value: Json): boolean {
  if (typeof pattern !== 'string') return isJsonEqual(pattern, value)
  if (typeof value === 'string') return matchesGlob(pattern, value)
  return (
    hasWildcard(pattern) &&
    (value === null || typeof value !== 'object') &&
    matchesGlob(pattern, String(value))
  )
}

/** Items of other than atomic lists have their index in the live object. */
function matchesPart(
  part: string,
  path: FieldPath,
  at: number,
  live: JsonObject | undefined,
): boolean {
  const step = path[at] as PathStep
  if (step.kind === 'field') return matchesGlob(part, step.name)
  if (step.kind === 'index') return matchesGlob(part, String(step.index))
  if (part === '*') return true
  const list = live === undefined ? undefined : findValueAt(live, path.slice(0, at))
  const index = list === undefined ? -1 : indexOfStep(list, step)
  return index !== -1 && matchesGlob(part, String(index))
}
