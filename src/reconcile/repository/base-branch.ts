import type { PackageRepository, RepositoryRefs } from '@backporch/git-store/package-repository'
import { isBaseBranch } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'

/**
 * @param branch short name; undefined takes the default branch
 * @throws Failure BP1003 when the branch does not exist
 */
export function resolveBase(
  repository: PackageRepository,
  read: RepositoryRefs,
  branch: string | undefined,
): { readonly baseBranch: string; readonly base: ObjectId } {
  const baseBranch = branch ?? read.defaultBranch
  const base = read.refs.get(`refs/heads/${baseBranch}`)
  if (base === undefined) throw createNoSuchBranchFailure(repository, read, baseBranch || undefined)
  return { baseBranch, base }
}

export function createHeadNotes(
  { head, defaultBranch }: Omit<RepositoryRefs, 'refs'>,
  branch: string | undefined,
): readonly Note[] {
  if (head === undefined || branch !== undefined) return []
  const text = `HEAD of the repository names this branch, which holds changes or records; the base branch is ${defaultBranch}`
  return [{ cause: 'head-not-base', subject: head, text }]
}

function createNoSuchBranchFailure(
  repository: PackageRepository,
  { refs, head }: RepositoryRefs,
  branch: string | undefined,
): Failure {
  const branches = [...refs.keys()].flatMap((ref) =>
    ref.startsWith('refs/heads/') ? [ref.slice('refs/heads/'.length)] : [],
  )
  const known = branches.filter(isBaseBranch).slice(0, 8)
  const unnamed =
    head === undefined
      ? 'the repository does not say which branch is its base'
      : `HEAD of the repository names ${JSON.stringify(head)}, which holds changes or records and is no base branch`
  return new Failure({
    code: 'BP1003',
    what: branch === undefined ? unnamed : `there is no branch ${JSON.stringify(branch)}`,
    where: repository.remote,
    why:
      known.length === 0
        ? head === undefined
          ? 'it has no branch: nothing is committed yet, or a commit is checked out and no branch'
          : 'it has no other branch'
        : `it has ${known.join(', ')}`,
    remedy:
      known.length === 0
        ? 'commit a package, check the branch out, or name the repository itself with --repo'
        : `name one of them: --branch ${known[0]}`,
    retry: 'on-change',
  })
}
