/** A repository as it is read and written: interfaces. */
export {
  type BaseBranch,
  type CommitDraft,
  type CommitView,
  DEFAULT_BRANCH,
  type FileChange,
  MOST_FILE_BYTES,
  OversizedRead,
  type PackageRepository,
  type PushAnswer,
  type PushTexts,
  type RefUpdate,
  RefusedPush,
  type RepositoryRefs,
  type TreeFile,
} from './ports/package-repository.ts'
