/**
 * For user functions (docs/guides/own-functions.md): `runKptFunc` replaces the `run` of
 * kpt-functions.
 */
export type {
  FieldInfo,
  Json,
  JsonArray,
  JsonMap,
  KptFunc,
  KubernetesObject,
  Result,
  Severity,
} from 'kpt-functions'
export {
  addAnnotation,
  addLabel,
  Configs,
  configFileResult,
  FunctionConfigError,
  generalResult,
  getAnnotation,
  getLabel,
  isKubernetesObject,
  kubernetesKey,
  kubernetesObjectResult,
  removeAnnotation,
} from 'kpt-functions'
export { runKptFunc } from './kpt-func.ts'
