/** Joins the proposals of one cause: after every unit is planned by itself, before anything is written. */

import { type GitWrites, isNothing, joinWrites } from '../turn/action.ts'
import type { UnitResult } from '../turn/unit-result.ts'
import type { JointPlace } from './joint-place.ts'
import {
  buildJoint,
  findGroups,
  type JointGroup,
  type JointProposal,
  leaveJoint,
  type PlannedMember,
  type Standing,
  standingProposals,
} from './joint-proposal.ts'

type PlannedUnit = UnitResult & { readonly state: 'planned' }

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
  planAgain: (unit: PlannedUnit, place: JointPlace) => UnitResult,
): SharedProposals {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const standing = standingProposals(planned)
  const groups = findGroups(planned, standing, fewest)
  const again = new Map<UnitResult, UnitResult>()
  const extra = new Map<UnitResult, GitWrites[]>()
  const joints = new Map<string, JointProposal>()
  for (const { place, members } of groups) {
    const own = members.map((member) => memberOf(units, member))
    const joined = unchanged(own, place, standing.get(place.ref), planAgain) ?? planAll(own, place, planAgain)
    const ready = joined.flatMap(([unit, after]) =>
      after.state === 'planned' && after.plan.joint !== undefined ? [[unit, after] as const] : [],
    )
    const [first] = ready
    if (first === undefined) continue
    for (const [unit, after] of ready) again.set(unit, after)
    const group: JointGroup = { place, members: ready.map(([, after]) => after) }
    const joint = buildJoint(group, standing.get(place.ref))
    joints.set(place.ref.replace(/^refs\/heads\//, ''), joint)
    extra.set(first[0], [joint.writes])
  }
  const used = new Set(groups.map(({ place }) => place.ref))
  for (const [ref, joint] of standing) {
    if (used.has(ref)) continue
    const unit = planned.find(({ observation }) => observation === joint.seen)
    if (unit !== undefined) extra.set(unit, [...(extra.get(unit) ?? []), leaveJoint(joint)])
  }
  return { units: units.map((unit) => withWrites(again.get(unit) ?? unit, extra.get(unit) ?? [])), joints }
}

type PlanAgain = Parameters<typeof shareProposals>[2]
type Joined = readonly (readonly [PlannedUnit, UnitResult])[]

function planAll(units: readonly PlannedUnit[], place: JointPlace, planAgain: PlanAgain): Joined {
  const joined: (readonly [PlannedUnit, UnitResult])[] = []
  for (const unit of units) joined.push([unit, planAgain(unit, place)])
  return joined
}

/** Without the files of a commit that is not made; undefined where a unit says something new, or the branch is made anew without that. */
function unchanged(
  units: readonly PlannedUnit[],
  place: JointPlace,
  standing: Standing | undefined,
  planAgain: PlanAgain,
): Joined | undefined {
  if (standing === undefined) return undefined
  const joined: (readonly [PlannedUnit, UnitResult & { readonly state: 'planned' }])[] = []
  for (const unit of units) {
    const after = planAgain(unit, { ...place, files: false })
    if (after.state === 'failed' || after.plan.outcome !== 'unchanged') return undefined
    joined.push([unit, after])
  }
  const joint = buildJoint({ place, members: joined.map(([, after]) => after) }, standing)
  return isNothing(joint.writes) ? joined : undefined
}

function memberOf(units: readonly UnitResult[], member: PlannedMember): PlannedUnit {
  const unit = units.find((one) => one === member)
  if (unit === undefined || unit.state === 'failed') throw new TypeError('a member is one of the planned units')
  return unit
}

function withWrites(unit: UnitResult, more: readonly GitWrites[]): UnitResult {
  if (unit.state === 'failed' || more.length === 0) return unit
  return { ...unit, plan: { ...unit.plan, writes: joinWrites([unit.plan.writes, ...more]) } }
}
