export {
  answerCalls,
  type FunctionLibrary,
  NO_FUNCTIONS,
  runtimeMissing,
} from './function/answer-calls.ts'
export { configData } from './function/config-data.ts'
export {
  annotationOf,
  clearAnnotation,
  fileOf,
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
  type FunctionInput,
  type FunctionOutput,
  type FunctionResult,
  failed,
  type KrmFunction,
  succeeded,
} from './function/krm-function.ts'
export {
  describeStep,
  type FunctionAnswer,
  type FunctionCall,
  functionName,
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
export { REDACTED, resultValue } from './function/result-value.ts'
