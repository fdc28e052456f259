/** Lists what a push writes for each unit, and updates the units by its outcome. */
import type { Failure } from '@backporch/kyaml/failure'
import { isNothing, type LedgerWrites, NO_WRITES } from '../observation/action.ts'
import { formatUnitKey } from '../observation/planned-unit.ts'
import type { PlannedResult, UnitResult } from '../unit/unit-result.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import { createMovingUnit, groupUnits } from './ledger/unit-groups.ts'
import { removeRefs } from './ledger/without-refs.ts'
import { createTextWrites } from './text-commit.ts'
import type { ActionUnit, PushedUnit } from './turn-action.ts'

export function getActionKey({ cluster, packagePath }: ActionUnit): string {
  return formatUnitKey(cluster, packagePath)
}

/** Those that write something. @param isDecision then nothing is written of what is refused */
export function listPushedUnits(
  units: readonly PlannedResult[],
  decided: readonly DecidedUnit[],
  isDecision: boolean,
): { readonly units: readonly PushedUnit[]; readonly decided: readonly PushedUnit[] } {
  const writes = ({ plan }: DecidedUnit): boolean => !isNothing(plan.writes)
  const writing = units.filter(writes)
  const also = decided.filter(writes)
  const moving = new Set(
    groupUnits([...writing, ...also].map(createMovingUnit))
      .filter(({ moves }) => moves.length > 0)
      .flatMap((group) => group.units.map(({ unit }) => unit)),
  )
  return {
    units: writing.map((unit) => {
      const { joint } = createMovingUnit(unit)
      return {
        ...getName(unit),
        writes: createTextWrites(unit.plan.writes),
        ...(joint === undefined ? {} : { joint }),
        ...(isDecision || !moving.has(unit)
          ? {}
          : {
              unmoved: {
                refused: getLedgerWrites(unit, true),
                later: getLedgerWrites(unit, false),
              },
            }),
        isAwaited: unit.plan.outcomes.length + unit.plan.landing.length + unit.requests.length > 0,
      }
    }),
    decided: also.map((unit) => ({
      ...getName(unit),
      writes: createTextWrites(unit.plan.writes),
      isAwaited: unit.plan.outcomes.length + unit.plan.landing.length > 0,
    })),
  }
}

function getName({ unit: { cluster, packagePath } }: DecidedUnit): ActionUnit {
  return { cluster, packagePath }
}

function getLedgerWrites({ observation, plan }: PlannedResult, isRefused: boolean): LedgerWrites {
  const { ledger, ledgerLines } = removeRefs(observation, plan, isRefused).writes
  return { ledger, ledgerLines }
}

/** Units that were not written as they were planned, by `formatUnitKey`. */
export interface UnitOutcomes {
  /** Whose refs the remote refused, or whose proposal the forge refused. */
  readonly refused: ReadonlyMap<string, Failure>
  /** Whose refs stayed as they were. */
  readonly unmoved: ReadonlySet<string>
}

/** A unit whose refs or proposal were refused has the reason, and its plan has what was written. */
export function applyOutcomes(
  units: readonly UnitResult[],
  { refused, unmoved }: UnitOutcomes,
  isDecision: boolean,
): readonly UnitResult[] {
  return units.map((unit) => {
    if (unit.state === 'failed') return unit
    const key = getActionKey(unit.unit)
    const why = refused.get(key)
    const after = why === undefined ? unit : { ...unit, refused: why }
    if (!unmoved.has(key)) return after
    const plan = isDecision
      ? { ...unit.plan, writes: NO_WRITES }
      : removeRefs(unit.observation, unit.plan, why !== undefined)
    return { ...after, plan }
  })
}
