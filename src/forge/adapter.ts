export { readByNumber } from './adapter/by-number.ts'
export {
  assertSeen,
  endedMeanwhile,
  finishMerge,
  movedBeforeMerge,
} from './adapter/finish-merge.ts'
export { RequestGovernor } from './adapter/request-governor.ts'
