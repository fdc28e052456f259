import { derivePackageSlug } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { UnobservedProposal } from '../../plan/turn/forge/plan-proposals.ts'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import type { BotIdentity } from './bot-identity.ts'
import { readBranches } from './read-branches.ts'
import type { RepositoryView } from './repository-view.ts'

export async function readUnobservedProposals(
  view: RepositoryView,
  notObserved: readonly NotObserved[],
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<readonly UnobservedProposal[]> {
  const unobserved: UnobservedProposal[] = []
  const clusters = notObserved.map(({ cluster }) => cluster)
  for (const { path } of clusters.length === 0 ? [] : view.packages) {
    const [packageName, slug] = [path, derivePackageSlug(path, path)]
    for (const { ref, commit, records, foreign, known } of path === ''
      ? []
      : await readBranches(view, { packageName, slug }, bot, signal)) {
      if (foreign || known === false || view.proposals.get(ref)?.state !== 'open') continue
      const about = records.flatMap(({ isNew, record }) =>
        isNew && !(record instanceof Failure) ? [record.spec.unit.cluster] : [],
      )
      const lost = about.filter((cluster) => clusters.includes(cluster))
      if (lost.length > 0 && lost.length === about.length)
        unobserved.push({ ref, commit, clusters: lost })
    }
  }
  return unobserved
}
