export { type BuiltIn, type BuiltIns, chooseRelease } from './runtime/choose-release.ts'
export {
  type AllowedFunctions,
  type ChosenRuntime,
  chooseRuntime,
  createRefusedAnswer,
  NOTHING_ALLOWED,
} from './runtime/choose-runtime.ts'
export { answerNotRun, listNotRunNotes } from './runtime/not-run.ts'
export { formatRelease } from './runtime/release-version.ts'
export { splitWords } from './runtime/split-words.ts'
