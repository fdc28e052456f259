import { parseWorkspaceBranch } from '@backporch/git-store/ref-name'
import { readKptfile } from '@backporch/kpt/kptfile'
import {
  derivePackageSlug,
  deriveRootPackageName,
  type FoundPackage,
  PACKAGE_FILE,
  ROOT_FOLDER,
  selectPackages,
} from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { PolicyUnit } from '../../../plan/unit/commands/comment-policy.ts'
import type { RequestedUnit } from '../../../plan/unit/commands/proposal-requests.ts'
import { getDriftKey } from '../../../proposal/text/ticks.ts'
import { computeJointFingerprint } from '../../../record/joint-fingerprint.ts'
import { formatLedgerUnitFolder } from '../../../record/record-paths.ts'
import type { OnlyUnits, UnitSelection } from '../../observe/turn-request.ts'
import type { BotIdentity } from '../../repository/bot-identity.ts'
import { selectByLabels } from '../../repository/package-labels.ts'
import { readBaseText } from '../../repository/read-base-text.ts'
import { readBranches } from '../../repository/read-branches.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'

export interface RequestScope {
  readonly units: UnitSelection
  readonly clusters: readonly string[]
  readonly bot: BotIdentity
}

/**
 * A branch outside of this repository (a fork) is unknown, and a proposal without a record of these
 * clusters is for the run with the others.
 */
export async function readRequestedUnits(
  view: RepositoryView,
  { units, clusters, bot }: RequestScope,
  signal: AbortSignal,
): Promise<RequestedUnit[]> {
  const packages = await mapPackagesByName(view, units, signal)
  const found: RequestedUnit[] = []
  for (const proposal of [...view.proposals.values()].sort(
    (left, right) => left.number - right.number,
  )) {
    const branch = parseWorkspaceBranch(proposal.ref)
    const own = branch === undefined ? undefined : packages.get(branch.packagePath)
    if (proposal.state !== 'open' || own === undefined || branch === undefined) continue
    const episode = branch.workspace.replace(/^drift-/, '')
    for (const cluster of clusters) {
      if (!isCovered(units.only, cluster, own.path)) continue
      const unit = {
        cluster,
        packagePath: own.path,
        packageName: branch.packagePath,
        slug: own.slug,
      }
      const observed = await listShownChanges(
        view,
        unit,
        { ref: proposal.ref, episode, bot },
        signal,
      )
      if (observed === undefined) continue
      found.push({ ...unit, ...observed, proposal, head: view.refs.get(proposal.ref) ?? '' })
      break
    }
  }
  return found
}

function isCovered(only: OnlyUnits | undefined, cluster: string, path: string): boolean {
  const wanted = only === undefined ? 'all' : only.get(cluster)
  return wanted === 'all' || wanted?.has(path) === true
}

async function mapPackagesByName(
  view: RepositoryView,
  { packages, labels }: UnitSelection,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FoundPackage & { readonly slug: string }>> {
  const named = selectPackages(view.packages, packages)
  const chosen = labels === undefined ? named : await selectByLabels(view, named, labels, signal)
  const entries = await Promise.all(
    chosen.map(async (found) => {
      const name = found.path || (await readRootName(view, signal))
      return [name, { ...found, slug: derivePackageSlug(found.path, name) }] as const
    }),
  )
  return new Map(entries)
}

async function readRootName(view: RepositoryView, signal: AbortSignal): Promise<string> {
  const text = await readBaseText(view, PACKAGE_FILE, signal)
  if (text === undefined) return ROOT_FOLDER
  const reading = readKptfile(text, PACKAGE_FILE)
  return 'failures' in reading ? '' : deriveRootPackageName(reading.kptfile.name)
}

/** From the branch, or from the ledger because a foreign push may have removed the records. */
async function listShownChanges(
  view: RepositoryView,
  unit: PolicyUnit & { readonly packageName: string },
  {
    ref,
    episode,
    bot,
  }: { readonly ref: string; readonly episode: string; readonly bot: BotIdentity },
  signal: AbortSignal,
): Promise<Pick<RequestedUnit, 'numbered' | 'drifts'> | undefined> {
  const commit = view.refs.get(ref)
  if (commit === undefined) return undefined
  const { cluster, slug } = unit
  const branch = (await readBranches(view, unit, bot, signal)).find((one) => one.ref === ref)
  const merged = new Set(view.tree.map(({ path }) => path))
  // Except for the one that names the branch, a record of the base was already decided.
  const records = (branch?.records ?? []).flatMap(({ path, episode: own, record }) =>
    record instanceof Failure || (own !== episode && merged.has(path)) ? [] : [record],
  )
  const own = records.filter(({ spec }) => spec.unit.cluster === cluster)
  const record = own.find(({ spec }) => spec.episode === episode) ?? own[0]
  // In a record that Backporch did not push, numbers could mean other changes than people saw.
  const pushed = view.pushed.get(ref)?.spec.commits.at(-1)?.commit
  if (record !== undefined && (pushed === undefined || pushed === commit)) {
    const joint = records.length > 1 ? [computeJointFingerprint(records)] : []
    return {
      numbered: record.spec.changes,
      drifts: [record.spec.fingerprint, ...joint].map(getDriftKey),
    }
  }
  const report = view.reports.get(formatLedgerUnitFolder(cluster, slug))
  if (report?.status.episode !== episode || report.status.lifecycle !== 'Proposed') return undefined
  return { numbered: report.spec.changes, drifts: [getDriftKey(report.spec.fingerprint)] }
}
