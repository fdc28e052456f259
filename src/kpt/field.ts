export {
  describeObject,
  type FieldSpec,
  isSelectedBy,
  kindOf,
  splitFieldPath,
  visitField,
} from './function/field-spec.ts'
export {
  annotationsOf,
  isOtherToYaml11,
  kyamlText,
  replaceAnnotations,
  restyleAnnotations,
} from './function/kyaml-text.ts'
export {
  inSdkOrder,
  isLocalToSdk,
  isOfKind,
  keepText,
  readText,
  type SdkKind,
  sdkKindOf,
  sdkNameOf,
  textOrEmpty,
  writeText,
} from './function/sdk-fields.ts'
export {
  expandPattern,
  extractSetterValues,
  invertPattern,
  namesAnySetter,
  onlySetter,
  type SetterChanges,
  type SetterPattern,
  setterPatternOf,
} from './function/setter-pattern.ts'
export { type FieldLocation, shownLocation, visitFields } from './function/visit-fields.ts'
