/**
 * Previews what merging a head would change. It only reads, and runs no program that a fork names.
 */
import type { PackageRepository, TreeFile } from '@backporch/git-store/package-repository'
import { findPackages, normalizePackagePath } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { omitUndefined } from '@backporch/kyaml/text'
import { API_VERSION } from '../../../record/documents/document.ts'
import type { Preview } from '../../../record/documents/preview.ts'
import { mapConcurrent } from '../../repository/each-of.ts'
import { ReadBudget } from '../../repository/read-budget.ts'
import { listPolicyProblems, POLICY_FILE } from '../../repository/read-policies.ts'
import { type RepositoryView, readRepository } from '../../repository/repository-view.ts'
import { addDiscoveredUnits } from '../../repository/sources/discover-sources.ts'
import { listOtherReaders } from '../../repository/sources/shared-sources.ts'
import { listUnitFolders, mapFolderRenders } from '../../repository/unit-folders.ts'
import { mergeCommits } from './merge-commits.ts'
import { type PreviewedCluster, previewCluster } from './preview-cluster.ts'
import type { PreviewRequest } from './preview-request.ts'

const CLUSTERS_AT_ONCE = 4
const MOST_EDITED = 1_000

interface PreviewPorts {
  readonly repository: PackageRepository
  readonly clusters: readonly PreviewedCluster[]
}

/** @throws Failure BP1003, BP1004, BP1005 or BP40xx; not for one unit or cluster */
export async function preview(
  { repository, clusters }: PreviewPorts,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<Preview> {
  const { observe, head } = request
  const { packages, folders = [] } = observe.units
  observe.onProgress?.('reading the repository')
  const read = await readRepository(repository, observe.git.branch, signal, {
    packages,
    ...observe.git,
    operator: observe.policy.operator,
  })
  const { tree, from, conflicts, why } = await mergeCommits(
    repository,
    read.base,
    head.commit,
    signal,
  )
  const [before, after] = [
    createViewAtTree(read, read.tree, { packages, folders }),
    createViewAtTree(read, tree, { packages, folders }),
  ]
  const edited = listEditedPaths(read.tree, tree)
  assertFolders(folders, [before, after])
  const reads = { before: new Map(), after: new Map() }
  const previews = await mapConcurrent(clusters, CLUSTERS_AT_ONCE, (cluster) => {
    observe.onProgress?.(`building for ${cluster.reader.name}`)
    return previewCluster({ before, after, edited, reads }, cluster, request, signal)
  })
  for (const name of packages) {
    const missing = previews.map((one) => one.missing.get(name))
    const [first] = missing
    if (first !== undefined && missing.every((failure) => failure !== undefined)) throw first
  }
  const all = addDiscoveredUnits(
    after,
    previews.map(({ found }) => found),
  )
  const paths = [...edited].sort()
  const policies = paths.some((path) => POLICY_FILE.test(path))
  const policy = await readPolicyAfter(read, policies ? tree : undefined, signal)
  return {
    apiVersion: API_VERSION,
    kind: 'Preview',
    base: { branch: read.baseBranch, commit: read.base },
    head: { name: head.name, commit: head.commit, fork: head.fork },
    merge: {
      ...omitUndefined({ base: from }),
      conflicts: [...conflicts],
      ...omitUndefined({ why }),
    },
    edited: paths.slice(0, MOST_EDITED),
    policies,
    ...omitUndefined({ policyProblem: policy.problem }),
    clusters: previews.map(({ cluster }) => cluster),
    items: previews.flatMap(({ units }) => units),
    untouched: previews.reduce((sum, { untouched }) => sum + untouched, 0),
    elsewhere: (await listOtherReaders(all, edited, signal)).map((each) => ({
      ...each,
      files: [...each.files],
    })),
    notes: [...new Set([...policy.notes, ...previews.flatMap(({ notes }) => notes)])],
  }
}

/** @param tree undefined if it has the base branch's policy files */
async function readPolicyAfter(
  { repository, policies: { lastGood } }: RepositoryView,
  tree: readonly TreeFile[] | undefined,
  signal: AbortSignal,
): Promise<{
  readonly problem?: NonNullable<Preview['policyProblem']>
  readonly notes: readonly string[]
}> {
  if (tree === undefined) {
    if (lastGood === undefined) return { notes: [] }
    const { problem, commit } = lastGood
    const used = `the policy of the base branch cannot be used (${problem.where}: ${problem.why}); that of commit ${commit.slice(0, 7)} was used`
    return { notes: [used] }
  }
  const [problem] = await listPolicyProblems(repository, tree, signal)
  if (problem !== undefined) {
    const why = `after the merge the policy cannot be used (${problem.where}: ${problem.why}): an earlier one decides then, and nothing is opened, merged or settled`
    return { problem, notes: [why] }
  }
  return {
    notes:
      lastGood === undefined
        ? []
        : [`the merge corrects the policy, which cannot be used now (${lastGood.problem.where})`],
  }
}

/** Policies stay the base branch's: a head does not decide what may run, and where. */
function createViewAtTree(
  view: RepositoryView,
  tree: readonly TreeFile[],
  named: { packages: readonly string[]; folders: readonly string[] },
): RepositoryView {
  const { refs, recorded, policies } = view
  const folders = named.folders.filter((name) => isFolderOf(tree, name))
  const wanted = {
    packages: named.packages.filter((name) => !named.folders.includes(name)),
    folders,
  }
  const packages = findPackages(
    tree,
    listUnitFolders(tree, { refs, placements: policies.placements, recorded, wanted }),
  )
  return {
    ...view,
    tree,
    packages,
    policies: { ...policies, folders: mapFolderRenders(tree, packages) },
    budget: new ReadBudget(),
  }
}

function isFolderOf(tree: readonly TreeFile[], name: string): boolean {
  const path = normalizePackagePath(name)
  return (
    path !== undefined && (path === '' || tree.some((file) => file.path.startsWith(`${path}/`)))
  )
}

/** @throws Failure BP1004 for a folder that is on neither side */
function assertFolders(folders: readonly string[], views: readonly RepositoryView[]): void {
  for (const name of folders) {
    if (views.some(({ tree }) => isFolderOf(tree, name))) continue
    throw new Failure({
      code: 'BP1004',
      what: `there is no folder ${JSON.stringify(name.slice(0, 300))}`,
      why: 'neither the base branch nor the head has a file below it',
      remedy: 'name a folder from the root of the repository; commits are read, not the work tree',
      retry: 'on-change',
    })
  }
}

function listEditedPaths(
  before: readonly TreeFile[],
  after: readonly TreeFile[],
): ReadonlySet<string> {
  const [old, now] = [before, after].map(
    (tree) => new Map(tree.map(({ path, id, mode }) => [path, `${mode} ${id}`])),
  )
  const paths = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])
  return new Set([...paths].filter((path) => old?.get(path) !== now?.get(path)))
}
