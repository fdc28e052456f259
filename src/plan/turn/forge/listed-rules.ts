/**
 * Lists every ignore rule of a repository with what the ledger knows of it, without a cluster, for
 * `ignore --list`, `check` and `status`.
 */
import type { Note } from '@backporch/kyaml/note'
import {
  computeRuleId,
  describeFields,
  describeRule,
  describeTarget,
  isActive,
} from '../../../drift/noise/ignore-rules.ts'
import { deriveEffectivePolicy } from '../../../policy/effective-policy.ts'
import type { PolicySet } from '../../../policy/parse-policy.ts'
import type { DriftReport, RuleMatch } from '../../../record/documents/drift-report.ts'
import { getUnitName } from '../../../record/unit-name.ts'

/** Days without a match before a report: enough for rare matches. */
const STALE_DAYS = 30

export interface ListedRule {
  readonly id: string
  readonly where: string
  /** `annotation` for a rule of the package itself. */
  readonly policy: string
  readonly priority: number
  readonly about: string
  /** Undefined: every object. */
  readonly target: string | undefined
  /** Undefined: everything. */
  readonly fields: string | undefined
  readonly reason: string
  /** Last day; undefined for no end. */
  readonly expires: string | undefined
  /**
   * `Matching`: it hides something now. `Unmatched`: it hides nothing in any unit. `Untried`: no
   * report of the ledger has it, because it applies to no observed object, or no turn observed
   * since it was written. `Expired`: it is no longer tried.
   */
  readonly state: 'Matching' | 'Unmatched' | 'Untried' | 'Expired'
  readonly hits: number
  readonly units: number
  /** Day; undefined while it covers something, or if untried. */
  readonly unmatchedSince: string | undefined
  /** `now`, the first day without a match, `never`, or undefined if untried. */
  readonly lastMatched: string | undefined
}

/** In the order of the policies' files, then annotations by location. `today` is `YYYY-MM-DD`. */
export function listRules(
  { policies }: Pick<PolicySet, 'policies'>,
  reports: readonly DriftReport[],
  today: string,
): readonly ListedRule[] {
  const tried = reports.flatMap(({ status }) => status.ignores ?? [])
  const byRule = Map.groupBy(tried, ({ rule }) => rule)
  const written = policies.flatMap(({ ignore }) =>
    ignore.map((rule) => ({
      id: computeRuleId(rule),
      where: rule.where,
      policy: rule.policy?.name ?? '',
      priority: rule.policy?.priority ?? 0,
      about: describeRule(rule),
      target: describeTarget(rule),
      fields: describeFields(rule),
      reason: rule.reason,
      expires: rule.expires,
    })),
  )
  const annotations = new Map(reports.flatMap(listAnnotationRules))
  const sorted = [...annotations]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, rule]) => rule)
  return [...written, ...sorted].map((rule) => ({
    ...rule,
    ...summarizeMatches(byRule.get(rule.id) ?? [], rule.expires, today),
  }))
}

type Known = 'state' | 'hits' | 'units' | 'unmatchedSince' | 'lastMatched'
type WrittenRule = Omit<ListedRule, Known>

function listAnnotationRules({
  spec: { unit },
  status,
}: DriftReport): (readonly [string, WrittenRule])[] {
  return (status.ignores ?? []).flatMap(({ rule, annotation }) => {
    if (annotation === undefined) return []
    const { where, reason, expires } = annotation
    const fields = annotation.fields || undefined
    const target = annotation.target || `every object of ${getUnitName(unit)}`
    const about = [target, fields].filter((part) => part !== undefined).join(', ')
    return [
      [
        `${where} ${rule}`,
        {
          id: rule,
          where,
          policy: 'annotation',
          priority: 0,
          about,
          target,
          fields,
          reason,
          expires,
        },
      ] as const,
    ]
  })
}

function summarizeMatches(
  entries: readonly RuleMatch[],
  expires: string | undefined,
  today: string,
): Pick<ListedRule, Known> {
  const hits = entries.reduce((sum, entry) => sum + (entry.hits ?? 0), 0)
  const days = entries.flatMap(({ unmatchedSince }) =>
    unmatchedSince === undefined ? [] : [unmatchedSince],
  )
  const last = entries.flatMap(({ matched, unmatchedSince }) =>
    matched === true && unmatchedSince !== undefined ? [unmatchedSince] : [],
  )
  const expired = !isActive({ expires }, today)
  const state = expired
    ? 'Expired'
    : hits > 0
      ? 'Matching'
      : entries.length === 0
        ? 'Untried'
        : 'Unmatched'
  return {
    state,
    hits: expired ? 0 : hits,
    units: entries.length,
    unmatchedSince: hits > 0 || days.length === 0 ? undefined : selectLatest(days),
    lastMatched:
      entries.length === 0
        ? undefined
        : hits > 0
          ? expired
            ? undefined
            : 'now'
          : last.length === 0
            ? 'never'
            : selectLatest(last),
  }
}

function selectLatest(days: readonly string[]): string {
  return days.reduce((left, right) => (left > right ? left : right))
}

export function listStaleRules(
  rules: readonly ListedRule[],
  today: string,
): readonly { readonly rule: ListedRule; readonly why: string }[] {
  const limit = new Date(Date.parse(`${today}T00:00:00Z`) - STALE_DAYS * 86_400_000)
    .toISOString()
    .slice(0, 10)
  return rules.flatMap((rule) => {
    const { where, expires, state, unmatchedSince, lastMatched } = rule
    if (state === 'Expired')
      return [
        {
          rule,
          why: `the ignore rule at ${where} ended on ${expires} and no longer matches anything`,
        },
      ]
    if (state !== 'Unmatched' || (unmatchedSince ?? '') > limit) return []
    const when =
      lastMatched === 'never'
        ? `has matched nothing since it was first tried on ${unmatchedSince}`
        : `has matched nothing since ${unmatchedSince}`
    return [{ rule, why: `the ignore rule at ${where} ${when}` }]
  })
}

export function listUntriedRules(
  set: PolicySet,
  rules: readonly ListedRule[],
  reports: readonly DriftReport[],
): readonly ListedRule[] {
  const observed = new Set(
    reports.flatMap(({ spec: { unit } }) =>
      deriveEffectivePolicy(set, unit.cluster, unit.package).ignore.map(({ where }) => where),
    ),
  )
  return rules.filter(({ state, where }) => state === 'Untried' && observed.has(where))
}

/** @param reports all; without any, only ended rules are known */
export function createStaleNotes(
  set: Pick<PolicySet, 'policies'>,
  reports: readonly DriftReport[],
  today: string,
): readonly Note[] {
  return listStaleRules(listRules(set, reports, today), today).map(({ why }) => ({
    cause: 'rule-hides-nothing',
    subject: '',
    text: why,
  }))
}
