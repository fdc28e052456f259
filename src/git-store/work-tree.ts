/** What is checked out on this machine. */
export { cloneState, workTreeState } from './program/work-tree.ts'
