/**
 * Signs commits without a signing key: a forge that signs its own commits creates them, and git
 * pushes them.
 */
import type { Forge, ForgeCommits, UnmadeFile } from '@backporch/forge/hosted-forge'
import type { CommitDraft, PackageRepository } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { isHosted } from '../../repository/is-hosted.ts'

/**
 * @param baseBranch short name of the target of proposals
 * @param signal for all writes
 */
export function createSignedRepository(
  repository: PackageRepository,
  forge: Forge,
  baseBranch: string,
  signal: AbortSignal,
): PackageRepository {
  const commits = isHosted(forge) ? forge.commits : undefined
  if (commits === undefined) return repository
  const { listCloneOrigins } = repository
  return {
    remote: repository.remote,
    ...(listCloneOrigins === undefined
      ? {}
      : { listCloneOrigins: listCloneOrigins.bind(repository) }),
    listRefs: repository.listRefs.bind(repository),
    commit: repository.commit.bind(repository),
    list: repository.list.bind(repository),
    read: repository.read.bind(repository),
    prepare: repository.prepare.bind(repository),
    write: (draft) => write({ repository, commits, baseBranch }, draft, signal),
    takeCommit: repository.takeCommit.bind(repository),
    push: repository.push.bind(repository),
  }
}

interface Parts {
  readonly repository: PackageRepository
  readonly commits: ForgeCommits
  readonly baseBranch: string
}

/** The git adapter's commit gives tree and text; only the forge's own one is pushed. */
async function write(
  { repository, commits, baseBranch }: Parts,
  draft: CommitDraft,
  signal: AbortSignal,
): Promise<ObjectId> {
  const own = await repository.write(draft)
  const { ref, base, parents } = draft
  if (ref === undefined) return own
  const { tree, message, signed } = await repository.commit(own, signal)
  if (signed === true || !(await commits.areRequired(ref, baseBranch, signal))) return own
  const files = await listChangedFiles(repository, draft, own, signal)
  const below = base === undefined ? undefined : (await repository.commit(base, signal)).tree
  const content = await commits.make({ parents, base: below, files, tree, message }, signal)
  return content === undefined ? own : repository.takeCommit(content)
}

/** A forge refuses to remove an absent file. */
async function listChangedFiles(
  repository: PackageRepository,
  { base, changes }: CommitDraft,
  commit: ObjectId,
  signal: AbortSignal,
): Promise<readonly UnmadeFile[]> {
  const files: UnmadeFile[] = []
  for (const { path, content } of changes) {
    const at = content === null ? base : commit
    const [file] = at === undefined ? [] : await repository.list(at, path, signal)
    if (file === undefined || file.path !== '' || file.mode === '160000') continue
    files.push({ path, mode: file.mode, content })
  }
  return files
}
