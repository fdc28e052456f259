export type {
  CheckAnnotation,
  CheckButton,
  CheckRun,
  ForgeCheckRuns,
  RequestedAction,
  RequestedActionSource,
} from './ports/check-run.ts'
