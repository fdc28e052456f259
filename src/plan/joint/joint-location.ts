/** Where the record of a unit goes that shares a proposal with others. */
import type { DriftRecord } from '../../record/schema.ts'

export interface JointLocation {
  /** Full ref name. */
  readonly ref: string
  readonly workspace: string
  /** The record whose resolutions all members have: what is done to one package is done for all its clusters. */
  readonly like: DriftRecord
  /** Whether a unit that says what it said brings its files all the same: only a commit that is made anew needs them. */
  readonly files: boolean
}
