/** Why drift that the policy would propose is recorded as a draft only, for now. */
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'

/** As in the report: `reason` is one of a few words, `until` RFC 3339 UTC where the end is known, `why` a sentence's end. */
export type Hold = NonNullable<DriftReport['status']['held']>

/** While the policy of the base commit cannot be used, nothing new is opened, however urgent; undefined where it can. */
export function policyHold({ lastGood }: Pick<PolicySet, 'lastGood'>): Hold | undefined {
  if (lastGood === undefined) return undefined
  return {
    reason: 'policy',
    why: `the policy cannot be used (${lastGood.problem.where}), and nothing is opened until it is corrected`,
  }
}

/** Whether no value is told: then no branch is written either, because its files have values. */
export function isWithheld({ lastGood }: Pick<PolicySet, 'lastGood'>): boolean {
  return lastGood?.withheld !== undefined
}

export function withheldHold(policy: Pick<PolicySet, 'lastGood'>): Hold | undefined {
  return isWithheld(policy) ? policyHold(policy) : undefined
}
