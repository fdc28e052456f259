/**
 * What people see on the forge after a turn: one pull request per open proposal, with its statuses. Everything is said again in each turn and sent only where it is new, so a turn that ended in between loses nothing.
 */
import { Failure } from '../failure.ts'
import { packageSlug } from '../package/find-packages.ts'
import type { ObjectId } from '../package/object-id.ts'
import type { JointProposal } from '../plan/joint-proposal.ts'
import { ownersOf } from '../policy/code-owners.ts'
import type { CheckRun } from '../ports/check-run.ts'
import type { CommitStatus, Forge, HostedForge, OpenedProposal } from '../ports/hosted-forge.ts'
import type { RefUpdate } from '../ports/package-repository.ts'
import { checkRun, decidedCheckRun, foreignCheckRun, massCheckRun, notObservedCheckRun } from '../proposal/check-run-text.ts'
import { escalationComment } from '../proposal/escalation-comment.ts'
import { massText } from '../proposal/mass-text.ts'
import { outcomeComment } from '../proposal/outcome-comment.ts'
import { foreignStatuses, massStatuses, notObservedStatus, proposalStatuses } from '../proposal/proposal-statuses.ts'
import type { ProposalState } from '../proposal/proposal-subject.ts'
import { type ProposalText, proposalText } from '../proposal/proposal-text.ts'
import type { BotIdentity } from './bot-identity.ts'
import { jointSubject, type PlannedUnit, unitSubject } from './proposal-subjects.ts'
import { readCodeOwners } from './read-base-text.ts'
import { readBranches } from './read-branches.ts'
import type { RepositoryView } from './repository-view.ts'
import type { UnitResult } from './unit-result.ts'

export function isHosted(forge: Forge): forge is HostedForge {
  return 'ensureComment' in forge
}

/** What a turn wrote. */
export interface ToldTurn {
  readonly units: readonly UnitResult[]
  readonly updates: readonly RefUpdate[]
  /** Proposals about several clusters, by short name of the branch. */
  readonly joints: ReadonlyMap<string, JointProposal>
  readonly notObserved: readonly { readonly cluster: string }[]
  /** Numbers of proposals whose text stays as it is. */
  readonly keepTexts: ReadonlySet<number>
}

export interface ToldProposals {
  /** What the forge calls the open proposals, by short name of the branch. */
  readonly opened: ReadonlyMap<string, OpenedProposal>
  /** With the reason where the forge refuses the proposal of a unit. */
  readonly units: readonly UnitResult[]
}

/**
 * After the push. What the forge refuses for one proposal holds up no other one.
 * @throws Failure BP50xx when it cannot be asked, or refuses every proposal
 */
export async function ensureProposals(
  forge: Forge,
  view: RepositoryView,
  turn: ToldTurn,
  version: string,
  signal: AbortSignal,
): Promise<ToldProposals> {
  const opened = new Map<string, OpenedProposal>()
  const refused = new Map<UnitResult, Failure>()
  const codeOwners = isHosted(forge) ? await readCodeOwners(view, signal) : ''
  const strange = new Set<ObjectId>()
  if (isHosted(forge))
    for (const unit of turn.units)
      if (unit.state === 'planned') for (const commit of await tellForeign(forge, view, unit, signal)) strange.add(commit)
  for (const unit of newFirst(turn.units, view)) {
    if (unit.state === 'failed' || unit.refused !== undefined || opened.has(unit.plan.branch)) continue
    try {
      const proposal = await tellUnit(forge, view, turn, { unit, version, codeOwners, strange }, signal)
      if (proposal !== undefined) opened.set(unit.plan.branch, proposal)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || (thrown.code !== 'BP5003' && thrown.code !== 'BP5006')) throw thrown
      refused.set(unit, thrown)
    }
  }
  // Then it is one condition of the repository, and not one of each unit.
  const [first] = refused.values()
  if (first !== undefined && opened.size === 0) throw first
  const units = turn.units.map((unit) => {
    const why = refused.get(unit)
    return why === undefined || unit.state === 'failed' ? unit : { ...unit, refused: why }
  })
  return { opened, units }
}

