/** Names of the branches and tags that Backporch writes. */
export {
  assertPushable,
  CONFIGURE_BRANCH,
  formatRevisionTag,
  formatWorkspaceBranch,
  isBaseBranch,
  isWellFormedRefName,
  LEDGER_BRANCH,
  nextRevision,
  type OwnedRef,
  ownedRef,
  parseRevisionTag,
  parseWorkspaceBranch,
  shortBranch,
  type WorkspaceBranch,
} from './ports/ref-name.ts'
