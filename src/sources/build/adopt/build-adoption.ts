/**
 * Adopt and Release in a unit that kustomize or Helm builds: finds the locations of each field, edits each of them, builds the edited files, and
 * takes the edit that gives the chosen value, moves nothing else, and leaves every other unit that reads the file as it is (design §8).
 */
import { jsonEquals } from '@backporch/kyaml/json'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import type { Rendered } from '../../edits/prove-edit.ts'
import { type ResolvedChange, wantedBy, writtenBy } from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import {
  assertNamed,
  type ChosenLocation,
  editedChanges,
  notLocated,
  onlyTrial,
  problemsOf,
  refusal,
  shared,
  tooMany,
  tryEdit,
  tryRender,
  undone,
} from '../../locate/adoption-failures.ts'
import type {
  Locations,
  Obstacle,
  SourceCandidate,
  SourceLocations,
} from '../../locate/candidate.ts'
import { combineLocations } from '../../locate/combine-locations.ts'
import { type RenamedField, renamedFields } from '../../locate/renamed-items.ts'
import type { BuiltSource, Locator } from '../built-source.ts'
import type { BuiltAdoptionInput } from '../built-unit.ts'
import { inMaker } from './made-resource-edits.ts'
import { assertBuilt, builtObjects, type Sharing, sharingUnit } from './shared-builds.ts'
import { applyCandidate, changedFiles } from './source-edits.ts'

/** Changed files by path from the root of the repository; null for a removed one. */
export type EditedSources = ReadonlyMap<string, Uint8Array | null>

/** Builds of one proposal. */
const MAX_BUILDS = 100

/**
 * @throws Failure BP2001, BP2002, BP2010 or BP2014, or the failure of the unit; MissingBuilds with the builds of all candidates, where
 * kustomize has to run first
 */
export function adoptThroughBuild(input: BuiltAdoptionInput): EditedSources {
  const wanted = editedChanges(input.changes)
  const [first] = wanted
  if (first === undefined) return new Map()
  return new BuiltAdoption(input, locatorOf(input.source, first)).run(wanted)
}

/**
 * Why each change by itself cannot be adopted, in their order; undefined where it can be adopted.
 * @throws MissingBuilds where kustomize has to run first
 */
export function builtAdoptionProblems(input: BuiltAdoptionInput): readonly (string | undefined)[] {
  const [first] = input.changes
  return first === undefined
    ? []
    : problemsOf(input.changes, () =>
        new BuiltAdoption(input, locatorOf(input.source, first)).alone(),
      )
}

/** @throws Failure BP2002 where nothing says where the values are authored */
function locatorOf(source: BuiltSource, change: ResolvedChange): Locator {
  const { locator } = source.tool
  if ('refusal' in locator) throw notLocated(change, locator.refusal(source))
  return locator
}

interface Trial {
  readonly candidate: SourceCandidate
  readonly files: SourceFiles
  readonly lands: boolean
  readonly others: readonly MovedField[]
}

class BuiltAdoption {
  private readonly input: BuiltAdoptionInput
  private readonly locator: Locator
  private readonly before: RenderedBefore
  private builds = 0

  constructor(input: BuiltAdoptionInput, locator: Locator) {
    this.input = input
    this.locator = locator
    this.before = new RenderedBefore(this.render(input.source.files), input.changes)
  }

  run(wanted: readonly ResolvedChange[]): EditedSources {
    let { files } = this.input.source
    const chosen: ChosenLocation[] = []
    for (const change of wanted) {
      if (files !== this.input.source.files && this.before.landed(change, this.render(files)))
        continue
      const { candidate, files: edited } = this.choose(change, files)
      chosen.push({ change, candidate })
      files = edited
    }
    assertNamed(wanted, chosen)
    this.assertTogether(files, wanted, chosen)
    return changedFiles(this.input.source.files, files)
  }

  /** Finds the edit of one change by itself. */
  alone(): (change: ResolvedChange) => void {
    return (change) => {
      this.builds = 0
      this.choose(change, this.input.source.files)
    }
  }

