import { computeNextRevision } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Observation } from './observation.ts'
import type { UnitPlan } from './unit-plan.ts'

export class TurnMemory {
  readonly #begun = new Set<string>()
  readonly #tags = new Map<string, ObjectId>()

  get begun(): ReadonlySet<string> {
    return this.#begun
  }

  refreshTags(observed: Observation): Observation {
    if (this.#tags.size === 0) return observed
    const refs = new Map([...observed.git.refs, ...this.#tags])
    return {
      ...observed,
      git: {
        ...observed.git,
        refs,
        revision: computeNextRevision(refs.keys(), observed.unit.packageName) - 1,
      },
    }
  }

  remember(plan: Pick<UnitPlan, 'record' | 'writes'>): void {
    if (plan.record !== undefined) this.#begun.add(plan.record.spec.episode)
    for (const { ref, to } of plan.writes.updates) {
      if (ref.startsWith('refs/tags/') && typeof to === 'string') this.#tags.set(ref, to)
    }
  }
}
