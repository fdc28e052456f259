/**
 * Plans what follows an opened proposal: a comment that needs its number, and writes on the
 * single-cluster proposals that it replaces.
 */
import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import { createDecidedCheckRun } from '../../../proposal/text/check-run-text.ts'
import { createOutcomeComment } from '../../../proposal/text/outcome-comment.ts'
import type { ProposalContext, TurnView } from '../../observation/turn-view.ts'
import type { JointProposal } from '../joint/joint-proposal.ts'
import type { FollowUp, ForgeAction, MovedProposal } from './forge-action.ts'

/** Where the joint proposal is open already: before the push that takes the branches of the others away. */
export function planMoved(
  { view }: Pick<ProposalContext, 'view'>,
  joints: ReadonlyMap<string, JointProposal>,
): readonly ForgeAction[] {
  return [...joints.values()].flatMap((joint) => {
    const open = view.proposals.get(joint.ref)
    return open?.state === 'open'
      ? findMovedProposals(view, joint).flatMap((moved) => planMovedActions(moved, open))
      : []
  })
}

export function findMovedProposals(
  view: Pick<TurnView, 'proposals'>,
  { ref, members, away }: JointProposal,
): readonly MovedProposal[] {
  const clusters = members.length + away.length
  return members
    .flatMap(({ plan }) => plan.openBranches)
    .flatMap((branch) => {
      const proposal =
        branch.ref === ref || branch.others.length > 0 ? undefined : view.proposals.get(branch.ref)
      return proposal?.state === 'open'
        ? [{ proposal: proposal.number, ref: branch.ref, commit: proposal.commit, clusters }]
        : []
    })
}

function planMovedActions(
  { proposal, ref, commit, clusters }: MovedProposal,
  { label, url }: OpenedProposal,
): readonly ForgeAction[] {
  const run = createDecidedCheckRun(ref, 'moved-to-mass', url)
  return [
    {
      kind: 'comment',
      proposal,
      ...createOutcomeComment({ kind: 'moved-to-mass', label, url, clusters }),
    },
    ...(run === undefined ? [] : [{ kind: 'check-run', commit, run } as const]),
  ]
}

/** Writes that follow a proposal, once it is open. One without a number has no comments. */
export function followUps(
  followedBy: readonly FollowUp[],
  opened: OpenedProposal,
): readonly ForgeAction[] {
  return followedBy.flatMap((next): readonly ForgeAction[] => {
    switch (next.kind) {
      case 'comment-on-it': {
        const { topic, body } = next
        const { number } = opened
        return number === undefined ? [] : [{ kind: 'comment', proposal: number, topic, body }]
      }
      case 'moved':
        return planMovedActions(next, opened)
      default:
        return [next]
    }
  })
}
