/** Reads the proposals of a forge once per turn, and only if git has or had a proposal. */
import type { Forge, KnownProposal } from '@backporch/forge/hosted-forge'
import {
  formatWorkspaceBranch,
  isWellFormedRefName,
  parseWorkspaceBranch,
} from '@backporch/git-store/ref-name'
import { derivePackageSlug } from '@backporch/kpt/package'
import { isClosedByPerson } from '../../plan/observation/found-outcome.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { PushedBranch } from '../../record/pushed-branch.ts'
import { isRecordPath, RECORD_FILE } from '../../record/record-paths.ts'
import { findOwnCommitBelow } from './read-branches.ts'
import { type RepositoryView, readPushed } from './repository-view.ts'

/**
 * By full ref name. @param now RFC 3339 UTC
 * @throws Failure BP50xx: only the forge distinguishes a closed proposal from an open one
 */
export async function readProposals(
  view: RepositoryView,
  forge: Forge,
  now: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KnownProposal>> {
  const refs = new Set([...view.refs.keys()].filter(isOurs))
  for (const ref of [
    ...listMissingRefs(view),
    ...listWaitingRefs(view),
    ...listLandedRefs(view),
    ...listEndedRefs(view, now),
  ])
    refs.add(ref)
  if (
    refs.size === 0 &&
    !view.closed.some(({ status }) => isClosedByPerson(status) && (status.silentUntil ?? '') > now)
  )
    return new Map()
  const pushed = await readPushedBranches(view, [...refs], signal)
  const numbers = new Map(
    [...pushed].flatMap(([ref, { spec }]) =>
      spec.pullRequest === undefined ? [] : [[ref, spec.pullRequest]],
    ),
  )
  const known = await forge.readProposals(view.baseBranch, [...refs].sort(), signal, numbers)
  const all = new Map<string, KnownProposal>()
  for (const proposal of known) {
    const own = pushed.get(proposal.ref)
    if (await isOfBranch(view, proposal, own, signal))
      all.set(proposal.ref, addApprover(proposal, own))
  }
  return all
}

/**
 * A merge queue merges for the account that queued the pull request: Backporch's after `approve`.
 */
function addApprover(proposal: KnownProposal, pushed: PushedBranch | undefined): KnownProposal {
  const approved = pushed?.spec.approved
  if (
    proposal.state !== 'merged' ||
    proposal.decidedBy !== undefined ||
    approved?.commit !== proposal.commit
  )
    return proposal
  return { ...proposal, decidedBy: approved.by }
}

async function readPushedBranches(
  view: RepositoryView,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<RepositoryView['pushed']> {
  const gone = refs.filter((ref) => !view.pushed.has(ref))
  return gone.length === 0
    ? view.pushed
    : new Map([...view.pushed, ...(await readPushed(view, gone, signal))])
}

/**
 * The repository may have moved to another forge, so a number alone proves nothing. A renamed
 * branch still has a Backporch commit.
 */
async function isOfBranch(
  view: RepositoryView,
  { movedTo, commit }: KnownProposal,
  pushed: PushedBranch | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    movedTo === undefined || (await findOwnCommitBelow(view, commit, pushed, signal)) !== undefined
  )
}

function isOurs(ref: string): boolean {
  const branch = ref.startsWith('refs/heads/proposed/') ? parseWorkspaceBranch(ref) : undefined
  return branch?.workspace.startsWith('drift-') === true
}

/** Open in the ledger with a deleted branch: merged or closed. */
function listMissingRefs(view: RepositoryView): string[] {
  return [...view.reports].flatMap(([folder, report]) => {
    if (report.status.lifecycle !== 'Proposed') return []
    // A repository that is one package has its own name, which is also its ledger folder.
    const packageName = report.spec.unit.package || (folder.split('/').at(-1) ?? '')
    if (!isWellFormedRefName(`refs/heads/proposed/${packageName}`)) return []
    const workspace = `drift-${report.status.episode}`
    const joint =
      report.status.branch === undefined ? undefined : `refs/heads/${report.status.branch}`
    if (joint !== undefined) return view.refs.has(joint) || !isOurs(joint) ? [] : [joint]
    const ref = `refs/heads/${formatWorkspaceBranch({ state: 'proposed', packagePath: packageName, workspace })}`
    return view.refs.has(ref) ? [] : [ref]
  })
}

/** Their outcome is reported on the forge. */
function listWaitingRefs(view: RepositoryView): string[] {
  return view.closed.flatMap((episode) => {
    const { outcome, verifiedAt, failedAt } = episode.status
    return outcome === 'Merged' && verifiedAt === undefined && failedAt === undefined
      ? listEpisodeRefs(view, episode)
      : []
  })
}

/** Minutes after the end in the ledger. */
const ENDED_FOR = 10

/**
 * A person may have closed one while a turn withdrew it; and a forge may leave one open whose
 * branch is deleted.
 */
function listEndedRefs(view: RepositoryView, now: string): string[] {
  return view.closed.flatMap((episode) => {
    const { at, verifiedAt = at, failedAt = verifiedAt } = episode.status
    return Date.parse(now) - Date.parse(failedAt) > ENDED_FOR * 60_000
      ? []
      : listEpisodeRefs(view, episode)
  })
}

/** Empty if the name is not Backporch's. */
function listEpisodeRefs({ reports }: RepositoryView, { spec, status }: ClosedEpisode): string[] {
  const folderOfRoot = [...reports]
    .find(([, report]) => report.spec.unit.package === '')?.[0]
    .split('/')
    .at(-1)
  const ref = `refs/heads/${status.branch ?? `proposed/${spec.unit.package || folderOfRoot}/drift-${spec.episode}`}`
  return isOurs(ref) && isWellFormedRefName(ref) ? [ref] : []
}

/**
 * Merged while a turn withdrew them: only the forge knows by whom. Joint proposals are read while
 * open.
 */
function listLandedRefs({ tree, packages, closed }: RepositoryView): string[] {
  const known = new Set(
    closed.flatMap(({ spec, status }) => (status.outcome === 'Merged' ? [spec.episode] : [])),
  )
  const names = new Map(packages.map(({ path }) => [derivePackageSlug(path, path), path]))
  return tree.flatMap(({ path }) => {
    if (!isRecordPath(path)) return []
    const [slug = '', file = ''] = path.split('/').slice(-2)
    const [, episode] = RECORD_FILE.exec(file) ?? []
    const packageName = (names.get(slug) ?? (names.has('') ? slug : undefined)) || undefined
    if (episode === undefined || packageName === undefined || known.has(episode)) return []
    const ref = `refs/heads/proposed/${packageName}/drift-${episode}`
    return isWellFormedRefName(ref) && isOurs(ref) ? [ref] : []
  })
}
