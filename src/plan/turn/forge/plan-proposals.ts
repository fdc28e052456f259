/** Every turn plans all proposals and sends only news, so an interrupted turn loses nothing. */
import type { CheckRun } from '@backporch/forge/check-run'
import type { CommitStatus, ForgeDialect, KnownProposal } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { ownersOf } from '../../../policy/code-owners.ts'
import { houseRules } from '../../../policy/effective-policy.ts'
import {
  checkRun,
  foreignCheckRun,
  massCheckRun,
  notObservedCheckRun,
} from '../../../proposal/text/check-run-text.ts'
import { escalationComment } from '../../../proposal/text/escalation-comment.ts'
import { massText } from '../../../proposal/text/mass-text.ts'
import { outcomeComment } from '../../../proposal/text/outcome-comment.ts'
import { DRAFT_LINE } from '../../../proposal/text/proposal-head.ts'
import {
  foreignStatuses,
  massStatuses,
  movedStatus,
  notObservedStatus,
  proposalStatuses,
  unusablePolicyStatus,
} from '../../../proposal/text/proposal-statuses.ts'
import type { ProposalState, ProposalText } from '../../../proposal/text/proposal-subject.ts'
import { proposalText } from '../../../proposal/text/proposal-text.ts'
import type { OpenBranch } from '../../observation/observation.ts'
import type { ProposalContext, TurnView } from '../../observation/turn-view.ts'
import { isInQueue } from '../../observation/unit-git.ts'
import { fileOfChange, kptfileOf } from '../../unit/commands/comment-rights.ts'
import type { PlannedResult, UnitResult } from '../../unit/unit-result.ts'
import type { JointProposal } from '../joint/joint-proposal.ts'
import type { CommitTarget, FollowUp, ForgeAction, ProposalAction } from './forge-action.ts'
import { aboveFooter, withHouseRules } from './house-proposal.ts'
import { movedProposals } from './moved-proposals.ts'
import { jointSubject, unitSubject } from './proposal-subjects.ts'

interface ProposalPlan {
  readonly unit: PlannedResult
  readonly action: ProposalAction
}

export function planProposals(
  context: ProposalContext,
  units: readonly UnitResult[],
  joints: ReadonlyMap<string, JointProposal>,
): readonly ProposalPlan[] {
  const { view } = context
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const strange = new Set(
    planned.flatMap((unit) => strangeBranches(unit, view).map(({ commit }) => commit)),
  )
  const plans = new Map<string, ProposalPlan>()
  for (const unit of planned) {
    const { branch } = unit.plan
    if (plans.has(branch)) continue
    const action = proposalAction(context, unit, { joint: joints.get(branch), strange, units })
    if (action !== undefined) plans.set(branch, { unit, action })
  }
  const isOpen = ({ action }: ProposalPlan): boolean => action.known?.state === 'open'
  const all = [...plans.values()]
  return [...all.filter((plan) => !isOpen(plan)), ...all.filter(isOpen)]
}

interface ProposalLocation {
  readonly joint: JointProposal | undefined
  /** A Backporch commit may have been put onto another proposal's branch. */
  readonly strange: ReadonlySet<ObjectId>
  readonly units: readonly UnitResult[]
}

function proposalAction(
  context: ProposalContext,
  unit: PlannedResult,
  { joint, strange, units }: ProposalLocation,
): ProposalAction | undefined {
  const { view, forge, keepTexts } = context
  const house = houseRules(view.policies)
  const shownIn = { ...context, dialect: aboveFooter(context.dialect, house) }
  const text = joint === undefined ? singleText(shownIn, unit, units) : jointText(shownIn, joint)
  if (text === undefined) return undefined
  const { statuses, check, states, fingerprint, ...shown } = text
  const ref = `refs/heads/${unit.plan.branch}`
  const known = view.proposals.get(ref)
  const codeOwners = forge?.codeOwners ?? ''
  const own = {
    ref,
    baseBranch: view.baseBranch,
    ...shown,
    draft: shown.draft || isDraftOfPerson(known),
    reviewers: reviewersOf(codeOwners, unit.unit.packagePath),
  }
  const wanted = withHouseRules(own, house, known)
  const commit: CommitTarget = { headOf: ref }
  const openProposal = view.refs.get(ref)
  const isMoved = unit.plan.writes.updates.some((update) => update.ref === ref)
  const vouched = isMoved || openProposal === undefined || !strange.has(openProposal)
  const followedBy: readonly FollowUp[] = [
    ...(vouched
      ? [
          { kind: 'statuses', commit, statuses } as const,
          { kind: 'check-run', commit, run: check } as const,
        ]
      : []),
    ...overdueComments({ states, fingerprint, owners: () => ownersOfChanges(codeOwners, unit) }),
    ...(joint === undefined || known?.state === 'open'
      ? []
      : movedProposals(view, joint).map((moved) => ({ kind: 'moved', ...moved }) as const)),
  ]
  return {
    kind: 'proposal',
    wanted:
      known?.state === 'open' && keepTexts.has(known.number)
        ? { ...wanted, body: known.body }
        : wanted,
    known,
    followedBy: forge === undefined ? [] : followedBy,
  }
}

/** Backporch's drafts say so in their text; a person's draft mark stays. */
function isDraftOfPerson(known: KnownProposal | undefined): boolean {
  return known?.state === 'open' && known.draft && !known.body.includes(DRAFT_LINE)
}

interface StrangeBranch {
  readonly ref: string
  readonly why: string
  readonly commit: ObjectId
  readonly number: number
}

