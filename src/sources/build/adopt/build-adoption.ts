/**
 * Finds the locations of each field, edits each of them, builds the edited files, and uses the edit
 * that gives the chosen value, moves nothing else, and does not affect other units that read the
 * file (design §8).
 */
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId } from '@backporch/kyaml/resource'
import { listMoved, listSome } from '../../edits/moved-fields.ts'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import {
  assertNamed,
  type ChosenLocation,
  createNotLocatedFailure,
  createSharedObstacle,
  createTrialRefusal,
  createUndoneFailure,
  describeSharedRemedy,
  findOnlyTrial,
  listChangeProblems,
  REMEDY_OF_RELEASE,
  selectEditedChanges,
  tryEdit,
  tryRender,
} from '../../locate/adoption-failures.ts'
import { EVERYWHERE, type Obstacle, type SourceLocations } from '../../locate/candidate.ts'
import type { BuiltSource, Locator } from '../built-source.ts'
import type { BuiltAdoptionInput } from '../built-unit.ts'
import { BuildTrials } from './build-trials.ts'
import {
  type Choice,
  createOverlayNote,
  JointChoice,
  type Place,
  type Trial,
} from './joint-choice.ts'
import {
  assertBuilt,
  findSharingUnits,
  isOwnRelease,
  listOtherReadingUnits,
  type Sharing,
} from './shared-builds.ts'
import { applyCandidate, collectChangedFiles } from './source-edits.ts'

interface BuiltEdit {
  /** By path from the repository root; null for a removed file. */
  readonly files: ReadonlyMap<string, Uint8Array | null>
  readonly notes: readonly Note[]
}

/**
 * @throws Failure BP2001, BP2002, BP2010 or BP2014, or the failure of the unit; Unanswered with the builds of all candidates, where
 * kustomize has to run first
 */
export function adoptThroughBuild(input: BuiltAdoptionInput): BuiltEdit {
  const wanted = selectEditedChanges(input.changes)
  const [first] = wanted
  if (first === undefined) return { files: new Map(), notes: [] }
  return new BuiltAdoption(input, getLocator(input.source, first)).run(wanted)
}

/**
 * Why each change by itself cannot be adopted, in their order; undefined where it can be adopted.
 * @throws Unanswered where kustomize has to run first
 */
export function listBuiltAdoptionProblems(
  input: BuiltAdoptionInput,
): readonly (string | undefined)[] {
  const [first] = input.changes
  return first === undefined
    ? []
    : listChangeProblems(input.changes, () =>
        new BuiltAdoption(input, getLocator(input.source, first)).createSingleAdopter(),
      )
}

/** @throws Failure BP2002 if the values' authored location is unknown */
function getLocator(source: BuiltSource, change: ResolvedChange): Locator {
  const { locator } = source.tool
  if ('refusal' in locator) throw createNotLocatedFailure(change, locator.refusal(source))
  return locator
}

interface SharedTrial extends Trial {
  readonly by: readonly Sharing[]
}

function chooseEverywhere(
  { drift }: ResolvedChange,
  trial: SharedTrial,
): Pick<Choice, 'trial' | 'note'> {
  const { candidate, by } = trial
  const moved = listSome(by, ({ unit, moved: fields }) =>
    fields.length === 0 ? unit.name : `${listMoved(fields)} in ${unit.name}`,
  )
  const text = `the edit of ${candidate.what} also changes ${moved}`
  return {
    trial: { ...trial, candidate: { ...candidate, via: EVERYWHERE } },
    note: [{ cause: 'shared-source', subject: describeResourceId(drift.id), text }],
  }
}

/** A removed document shifts the numbers of those after it. */
function orderRemovals(changes: readonly ResolvedChange[]): readonly ResolvedChange[] {
  const isRemoval = ({ drift }: ResolvedChange): boolean => drift.change === 'missing'
  const place = ({ desired }: ResolvedChange): readonly [number, number] => [
    desired?.location.document ?? 0,
    desired?.location.item ?? 0,
  ]
  const removals = changes.filter(isRemoval).sort((one, other) => {
    const [left, right] = [place(one), place(other)]
    return right[0] - left[0] || right[1] - left[1]
  })
  return [...changes.filter((change) => !isRemoval(change)), ...removals]
}

class BuiltAdoption {
  private readonly input: BuiltAdoptionInput
  private readonly locator: Locator
  private readonly trials: BuildTrials

  constructor(input: BuiltAdoptionInput, locator: Locator) {
    this.input = input
    this.locator = locator
    this.trials = new BuildTrials(input, locator)
  }

