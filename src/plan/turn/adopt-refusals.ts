import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { Observation } from '../observation/observation.ts'
import type { UnitQuestions } from '../observation/turn-questions.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { type AdoptedObject, listAdoptedObjects } from '../unit/adopted-objects.ts'
import { listAllChanges, type PlannedChange } from '../unit/commands/pick-changes.ts'
import {
  findNotAdoptable,
  findNotAdoptableAtAll,
  type NotAdoptable,
} from '../unit/not-adoptable.ts'

export const NOTHING_REFUSED: NotAdoptable = new Map()

/** A program that currently fails prevents no proposal. */
export function adoptRefusals(
  observation: Observation,
  { report, outcome }: UnitPlan,
  questions: UnitQuestions,
): NotAdoptable {
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return NOTHING_REFUSED
  const reasons = catchFailure(() =>
    questions.plan(observation, (one, { exhausted }) => ({
      all: findNotAdoptable(one),
      exhausted,
    })),
  )
  return reasons instanceof Failure || reasons.exhausted
    ? findNotAdoptableAtAll(observation)
    : reasons.all
}

/** The text of a proposal says what no server checked. */
export function findUnitAdoptions(
  observation: Observation,
  { record, outcome }: UnitPlan,
  questions: UnitQuestions,
): readonly AdoptedObject[] | undefined {
  if (record?.spec.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  const planned = new Map(
    record.spec.changes.map(({ fingerprint, resolution }) => [fingerprint, resolution]),
  )
  const changes = listAllChanges(observation.verdicts, observation.key).flatMap(
    (change): PlannedChange[] => {
      const resolution = planned.get(change.fingerprint)
      return resolution === undefined ? [] : [{ ...change, resolution }]
    },
  )
  if (!changes.some(({ resolution }) => resolution === 'Adopt')) return undefined
  const adopted = catchFailure(() =>
    questions.plan(observation, (one) => listAdoptedObjects(one, changes)),
  )
  return adopted instanceof Failure ? undefined : adopted
}
