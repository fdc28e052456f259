export { readByNumber } from './adapter/by-number.ts'
export {
  assertSeen,
  createEndedFailure,
  createMovedFailure,
  finishMerge,
} from './adapter/finish-merge.ts'
export { RequestGovernor } from './adapter/request-governor.ts'
