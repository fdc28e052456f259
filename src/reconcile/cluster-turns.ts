/** What a turn has to say of each cluster as a whole, and of what it could not observe there. */
import type { Failure, FailureCode } from '../failure.ts'
import { packageSlug } from '../package/find-packages.ts'
import { type ClusterLedgerWrites, clusterWrites } from '../plan/ledger/cluster-writes.ts'
import { identityFields, knownObservation } from '../plan/ledger/ledger-files.ts'
import type { UnobservedUnit } from '../plan/ledger/unobserved.ts'
import { contentHash } from '../plan/turn/unit-git.ts'
import type { UnitResult } from '../plan/turn/unit-result.ts'
import { clusterDetection } from '../policy/effective-policy.ts'
import { ledgerUnitFolder } from '../record/record-paths.ts'
import type { DriftReport } from '../record/schema.ts'
import type { ObservedCluster } from './observe/observe-units.ts'
import type { Board } from './repository/board.ts'
import { below, packagesIn, type RepositoryView, readTexts } from './repository/repository-view.ts'

export interface SeenClusters {
  readonly observed: readonly ObservedCluster[]
  readonly notObserved: readonly { readonly cluster: string; readonly failures: readonly [Failure, ...Failure[]]; readonly at: string }[]
  readonly units: readonly UnitResult[]
  /** RFC 3339 UTC. */
  readonly now: string
  /** Whether every package of the clusters was looked at. */
  readonly whole: boolean
}

/** One for each cluster with something to say. */
export async function writesOfClusters(
  view: RepositoryView,
  board: Pick<Board, 'ledger'>,
  { observed, notObserved, units, now, whole }: SeenClusters,
  signal: AbortSignal,
): Promise<readonly ClusterLedgerWrites[]> {
  const writes: ClusterLedgerWrites[] = []
  for (const { cluster, identity } of observed) {
    const planned = units.flatMap((unit) =>
      unit.state === 'planned' && unit.unit.cluster === cluster && unit.refused === undefined ? [unit] : [],
    )
    const failed = units.flatMap((unit) => (unit.state === 'failed' && unit.cluster === cluster ? [unit] : []))
    const [first] = planned
    const before = first === undefined ? (await board.ledger()).clusters.get(cluster) : knownObservation(first.observation)
    const codes = new Map(failed.map(({ packagePath, failures: [{ code }] }) => [packagePath, code]))
    const unobserved = codes.size === 0 ? [] : await unobservedUnits(view, board, cluster, [...codes.keys()], signal)
    const lost = unobserved.flatMap((unit) => {
      const code = codes.get(unit.unit.package)
      return code === undefined ? [] : [{ ...unit, code }]
    })
    const interval = clusterDetection(view.policies, cluster, 'interval')
    const fields = identityFields(identity, before)
    writes.push({
      cluster,
      ...clusterWrites({ cluster, at: identity.observedAt, now, before, identity: fields, whole, planned, unobserved: lost, interval }),
    })
  }
  for (const { cluster, failures, at } of notObserved) {
    const [{ code }] = failures
    if (!isAboutCluster(code)) continue
    const { clusters } = await board.ledger()
    const before = clusters.get(cluster)
    const expected = packagesIn(view, cluster).map(({ path }) => path)
    // What a turn does not look at stays as it was: no later turn would take the word back.
    const units = await unobservedUnits(view, board, cluster, view.policies.placements.length === 0 ? [] : expected, signal)
    const unobserved = units.flatMap((each) => (expected.includes(each.unit.package) ? [{ ...each, code }] : []))
    // A name that nobody placed anything into, and that nobody ever saw, is more likely a slip than a cluster.
    if (before === undefined && unobserved.length === 0) continue
    writes.push({
      cluster,
      ...clusterWrites({ cluster, at, now, before, identity: undefined, code, whole: true, planned: [], unobserved, interval: 0 }),
    })
  }
  return writes.filter(({ ledger }) => ledger.length > 0)
}

/** Whether it stands between us and the cluster; a name that selects nothing, or a repository that cannot be read, says nothing of one. */
function isAboutCluster(code: FailureCode): boolean {
  return code.startsWith('BP30') || code === 'BP1006' || code === 'BP1008' || code === 'BP9001'
}

/** Units of the cluster that follow this base branch: those that the ledger has, and the expected ones. */
async function unobservedUnits(
  view: RepositoryView,
  board: Pick<Board, 'ledger'>,
  cluster: string,
  expected: readonly string[],
  signal: AbortSignal,
): Promise<readonly Omit<UnobservedUnit, 'code'>[]> {
  const { reports } = await board.ledger()
  const own = [...reports].filter(([, { spec }]) => spec.unit.cluster === cluster)
  const files = view.ledgerTree.filter(({ path }) => own.some(([folder]) => path === `${folder}/resourcegroup.yaml`))
  const texts = await readTexts(view.repository, files, signal)
  const known = own.map(([folder, report]) => ({
    folder,
    report,
    unit: report.spec.unit,
    resourceGroup: texts.get(`${folder}/resourcegroup.yaml`),
  }))
  const missing = expected.filter((path) => path !== '' && !own.some(([, { spec }]) => spec.unit.package === path))
  const first = missing.map((path) => ({
    folder: ledgerUnitFolder(cluster, packageSlug(path, '')),
    report: undefined,
    unit: { cluster, package: path, branch: view.baseBranch, commit: view.base, tree: contentHash(below(view.tree, path)) },
    resourceGroup: undefined,
  }))
  return [...known.filter(({ report }) => followsBase(report, view)), ...first]
}

/** As `otherBase` has it. */
function followsBase({ spec: { unit } }: DriftReport, { baseBranch, refs }: RepositoryView): boolean {
  return unit.branch === undefined || unit.branch === baseBranch || !refs.has(`refs/heads/${unit.branch}`)
}
