/**
 * Finds the commit below those that Porch adds by rendering a package
 * (docs/facts/porch-decisions.md).
 */
import type { CommitView, PackageRepository } from '@backporch/git-store/package-repository'
import type { WorkspaceBranch } from '@backporch/git-store/ref-name'
import { isRenderingMessage, isSameRendered } from '@backporch/kpt/revision'
import type { ObjectId } from '@backporch/kyaml/files'
import { readContentAt } from './as-proposed.ts'
import { listChangesBetween } from './changes-between.ts'

/** Porch renders once per proposal, and once more per push of a draft. */
const MOST_RENDERINGS = 10

interface UnrenderedHead {
  /** The head itself if Porch rendered nothing. */
  readonly source: CommitView
  readonly renderedBy: CommitView['author'] | undefined
}

export async function findBelowRenderings(
  repository: PackageRepository,
  head: CommitView,
  branch: Pick<WorkspaceBranch, 'packagePath' | 'workspace'>,
  signal: AbortSignal,
): Promise<UnrenderedHead> {
  let source = head
  for (let step = 0; step < MOST_RENDERINGS; step += 1) {
    const [parent, second] = source.parents
    if (parent === undefined || second !== undefined || !isRenderingMessage(source.message, branch))
      break
    if (!(await isSamePackage(repository, { before: parent, after: source.id, ...branch }, signal)))
      break
    source = await repository.commit(parent, signal)
  }
  return { source, renderedBy: source === head ? undefined : head.author }
}

interface TwoCommits {
  readonly before: ObjectId
  readonly after: ObjectId
  readonly packagePath: string
}

/** In any spelling, and nothing else differs. */
async function isSamePackage(
  repository: PackageRepository,
  { before, after, packagePath }: TwoCommits,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { path, content } of await listChangesBetween(repository, before, after, signal)) {
    if (!path.startsWith(`${packagePath}/`)) return false
    if (!isSameRendered(path, await readContentAt(repository, before, path, signal), content))
      return false
  }
  return true
}