function strangeBranches(
  { plan, observation }: PlannedResult,
  view: TurnView,
): readonly StrangeBranch[] {
  const strange = new Map([
    ...plan.openBranches.flatMap(({ ref, foreign, foreignWhy = '' }) =>
      foreign ? [[ref, foreignWhy] as const] : [],
    ),
    ...observation.git.unreadable.flatMap(({ location, where, why }) =>
      location === 'branch' ? [[`refs/heads/${where}`, why] as const] : [],
    ),
  ])
  return [...strange].flatMap(([ref, why]) => {
    const [proposal, commit] = [view.proposals.get(ref), view.refs.get(ref)]
    return proposal?.state !== 'open' || commit === undefined
      ? []
      : [{ ref, why, commit, number: proposal.number }]
  })
}

/** Red, and one comment; nothing more is pushed to them. */
export function planForeign(
  { view, dialect }: ProposalContext,
  units: readonly UnitResult[],
): readonly ForgeAction[] {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  return planned.flatMap((unit) =>
    strangeBranches(unit, view).flatMap(({ ref, why, commit, number }): ForgeAction[] => [
      { kind: 'statuses', commit, statuses: foreignStatuses(why) },
      { kind: 'check-run', commit, run: foreignCheckRun(ref, why, dialect) },
      { kind: 'comment', proposal: number, ...outcomeComment({ kind: 'edited', author: '', why }) },
    ]),
  )
}

/** Unchanged even if the drift is gone: their check fails, so that the queue removes them. */
export function planQueued(
  { view }: ProposalContext,
  units: readonly UnitResult[],
): readonly ForgeAction[] {
  const moved = new Set(
    units.flatMap((unit) => {
      if (unit.state !== 'planned' || unit.observation.incomplete.length > 0) return []
      const { fingerprint } = unit.plan.report.spec
      const isMoved = ({ ref, record, foreign }: OpenBranch): boolean =>
        !foreign && isInQueue(unit.observation, { ref }) && fingerprint !== record.spec.fingerprint
      return unit.plan.openBranches.flatMap((branch) => (isMoved(branch) ? [branch.ref] : []))
    }),
  )
  return [...moved].flatMap((ref): ForgeAction[] => {
    const commit = view.refs.get(ref)
    return commit === undefined ? [] : [{ kind: 'statuses', commit, statuses: [movedStatus('')] }]
  })
}

function overdueComments({
  states,
  fingerprint,
  owners,
}: Pick<ShownProposal, 'states' | 'fingerprint'> & {
  readonly owners: () => readonly string[]
}): readonly FollowUp[] {
  const overdue = states.find((state) => state.kind === 'overdue')
  if (overdue === undefined) return []
  return [
    {
      kind: 'comment-on-it',
      ...escalationComment({ ...overdue, fingerprint, owners: owners() }),
    },
  ]
}

/** Without addresses. */
function ownersOfChanges(codeOwners: string, { plan, unit }: PlannedResult): readonly string[] {
  const files = new Set(
    (plan.record?.spec.changes ?? []).map((change) => fileOfChange(change, unit.packagePath)),
  )
  return [...new Set([...files].flatMap((file) => ownersOf(codeOwners, file)))].filter((owner) =>
    owner.startsWith('@'),
  )
}

/** Without addresses, which no forge accepts as reviewers. */
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
  context: ProposalContext,
  unit: PlannedResult,
  units: readonly UnitResult[],
): ShownProposal | undefined {
  const { report, branch, outcome, openBranches } = unit.plan
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  // A joint proposal without news in this turn keeps its text.
  if (openBranches.some((open) => open.ref === `refs/heads/${branch}` && open.others.length > 0))
    return undefined
  const subject = unitSubject(context, unit, units)
  if (subject === undefined) return undefined
  const { states, record } = subject
  const complete = unit.observation.incomplete.length === 0
  const queued = isInQueue(unit.observation, { ref: `refs/heads/${branch}` })
  const moved = complete && queued && report.spec.fingerprint !== subject.record.spec.fingerprint
  const statuses = proposalStatuses(subject, complete, moved)
  return {
    ...proposalText(subject),
    statuses,
    check: checkRun(subject, statuses),
    states,
    fingerprint: record.spec.fingerprint,
  }
}

function jointText(context: ProposalContext, joint: JointProposal): ShownProposal | undefined {
  const subject = jointSubject(context, joint)
  if (subject === undefined) return undefined
  const { states, fingerprint } = subject
  const statuses = massStatuses(subject)
  return {
    ...massText(subject),
    statuses,
    check: massCheckRun(subject, statuses),
    states,
    fingerprint,
  }
}

/** Only the commit with the unusable policy. A later commit has its own policy. */
export function planUnusablePolicy({
  view: { base, baseBranch, policies },
  dialect,
}: ProposalContext): readonly ForgeAction[] {
  if (policies.lastGood === undefined) return []
  const { problem } = policies.lastGood
  const url = dialect.branchFileUrl(baseBranch, problem.where.replace(/:[0-9]+$/, ''))
  return [{ kind: 'statuses', commit: base, statuses: [unusablePolicyStatus(problem, url)] }]
}

export interface UnobservedProposal {
  readonly ref: string
  readonly commit: ObjectId
  readonly clusters: readonly string[]
}

/** They stay open: it is unknown whether live still matches the review. */
export function planNotObserved(
  proposals: readonly UnobservedProposal[],
  dialect: ForgeDialect,
): readonly ForgeAction[] {
  return proposals.flatMap(({ ref, commit, clusters }): ForgeAction[] => {
    const status = notObservedStatus(clusters)
    return [
      { kind: 'statuses', commit, statuses: [status] },
      { kind: 'check-run', commit, run: notObservedCheckRun(ref, status, dialect) },
    ]
  })
}
