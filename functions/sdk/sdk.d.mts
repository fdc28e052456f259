/** Types of `backporch/functions`; those of kpt-functions are in its own package. */
export {
  addAnnotation,
  addLabel,
  Configs,
  configFileResult,
  type FieldInfo,
  FunctionConfigError,
  generalResult,
  getAnnotation,
  getLabel,
  isKubernetesObject,
  type Json,
  type JsonArray,
  type JsonMap,
  type KptFunc,
  type KubernetesObject,
  kubernetesKey,
  kubernetesObjectResult,
  type Result,
  removeAnnotation,
  type Severity,
} from 'kpt-functions'

import type { KptFunc } from 'kpt-functions'

/** Reads a ResourceList on standard input, calls the function, prints the ResourceList with its results and sets the exit code. */
export declare function runKptFunc(fn: KptFunc): Promise<void>
