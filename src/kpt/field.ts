export {
  describeObject,
  type FieldSpec,
  getGroupVersionKind,
  isSelectedBy,
  splitFieldPath,
  visitField,
} from './function/field-spec.ts'
export {
  createKyamlText,
  isOtherToYaml11,
  readItemAnnotations,
  replaceAnnotations,
  restyleAnnotations,
} from './function/kyaml-text.ts'
export {
  formatSdkName,
  getSdkKind,
  getTextOrEmpty,
  isLocalToSdk,
  isOfKind,
  keepText,
  readText,
  type SdkKind,
  sortInSdkOrder,
  writeText,
} from './function/sdk-fields.ts'
export {
  containsAnySetter,
  expandPattern,
  extractSetterValues,
  findOnlySetter,
  findSetterPattern,
  invertPattern,
  type SetterChanges,
  type SetterPattern,
} from './function/setter-pattern.ts'
export { type FieldLocation, formatLocation, visitFields } from './function/visit-fields.ts'
