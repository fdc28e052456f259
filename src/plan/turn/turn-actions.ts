/**
 * Orders the actions of a turn. An action that a later turn would skip once the ledger is pushed
 * precedes the push; all others follow it.
 */
import type { Failure } from '@backporch/kyaml/failure'
import type { ProposalContext } from '../observation/turn-view.ts'
import type { AnsweredRequests } from '../unit/commands/plan-requests.ts'
import type { PendingSettle } from '../unit/pending-settles.ts'
import type { PlannedResult, UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import type { ForgeAction, IssuesAction } from './forge/forge-action.ts'
import { planMoved } from './forge/moved-proposals.ts'
import { planEndedIssues } from './forge/plan-issues.ts'
import { planLeftOpen, planOutcomes } from './forge/plan-outcomes.ts'
import {
  planForeign,
  planNotObserved,
  planProposals,
  planQueued,
  planUnusablePolicy,
  type UnobservedProposal,
} from './forge/plan-proposals.ts'
import type { JointProposal } from './joint/joint-proposal.ts'
import type { ClusterLedgerWrites } from './ledger/cluster-writes.ts'
import type { Storm } from './limits/storm.ts'
import { listPushedUnits } from './pushed-units.ts'
import type { EndedBranch, OnFailure, TurnAction } from './turn-action.ts'

export interface PlannedTurn {
  readonly context: ProposalContext
  readonly units: readonly UnitResult[]
  readonly joints: ReadonlyMap<string, JointProposal>
  readonly clusters: readonly ClusterLedgerWrites[]
  readonly decided: readonly DecidedUnit[]
  readonly waits: boolean
  readonly isDecision: boolean
  readonly storm: Storm | undefined
  readonly notObserved: readonly {
    readonly cluster: string
    readonly failures: readonly [Failure, ...Failure[]]
  }[]
  readonly unobservedProposals: readonly UnobservedProposal[]
  readonly answered: readonly AnsweredRequests[]
  readonly endedBranches: readonly EndedBranch[]
  readonly landing: (TurnAction & { readonly kind: 'land' }) | undefined
  readonly settles: readonly PendingSettle[]
  /** Otherwise the reason is reported, whether or not it can be written. */
  readonly observed: boolean
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
}

export function turnActions(turn: PlannedTurn): readonly TurnAction[] {
  const { context, units, joints, clusters, decided, isDecision } = turn
  const { view, forge, dialect } = context
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const push: readonly TurnAction[] = turn.waits
    ? []
    : [
        {
          kind: 'push',
          isDecision,
          ...listPushedUnits(planned, decided, isDecision),
          clusters,
          onFailure: turn.observed ? 'end' : 'report',
        },
      ]
  // What is not pushed has no branch to propose.
  const proposals = planProposals(context, units, joints)
    .filter(({ unit }) => unit.refused === undefined)
    .map(proposeAction)
  const settles = [...Map.groupBy(turn.settles, ({ cluster }) => cluster)].map(
    ([cluster, pending]): TurnAction => ({ kind: 'settle', cluster, pending }),
  )
  const landing = turn.landing === undefined ? [] : [turn.landing]
  if (forge === undefined) return [...push, ...landing, ...proposals, ...settles]
  const files = [
    ...[...planned, ...decided].flatMap(({ plan }) => plan.writes.ledger),
    ...clusters.flatMap(({ ledger }) => ledger),
  ]
  const issues = createIssuesAction(turn)
  return [
    ...turn.answered.map(createAcknowledgement),
    ...createForgeActions(planNotObserved(turn.unobservedProposals, dialect)),
    ...createForgeActions(planOutcomes(forge, view, [...planned, ...decided])),
    ...createForgeActions(planLeftOpen(view), 'report'),
    ...createForgeActions(planEndedIssues({ ...issues, view, forge }, files), 'report'),
    ...createForgeActions(planMoved(context, joints)),
    ...push,
    ...landing,
    ...createForgeActions(planForeign(context, units)),
    ...createForgeActions(planQueued(context, units)),
    ...proposals,
    { kind: 'keep-numbers' },
    {
      kind: 'issues',
      ...issues,
      version: forge.version,
      unpushed: turn.waits ? files : [],
    },
    // After the issues: an account that may not write it still gets them.
    ...createForgeActions(planUnusablePolicy(context), 'report'),
    ...turn.answered.map((answered) => answerAction(answered, planned)),
    ...turn.endedBranches.map((branch): TurnAction => ({ kind: 'delete-branch', branch })),
    ...settles,
  ]
}

function proposeAction({
  unit: { unit, requests },
  action,
}: ReturnType<typeof planProposals>[number]): TurnAction {
  const { cluster, packagePath } = unit
  const isAsked = requests.some(({ answers }) => answers.length > 0)
  return { kind: 'propose', unit: { cluster, packagePath }, isAsked, action }
}

function createIssuesAction({
  now,
  storm,
  notObserved,
}: PlannedTurn): Omit<IssuesAction, 'version' | 'unpushed'> {
  return {
    now,
    storm: storm === undefined ? undefined : { ...storm, clusters: [...storm.clusters] },
    notObserved: notObserved.map(({ cluster, failures: [{ code }] }) => ({ cluster, code })),
  }
}

function createAcknowledgement({ requests: { unit, comments } }: AnsweredRequests): TurnAction {
  const { number, label } = unit.proposal
  const acted = comments.filter(({ refusal }) => refusal === undefined)
  return {
    kind: 'acknowledge',
    proposal: { number, label },
    comments: acted.map(({ comment }) => comment),
  }
}

function answerAction(
  { requests, answers, comments, requestedActions, waiting }: AnsweredRequests,
  planned: readonly PlannedResult[],
): TurnAction {
  const { cluster, packagePath, slug, proposal } = requests.unit
  const { number, label, url } = proposal
  const own = planned.find(
    ({ unit }) => unit.cluster === cluster && unit.packagePath === packagePath,
  )
  return {
    kind: 'answer',
    unit: { cluster, packagePath, slug },
    isPlanned: own !== undefined,
    ...(own?.refused === undefined ? {} : { refused: own.refused.toJSON() }),
    proposal: { number, label, url },
    codeOwners: requests.codeOwners,
    answered: requests.answered,
    answers,
    comments,
    requestedActions,
    waiting: waiting.map(({ failure, ...request }) => ({ ...request, failure: failure.toJSON() })),
  }
}

function createForgeActions(
  writes: readonly ForgeAction[],
  onRefusal: OnFailure = 'end',
): readonly TurnAction[] {
  return writes.map((write) => ({ kind: 'forge', write, onRefusal }))
}
