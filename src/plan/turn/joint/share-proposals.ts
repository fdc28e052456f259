/** Joins the proposals of one cause: after every unit is planned by itself, before anything is written. */
import { shortBranch } from '@backporch/git-store/ref-name'
import { type GitWrites, isNothing, joinWrites } from '../../observation/action.ts'
import type { JointLocation } from '../../observation/joint-location.ts'
import type { PlannedResult, UnitResult } from '../../unit/unit-result.ts'
import {
  buildJoint,
  findGroups,
  type JointGroup,
  type JointProposal,
  leaveJoint,
} from './joint-proposal.ts'
import { type OpenJointProposal, openJointProposals } from './open-joint-proposals.ts'

export interface SharedProposals {
  readonly units: readonly UnitResult[]
  /** By short name of the branch. */
  readonly joints: ReadonlyMap<string, JointProposal>
}

/**
 * @param fewest how many clusters must have one cause before their proposals are joined
 * @param planAgain plans a unit for its place on a joint branch; a failed unit stays as it was planned
 */
export function shareProposals(
  units: readonly UnitResult[],
  fewest: number,
  planAgain: (unit: PlannedResult, location: JointLocation) => UnitResult,
): SharedProposals {
  // Where Porch approves, a branch never changes, and that of a joint proposal does with each of its clusters.
  const planned = units.flatMap((unit) =>
    unit.state === 'planned' && unit.observation.policy.approval !== 'porch' ? [unit] : [],
  )
  const openProposal = openJointProposals(planned)
  const groups = findGroups(planned, openProposal, fewest)
  const again = new Map<UnitResult, UnitResult>()
  const extra = new Map<UnitResult, GitWrites[]>()
  const joints = new Map<string, JointProposal>()
  for (const { location: position, members } of groups) {
    const joined =
      unchanged(members, position, openProposal.get(position.ref), planAgain) ??
      members.map((unit) => [unit, planAgain(unit, position)] as const)
    const ready = joined.flatMap(([unit, after]) =>
      after.state === 'planned' && after.plan.joint !== undefined ? [[unit, after] as const] : [],
    )
    const [first] = ready
    if (first === undefined) continue
    for (const [unit, after] of ready) again.set(unit, after)
    const group: JointGroup = { location: position, members: ready.map(([, after]) => after) }
    const joint = buildJoint(group, openProposal.get(position.ref))
    joints.set(shortBranch(position.ref), joint)
    extra.set(first[0], [joint.writes])
  }
  const used = new Set(groups.map(({ location: at }) => at.ref))
  for (const [ref, joint] of openProposal) {
    if (used.has(ref)) continue
    const unit = planned.find(({ observation }) => observation === joint.observed)
    if (unit !== undefined) extra.set(unit, [...(extra.get(unit) ?? []), leaveJoint(joint)])
  }
  return {
    units: units.map((unit) => withWrites(again.get(unit) ?? unit, extra.get(unit) ?? [])),
    joints,
  }
}

type PlanAgain = Parameters<typeof shareProposals>[2]
type Joined = readonly (readonly [PlannedResult, UnitResult])[]

/** Without the files of a commit that is not written; undefined where a unit has something new, or the branch is recreated anyway. */
function unchanged(
  units: readonly PlannedResult[],
  location: JointLocation,
  openProposal: OpenJointProposal | undefined,
  planAgain: PlanAgain,
): Joined | undefined {
  if (openProposal === undefined) return undefined
  const joined: (readonly [PlannedResult, PlannedResult])[] = []
  for (const unit of units) {
    const after = planAgain(unit, { ...location, files: false })
    if (after.state === 'failed' || after.plan.outcome !== 'unchanged') return undefined
    joined.push([unit, after])
  }
  const joint = buildJoint({ location, members: joined.map(([, after]) => after) }, openProposal)
  return isNothing(joint.writes) ? joined : undefined
}

function withWrites(unit: UnitResult, more: readonly GitWrites[]): UnitResult {
  if (unit.state === 'failed' || more.length === 0) return unit
  return { ...unit, plan: { ...unit.plan, writes: joinWrites([unit.plan.writes, ...more]) } }
}
