/**
 * What people see on the forge after a turn: one pull request per open proposal with its statuses, and one comment where an
 * episode ended. Everything is said again in each turn and sent only where it is new, so a turn that ended in between loses nothing.
 */
import { worstRisk } from '../plan/closed-episode.ts'
import type { FoundOutcome } from '../plan/found-decisions.ts'
import type { JointProposal } from '../plan/joint-proposal.ts'
import type { CommitStatus, Forge, HostedForge, OpenedProposal } from '../ports/hosted-forge.ts'
import type { RefUpdate } from '../ports/package-repository.ts'
import { massText } from '../proposal/mass-text.ts'
import { type Outcome, outcomeComment } from '../proposal/outcome-comment.ts'
import { massStatuses, proposalStatuses } from '../proposal/proposal-statuses.ts'
import { type ProposalText, proposalText } from '../proposal/proposal-text.ts'
import { jointSubject, type PlannedUnit, unitSubject } from './proposal-subjects.ts'
import type { RepositoryView } from './repository-view.ts'
import type { UnitResult } from './unit-result.ts'

export function isHosted(forge: Forge): forge is HostedForge {
  return 'ensureComment' in forge
}

/**
 * Before the push: once the ledger has an episode as closed, nobody would know that it was not said yet.
 * @throws Failure BP50xx
 */
export async function tellOutcomes(forge: Forge, view: RepositoryView, units: readonly UnitResult[], signal: AbortSignal): Promise<void> {
  if (!isHosted(forge)) return
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const kept = new Set(planned.flatMap(({ plan }) => plan.writes.updates.flatMap(({ ref, to }) => (to === null ? [] : [ref]))))
  const said = new Set<number>()
  for (const found of planned.flatMap(({ plan }) => plan.outcomes)) {
    const proposal = view.proposals.get(found.ref)
    const outcome = outcomeOf(found, view)
    // A joint proposal goes on without the unit, or ends the same way for all of them.
    if (proposal === undefined || outcome === undefined || kept.has(found.ref) || said.has(proposal.number)) continue
    said.add(proposal.number)
    const { topic, body } = outcomeComment(outcome)
    await forge.ensureComment(proposal.number, topic, body, signal)
  }
}

function outcomeOf({ episode: { spec, status } }: FoundOutcome, view: RepositoryView): Outcome | undefined {
  if (status.outcome === 'Healed') return { kind: 'healed', at: status.at }
  if (status.outcome === 'ResolvedByGit') return { kind: 'resolved-by-git', commit: view.base, url: '' }
  // What a merge led to is said when live was seen to agree.
  if (status.outcome === 'Merged' || status.silentUntil === undefined) return undefined
  return { kind: 'declined', silentUntil: status.silentUntil, critical: worstRisk(spec.changes) === 'critical' }
}

/** What a turn wrote. */
export interface ToldTurn {
  readonly units: readonly UnitResult[]
  readonly updates: readonly RefUpdate[]
  /** Proposals about several clusters, by short name of the branch. */
  readonly joints: ReadonlyMap<string, JointProposal>
  readonly notObserved: readonly { readonly cluster: string }[]
}

/**
 * After the push. @returns what the forge calls the open proposals, by short name of the branch
 * @throws Failure BP50xx
 */
export async function ensureProposals(
  forge: Forge,
  view: RepositoryView,
  { units, updates, joints, notObserved }: ToldTurn,
  version: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OpenedProposal>> {
  const opened = new Map<string, OpenedProposal>()
  const missed = new Set(notObserved.map(({ cluster }) => cluster))
  for (const unit of units) {
    if (unit.state === 'failed' || unit.refused !== undefined) continue
    const { branch } = unit.plan
    const joint = joints.get(branch)
    const text =
      joint === undefined ? singleText(unit, view, forge, version) : jointText(joint, view, forge, { version, notObserved: missed })
    const ref = `refs/heads/${branch}`
    const commit = updates.find((update) => update.ref === ref)?.to ?? view.refs.get(ref)
    if (opened.has(branch) || commit === undefined || commit === null || text === undefined) continue
    const { statuses, ...shown } = text
    const wanted = { ref, commit, baseBranch: view.baseBranch, ...shown, reviewers: [] }
    const proposal = await forge.ensureProposal(wanted, view.proposals.get(ref), signal)
    opened.set(branch, proposal)
    if (!isHosted(forge)) continue
    await forge.ensureStatuses(commit, statuses, signal)
    if (joint !== undefined) await tellMoved(forge, view, joint, proposal, signal)
  }
  return opened
}

type ShownProposal = ProposalText & { readonly statuses: readonly CommitStatus[] }

function singleText(unit: PlannedUnit, view: RepositoryView, forge: Forge, version: string): ShownProposal | undefined {
  const { report, branch, outcome, openBranches } = unit.plan
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  // Of a joint proposal that this turn cannot tell anything new about, the text stays.
  if (openBranches.some((open) => open.ref === `refs/heads/${branch}` && open.others.length > 0)) return undefined
  const subject = unitSubject(unit, view, forge, version)
  if (subject === undefined) return undefined
  return { ...proposalText(subject), statuses: proposalStatuses(subject, unit.observation.incomplete.length === 0) }
}

function jointText(
  joint: JointProposal,
  view: RepositoryView,
  forge: Forge,
  about: { readonly version: string; readonly notObserved: ReadonlySet<string> },
): ShownProposal | undefined {
  const subject = jointSubject(joint, view, forge, about)
  return subject === undefined ? undefined : { ...massText(subject), statuses: massStatuses(subject) }
}

/** Proposals of single clusters that went into the joint one; their branches are gone with this turn's push. */
async function tellMoved(
  forge: HostedForge,
  view: RepositoryView,
  { ref, members, away }: JointProposal,
  { label, url }: OpenedProposal,
  signal: AbortSignal,
): Promise<void> {
  const clusters = members.length + away.length
  for (const branch of members.flatMap(({ plan }) => plan.openBranches)) {
    const proposal = branch.ref === ref || branch.others.length > 0 ? undefined : view.proposals.get(branch.ref)
    if (proposal?.state !== 'open') continue
    const { topic, body } = outcomeComment({ kind: 'moved-to-mass', label, url, clusters })
    await forge.ensureComment(proposal.number, topic, body, signal)
  }
}
