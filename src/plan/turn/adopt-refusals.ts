import { Failure, orFailure } from '@backporch/kyaml/failure'
import type { Observation } from '../observation/observation.ts'
import type { UnitQuestions } from '../observation/turn-questions.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { type AdoptedObject, adoptedObjects } from '../unit/adopted-objects.ts'
import { allChanges, type PlannedChange } from '../unit/commands/pick-changes.ts'
import { type NotAdoptable, notAdoptable, notAdoptableAtAll } from '../unit/not-adoptable.ts'

export const NOTHING_REFUSED: NotAdoptable = new Map()

/** A program that currently fails prevents no proposal. */
export function adoptRefusals(
  observation: Observation,
  { report, outcome }: UnitPlan,
  questions: UnitQuestions,
): NotAdoptable {
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return NOTHING_REFUSED
  const reasons = orFailure(() =>
    questions.plan(observation, (one, { exhausted }) => ({ all: notAdoptable(one), exhausted })),
  )
  return reasons instanceof Failure || reasons.exhausted
    ? notAdoptableAtAll(observation)
    : reasons.all
}

/** The text of a proposal says what no server checked. */
export function adoptedIn(
  observation: Observation,
  { record, outcome }: UnitPlan,
  questions: UnitQuestions,
): readonly AdoptedObject[] | undefined {
  if (record?.spec.lifecycle !== 'Proposed' || outcome === 'foreign') return undefined
  const planned = new Map(
    record.spec.changes.map(({ fingerprint, resolution }) => [fingerprint, resolution]),
  )
  const changes = allChanges(observation.verdicts, observation.key).flatMap(
    (change): PlannedChange[] => {
      const resolution = planned.get(change.fingerprint)
      return resolution === undefined ? [] : [{ ...change, resolution }]
    },
  )
  if (!changes.some(({ resolution }) => resolution === 'Adopt')) return undefined
  const adopted = orFailure(() =>
    questions.plan(observation, (one) => adoptedObjects(one, changes)),
  )
  return adopted instanceof Failure ? undefined : adopted
}
