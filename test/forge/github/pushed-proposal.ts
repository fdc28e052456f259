/** A branch as a turn pushes it, with what is wanted of its pull request. */
import type { ProposalMerge, WantedProposal } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import type { GitHubFixture } from './github-fixture.ts'

export const { signal: SIGNAL } = new AbortController()

export async function pushProposal(
  fixture: GitHubFixture,
  name = 'drift-9f2c1a7b',
): Promise<WantedProposal> {
  const { repository } = fixture
  const main = parseObjectId((await repository.listRefs(SIGNAL)).refs.get('refs/heads/main') ?? '')
  const changes = [{ path: `apps/web/${name}.yaml`, content: Buffer.from(`name: ${name}\n`) }]
  const commit = await repository.write({
    parents: [main],
    base: main,
    changes,
    message: `chore(drift): ${name}`,
    at: 1_760_000_000,
  })
  const ref = `refs/heads/proposed/apps/web/${name}`
  await repository.push([{ ref, from: null, to: commit }], SIGNAL)
  const texts = { title: `chore(drift): ${name}`, body: 'text\n' }
  return {
    ref,
    commit,
    baseBranch: 'main',
    ...texts,
    labels: ['drift', 'drift-risk/low'],
    draft: false,
    reviewers: [],
  }
}

/** The decision to merge it, as `approve` makes it. */
export async function mergeOf(
  fixture: GitHubFixture,
  proposal: WantedProposal,
): Promise<ProposalMerge & { readonly tag: string }> {
  const { repository } = fixture
  const { refs } = await repository.listRefs(SIGNAL)
  const main = parseObjectId(refs.get('refs/heads/main') ?? '')
  const changes = [{ path: 'closed/9f2c1a7b.yaml', content: Buffer.from('outcome: Merged\n') }]
  const ledger = await repository.write({
    parents: [],
    base: undefined,
    changes,
    message: 'ledger',
    at: 1_760_000_100,
  })
  return {
    proposal: { ref: proposal.ref, commit: proposal.commit },
    base: { ref: 'refs/heads/main', commit: main },
    merge: {
      parents: [main, proposal.commit],
      base: main,
      changes: [],
      message: 'Approve it\n\nkpt:{"package":"apps/web"}',
      at: 1_760_000_100,
    },
    tag: 'refs/tags/apps/web/v7',
    along: [{ ref: 'refs/heads/drift-ledger', from: null, to: ledger }],
  }
}
