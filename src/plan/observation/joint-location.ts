/** Where the record of a unit goes that shares a proposal with others. */
import type { DriftRecord } from '../../record/documents/drift-record.ts'

export interface JointLocation {
  /** Full ref name. */
  readonly ref: string
  readonly workspace: string
  /** The record whose resolutions all members have: what is done to one package is done for all its clusters. */
  readonly like: DriftRecord
  /** Whether an unchanged unit brings its files all the same: only a recreated commit needs them. */
  readonly files: boolean
}
