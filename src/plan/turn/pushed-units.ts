/** What a push writes of each unit, and the units after it. */
import type { Failure } from '@backporch/kyaml/failure'
import { isNothing, type LedgerWrites, NO_WRITES } from '../observation/action.ts'
import { unitKey } from '../observation/planned-unit.ts'
import type { PlannedResult, UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import { groupsOf, movingUnit } from './ledger/unit-groups.ts'
import { withoutRefs } from './ledger/without-refs.ts'
import { textWrites } from './text-commit.ts'
import type { ActionUnit, PushedUnit } from './turn-action.ts'

export function keyOf({ cluster, packagePath }: ActionUnit): string {
  return unitKey(cluster, packagePath)
}

/** Those that write something. @param isDecision then nothing is written of what is refused */
export function pushedUnits(
  units: readonly PlannedResult[],
  decided: readonly DecidedUnit[],
  isDecision: boolean,
): { readonly units: readonly PushedUnit[]; readonly decided: readonly PushedUnit[] } {
  const writes = ({ plan }: DecidedUnit): boolean => !isNothing(plan.writes)
  const writing = units.filter(writes)
  const also = decided.filter(writes)
  const moving = new Set(
    groupsOf([...writing, ...also].map(movingUnit))
      .filter(({ moves }) => moves.length > 0)
      .flatMap((group) => group.units.map(({ unit }) => unit)),
  )
  return {
    units: writing.map((unit) => {
      const { joint } = movingUnit(unit)
      return {
        ...nameOf(unit),
        writes: textWrites(unit.plan.writes),
        ...(joint === undefined ? {} : { joint }),
        ...(isDecision || !moving.has(unit)
          ? {}
          : { unmoved: { refused: ledgerOf(unit, true), later: ledgerOf(unit, false) } }),
        isAwaited: unit.plan.outcomes.length + unit.plan.landing.length + unit.requests.length > 0,
      }
    }),
    decided: also.map((unit) => ({
      ...nameOf(unit),
      writes: textWrites(unit.plan.writes),
      isAwaited: unit.plan.outcomes.length + unit.plan.landing.length > 0,
    })),
  }
}

function nameOf({ unit: { cluster, packagePath } }: DecidedUnit): ActionUnit {
  return { cluster, packagePath }
}

function ledgerOf({ observation, plan }: PlannedResult, isRefused: boolean): LedgerWrites {
  const { ledger, ledgerLines } = withoutRefs(observation, plan, isRefused).writes
  return { ledger, ledgerLines }
}

/** Units that were not written as they were planned, by `unitKey`. */
export interface UnitOutcomes {
  /** Whose refs the remote refused, or whose proposal the forge refused. */
  readonly refused: ReadonlyMap<string, Failure>
  /** Whose refs stayed as they were. */
  readonly unmoved: ReadonlySet<string>
}

/** A unit whose refs or proposal were refused has the reason, and its plan has what was written. */
export function unitsAfter(
  units: readonly UnitResult[],
  { refused, unmoved }: UnitOutcomes,
  isDecision: boolean,
): readonly UnitResult[] {
  return units.map((unit) => {
    if (unit.state === 'failed') return unit
    const key = keyOf(unit.unit)
    const why = refused.get(key)
    const after = why === undefined ? unit : { ...unit, refused: why }
    if (!unmoved.has(key)) return after
    const plan = isDecision
      ? { ...unit.plan, writes: NO_WRITES }
      : withoutRefs(unit.observation, unit.plan, why !== undefined)
    return { ...after, plan }
  })
}
