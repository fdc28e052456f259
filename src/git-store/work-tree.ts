export { cloneState, workTreeState } from './program/work-tree.ts'
