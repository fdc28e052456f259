export {
  type FieldPath,
  field,
  formatFieldPath,
  indexOfStep,
  isAnyStep,
  isWithin,
  type PathStep,
  parseFieldPath,
  parseFieldPattern,
  valueAt,
} from './krm/field-path.ts'
export { type FieldSchema, type ListType, UNKNOWN_SCHEMA } from './krm/field-schema.ts'
export {
  countCovered,
  type FieldSet,
  type FieldSetChild,
  fieldSetOf,
  leavesOf,
  ownsPath,
  parseFieldsV1,
  sameLeaves,
  stepKey,
  stepOfItem,
  touchesPath,
} from './krm/field-set.ts'
export { knownFieldsOf } from './krm/known-fields.ts'
export {
  type FieldManager,
  isPartlyOwned,
  isSettleManager,
  type ManagedFields,
  type ManagedFieldsEntry,
  managedFieldsOf,
  ownsLocation,
  SETTLE_MANAGER,
  sameManager,
} from './krm/managed-fields.ts'
export { definitionOfKind, referenceOf, schemaOfKind, schemasOf } from './krm/open-api.ts'
export { PathSet } from './krm/path-set.ts'
export { podPathOf } from './krm/pod-path.ts'
export { canonicalQuantity, quantityOf } from './krm/quantity.ts'
