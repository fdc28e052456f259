/** The proposals of Backporch on the forge, read once per turn, and only if git has or had one. */
import { packageSlug } from '../../package/find-packages.ts'
import { formatWorkspaceBranch, isWellFormedRefName, parseWorkspaceBranch } from '../../package/ref-name.ts'
import { isWithdrawn } from '../../plan/decisions/closed-episode.ts'
import type { Forge, KnownProposal } from '../../ports/hosted-forge.ts'
import type { RepositoryView } from './repository-view.ts'

/** By full ref name. @param now RFC 3339 UTC @throws Failure BP50xx: only the forge distinguishes a closed proposal from an open one */
export async function readProposals(
  view: RepositoryView,
  forge: Forge,
  now: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KnownProposal>> {
  const refs = new Set([...view.refs.keys()].filter(isOurs))
  for (const ref of [...missingRefs(view), ...waitingRefs(view), ...landedRefs(view), ...withdrawnRefs(view, now)]) refs.add(ref)
  if (refs.size === 0) return new Map()
  const known = await forge.readProposals(view.baseBranch, [...refs].sort(), signal)
  return new Map(known.map((proposal) => [proposal.ref, proposal]))
}

function isOurs(ref: string): boolean {
  const branch = ref.startsWith('refs/heads/proposed/') ? parseWorkspaceBranch(ref) : undefined
  return branch?.workspace.startsWith('drift-') === true
}

/** Proposals that the ledger has as open and whose branch is gone: they were merged or closed. */
function missingRefs(view: RepositoryView): string[] {
  return [...view.reports].flatMap(([folder, report]) => {
    if (report.status.lifecycle !== 'Proposed') return []
    // A repository that is one package goes by its own name, which is also its folder in the ledger.
    const packageName = report.spec.unit.package || (folder.split('/').at(-1) ?? '')
    if (!isWellFormedRefName(`refs/heads/proposed/${packageName}`)) return []
    const workspace = `drift-${report.status.episode}`
    const joint = report.status.branch === undefined ? undefined : `refs/heads/${report.status.branch}`
    if (joint !== undefined) return view.refs.has(joint) || !isOurs(joint) ? [] : [joint]
    const ref = `refs/heads/${formatWorkspaceBranch({ state: 'proposed', packagePath: packageName, workspace })}`
    return view.refs.has(ref) ? [] : [ref]
  })
}

/** Merged proposals that the cluster was not observed to agree with: their outcome is reported there. */
function waitingRefs({ closed }: RepositoryView): string[] {
  return closed.flatMap(({ spec, status }) => {
    if (status.outcome !== 'Merged' || status.verifiedAt !== undefined || status.failedAt !== undefined) return []
    const ref = `refs/heads/${status.branch ?? `proposed/${spec.unit.package}/drift-${spec.episode}`}`
    return isOurs(ref) && isWellFormedRefName(ref) ? [ref] : []
  })
}

/** Minutes in which a close at the moment of a withdrawal is searched. */
const WITHDRAWN_FOR = 10

/** Withdrawn a moment ago: a person may have closed them at the same time, which only the forge reports. */
function withdrawnRefs({ closed }: RepositoryView, now: string): string[] {
  return closed.flatMap(({ spec, status }) => {
    if (!isWithdrawn(status) || Date.parse(now) - Date.parse(status.at) > WITHDRAWN_FOR * 60_000) return []
    const ref = `refs/heads/proposed/${spec.unit.package}/drift-${spec.episode}`
    return isOurs(ref) && isWellFormedRefName(ref) ? [ref] : []
  })
}

/** Merged while a turn withdrew them: only the forge knows who did it. Those of joint proposals are read while they are open. */
function landedRefs({ tree, packages, closed }: RepositoryView): string[] {
  const known = new Set(closed.flatMap(({ spec, status }) => (status.outcome === 'Merged' ? [spec.episode] : [])))
  const names = new Map(packages.map(({ path }) => [packageSlug(path, path), path]))
  return tree.flatMap(({ path }) => {
    const [, slug = '', episode = ''] = LANDED.exec(path) ?? []
    // A repository that is one package goes by the name of its folder of records.
    const packageName = names.get(slug) ?? (names.has('') ? slug : '')
    if (episode === '' || packageName === '' || known.has(episode)) return []
    const ref = `refs/heads/proposed/${packageName}/drift-${episode}`
    return isWellFormedRefName(ref) && isOurs(ref) ? [ref] : []
  })
}

const LANDED = /^\.drift\/records\/[^/]+\/([^/]+)\/\d{8}-([^/]+)\.yaml$/
