export { type AuditedWrite, isOfKind, isWriteTo, readAuditedWrite } from './krm/audit-event.ts'
export { handOverFields } from './krm/hand-over.ts'
export { isNamespacedKind } from './krm/known-scopes.ts'
export { type LabelSelector, matchesLabels, parseLabelSelector } from './krm/label-selector.ts'
export type {
  LiveState,
  LiveView,
  Prediction,
  RefusalReason,
  WantedObject,
} from './krm/live-view.ts'
export { findOwnerName, isControlled } from './krm/owner-references.ts'
export { computeKeyedMark, computeObjectMark, reportMark } from './krm/redaction/object-mark.ts'
export {
  getAnnotations,
  getLabels,
  getMetadataText,
  omitBookkeeping,
  omitMetadataBookkeeping,
  type Resource,
  readResource,
} from './krm/resource.ts'
export {
  describeResourceId,
  formatResourceId,
  getResourceKey,
  type InventoryRef,
  isSameResourceId,
  parseApiVersion,
  type ResourceId,
} from './krm/resource-id.ts'
export { findFirstName, findSecondName } from './krm/second-names.ts'
