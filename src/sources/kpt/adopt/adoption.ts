/**
 * Adopts through a pipeline: edits each value's authored location, renders the edited package until
 * nothing changes, and accepts the edit only if every chosen field has its chosen value in each
 * render and nothing else moved (design §8, docs/adr/0052). A refusal names the function that
 * prevents the edit, and the fields that would move.
 */
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import {
  assertNamed,
  type ChosenLocation,
  createNeverSettlesFailure,
  createUndoneFailure,
  listChangeProblems,
  selectEditedChanges,
} from '../../locate/adoption-failures.ts'
import { createAppliedNotes } from '../../locate/applied-configs.ts'
import { type AdoptionInput, EditTrials } from './edit-trials.ts'
import { movesOn, proveRenders } from './prove-renders.ts'
import type { Committed, EditedTexts, Refused, Solution, Trial } from './trial.ts'

export interface Adopted {
  readonly texts: EditedTexts
  readonly notes: readonly Note[]
}

const NOTHING: Adopted = { texts: new Map(), notes: [] }

/** @throws Failure BP2001, BP2002, BP2010, BP2014 or BP1207, or the failure of the package */
export function adoptThroughPipeline(input: AdoptionInput): Adopted {
  const wanted = selectEditedChanges(input.changes)
  return wanted.length === 0 ? NOTHING : new Adoption(input).run(wanted)
}

export function listAdoptionProblems(input: AdoptionInput): readonly (string | undefined)[] {
  let adoption: Adoption | undefined
  const problems = listChangeProblems(input.changes, () => {
    adoption = new Adoption(input)
    return adoption.createSingleAdopter()
  })
  if (problems.every((problem) => problem === undefined)) return problems
  const together = catchFailure(
    () => adoption?.adoptTogether(selectEditedChanges(input.changes)) ?? [],
  )
  if (together instanceof Failure) return problems
  return input.changes.map((change, index) =>
    together.includes(change) ? undefined : problems[index],
  )
}

class Adoption {
  private readonly trials: EditTrials
  private readonly packagePath: string

  constructor(input: AdoptionInput) {
    this.trials = new EditTrials(input)
    this.packagePath = input.packagePath
  }

  run(wanted: readonly ResolvedChange[]): Adopted {
    this.assertSettles()
    const { chosen, last, refused } = this.solve(wanted)
    if (refused !== undefined) throw refused.failure
    assertNamed(wanted, chosen)
    return last === undefined
      ? NOTHING
      : { texts: last.texts, notes: createAppliedNotes(last.applied) }
  }

  createSingleAdopter(): (change: ResolvedChange) => void {
    this.assertSettles()
    return (change) => {
      this.trials.restart()
      this.trials.choose(change, [], [])
    }
  }

  adoptTogether(changes: readonly ResolvedChange[]): readonly ResolvedChange[] {
    this.trials.restart()
    for (let left = changes; left.length > 1; ) {
      const { refused } = this.solve(left)
      if (refused === undefined) return left
      left = left.filter((change) => change !== refused.change)
    }
    return []
  }

  /**
   * One edit may move a later change's field, like a setter of several fields: in the end each
   * field has its own value. A change that cannot be edited is retried after the others.
   */
  private solve(wanted: readonly ResolvedChange[]): Solution {
    const chosen: ChosenLocation[] = []
    let last: Committed | undefined
    let left = wanted
    for (let refused: readonly Refused[] = []; left.length > 0; refused = []) {
      for (const [index, change] of left.entries()) {
        if (last !== undefined && this.trials.before.hasLanded(change, last.renders.first.objects))
          continue
        const pending = [...left.slice(index + 1), ...refused.map((each) => each.change)]
        const found = this.tryChoose(change, chosen, pending)
        if (found instanceof Failure) refused = [...refused, { change, failure: found }]
        else {
          chosen.push({ change, candidate: found.candidate })
          last = found.committed
        }
      }
      if (refused.length === left.length) return { chosen, last, refused: refused[0] }
      left = refused.map(({ change }) => change)
    }
    return {
      chosen,
      last,
      refused: last === undefined ? undefined : this.findLostChange(last, wanted, chosen),
    }
  }

  private tryChoose(
    change: ResolvedChange,
    chosen: readonly ChosenLocation[],
    pending: readonly ResolvedChange[],
  ): Trial | Failure {
    const edits = chosen.flatMap(({ candidate }) => candidate.edits)
    const found = catchFailure(() => this.trials.choose(change, edits, pending))
    if (found instanceof Failure && this.trials.areTooMany) throw found
    return found
  }

  /** Otherwise an edit's result depends on the number of renders. */
  private assertSettles(): void {
    const moving = movesOn(this.trials.unedited)
    if (moving !== undefined) throw createNeverSettlesFailure(this.packagePath, moving)
  }

  private findLostChange(
    { renders }: Committed,
    wanted: readonly ResolvedChange[],
    chosen: readonly ChosenLocation[],
  ): Refused | undefined {
    const { before, unedited } = this.trials
    const change = wanted.find(
      (each) =>
        !proveRenders({
          before,
          unedited,
          edited: renders,
          change: each,
          pending: [],
          isEntry: () => false,
        }).lands,
    )
    return change === undefined
      ? undefined
      : { change, failure: createUndoneFailure(change, chosen) }
  }
}
