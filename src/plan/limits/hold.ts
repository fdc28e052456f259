/** Why drift that the policy would propose is recorded as a draft only, for now. */
import type { DriftReport } from '../../record/schema.ts'

/** As in the report: `reason` is one of a few words, `until` RFC 3339 UTC where the end is known, `why` a sentence's end. */
export type Hold = NonNullable<DriftReport['status']['held']>
