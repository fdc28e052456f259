import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath, isSensitive } from '@backporch/kyaml/redaction'
import {
  getLabels,
  type LabelSelector,
  matchesLabels,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { matchesGlob } from '@backporch/kyaml/text'
import { isKnownWriter } from '../attribute/actor.ts'
import type { ChangeKind, Drift } from '../compare/drift.ts'
import { matchesExpression } from './rule-expression.ts'
import { coversDrift, describeRulePath, type RulePath } from './rule-path.ts'

export type RuleLevel = 'object' | 'package' | 'policy'

/** All given parts must match; a list matches if one member does. Texts may contain `*`. */
export interface IgnoreRule {
  readonly where: string
  /** Default: `policy`. */
  readonly level?: RuleLevel
  readonly policy?: { readonly name: string; readonly priority: number }
  readonly target: Partial<ResourceId>
  /** Of the declared object, because anybody can set live labels. */
  readonly labels?: { readonly text: string; readonly selector: LabelSelector }
  /** Default: every kind. */
  readonly changes?: readonly ChangeKind[]
  /** Without paths and path expressions: every field, and the whole object. */
  readonly paths: readonly RulePath[]
  /** RE2 for the whole path as `diff` prints it. */
  readonly pathExpressions?: readonly string[]
  /** RE2 for the whole live value as text, never for hidden values. */
  readonly valueExpressions?: readonly string[]
  /** Empty: every manager. */
  readonly managers: readonly string[]
  readonly reason: string
  /** RFC 3339 date: the last day, UTC; undefined: no end. */
  readonly expires: string | undefined
}

export interface RuleSides {
  readonly desired?: { readonly object: JsonObject } | undefined
  readonly live?: JsonObject | undefined
}

interface Mismatch {
  readonly part:
    | 'group'
    | 'kind'
    | 'namespace'
    | 'name'
    | 'labels'
    | 'changes'
    | 'managers'
    | 'paths'
    | 'values'
  readonly wanted: string
  readonly found: string
}

export function findIgnoringRule(
  drift: Drift,
  rules: readonly IgnoreRule[],
  today: string,
  sides: RuleSides = {},
): IgnoreRule | undefined {
  return rules.find(
    (rule) => isActive(rule, today) && findIgnoreMismatch(drift, rule, sides) === undefined,
  )
}

export function isActive(rule: Pick<IgnoreRule, 'expires'>, today: string): boolean {
  return rule.expires === undefined || today <= rule.expires
}

/** Undefined if the rule hides the difference. */
export function findIgnoreMismatch(
  drift: Drift,
  rule: IgnoreRule,
  sides: RuleSides = {},
): Mismatch | undefined {
  const { changes, managers, paths, pathExpressions = [], valueExpressions = [] } = rule
  const target = findTargetMismatch(drift.id, rule, sides)
  if (target !== undefined) return target
  if (changes !== undefined && !changes.includes(drift.change))
    return { part: 'changes', wanted: changes.join(' or '), found: drift.change }
  const { actor } = drift
  // A guessed remover hides nothing.
  const named =
    isKnownWriter(actor) && managers.some((manager) => matchesGlob(manager, actor.manager))
  if (managers.length > 0 && !named)
    return { part: 'managers', wanted: managers.join(' or '), found: describeFoundManager(drift) }
  const fields = [...paths.map(describeRulePath), ...pathExpressions]
  if (
    fields.length > 0 &&
    !coversDrift(paths, drift, sides.live) &&
    !matchesPath(pathExpressions, drift)
  )
    return {
      part: 'paths',
      wanted: fields.join(' or '),
      found:
        drift.path.length === 0 ? 'the whole object' : formatRedactedPath(drift.path, drift.id),
    }
  if (valueExpressions.length === 0) return undefined
  const text = formatValueText(drift)
  if (
    typeof text === 'string' &&
    valueExpressions.some((expression) => matchesExpression(expression, text))
  )
    return undefined
  return {
    part: 'values',
    wanted: valueExpressions.join(' or '),
    found: typeof text === 'string' ? 'another value' : text.why,
  }
}

export function findTargetMismatch(
  id: ResourceId,
  { target, labels }: Pick<IgnoreRule, 'target' | 'labels'>,
  { desired }: RuleSides,
): Mismatch | undefined {
  for (const part of ['kind', 'namespace', 'name', 'group'] as const) {
    const wanted = target[part]
    if (wanted !== undefined && !matchesGlob(wanted, id[part]))
      return { part, wanted: wanted || '""', found: id[part] || '""' }
  }
  if (labels === undefined) return undefined
  const found = desired === undefined ? undefined : getLabels(desired.object)
  if (found !== undefined && matchesLabels(labels.selector, found)) return undefined
  const own =
    found === undefined
      ? 'an object that git does not declare'
      : [...found].map(([key, value]) => `${key}=${value}`).join(',')
  return { part: 'labels', wanted: labels.text, found: own || 'no labels in git' }
}

function describeFoundManager({ actor }: Drift): string {
  if (actor.confidence === 'none') return 'an unknown writer'
  return actor.confidence === 'last-writer'
    ? `perhaps ${actor.manager}, and a guess hides nothing`
    : actor.manager
}

function matchesPath(expressions: readonly string[], { id, path }: Drift): boolean {
  if (path.length === 0 || expressions.length === 0) return false
  const text = formatRedactedPath(path, id)
  return expressions.some((expression) => matchesExpression(expression, text))
}

function formatValueText(drift: Drift): string | { readonly why: string } {
  const { git, live, liveUnread } = drift
  if (liveUnread || isSensitive(drift, live) || isSensitive(drift, git))
    return { why: 'a value that is not shown' }
  if (live === undefined) return { why: 'no live value' }
  return isText(live) ? String(live) : { why: 'a map or a list' }
}

function isText(value: Json): value is Exclude<Json, object> {
  return value === null || typeof value !== 'object'
}

const PARTS: { readonly [part in Mismatch['part']]: string } = {
  group: 'group',
  kind: 'kind',
  namespace: 'namespace',
  name: 'name',
  labels: 'labels',
  changes: 'change',
  managers: 'manager',
  paths: 'field',
  values: 'live value',
}

export function describeMismatch({ part, wanted, found }: Mismatch): string {
  return `${PARTS[part]}: wanted ${wanted}, this is ${found}`
}

export function describeRule(rule: IgnoreRule): string {
  return [describeTarget(rule), describeFields(rule)]
    .filter((part) => part !== undefined)
    .join(', ')
}

/** Undefined: every object. */
export function describeTarget({
  target: { group, kind, namespace, name },
  labels,
}: IgnoreRule): string | undefined {
  const object = [group, kind, namespace, name]
    .filter((part) => part !== undefined && part !== '')
    .join('/')
  const parts = [
    object || (group === '' ? 'core group' : undefined),
    labels === undefined ? undefined : `with ${labels.text}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(' ')
}

/** Undefined: every field. */
export function describeFields({
  changes,
  paths,
  pathExpressions = [],
  valueExpressions = [],
  managers,
}: IgnoreRule): string | undefined {
  const parts = [
    ...(changes === undefined ? [] : [changes.join(' or ')]),
    ...paths.map(describeRulePath),
    ...pathExpressions.map((expression) => `fields like ${expression}`),
    ...valueExpressions.map((expression) => `values like ${expression}`),
    ...managers.map((manager) => `by ${manager}`),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Independent of its position in the file. */
export function computeRuleId(rule: IgnoreRule): string {
  const {
    level = 'policy',
    policy,
    target,
    labels,
    changes,
    paths,
    pathExpressions = [],
    valueExpressions = [],
    managers,
  } = rule
  const { group, kind, namespace, name } = target
  const what = [
    group ?? null,
    kind ?? null,
    namespace ?? null,
    name ?? null,
    labels?.text ?? null,
    changes ?? null,
  ]
  const text = JSON.stringify([
    level,
    policy?.name ?? '',
    what,
    paths.map(describeRulePath),
    pathExpressions,
    valueExpressions,
    managers,
  ])
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
