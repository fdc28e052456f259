/**
 * Adopt and Release in a unit that kustomize or Helm builds: finds the locations of each field, edits each of them, builds the edited files, and
 * takes the edit that gives the chosen value, moves nothing else, and leaves every other unit that reads the file as it is (design §8).
 */
import { jsonEquals } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { shownPathOnly } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { listMoved, listSome, type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
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
  REMEDY_OF_RELEASE,
  refusal,
  remedyOfShared,
  shared,
  tooMany,
  tryEdit,
  tryRender,
  undone,
} from '../../locate/adoption-failures.ts'
import {
  EVERYWHERE,
  type Locations,
  type Obstacle,
  type SourceCandidate,
  type SourceLocations,
} from '../../locate/candidate.ts'
import { combineLocations } from '../../locate/combine-locations.ts'
import { type RenamedField, renamedFields } from '../../locate/renamed-items.ts'
import type { BuiltSource, Locator } from '../built-source.ts'
import type { BuiltAdoptionInput, SharingUnit } from '../built-unit.ts'
import { inMaker } from './made-resource-edits.ts'
import {
  assertBuilt,
  builtObjects,
  isOwnRelease,
  otherReaders,
  type Sharing,
  sharingUnits,
} from './shared-builds.ts'
import { applyCandidate, changedFiles } from './source-edits.ts'

export interface BuiltEdit {
  /** Changed files by path from the root of the repository; null for a removed one. */
  readonly files: ReadonlyMap<string, Uint8Array | null>
  readonly notes: readonly Note[]
}

/** Builds of one proposal. */
const MAX_BUILDS = 100

/**
 * @throws Failure BP2001, BP2002, BP2010 or BP2014, or the failure of the unit; MissingBuilds with the builds of all candidates, where
 * kustomize has to run first
 */
export function adoptThroughBuild(input: BuiltAdoptionInput): BuiltEdit {
  const wanted = editedChanges(input.changes)
  const [first] = wanted
  if (first === undefined) return { files: new Map(), notes: [] }
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

/** A trial that other units are moved by too: one of them at least, and all where they are wanted. */
interface SharedTrial extends Trial {
  readonly by: readonly Sharing[]
}

/** The edit that a person wants although it moves other units, with what it moves. */
function everywhere(
  { drift }: ResolvedChange,
  trial: SharedTrial,
): { readonly trial: Trial; readonly note: readonly Note[] } {
  const { candidate, by } = trial
  const moved = listSome(by, ({ unit, moved: fields }) =>
    fields.length === 0 ? unit.name : `${listMoved(fields)} in ${unit.name}`,
  )
  const text = `the edit of ${candidate.what} also moves ${moved}`
  return {
    trial: { ...trial, candidate: { ...candidate, via: EVERYWHERE } },
    note: [{ cause: 'shared-source', subject: describeResourceId(drift.id), text }],
  }
}

function notedOverlay(
  change: ResolvedChange,
  { candidate }: Trial,
  { from, readers }: { readonly from: string; readonly readers: readonly SharingUnit[] },
): Note {
  const { drift } = change
  const edited = wantedBy(change) === undefined ? 'takes it out' : 'changes it'
  const names = listSome(readers, ({ name }) => name)
  const text = `${shownPathOnly(drift.path, drift.id) || 'the object'} comes from ${from}, which ${names} ${readers.length === 1 ? 'is' : 'are'} built from too: ${candidate.what} ${edited} here only`
  return { cause: 'shared-source', subject: describeResourceId(drift.id), text }
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

  run(wanted: readonly ResolvedChange[]): BuiltEdit {
    let { files } = this.input.source
    const chosen: ChosenLocation[] = []
    const notes: Note[] = []
    for (const change of wanted) {
      if (files !== this.input.source.files && this.before.landed(change, this.render(files)))
        continue
      const { trial, note } = this.choose(change, files)
      chosen.push({ change, candidate: trial.candidate })
      notes.push(...note)
      files = trial.files
    }
    assertNamed(wanted, chosen)
    this.assertTogether(files, wanted, chosen)
    return { files: changedFiles(this.input.source.files, files), notes }
  }

  /** Finds the edit of one change by itself. */
  alone(): (change: ResolvedChange) => void {
    return (change) => {
      this.builds = 0
      this.choose(change, this.input.source.files)
    }
  }

  private choose(
    change: ResolvedChange,
    files: SourceFiles,
  ): { readonly trial: Trial; readonly note: readonly Note[] } {
    const obstacles: Obstacle[] = []
    const dirty: Trial[] = []
    const taken: SharedTrial[] = []
    const groups = this.locationsOf(change, files)
    // The overlay is the last resort where the authored place takes no edit.
    const overlays = groups.filter(({ onlyWhereShared }) => onlyWhereShared === true)
    for (const [at, locations] of [...groups, ...overlays].entries()) {
      const isLastResort = at >= groups.length
      if (locations.onlyWhereShared === true && taken.length > 0 === isLastResort) continue
      obstacles.push(...locations.obstacles)
      // That a patch of the overlay fails says nothing of the authored place.
      const failed = locations.onlyWhereShared === true ? [] : obstacles
      const trials = this.tryAll(change, locations.candidates, files, failed)
      dirty.push(...trials.filter(({ lands, others }) => lands && others.length > 0))
      const clean: Trial[] = []
      for (const trial of trials) {
        if (!trial.lands || trial.others.length > 0) continue
        const by = sharingUnits(this.input, trial.files, change.via === EVERYWHERE ? 'all' : 'one')
        if (by.length === 0) clean.push(trial)
        else taken.push({ ...trial, by })
      }
      const [all] = taken
      if (change.via === EVERYWHERE && all !== undefined) return everywhere(change, all)
      const only = onlyTrial(change, clean)
      if (only === undefined) continue
      const isOverlaid = locations.onlyWhereShared === true && all !== undefined
      if (!isOverlaid) return { trial: only, note: [] }
      const readers = otherReaders(this.input, all.files)
      return {
        trial: only,
        note: [notedOverlay(change, only, { from: all.candidate.what, readers })],
      }
    }
    const [best] = taken
    const [by] = best?.by ?? []
    if (best !== undefined && by !== undefined) {
      const { unit, moved } = by
      const remedy = isOwnRelease(this.input, unit)
        ? REMEDY_OF_RELEASE
        : remedyOfShared(this.locator.ownPlace(this.input.source))
      throw shared(change, best.candidate, { name: unit.name, moved }, remedy)
    }
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
    const found = renamedFields(change, this.input.changes).map(find)
    const renamed = found.map((groups): Locations => {
      const first = groups.find(
        ({ candidates, onlyWhereShared }) => candidates.length > 0 && onlyWhereShared !== true,
      )
      return {
        candidates: first?.candidates.filter(({ texts }) => texts === undefined) ?? [],
        obstacles: [],
      }
    })
    const [only = [], ...more] = found
    const overlaid = more.length > 0 ? [] : only.filter((each) => each.onlyWhereShared === true)
    const { path } = change.drift
    const values = [writtenBy(change), wantedBy(change)]
    const [first, second] = this.locator.writesDefaults ? values.toReversed() : values
    const others = jsonEquals(first, second) ? [] : find({ path, wanted: second })
    return [combineLocations(renamed), ...overlaid, ...find({ path, wanted: first }), ...others]
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