  private choose(change: ResolvedChange, files: SourceFiles): Trial {
    const obstacles: Obstacle[] = []
    const dirty: Trial[] = []
    const taken: { readonly trial: Trial; readonly by: Sharing }[] = []
    for (const locations of this.locationsOf(change, files)) {
      obstacles.push(...locations.obstacles)
      const trials = this.tryAll(change, locations.candidates, files, obstacles)
      dirty.push(...trials.filter(({ lands, others }) => lands && others.length > 0))
      const clean: Trial[] = []
      for (const trial of trials) {
        if (!trial.lands || trial.others.length > 0) continue
        const by = sharingUnit(this.input, trial.files)
        if (by === undefined) clean.push(trial)
        else taken.push({ trial, by })
      }
      const only = onlyTrial(change, clean)
      if (only !== undefined) return only
    }
    const [best] = taken
    if (best !== undefined)
      throw shared(change, best.trial.candidate, best.by.unit.name, best.by.moved)
    throw refusal(change, { dirty, obstacles })
  }

  /** Groups in order: a group counts where none of those before it has a result. */
  private locationsOf(change: ResolvedChange, files: SourceFiles): readonly SourceLocations[] {
    const key = this.before.keyOf(change)
    const desired = key === undefined ? undefined : this.before.rendered.get(key)
    if (desired === undefined) return []
    const locations = this.locator.locationsOf(
      { ...this.input.source, files },
      this.input.library,
      desired,
    )
    return change.drift.change === 'missing'
      ? locations.removal()
      : this.withRenamed(change, (field) => locations.find(field))
  }

  /** An item whose key changed is one item less and one more: the edit of its key comes first. */
  private withRenamed(
    change: ResolvedChange,
    find: (field: RenamedField) => readonly SourceLocations[],
  ): readonly SourceLocations[] {
    const renamed = renamedFields(change, this.input.changes).map((each): Locations => {
      const [found] = find(each).filter(({ candidates }) => candidates.length > 0)
      return {
        candidates: found?.candidates.filter(({ texts }) => texts === undefined) ?? [],
        obstacles: [],
      }
    })
    const { path } = change.drift
    const values = [writtenBy(change), wantedBy(change)]
    const [first, second] = this.locator.writesDefaults ? values.toReversed() : values
    const others = jsonEquals(first, second) ? [] : find({ path, wanted: second })
    return [combineLocations(renamed), ...find({ path, wanted: first }), ...others]
  }

  private tryAll(
    change: ResolvedChange,
    candidates: readonly SourceCandidate[],
    files: SourceFiles,
    obstacles: Obstacle[],
  ): readonly Trial[] {
    const { synced } = this.input.source
    const all = candidates.flatMap((candidate) => inMaker(candidate, synced?.declared, files))
    const edited = all.flatMap((candidate) => {
      const after = tryEdit(obstacles, () => applyCandidate(files, candidate))
      return after === undefined ? [] : [{ candidate, files: after }]
    })
    assertBuilt(
      this.input.library,
      edited.map((each) => ({ ...this.input.source, files: each.files })),
    )
    return edited.flatMap(({ candidate, files: after }) => {
      const rendered = tryRender(obstacles, candidate, () => this.render(after))
      if (rendered === undefined) return []
      return [
        {
          candidate,
          files: after,
          lands: this.before.landed(change, rendered),
          others: this.otherMoves(rendered),
        },
      ]
    })
  }

  private otherMoves(rendered: Rendered): readonly MovedField[] {
    return this.before
      .otherMoves(rendered)
      .filter(({ resource }) => !this.locator.isMadeAnew(resource))
  }

  /** @throws Failure of the build, or BP111x of its output */
  private render(files: SourceFiles): Rendered {
    this.builds += 1
    if (this.builds > MAX_BUILDS) throw tooMany(this.input.source.packagePath)
    return builtObjects(this.input.library, { ...this.input.source, files })
  }

  /** Every field has its value, also after the edits for the others. Each edit was tried with those before it, so nothing else moved. */
  private assertTogether(
    files: SourceFiles,
    wanted: readonly ResolvedChange[],
    chosen: readonly ChosenLocation[],
  ): void {
    const rendered = this.render(files)
    const lost = wanted.find((change) => !this.before.landed(change, rendered))
    if (lost !== undefined) throw undone(lost, chosen)
  }
}
