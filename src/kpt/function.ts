export {
  answerCalls,
  createRuntimeMissingFailure,
  type FunctionLibrary,
  NO_FUNCTIONS,
} from './function/answer-calls.ts'
export { getConfigData } from './function/config-data.ts'
export {
  clearAnnotation,
  findAnnotation,
  getItemFile,
  ID,
  INDEX,
  LEGACY_ID,
  LEGACY_INDEX,
  LEGACY_PATH,
  MIGRATION_ID,
  PACKAGE_PATH,
  PATH,
  RENDER_ANNOTATIONS,
  RESOURCE_ID,
  setAnnotation,
} from './function/item-annotations.ts'
export {
  createFailedOutput,
  createSuccess,
  type FunctionInput,
  type FunctionOutput,
  type FunctionResult,
  type KrmFunction,
} from './function/krm-function.ts'
export {
  describeStep,
  type FunctionAnswer,
  type FunctionCall,
  getFunctionName,
  type PipelineStep,
  type RenderProcess,
  type StepRun,
} from './function/pipeline-step.ts'
export {
  FUNCTION_TEXT,
  formatFunctionInput,
  formatFunctionOutput,
  readFunctionInput,
  readFunctionOutput,
} from './function/resource-list.ts'
export { formatResultValue, REDACTED } from './function/result-value.ts'
