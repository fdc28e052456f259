/** The input that determines the risk of a difference. */
import type { FieldPath } from '../../krm/field-path.ts'
import type { ResourceId } from '../../krm/resource-id.ts'
import type { Json } from '../../text/json.ts'
import type { ChangeKind } from '../drift.ts'

export interface RiskSubject {
  readonly id: ResourceId
  readonly change: ChangeKind
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
}