  run(changes: readonly ResolvedChange[]): BuiltEdit {
    const wanted = orderRemovals(changes)
    const { before, input } = this.trials
    const joint = new JointChoice(this.trials, (change) => this.choose(change, input.source.files))
    const atOnce = joint.run(wanted)
    let { files } = atOnce
    const chosen = [...atOnce.chosen]
    const notes = [...atOnce.notes]
    this.trials.restart()
    for (const change of wanted) {
      if (files !== input.source.files && before.hasLanded(change, this.trials.render(files)))
        continue
      const { trial, note } = this.choose(change, files)
      chosen.push({ change, candidate: trial.candidate })
      notes.push(...note)
      files = trial.files
    }
    assertNamed(wanted, chosen)
    this.assertTogether(files, wanted, chosen)
    return { files: collectChangedFiles(input.source.files, files), notes }
  }

  createSingleAdopter(): (change: ResolvedChange) => void {
    return (change) => {
      this.trials.restart()
      this.choose(change, this.input.source.files)
    }
  }

  private choose(change: ResolvedChange, files: SourceFiles): Choice {
    const obstacles: Obstacle[] = []
    const dirty: Trial[] = []
    const taken: SharedTrial[] = []
    const groups = this.trials.findLocations(change, files)
    // The last resort if the authored location takes no edit.
    const overlays = groups.filter(({ onlyWhereShared }) => onlyWhereShared === true)
    for (const [at, locations] of [...groups, ...overlays].entries()) {
      const isLastResort = at >= groups.length
      if (locations.onlyWhereShared === true && taken.length > 0 === isLastResort) continue
      obstacles.push(...locations.obstacles)
      // A failed overlay patch gives no information about the authored location.
      const failed = locations.onlyWhereShared === true ? [] : obstacles
      const trials = this.tryAll(change, locations, files, failed)
      dirty.push(...trials.filter(({ lands, others }) => lands && others.length > 0))
      const clean: Trial[] = []
      for (const trial of trials) {
        if (!trial.lands || trial.others.length > 0) continue
        const by = findSharingUnits(
          this.input,
          trial.files,
          change.via === EVERYWHERE ? 'all' : 'one',
        )
        if (by.length === 0) clean.push(trial)
        else taken.push({ ...trial, by })
      }
      const [all] = taken
      const isOverlay = locations.onlyWhereShared === true
      const before = isLastResort ? overlays.slice(0, at - groups.length) : groups.slice(0, at)
      const group = before.filter((each) => (each.onlyWhereShared === true) === isOverlay).length
      const placeOf = ({ index }: Trial): Place => ({ isOverlay, group, index })
      if (change.via === EVERYWHERE && all !== undefined)
        return { ...chooseEverywhere(change, all), place: placeOf(all) }
      const only = findOnlyTrial(change, clean)
      if (only === undefined) continue
      const place = placeOf(only)
      if (!isOverlay || all === undefined) return { trial: only, note: [], place }
      const readers = listOtherReadingUnits(this.input, all.files)
      const note = createOverlayNote(change, only.candidate, { from: all.candidate.what, readers })
      return { trial: only, note: [note], place }
    }
    const [best] = taken
    const [by] = best?.by ?? []
    if (best !== undefined && by !== undefined) {
      const { unit, moved } = by
      const remedy = isOwnRelease(this.input, unit)
        ? REMEDY_OF_RELEASE
        : describeSharedRemedy(this.locator.ownPlace(this.input.source))
      throw createSharedObstacle(change, best.candidate, { name: unit.name, moved }, remedy)
    }
    throw createTrialRefusal(change, { dirty, obstacles })
  }

  private tryAll(
    change: ResolvedChange,
    locations: SourceLocations,
    files: SourceFiles,
    obstacles: Obstacle[],
  ): readonly Trial[] {
    const edited = this.trials.listCandidates(locations, files).flatMap((candidate, index) => {
      const after = tryEdit(obstacles, () => applyCandidate(files, candidate))
      return after === undefined ? [] : [{ candidate, index, files: after }]
    })
    assertBuilt(
      this.input.library,
      edited.map((each) => ({ ...this.input.source, files: each.files })),
    )
    return edited.flatMap((each) => {
      const rendered = tryRender(obstacles, each.candidate, () => this.trials.render(each.files))
      if (rendered === undefined) return []
      const lands = this.trials.before.hasLanded(change, rendered)
      return [{ ...each, lands, others: this.trials.listOtherMoves(rendered) }]
    })
  }

  /**
   * After the edits for the others too. Each edit was tried with those before it, so nothing else
   * moved.
   */
  private assertTogether(
    files: SourceFiles,
    wanted: readonly ResolvedChange[],
    chosen: readonly ChosenLocation[],
  ): void {
    const rendered = this.trials.render(files)
    const lost = wanted.find((change) => !this.trials.before.hasLanded(change, rendered))
    if (lost !== undefined) throw createUndoneFailure(lost, chosen)
  }
}
