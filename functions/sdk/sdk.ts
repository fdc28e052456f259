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
export { FunctionConfigError } from 'kpt-functions/dist/src/errors.js'
export {
  addAnnotation,
  addLabel,
  getAnnotation,
  getLabel,
  removeAnnotation,
} from 'kpt-functions/dist/src/metadata.js'
export {
  configFileResult,
  generalResult,
  kubernetesObjectResult,
} from 'kpt-functions/dist/src/result.js'
export { Configs, isKubernetesObject, kubernetesKey } from 'kpt-functions/dist/src/types.js'
export { runKptFunc } from './run-kpt-func.ts'
