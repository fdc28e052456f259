/** Which differences a syncer was told to leave alone, by the rules in its own resource and by marks on the objects. */
import { RE2JS } from 're2js'
import type { Drift } from '../drift/drift.ts'
import { type FieldPath, indexOfStep, valueAt } from '../krm/field-path.ts'
import { matchesLabels, parseLabelSelector } from '../krm/label-selector.ts'
import { annotationsOf, labelsOf } from '../krm/resource.ts'
import { parseApiVersion } from '../krm/resource-id.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../text/json.ts'

/** A difference, and the object that holds it where it is there. */
export interface DriftedField {
  readonly drift: Pick<Drift, 'id' | 'change' | 'path' | 'actor'>
  readonly live: JsonObject | undefined
}

/** `unknown`: there is a rule of a kind that is not evaluated here. */
export type Ignored = 'yes' | 'no' | 'unknown'

/**
 * `spec.driftDetection.ignore` of a HelmRelease and `spec.ignore` of a Kustomization: JSON Pointers with a target of anchored
 * regular expressions and selectors. Source: fluxcd/pkg `ssa/jsondiff/selector.go`.
 */
export function ignoredByFlux(rules: Json | undefined, field: DriftedField): Ignored {
  return anyOf(
    objectsOf(rules).map((rule) => {
      const paths = stringsOf(getKey(rule, 'paths'))
      // The empty pointer names the whole object.
      if (!paths.some((pointer) => pointer === '' || pointerCovers(pointer, field))) return 'no'
      const target = getKey(rule, 'target')
      return isJsonObject(target) ? matchesTarget(target, field) : 'yes'
    }),
  )
}

function matchesTarget(target: JsonObject, { drift: { id }, live }: DriftedField): Ignored {
  const version = live === undefined ? '' : parseApiVersion(String(getKey(live, 'apiVersion') ?? '')).version
  const parts = { ...id, version }
  for (const name of ['group', 'version', 'kind', 'name', 'namespace'] as const) {
    const pattern = getKey(target, name)
    if (typeof pattern !== 'string' || pattern === '') continue
    const matches = wholeMatch(pattern, parts[name])
    if (matches === undefined) return 'unknown'
    if (!matches) return 'no'
  }
  const selected = [
    [getKey(target, 'labelSelector'), live === undefined ? new Map<string, string>() : labelsOf(live)],
    [getKey(target, 'annotationSelector'), live === undefined ? new Map<string, string>() : annotationsOf(live)],
  ] as const
  for (const [text, map] of selected) {
    if (typeof text !== 'string' || text === '') continue
    const parsed = parseLabelSelector(text)
    if ('problem' in parsed) return 'unknown'
    if (!matchesLabels(parsed.selector, map)) return 'no'
  }
  return 'yes'
}

/** The pattern is the cluster's, so it runs in an engine whose time grows with the length only. */
function wholeMatch(pattern: string, text: string): boolean | undefined {
  try {
    return RE2JS.compile(`^(?:${pattern})$`).matcher(text).find()
  } catch {
    return undefined
  }
}

/**
 * `spec.ignoreDifferences` of an Application: argo-cd `util/argo/normalizers/diff_normalizer.go` (group and kind are globs, an
 * empty group is the core group; name and namespace are exact) and `docs/user-guide/diffing.md`. Of jq only plain paths are evaluated.
 */
export function ignoredByArgo(rules: Json | undefined, field: DriftedField): Ignored {
  const { drift } = field
  return anyOf(
    objectsOf(rules).map((rule) => {
      const text = (part: 'group' | 'kind' | 'namespace' | 'name'): string => {
        const wanted = getKey(rule, part)
        return typeof wanted === 'string' ? wanted : ''
      }
      const globs = (['group', 'kind'] as const).every((part) => globMatches(text(part), drift.id[part]))
      const exact = (['namespace', 'name'] as const).every((part) => text(part) === '' || text(part) === drift.id[part])
      if (!globs || !exact) return 'no'
      if (stringsOf(getKey(rule, 'jsonPointers')).some((pointer) => pointerCovers(pointer, field))) return 'yes'
      if (stringsOf(getKey(rule, 'managedFieldsManagers')).includes(drift.actor.manager)) return 'yes'
      return anyOf(stringsOf(getKey(rule, 'jqPathExpressions')).map((expression) => jqCovers(expression, field)))
    }),
  )
}

/** `*` and `?`, as in argo-cd `util/glob`. In steps that never go back further than the last `*`. */
function globMatches(pattern: string, text: string): boolean {
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

/** Whether a JSON Pointer (RFC 6901) names the field or a place above it. */
function pointerCovers(pointer: string, field: DriftedField): boolean {
  if (!pointer.startsWith('/')) return false
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return covers(parts, field)
}

function jqCovers(expression: string, field: DriftedField): Ignored {
  const text = expression.trim()
  const step = /\.([A-Za-z_][A-Za-z0-9_]*)|\.?\["((?:[^"\\])*)"\]|\.?\[([0-9]*)\]/y
  const parts: (string | undefined)[] = []
  while (step.lastIndex < text.length) {
    const at = step.exec(text)
    if (at === null) return 'unknown'
    // An empty index is every item.
    parts.push(at[1] ?? at[2] ?? (at[3] === '' ? undefined : at[3]))
  }
  return parts.length > 0 && covers(parts, field) ? 'yes' : 'no'
}

/** @param parts names and indexes; undefined stands for any item of a list */
function covers(parts: readonly (string | undefined)[], { drift: { path }, live }: DriftedField): boolean {
  return parts.length <= path.length && parts.every((part, index) => sameStep(part, path, index, live))
}

function sameStep(part: string | undefined, path: FieldPath, index: number, live: JsonObject | undefined): boolean {
  const step = path[index]
  if (step === undefined) return false
  if (step.kind === 'field') return step.name === part
  if (part === undefined) return true
  const list = valueAt(live, path.slice(0, index))
  return list !== undefined && part === String(indexOfStep(list, step))
}

function anyOf(answers: readonly Ignored[]): Ignored {
  return answers.includes('yes') ? 'yes' : answers.includes('unknown') ? 'unknown' : 'no'
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : []
}

function stringsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === 'string') : []
}
