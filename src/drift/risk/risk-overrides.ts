/** Risks that a policy gives: what is written down for an object or a field wins over the table of src/drift/risk/risk.ts. */
import type { Drift, ObjectVerdict, Risk } from '../compare/drift.ts'
import { type IgnoreRule, whyNotIgnored } from '../noise/ignore-rules.ts'

/** Matches as an ignore rule does; hides nothing. The reason may be empty. */
export interface RiskOverride extends IgnoreRule {
  readonly risk: Risk
}

/** The first rule that matches decides. The code stays: it names the change; a note names the source of the risk. */
export function overrideRisks(
  verdict: ObjectVerdict,
  overrides: readonly RiskOverride[],
): ObjectVerdict {
  if (overrides.length === 0 || verdict.items.length === 0) return verdict
  return { ...verdict, items: verdict.items.map((item) => overridden(item, verdict, overrides)) }
}

function overridden(
  drift: Drift,
  verdict: ObjectVerdict,
  overrides: readonly RiskOverride[],
): Drift {
  const rule = overrides.find((each) => whyNotIgnored(drift, each, verdict) === undefined)
  if (rule === undefined || rule.risk === drift.risk) return drift
  const why = rule.reason === '' ? '' : `: ${rule.reason}`
  return {
    ...drift,
    risk: rule.risk,
    notes: [
      ...drift.notes,
      `risk ${rule.risk} instead of ${drift.risk} by the policy (${rule.where})${why}`,
    ],
  }
}