/** Somebody waits for a new proposal; whether an open one still says the truth is looked at afterwards. */
function newFirst(units: readonly UnitResult[], { proposals }: RepositoryView): readonly UnitResult[] {
  const isOpen = (unit: UnitResult): boolean =>
    unit.state === 'planned' && proposals.get(`refs/heads/${unit.plan.branch}`)?.state === 'open'
  return [...units.filter((unit) => !isOpen(unit)), ...units.filter(isOpen)]
}

interface TellingUnit {
  readonly unit: PlannedUnit
  readonly version: string
  readonly codeOwners: string
  /** Heads that are not ours: one of ours may have been put onto another proposal's branch. */
  readonly strange: ReadonlySet<ObjectId>
}

async function tellUnit(
  forge: Forge,
  view: RepositoryView,
  { units, updates, joints, notObserved, keepTexts }: ToldTurn,
  { unit, version, codeOwners, strange }: TellingUnit,
  signal: AbortSignal,
): Promise<OpenedProposal | undefined> {
  const { branch } = unit.plan
  const joint = joints.get(branch)
  const missed = new Set(notObserved.map(({ cluster }) => cluster))
  const text =
    joint === undefined
      ? singleText(unit, view, forge, { version, units })
      : jointText(joint, view, forge, { version, notObserved: missed })
  const ref = `refs/heads/${branch}`
  const commit = updates.find((update) => update.ref === ref)?.to ?? view.refs.get(ref)
  if (commit === undefined || commit === null || text === undefined) return undefined
  const { statuses, check, states, fingerprint, ...shown } = text
  const reviewers = reviewersOf(codeOwners, unit.unit.packagePath)
  const known = view.proposals.get(ref)
  const body = known?.state === 'open' && keepTexts.has(known.number) ? known.body : shown.body
  const wanted = { ref, commit, baseBranch: view.baseBranch, ...shown, body, reviewers }
  const proposal = await forge.ensureProposal(wanted, known, signal)
  if (isHosted(forge)) {
    if (!strange.has(commit)) {
      await forge.ensureStatuses(commit, statuses, signal)
      await forge.checkRuns?.ensureCheckRun(commit, check, signal)
    }
    await tellOverdue(forge, proposal, { states, fingerprint, owners: () => ownersOfChanges(codeOwners, unit) }, signal)
    if (joint !== undefined && known?.state !== 'open') await tellMoved(forge, view, joint, proposal, signal)
  }
  return proposal
}

/** Open proposals whose commit is not ours: red, told once, and nothing more is pushed to them. @returns those commits */
async function tellForeign(
  forge: HostedForge,
  view: RepositoryView,
  { plan, observation }: PlannedUnit,
  signal: AbortSignal,
): Promise<readonly ObjectId[]> {
  const commits: ObjectId[] = []
  const strange = new Map([
    ...plan.openBranches.flatMap(({ ref, foreign, foreignWhy = '' }) => (foreign ? [[ref, foreignWhy] as const] : [])),
    ...observation.git.unreadable.flatMap(({ place, where, why }) => (place === 'branch' ? [[`refs/heads/${where}`, why] as const] : [])),
  ])
  for (const [ref, why] of strange) {
    const [proposal, commit] = [view.proposals.get(ref), view.refs.get(ref)]
    if (proposal?.state !== 'open' || commit === undefined) continue
    await forge.ensureStatuses(commit, foreignStatuses(why), signal)
    await forge.checkRuns?.ensureCheckRun(commit, foreignCheckRun(ref, why, forge.dialect), signal)
    const { topic, body } = outcomeComment({ kind: 'edited', author: '', why })
    await forge.ensureComment(proposal.number, topic, body, signal)
    commits.push(commit)
  }
  return commits
}

