import { type FieldPath, findValueAt, indexOfStep } from '@backporch/kyaml/field'
import {
  filterObjects,
  filterTexts,
  getKey,
  getTextAt,
  type Json,
  type JsonObject,
  parsePointer,
} from '@backporch/kyaml/json'
import {
  getAnnotations,
  getLabels,
  matchesLabels,
  parseApiVersion,
  parseLabelSelector,
} from '@backporch/kyaml/resource'
import { RE2JS } from 're2js'
import type { DriftedField, ForeignIgnore, IgnoreSource, TargetPart } from './syncer.ts'

/** `unknown`: a rule of a kind that is not evaluated. */
export type Ignored = 'yes' | 'no' | 'unknown'

/**
 * @param pointers field with the JSON Pointers
 * @param target field with the target, undefined if the rule itself is the target
 */
export function readIgnores(
  rules: Json | undefined,
  pointers: string,
  target: string | undefined,
): readonly ForeignIgnore[] {
  return filterObjects(rules).map((rule) => {
    const text = (part: TargetPart): string =>
      getTextAt(target === undefined ? rule : getKey(rule, target), part)
    const [labelSelector, annotationSelector] = [text('labelSelector'), text('annotationSelector')]
    const id = {
      group: text('group'),
      version: text('version'),
      kind: text('kind'),
      namespace: text('namespace'),
      name: text('name'),
    }
    return {
      target: { ...id, labelSelector, annotationSelector },
      pointers: filterTexts(getKey(rule, pointers)),
      jq: filterTexts(getKey(rule, 'jqPathExpressions')),
      managers: filterTexts(getKey(rule, 'managedFieldsManagers')),
    }
  })
}

export function isIgnoredBySource(
  source: IgnoreSource,
  own: JsonObject,
  field: DriftedField,
): Ignored {
  return combineAnswers(source.rules(own).map((rule) => isIgnoredByRule(rule, source.names, field)))
}

function isIgnoredByRule(
  { target, pointers, jq, managers }: ForeignIgnore,
  names: IgnoreSource['names'],
  field: DriftedField,
): Ignored {
  // The empty pointer is the whole object, except for Argo CD.
  const covered = pointers.some(
    (pointer) => (pointer === '' && names !== 'globs') || coversPointer(pointer, field),
  )
  const fields =
    covered || managers.includes(field.drift.actor.manager)
      ? 'yes'
      : combineAnswers(jq.map((expression) => coversJqPath(expression, field)))
  if (fields === 'no') return 'no'
  const matches = matchesTarget(target, names, field)
  return matches === 'yes' ? fields : matches
}

function matchesTarget(
  target: ForeignIgnore['target'],
  names: IgnoreSource['names'],
  { drift: { id }, live }: DriftedField,
): Ignored {
  const version = live === undefined ? '' : parseApiVersion(getTextAt(live, 'apiVersion')).version
  const parts = { ...id, version }
  let answer: Ignored = 'yes'
  for (const part of ['group', 'version', 'kind', 'name', 'namespace'] as const) {
    const matches = matchesName(target[part], parts[part], names, part)
    if (matches === 'no') return 'no'
    if (matches === 'unknown') answer = 'unknown'
  }
  for (const [text, map] of [
    [target.labelSelector, live === undefined ? new Map<string, string>() : getLabels(live)],
    [
      target.annotationSelector,
      live === undefined ? new Map<string, string>() : getAnnotations(live),
    ],
  ] as const) {
    if (text === '') continue
    const parsed = parseLabelSelector(text)
    if ('problem' in parsed) return 'unknown'
    if (!matchesLabels(parsed.selector, map)) return 'no'
  }
  return answer
}

function matchesName(
  wanted: string,
  text: string,
  names: IgnoreSource['names'],
  part: string,
): Ignored {
  if (names === 'globs' && (part === 'group' || part === 'kind'))
    return matchesGlobPattern(wanted, text) ? 'yes' : 'no'
  if (wanted === '' || wanted === text) return 'yes'
  if (names === 'patterns') return matchesWhole(wanted, text)
  return names === 'exact' && !/^[A-Za-z0-9.-]+$/.test(wanted) ? 'unknown' : 'no'
}

/** RE2 matches a foreign pattern in linear time. */
function matchesWhole(pattern: string, text: string): Ignored {
  try {
    return RE2JS.compile(`^(?:${pattern})$`).matcher(text).find() ? 'yes' : 'no'
  } catch {
    return 'unknown'
  }
}

/** As argo-cd `util/glob`, without exponential backtracking. */
function matchesGlobPattern(pattern: string, text: string): boolean {
  let [at, from, star, starred] = [0, 0, -1, 0]
  while (from < text.length) {
    if (pattern[at] === '*') {
      star = at
      at += 1
      starred = from
    } else if (pattern[at] === text[from] || pattern[at] === '?') {
      at += 1
      from += 1
    } else if (star >= 0) {
      at = star + 1
      starred += 1
      from = starred
    } else return false
  }
  return /^\**$/.test(pattern.slice(at))
}

function coversPointer(pointer: string, field: DriftedField): boolean {
  return pointer.startsWith('/') && covers(parsePointer(pointer), field)
}

/** Plain paths only. */
function coversJqPath(expression: string, field: DriftedField): Ignored {
  const text = expression.trim()
  const step = /\.([A-Za-z_][A-Za-z0-9_]*)|\.?\["((?:[^"\\])*)"\]|\.?\[([0-9]*)\]/y
  const parts: (string | undefined)[] = []
  while (step.lastIndex < text.length) {
    const at = step.exec(text)
    if (at === null) return 'unknown'
    parts.push(at[1] ?? at[2] ?? (at[3] === '' ? undefined : at[3]))
  }
  return parts.length > 0 && covers(parts, field) ? 'yes' : 'no'
}

/** @param parts undefined matches any list item */
function covers(
  parts: readonly (string | undefined)[],
  { drift: { path }, live }: DriftedField,
): boolean {
  return (
    parts.length <= path.length && parts.every((part, index) => isSameStep(part, path, index, live))
  )
}

function isSameStep(
  part: string | undefined,
  path: FieldPath,
  index: number,
  live: JsonObject | undefined,
): boolean {
  const step = path[index]
  if (step === undefined) return false
  if (step.kind === 'field') return step.name === part
  if (part === undefined) return true
  const list = findValueAt(live, path.slice(0, index))
  return list !== undefined && part === String(indexOfStep(list, step))
}

function combineAnswers(answers: readonly Ignored[]): Ignored {
  return answers.includes('yes') ? 'yes' : answers.includes('unknown') ? 'unknown' : 'no'
}
