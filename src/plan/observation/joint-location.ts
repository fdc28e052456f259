import type { DriftRecord } from '../../record/documents/drift-record.ts'

export interface JointLocation {
  readonly ref: string
  readonly workspace: string
  /** A resolution of one package applies to all its clusters. */
  readonly like: DriftRecord
  /** Only a recreated commit needs the files of unchanged units. */
  readonly files: boolean
}
