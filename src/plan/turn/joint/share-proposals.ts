import { shortenBranch } from '@backporch/git-store/ref-name'
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
  readonly joints: ReadonlyMap<string, JointProposal>
}

/**
 * @param fewest clusters with one cause from which proposals are joined
 * @param planAgain for a place on a joint branch; a failed unit keeps its plan
 */
export function shareProposals(
  units: readonly UnitResult[],
  fewest: number,
  planAgain: (unit: PlannedResult, location: JointLocation) => UnitResult,
): SharedProposals {
  // With Porch approval a branch never changes, but a joint branch changes with each cluster.
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
      joinUnchanged(members, position, openProposal.get(position.ref), planAgain) ??
      members.map((unit) => [unit, planAgain(unit, position)] as const)
    const ready = joined.flatMap(([unit, after]) =>
      after.state === 'planned' && after.plan.joint !== undefined ? [[unit, after] as const] : [],
    )
    const [first] = ready
    if (first === undefined) continue
    for (const [unit, after] of ready) again.set(unit, after)
    const group: JointGroup = { location: position, members: ready.map(([, after]) => after) }
    const joint = buildJoint(group, openProposal.get(position.ref))
    joints.set(shortenBranch(position.ref), joint)
    extra.set(first[0], [joint.writes])
  }
  const used = new Set(groups.map(({ location: at }) => at.ref))
  for (const [ref, joint] of openProposal) {
    if (used.has(ref)) continue
    const unit = planned.find(({ observation }) => observation === joint.observed)
    if (unit !== undefined) extra.set(unit, [...(extra.get(unit) ?? []), leaveJoint(joint)])
  }
  return {
    units: units.map((unit) => addWrites(again.get(unit) ?? unit, extra.get(unit) ?? [])),
    joints,
  }
}

type PlanAgain = Parameters<typeof shareProposals>[2]
type Joined = readonly (readonly [PlannedResult, UnitResult])[]

/** Undefined if a unit has news, or the branch is recreated anyway. */
function joinUnchanged(
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

function addWrites(unit: UnitResult, more: readonly GitWrites[]): UnitResult {
  if (unit.state === 'failed' || more.length === 0) return unit
  return { ...unit, plan: { ...unit.plan, writes: joinWrites([unit.plan.writes, ...more]) } }
}
