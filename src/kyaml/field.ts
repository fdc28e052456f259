export {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  indexOfStep,
  isAnyStep,
  isWithin,
  type PathStep,
  parseFieldPath,
  parseFieldPattern,
} from './krm/field-path.ts'
export { type FieldSchema, type ListType, UNKNOWN_SCHEMA } from './krm/field-schema.ts'
export {
  buildFieldSet,
  countCovered,
  type FieldSet,
  type FieldSetChild,
  hasSameLeaves,
  listLeaves,
  ownsPath,
  parseFieldsV1,
  stepKey,
  stepOfItem,
  touchesPath,
} from './krm/field-set.ts'
export { findKnownFields } from './krm/known-fields.ts'
export {
  type FieldManager,
  getManagedFields,
  isPartlyOwned,
  isSameManager,
  isSettleManager,
  type ManagedFields,
  type ManagedFieldsEntry,
  ownsLocation,
  SETTLE_MANAGER,
} from './krm/managed-fields.ts'
export { findKindDefinition, findKindSchema, findReference, findSchemas } from './krm/open-api.ts'
export { PathSet } from './krm/path-set.ts'
export { findPodPath } from './krm/pod-path.ts'
export { formatCanonicalQuantity, parseQuantity } from './krm/quantity.ts'
