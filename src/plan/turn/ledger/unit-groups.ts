import type { Failure } from '@backporch/kyaml/failure'
import { type GitWrites, joinWrites, type PlannedUpdate } from '../../observation/action.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import type { PlannedResult, UnitResult } from '../../unit/unit-result.ts'
import type { DecidedUnit } from '../../unit/unobserved-decisions.ts'
import { removeRefs } from './without-refs.ts'

/** Refs of a unit that may have to move together with those of others. */
export interface MovingUnit {
  readonly writes: GitWrites
  /** Full ref name of the branch of its joint proposal, which is in the plan of one of its units. */
  readonly joint?: string | undefined
}

export interface UnitGroup<Unit extends MovingUnit = MovingUnit> {
  readonly units: readonly Unit[]
  readonly moves: readonly PlannedUpdate[]
}

export function createMovingUnit<Unit extends DecidedUnit>(
  unit: Unit,
): MovingUnit & { readonly unit: Unit } {
  const { writes, joint, branch }: Partial<UnitPlan> & DecidedUnit['plan'] = unit.plan
  return { unit, writes, joint: joint === undefined ? undefined : `refs/heads/${branch}` }
}

export function groupUnits<Unit extends MovingUnit>(
  units: readonly Unit[],
): readonly UnitGroup<Unit>[] {
  const groups: { units: Unit[]; refs: Set<string> }[] = []
  for (const unit of units) {
    const { writes, joint } = unit
    const refs = new Set(writes.updates.filter(isMove).map(({ ref }) => ref))
    if (joint !== undefined) refs.add(joint)
    const [first, ...others] = groups.filter((group) =>
      [...refs].some((ref) => group.refs.has(ref)),
    )
    const group = first ?? { units: [], refs: new Set() }
    if (first === undefined) groups.push(group)
    for (const other of others) {
      groups.splice(groups.indexOf(other), 1)
      group.units.push(...other.units)
      for (const ref of other.refs) refs.add(ref)
    }
    group.units.push(unit)
    for (const ref of refs) group.refs.add(ref)
  }
  return groups.map((group) => ({
    units: group.units,
    moves: joinWrites(group.units.map((unit) => unit.writes)).updates.filter(isMove),
  }))
}

function isMove({ from, to }: PlannedUpdate): boolean {
  return from !== to
}

/** Each episode has its own name, and rules are about its folder. */
export function formatRefusalName({ ref, to }: Pick<PlannedUpdate, 'ref' | 'to'>): string {
  return `${to === null ? 'delete' : 'write'} ${ref.slice(0, ref.lastIndexOf('/'))}`
}

export function keepBack(
  units: readonly UnitResult[],
  refused: ReadonlyMap<string, Failure>,
): readonly UnitResult[] {
  if (refused.size === 0) return units
  const kept = new Map<UnitResult, Failure>()
  for (const { units: members, moves } of groupUnits(
    units.filter(isPlanned).map(createMovingUnit),
  )) {
    const why = moves
      .map((move) => refused.get(formatRefusalName(move)))
      .find((failure) => failure !== undefined)
    if (why !== undefined) for (const { unit } of members) kept.set(unit, why)
  }
  return units.map((unit) => {
    const why = kept.get(unit)
    return unit.state === 'failed' || why === undefined
      ? unit
      : { ...unit, refused: why, plan: removeRefs(unit.observation, unit.plan, true) }
  })
}

function isPlanned(unit: UnitResult): unit is PlannedResult {
  return unit.state === 'planned'
}
