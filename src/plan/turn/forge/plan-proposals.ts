/** Every turn plans all proposals and sends only news, so an interrupted turn loses nothing. */
import type { CheckRun } from '@backporch/forge/check-run'
import type { CommitStatus, ForgeDialect, KnownProposal } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { listCodeOwners } from '../../../policy/code-owners.ts'
import { deriveHouseRules } from '../../../policy/effective-policy.ts'
import {
  checkRun,
  createForeignCheckRun,
  createMassCheckRun,
  createNotObservedCheckRun,
} from '../../../proposal/text/check-run-text.ts'
import { createEscalationComment } from '../../../proposal/text/escalation-comment.ts'
import { formatMassText } from '../../../proposal/text/mass-text.ts'
import { createOutcomeComment } from '../../../proposal/text/outcome-comment.ts'
import { DRAFT_LINE } from '../../../proposal/text/proposal-head.ts'
import {
  createForeignStatuses,
  createMassStatuses,
  createMovedStatus,
  createNotObservedStatus,
  createProposalStatuses,
  createUnusablePolicyStatus,
} from '../../../proposal/text/proposal-statuses.ts'
import type { ProposalState, ProposalText } from '../../../proposal/text/proposal-subject.ts'
import { formatProposalText } from '../../../proposal/text/proposal-text.ts'
import type { OpenBranch } from '../../observation/observation.ts'
import type { ProposalContext, TurnView } from '../../observation/turn-view.ts'
import { isInQueue } from '../../observation/unit-git.ts'
import { getChangeFile, resolveKptfilePath } from '../../unit/commands/comment-rights.ts'
import type { PlannedResult, UnitResult } from '../../unit/unit-result.ts'
import type { JointProposal } from '../joint/joint-proposal.ts'
import type { CommitTarget, FollowUp, ForgeAction, ProposalAction } from './forge-action.ts'
import { applyHouseRules, reserveFooterSpace } from './house-proposal.ts'
import { findMovedProposals } from './moved-proposals.ts'
import { buildJointSubject, buildUnitSubject } from './proposal-subjects.ts'

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
    planned.flatMap((unit) => listStrangeBranches(unit, view).map(({ commit }) => commit)),
  )
  const plans = new Map<string, ProposalPlan>()
  for (const unit of planned) {
    const { branch } = unit.plan
    if (plans.has(branch)) continue
    const action = createProposalAction(context, unit, {
      joint: joints.get(branch),
      strange,
      units,
    })
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

function createProposalAction(
  context: ProposalContext,
  unit: PlannedResult,
  { joint, strange, units }: ProposalLocation,
): ProposalAction | undefined {
  const { view, forge, keepTexts } = context
  const house = deriveHouseRules(view.policies)
  const shownIn = { ...context, dialect: reserveFooterSpace(context.dialect, house) }
  const text =
    joint === undefined ? createSingleText(shownIn, unit, units) : createJointText(shownIn, joint)
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
    reviewers: listReviewers(codeOwners, unit.unit.packagePath),
  }
  const wanted = applyHouseRules(own, house, known)
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
    ...createOverdueComments({
      states,
      fingerprint,
      owners: () => listOwnersOfChanges(codeOwners, unit),
    }),
    ...(joint === undefined || known?.state === 'open'
      ? []
      : findMovedProposals(view, joint).map((moved) => ({ kind: 'moved', ...moved }) as const)),
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

function listStrangeBranches(
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
    listStrangeBranches(unit, view).flatMap(({ ref, why, commit, number }): ForgeAction[] => [
      { kind: 'statuses', commit, statuses: createForeignStatuses(why) },
      { kind: 'check-run', commit, run: createForeignCheckRun(ref, why, dialect) },
      {
        kind: 'comment',
        proposal: number,
        ...createOutcomeComment({ kind: 'edited', author: undefined, why }),
      },
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
    return commit === undefined
      ? []
      : [{ kind: 'statuses', commit, statuses: [createMovedStatus(undefined)] }]
  })
}

function createOverdueComments({
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
      ...createEscalationComment({ ...overdue, fingerprint, owners: owners() }),
    },
  ]
}

/** Without addresses. */
function listOwnersOfChanges(codeOwners: string, { plan, unit }: PlannedResult): readonly string[] {
  const files = new Set(
    (plan.record?.spec.changes ?? []).map((change) => getChangeFile(change, unit.packagePath)),
  )
  return [...new Set([...files].flatMap((file) => listCodeOwners(codeOwners, file)))].filter(
    (owner) => owner.startsWith('@'),
  )
}

/** Without addresses, which no forge accepts as reviewers. */
function listReviewers(codeOwners: string, packagePath: string): readonly string[] {
  const owners = listCodeOwners(codeOwners, resolveKptfilePath(packagePath))
  return owners.flatMap((owner) => (owner.startsWith('@') ? [owner.slice(1)] : []))
}

type ShownProposal = ProposalText & {
  readonly statuses: readonly CommitStatus[]
  readonly check: CheckRun
  readonly states: readonly ProposalState[]
  readonly fingerprint: string
}

function createSingleText(
  context: ProposalContext,
  unit: PlannedResult,
  units: readonly UnitResult[],
): ShownProposal | undefined {
  const { report, branch, outcome, openBranches } = unit.plan
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  // A joint proposal without news in this turn keeps its text.
  if (openBranches.some((open) => open.ref === `refs/heads/${branch}` && open.others.length > 0))
    return undefined
  const subject = buildUnitSubject(context, unit, units)
  if (subject === undefined) return undefined
  const { states, record } = subject
  const complete = unit.observation.incomplete.length === 0
  const queued = isInQueue(unit.observation, { ref: `refs/heads/${branch}` })
  const moved = complete && queued && report.spec.fingerprint !== subject.record.spec.fingerprint
  const statuses = createProposalStatuses(subject, complete, moved)
  return {
    ...formatProposalText(subject),
    statuses,
    check: checkRun(subject, statuses),
    states,
    fingerprint: record.spec.fingerprint,
  }
}

function createJointText(
  context: ProposalContext,
  joint: JointProposal,
): ShownProposal | undefined {
  const subject = buildJointSubject(context, joint)
  if (subject === undefined) return undefined
  const { states, fingerprint } = subject
  const statuses = createMassStatuses(subject)
  return {
    ...formatMassText(subject),
    statuses,
    check: createMassCheckRun(subject, statuses),
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
  return [{ kind: 'statuses', commit: base, statuses: [createUnusablePolicyStatus(problem, url)] }]
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
    const status = createNotObservedStatus(clusters)
    return [
      { kind: 'statuses', commit, statuses: [status] },
      { kind: 'check-run', commit, run: createNotObservedCheckRun(ref, status, dialect) },
    ]
  })
}
