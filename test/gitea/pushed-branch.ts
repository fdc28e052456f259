/** A branch as a turn pushes it, with the pull request that is wanted for it. */
import type { WantedProposal } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { parseObjectId } from '@backporch/kyaml/files'

let count = 0

export async function pushBranch(
  repository: PackageRepository,
  signal: AbortSignal,
): Promise<WantedProposal> {
  count += 1
  const base = parseObjectId((await repository.listRefs(signal)).refs.get('refs/heads/main') ?? '')
  const changes = [
    { path: `apps/web/file-${count}.yaml`, content: Buffer.from(`value: ${count}\n`) },
  ]
  const message = `chore(drift): restore ${count}\n\nkpt:{"package":"apps/web","workspaceName":"drift-${count}"}`
  const commit = await repository.write({
    parents: [base],
    base,
    changes,
    message,
    at: 1_760_000_000 + count,
  })
  const ref = `refs/heads/proposed/apps/web/drift-${commit.slice(0, 8)}`
  await repository.push([{ ref, from: null, to: commit }], signal)
  return {
    ref,
    commit,
    baseBranch: 'main',
    title: `chore(drift): restore ${count}`,
    body: 'one\ntwo\n',
    labels: ['drift', 'drift-plan/restore', 'drift-risk/low'],
    draft: false,
    reviewers: [],
  }
}
