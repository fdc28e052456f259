import { formatLoggableName } from '@backporch/kyaml/redaction'
import { listUnitFailures, type UnitResult } from '../plan/unit/unit-result.ts'
import type { ProcessEvent, TurnEvent } from '../ports/log.ts'
import type { Answer } from '../reconcile/turn/apply/apply-answers.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import { listTransitions } from './transitions.ts'
import { isUnread } from './unread-objects.ts'

export const NOTHING = {
  units: 0,
  failedUnits: 0,
  failedClusters: 0,
  writes: 0,
  transitions: [],
} as const

export function countTurn(
  result: TurnResult,
): Omit<TurnEvent, 'outcome' | 'milliseconds' | 'requests'> {
  return {
    units: result.units.length,
    failedUnits: result.units.filter(
      (unit) => listUnitFailures(unit).length > 0 || isIncomplete(unit),
    ).length,
    failedClusters: result.notObserved.length,
    writes: result.written.length,
    transitions: listTransitions(result),
  }
}

export function isIncomplete(unit: UnitResult): boolean {
  return unit.state === 'planned' && unit.observation.incomplete.some(isUnread)
}

export function createAnsweredEvent({
  proposal,
  by,
  line,
  outcome,
  failure,
}: Answer): ProcessEvent {
  return {
    event: 'answered',
    outcome,
    proposal: formatLoggableName(proposal.label, 60),
    command: formatLoggableName(line, 100),
    ...(by === undefined ? {} : { by: formatLoggableName(by, 60) }),
    ...(failure === undefined ? {} : { failure }),
  }
}
