/** `backporch/functions`: the npm package kpt-functions with `runKptFunc` for its `run`, for functions of one's own (docs/guides/own-functions.md). */
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
