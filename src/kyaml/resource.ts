export { type AuditedWrite, isOfKind, isWriteTo, readAuditedWrite } from './krm/audit-event.ts'
export { handedOver } from './krm/hand-over.ts'
export { isNamespacedKind } from './krm/known-scopes.ts'
export { type LabelSelector, matchesLabels, parseLabelSelector } from './krm/label-selector.ts'
export type {
  LiveState,
  LiveView,
  Prediction,
  RefusalReason,
  WantedObject,
} from './krm/live-view.ts'
export { isControlled, ownerNamed } from './krm/owner-references.ts'
export { keyedMark, objectMark, reportMark } from './krm/redaction/object-mark.ts'
export {
  annotationsOf,
  authoredMetadata,
  labelsOf,
  metadataText,
  type Resource,
  readResource,
  withoutBookkeeping,
} from './krm/resource.ts'
export {
  describeResourceId,
  formatResourceId,
  type InventoryRef,
  parseApiVersion,
  type ResourceId,
  resourceKey,
  sameResource,
} from './krm/resource-id.ts'
export { firstNameOf, secondNameOf } from './krm/second-names.ts'
