/**
 * Lists the differences that each rule covers now, or since which day it covers none. The day is
 * written when a rule stops matching, so a turn without such a change writes nothing. Rules that
 * apply to no object of the unit, and expired policy rules, have no entry.
 */
import {
  computeRuleId,
  describeFields,
  describeTarget,
  findIgnoreMismatch,
  findTargetMismatch,
  type IgnoreRule,
  isActive,
} from '../../../drift/noise/ignore-rules.ts'
import type { DriftReport, RuleMatch } from '../../../record/documents/drift-report.ts'
import type { Observation } from '../../observation/observation.ts'

export function listRuleMatches(
  observed: Pick<Observation, 'verdicts' | 'policy' | 'cluster' | 'git' | 'incomplete'>,
): Pick<DriftReport['status'], 'ignores'> {
  const today = observed.cluster.observedAt.slice(0, 10)
  const before = new Map(
    observed.git.ledger.report?.status.ignores?.map((entry) => [entry.rule, entry]),
  )
  const ignores = new Map<string, RuleMatch>()
  for (const rule of observed.policy.ignore) {
    if (!isActive(rule, today)) {
      // The end date of an annotation is not available elsewhere.
      if (rule.level === 'object' || rule.level === 'package')
        ignores.set(computeRuleId(rule), { rule: computeRuleId(rule), ...createAnnotation(rule) })
      continue
    }
    if (
      !observed.verdicts.some(
        (verdict) => findTargetMismatch(verdict.id, rule, verdict) === undefined,
      )
    )
      continue
    const id = computeRuleId(rule)
    if (ignores.has(id)) continue
    const entry = createEntry(
      id,
      { hits: countHits(rule, observed), complete: observed.incomplete.length === 0 },
      before.get(id),
      today,
    )
    if (entry !== undefined) ignores.set(id, { ...entry, ...createAnnotation(rule) })
  }
  return ignores.size === 0 ? {} : { ignores: [...ignores.values()] }
}

/** Also differences attributed to an earlier rule: without that one they would still be hidden. */
function countHits(rule: IgnoreRule, { verdicts }: Pick<Observation, 'verdicts'>): number {
  const hits = verdicts.flatMap((verdict) =>
    verdict.setAside.filter(
      ({ state, drift }) =>
        state === 'Ignored' && findIgnoreMismatch(drift, rule, verdict) === undefined,
    ),
  )
  return hits.length
}

/** Undefined if unknown: an unreadable object may be the rule's target. */
function createEntry(
  rule: string,
  { hits, complete }: { readonly hits: number; readonly complete: boolean },
  before: RuleMatch | undefined,
  today: string,
): RuleMatch | undefined {
  if (hits > 0) return { rule, hits }
  const since = before?.unmatchedSince
  if (since !== undefined)
    return { rule, unmatchedSince: since, ...(before?.matched === true ? { matched: true } : {}) }
  if (!complete) return undefined
  return { rule, unmatchedSince: today, ...(before?.hits === undefined ? {} : { matched: true }) }
}

function createAnnotation(rule: IgnoreRule): Pick<RuleMatch, 'annotation'> {
  if (rule.level === undefined || rule.level === 'policy') return {}
  const { where, reason, expires } = rule
  return {
    annotation: {
      where,
      target: describeTarget(rule) ?? '',
      fields: describeFields(rule) ?? '',
      reason,
      ...(expires === undefined ? {} : { expires }),
    },
  }
}
