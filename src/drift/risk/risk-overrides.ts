/** They take precedence over the table of src/drift/risk/risk.ts. */
import type { Drift, ObjectVerdict, Risk } from '../compare/drift.ts'
import { findIgnoreMismatch, type IgnoreRule } from '../noise/ignore-rules.ts'

export interface RiskOverride extends IgnoreRule {
  readonly risk: Risk
}

/** The first match decides. The code stays, because it names the change. */
export function overrideRisks(
  verdict: ObjectVerdict,
  overrides: readonly RiskOverride[],
): ObjectVerdict {
  if (overrides.length === 0 || verdict.items.length === 0) return verdict
  return { ...verdict, items: verdict.items.map((item) => applyOverride(item, verdict, overrides)) }
}

function applyOverride(
  drift: Drift,
  verdict: ObjectVerdict,
  overrides: readonly RiskOverride[],
): Drift {
  const rule = overrides.find((each) => findIgnoreMismatch(drift, each, verdict) === undefined)
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
