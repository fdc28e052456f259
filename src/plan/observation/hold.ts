import type { PolicySet } from '../../policy/parse-policy.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'

/** `until` is RFC 3339 UTC if the end is known, `why` the end of a sentence. */
export type Hold = NonNullable<DriftReport['status']['held']>

/** While the base commit's policy is unusable, nothing new is opened, however urgent. */
export function findPolicyHold({ lastGood }: Pick<PolicySet, 'lastGood'>): Hold | undefined {
  if (lastGood === undefined) return undefined
  return {
    reason: 'policy',
    why: `the policy cannot be used (${lastGood.problem.where}), and nothing is opened until it is corrected`,
  }
}

/** Then no branch is written either, because its files contain values. */
export function isWithheld({ lastGood }: Pick<PolicySet, 'lastGood'>): boolean {
  return lastGood?.withheld !== undefined
}

export function findWithheldHold(policy: Pick<PolicySet, 'lastGood'>): Hold | undefined {
  return isWithheld(policy) ? findPolicyHold(policy) : undefined
}
