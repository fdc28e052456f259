/** Orders the writes of a turn. What the ledger would make a later turn forget is written before the push, everything else after it. */
import type { Failure } from '@backporch/kyaml/failure'
import type { ProposalContext } from '../observation/turn-view.ts'
import type { AnsweredRequests } from '../unit/commands/plan-requests.ts'
import type { PendingSettle } from '../unit/pending-settles.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import type { ForgeAction } from './forge/forge-action.ts'
import { planEndedIssues, planIssues } from './forge/plan-issues.ts'
import { planLeftOpen, planOutcomes } from './forge/plan-outcomes.ts'
import {
  planForeign,
  planMoved,
  planNotObserved,
  planProposals,
  planQueued,
  planUnusablePolicy,
  type UnobservedProposal,
} from './forge/plan-proposals.ts'
import type { JointProposal } from './joint/joint-proposal.ts'
import type { ClusterLedgerWrites } from './ledger/cluster-writes.ts'
import type { Storm } from './limits/storm.ts'
import type { EndedBranch, OnFailure, TurnAction } from './turn-action.ts'

export interface PlannedTurn {
  readonly context: ProposalContext
  readonly units: readonly UnitResult[]
  /** By short name of the branch. */
  readonly joints: ReadonlyMap<string, JointProposal>
  readonly clusters: readonly ClusterLedgerWrites[]
  /** Units that could not be observed, with what people decided about them. */
  readonly decided: readonly DecidedUnit[]
  /** Whether nothing is pushed in this turn. */
  readonly waits: boolean
  /** Whether somebody asked for it on the command line. */
  readonly isDecision: boolean
  readonly storm: Storm | undefined
  readonly notObserved: readonly {
    readonly cluster: string
    readonly failures: readonly [Failure, ...Failure[]]
  }[]
  readonly unobservedProposals: readonly UnobservedProposal[]
  readonly answered: readonly AnsweredRequests[]
  readonly endedBranches: readonly EndedBranch[]
  /** Undefined where no record lands on the base branch. */
  readonly landing: (TurnAction & { readonly kind: 'land' }) | undefined
  /** Empty where the turn writes to no cluster. */
  readonly settles: readonly PendingSettle[]
  /** Whether any cluster was observed: otherwise the reason is reported, whether or not it can be written. */
  readonly observed: boolean
  /** RFC 3339 UTC: the latest observation. */
  readonly now: string
}

export function turnActions(turn: PlannedTurn): readonly TurnAction[] {
  const { context, units, joints, clusters, decided, isDecision } = turn
  const { view, forge, dialect } = context
  const push: readonly TurnAction[] = turn.waits
    ? []
    : [
        {
          kind: 'push',
          isDecision,
          units,
          clusters,
          decided,
          onFailure: turn.observed ? 'end' : 'report',
        },
      ]
  const proposals = planProposals(context, units, joints).map(
    (plan): TurnAction => ({ kind: 'propose', ...plan }),
  )
  const settles = [...Map.groupBy(turn.settles, ({ cluster }) => cluster)].map(
    ([cluster, pending]): TurnAction => ({ kind: 'settle', cluster, pending }),
  )
  const landing = turn.landing === undefined ? [] : [turn.landing]
  if (forge === undefined) return [...push, ...landing, ...proposals, ...settles]
  const issues = { ...turn, view, forge }
  return [
    ...turn.answered.map(({ requests }): TurnAction => ({ kind: 'acknowledge', requests })),
    ...onForge(planNotObserved(turn.unobservedProposals, dialect)),
    ...onForge(
      planOutcomes(forge, view, [
        ...units.flatMap((unit) => (unit.state === 'planned' ? [unit] : [])),
        ...decided,
      ]),
    ),
    ...onForge(planLeftOpen(view), 'report'),
    ...onForge(planEndedIssues(issues, units), 'report'),
    ...onForge(planMoved(context, joints)),
    ...push,
    ...landing,
    ...onForge(planForeign(context, units)),
    ...onForge(planQueued(context, units)),
    ...proposals,
    { kind: 'keep-numbers' },
    { kind: 'issues', writes: (written, opened) => planIssues(issues, written, opened) },
    // After the issues: an account that may not write it still has them.
    ...onForge(planUnusablePolicy(context), 'report'),
    ...turn.answered.map((answered): TurnAction => ({ kind: 'answer', answered })),
    ...turn.endedBranches.map((branch): TurnAction => ({ kind: 'delete-branch', branch })),
    ...settles,
  ]
}

function onForge(
  writes: readonly ForgeAction[],
  onRefusal: OnFailure = 'end',
): readonly TurnAction[] {
  return writes.map((write) => ({ kind: 'forge', write, onRefusal }))
}