/** Nobody decided for so long that the policy has the code owners asked. */
async function tellOverdue(
  forge: HostedForge,
  { number }: OpenedProposal,
  { states, fingerprint, owners }: Pick<ShownProposal, 'states' | 'fingerprint'> & { readonly owners: () => readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const overdue = states.find((state) => state.kind === 'overdue')
  if (number === undefined || overdue === undefined) return
  const { topic, body } = escalationComment({ ...overdue, fingerprint, owners: owners() })
  await forge.ensureComment(number, topic, body, signal)
}

/** Who CODEOWNERS says for the files of what differs; without addresses. */
function ownersOfChanges(codeOwners: string, { plan, unit }: PlannedUnit): readonly string[] {
  const files = new Set(
    (plan.record?.spec.changes ?? []).map(({ source }) => source?.replace(/:[0-9]+$/, '') ?? kptfileOf(unit.packagePath)),
  )
  return [...new Set([...files].flatMap((file) => ownersOf(codeOwners, file)))].filter((owner) => owner.startsWith('@'))
}

function kptfileOf(packagePath: string): string {
  return packagePath === '' ? 'Kptfile' : `${packagePath}/Kptfile`
}

/** Who CODEOWNERS says, without addresses, which no forge can be asked for. */
function reviewersOf(codeOwners: string, packagePath: string): readonly string[] {
  const owners = ownersOf(codeOwners, kptfileOf(packagePath))
  return owners.flatMap((owner) => (owner.startsWith('@') ? [owner.slice(1)] : []))
}

type ShownProposal = ProposalText & {
  readonly statuses: readonly CommitStatus[]
  readonly check: CheckRun
  readonly states: readonly ProposalState[]
  readonly fingerprint: string
}

function singleText(
  unit: PlannedUnit,
  view: RepositoryView,
  forge: Forge,
  about: { readonly version: string; readonly units: readonly UnitResult[] },
): ShownProposal | undefined {
  const { report, branch, outcome, openBranches } = unit.plan
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  // Of a joint proposal that this turn cannot tell anything new about, the text stays.
  if (openBranches.some((open) => open.ref === `refs/heads/${branch}` && open.others.length > 0)) return undefined
  const subject = unitSubject(unit, view, forge, about)
  if (subject === undefined) return undefined
  const { states, record } = subject
  const statuses = proposalStatuses(subject, unit.observation.incomplete.length === 0)
  return { ...proposalText(subject), statuses, check: checkRun(subject, statuses), states, fingerprint: record.spec.fingerprint }
}

function jointText(
  joint: JointProposal,
  view: RepositoryView,
  forge: Forge,
  about: { readonly version: string; readonly notObserved: ReadonlySet<string> },
): ShownProposal | undefined {
  const subject = jointSubject(joint, view, forge, about)
  if (subject === undefined) return undefined
  const { states, fingerprint } = subject
  const statuses = massStatuses(subject)
  return { ...massText(subject), statuses, check: massCheckRun(subject, statuses), states, fingerprint }
}

/** Where the joint proposal is open already: said before the push that takes the branches of the others away. @throws Failure BP50xx */
export async function tellMovedBefore(
  forge: Forge,
  view: RepositoryView,
  joints: ReadonlyMap<string, JointProposal>,
  signal: AbortSignal,
): Promise<void> {
  if (!isHosted(forge)) return
  for (const joint of joints.values()) {
    const open = view.proposals.get(joint.ref)
    if (open?.state === 'open') await tellMoved(forge, view, joint, open, signal)
  }
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
    const check = decidedCheckRun(branch.ref, 'moved-to-mass', url)
    if (check !== undefined) await forge.checkRuns?.ensureCheckRun(proposal.commit, check, signal)
  }
}

/**
 * Open proposals about clusters that could not be looked at: nobody can say that live still is what was reviewed. They stay open.
 * @throws Failure BP50xx
 */
export async function tellNotObserved(
  forge: Forge,
  view: RepositoryView,
  { notObserved }: Pick<ToldTurn, 'notObserved'>,
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<void> {
  if (!isHosted(forge) || notObserved.length === 0) return
  const missed = new Set(notObserved.map(({ cluster }) => cluster))
  for (const { path } of view.packages) {
    const [packageName, slug] = [path, packageSlug(path, path)]
    for (const { ref, commit, records, foreign, known } of path === ''
      ? []
      : await readBranches(view, { packageName, slug }, bot, signal)) {
      if (foreign || known === false || view.proposals.get(ref)?.state !== 'open') continue
      const clusters = records.flatMap(({ isNew, record }) => (isNew && !(record instanceof Failure) ? [record.spec.unit.cluster] : []))
      const gone = clusters.filter((cluster) => missed.has(cluster))
      if (gone.length === 0 || gone.length !== clusters.length) continue
      const status = notObservedStatus(gone)
      await forge.ensureStatuses(commit, [status], signal)
      await forge.checkRuns?.ensureCheckRun(commit, notObservedCheckRun(ref, status, forge.dialect), signal)
    }
  }
}
