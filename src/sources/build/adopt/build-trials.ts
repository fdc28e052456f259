import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { isJsonEqual } from '@backporch/kyaml/json'
import { type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import type { Rendered } from '../../edits/prove-edit.ts'
import {
  getWantedValue,
  getWrittenValue,
  type ResolvedChange,
} from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { createTooManyChangesFailure } from '../../locate/adoption-failures.ts'
import type { Locations, SourceCandidate, SourceLocations } from '../../locate/candidate.ts'
import { combineLocations } from '../../locate/combine-locations.ts'
import { listRenamedFields, type RenamedField } from '../../locate/renamed-items.ts'
import type { Locator } from '../built-source.ts'
import type { BuiltAdoptionInput } from '../built-unit.ts'
import { moveEditsToMaker } from './generated-resource-edits.ts'
import { getBuiltObjects } from './shared-builds.ts'

/** For one change, or for changes that are chosen one after the other. */
const MAX_BUILDS = 100

export class BuildTrials {
  readonly input: BuiltAdoptionInput
  readonly before: RenderedBefore
  private readonly locator: Locator
  private builds = 0
  /** Most changes are compared with the same build. */
  private last: { readonly files: SourceFiles; readonly rendered: Rendered } | undefined

  constructor(input: BuiltAdoptionInput, locator: Locator) {
    this.input = input
    this.locator = locator
    this.before = new RenderedBefore(this.render(input.source.files), input.changes)
  }

  restart(): void {
    this.builds = 0
  }

  /** A group counts only if no group before it has a result. */
  findLocations(change: ResolvedChange, files: SourceFiles): readonly SourceLocations[] {
    const key = this.before.findKey(change)
    const desired = key === undefined ? undefined : this.before.rendered.get(key)
    if (desired === undefined) return []
    const locations = this.locator.locationsOf(
      { ...this.input.source, files },
      this.input.library,
      desired,
    )
    return change.drift.change === 'missing'
      ? locations.removal()
      : this.addRenamed(change, (field) => locations.find(field))
  }

  /** An item whose key changed is one removed and one added item. */
  private addRenamed(
    change: ResolvedChange,
    find: (field: RenamedField) => readonly SourceLocations[],
  ): readonly SourceLocations[] {
    const found = listRenamedFields(change, this.input.changes).map(find)
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
    const values = [getWrittenValue(change), getWantedValue(change)]
    const [first, second] = this.locator.writesDefaults ? values.toReversed() : values
    const others = isJsonEqual(first, second) ? [] : find({ path, wanted: second })
    return [combineLocations(renamed), ...overlaid, ...find({ path, wanted: first }), ...others]
  }

  listCandidates({ candidates }: SourceLocations, files: SourceFiles): readonly SourceCandidate[] {
    const { synced } = this.input.source
    return candidates.flatMap((candidate) => moveEditsToMaker(candidate, synced?.declared, files))
  }

  listOtherMoves(rendered: Rendered): readonly MovedField[] {
    return this.before
      .listOtherMoves(rendered)
      .filter(({ resource }) => !this.locator.isMadeAnew(resource))
  }

  /** @throws Failure of the build, or BP111x of its output; BP2001 after too many builds; Unanswered */
  render(files: SourceFiles): Rendered {
    if (this.last?.files === files) return this.last.rendered
    this.builds += 1
    if (this.builds > MAX_BUILDS) throw createTooManyChangesFailure(this.input.source.packagePath)
    const rendered = getBuiltObjects(this.input.library, { ...this.input.source, files })
    this.last = { files, rendered }
    return rendered
  }

  isClean(files: SourceFiles, changes: readonly ResolvedChange[]): boolean {
    const rendered = catchFailure(() =>
      getBuiltObjects(this.input.library, { ...this.input.source, files }),
    )
    return (
      !(rendered instanceof Failure) &&
      changes.every((change) => this.before.hasLanded(change, rendered)) &&
      this.listOtherMoves(rendered).length === 0
    )
  }
}
