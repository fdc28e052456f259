/** What the text of a proposal says beforehand about Adopt, where functions and programs may have to run to know it. */
import { Failure } from '../failure.ts'
import { type NotAdoptable, notAdoptable, notAdoptableAtAll } from '../plan/forge/not-adoptable.ts'
import type { Observation } from '../plan/turn/observation.ts'
import type { UnitPlan } from '../plan/turn/unit-plan.ts'
import type { PackageRenderer } from '../render/package-renderer.ts'
import { asking, withAnswers } from './with-answers.ts'

export const NOTHING_REFUSED: NotAdoptable = new Map()

/** Never throws for a program that fails just now, which keeps no proposal from being made. @throws the signal's reason when it is aborted */
export async function adoptRefusals(
  observation: Observation,
  { report, outcome }: UnitPlan,
  renderer: PackageRenderer,
  signal: AbortSignal,
): Promise<NotAdoptable> {
  if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') return NOTHING_REFUSED
  try {
    return await withAnswers(renderer, signal, (answers) => {
      const reasons = notAdoptable(asking(observation, answers))
      return answers.exhausted ? notAdoptableAtAll(observation) : reasons
    })
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return notAdoptableAtAll(observation)
  }
}
