/**
 * Adopt and Release in a unit that kustomize or Helm builds: finds the locations of each field, edits each of them, builds the edited files, and
 * takes the edit that gives the chosen value, moves nothing else, and leaves every other unit that reads the file as it is (design §8).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { jsonEquals } from '@backporch/kyaml/json'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { annotationsOf } from '@backporch/kyaml/resource'
import { itemsAt } from '@backporch/kyaml/yaml'
import type { BuildLibrary } from '../../render/build/package-builder.ts'
import { kustomizeChart } from '../../render/helm/kustomize-chart.ts'
import { type SourceFiles, textOf } from '../../render/kustomize/kustomize-build.ts'
import { HELM_CHARTS } from '../../render/kustomize/resource-origins.ts'
import type { BuiltSource } from '../../render/read-built.ts'
import { type MovedField, RenderedBefore } from '../edits/moved-fields.ts'
import type { Rendered } from '../edits/prove-edit.ts'
import { type ResolvedChange, wantedBy, writtenBy } from '../edits/resolution-edits.ts'
import type { Locations, Obstacle } from '../locate/candidate.ts'
import { combineLocations } from '../locate/combine-locations.ts'
import {
  assertNamed,
  type ChosenLocation,
  editedChanges,
  ofCommand,
  onlyTrial,
  problemsOf,
  refusal,
  shared,
  tooMany,
  tryEdit,
  tryRender,
  undone,
} from './adoption-failures.ts'
import { chartOf, HelmLocations } from './helm/helm-locations.ts'
import type { BuiltAdoptionInput } from './kustomize/kustomize-input.ts'
import { KustomizeLocations } from './kustomize/kustomize-locations.ts'
import { inMaker } from './kustomize/made-resource-edits.ts'
import { applyCandidate, changedFiles, type SourceCandidate, type SourceLocations } from './kustomize/source-edits.ts'
import { type RenamedField, renamedFields } from './renamed-items.ts'
import { assertBuilt, builtObjects, type Sharing, sharingUnit } from './shared-builds.ts'

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
  if (input.source.tool === 'command') throw ofCommand(first, input.source.command.join(' '))
  return new BuiltAdoption(input).run(wanted)
}

/**
 * Why each change by itself cannot be adopted, in their order; undefined where it can be adopted.
 * @throws MissingBuilds where kustomize has to run first
 */
export function builtAdoptionProblems(input: BuiltAdoptionInput): readonly (string | undefined)[] {
  return problemsOf(input.changes, () => new BuiltAdoption(input).alone())
}

interface Trial {
  readonly candidate: SourceCandidate
  readonly files: SourceFiles
  readonly lands: boolean
  readonly others: readonly MovedField[]
}

class BuiltAdoption {
  private readonly input: BuiltAdoptionInput
  private readonly before: RenderedBefore
  private builds = 0

  constructor(input: BuiltAdoptionInput) {
    this.input = input
    this.before = new RenderedBefore(this.render(input.source.files), input.changes)
  }

  run(wanted: readonly ResolvedChange[]): EditedSources {
    let { files } = this.input.source
    const chosen: ChosenLocation[] = []
    for (const change of wanted) {
      if (files !== this.input.source.files && this.before.landed(change, this.render(files))) continue
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
    if (best !== undefined) throw shared(change, best.trial.candidate, best.by.unit.name, best.by.moved)
    throw refusal(change, { dirty, obstacles })
  }

  /** Groups in order: a group counts where none of those before it has a result. */
  private locationsOf(change: ResolvedChange, files: SourceFiles): readonly SourceLocations[] {
    const key = this.before.keyOf(change)
    const desired = key === undefined ? undefined : this.before.rendered.get(key)
    if (desired === undefined) return []
    const { synced, folder, tool } = this.input.source
    if (tool === 'helm') {
      const source = { ...this.input.source, files }
      const values = new HelmLocations(source, this.input.library, chartOf(source, this.input.library))
      if (change.drift.change === 'missing') return values.removal(desired)
      return this.withRenamed(change, ({ path, wanted }) => values.find(desired, path, wanted))
    }
    const locations = new KustomizeLocations(files, synced === undefined ? undefined : { folder, build: synced })
    const values = valuesOfChart({ ...this.input.source, files }, this.input.library, desired)
    if (change.drift.change === 'missing') return values?.removal(desired) ?? [locations.removal(desired)]
    const own = { desired, declaredName: locations.declaredName(desired) }
    return this.withRenamed(change, (field) => {
      const [first, ...others] = locations.find({ ...own, ...field })
      // What the kustomization has of the field already comes before the values of a chart.
      return [...(first === undefined ? [] : [first]), ...(values?.find(desired, field.path, field.wanted) ?? []), ...others]
    })
  }

  /** An item whose key changed is one item less and one more: the edit of its key comes first. */
  private withRenamed(change: ResolvedChange, find: (field: RenamedField) => readonly SourceLocations[]): readonly SourceLocations[] {
    const renamed = renamedFields(change, this.input.changes).map((each): Locations => {
      const [found] = find(each).filter(({ candidates }) => candidates.length > 0)
      return { candidates: found?.candidates.filter(({ texts }) => texts === undefined) ?? [], obstacles: [] }
    })
    const { path } = change.drift
    // A chart writes the defaults itself, and a person leaves them to the server.
    const values = [writtenBy(change), wantedBy(change)]
    const [first, second] = this.input.source.tool === 'helm' ? values.toReversed() : values
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
      return [{ candidate, files: after, lands: this.before.landed(change, rendered), others: this.otherMoves(rendered) }]
    })
  }

  /** Without hooks of Helm: the next upgrade makes them anew, and until then there is none. */
  private otherMoves(rendered: Rendered): readonly MovedField[] {
    const moved = this.before.otherMoves(rendered)
    return this.input.source.tool === 'helm' ? moved.filter(({ resource }) => !annotationsOf(resource.object).has('helm.sh/hook')) : moved
  }

  /** @throws Failure of the build, or BP111x of its output */
  private render(files: SourceFiles): Rendered {
    this.builds += 1
    if (this.builds > MAX_BUILDS) throw tooMany(this.input.source.packagePath)
    return builtObjects(this.input.library, { ...this.input.source, files })
  }

  /** Every field has its value, also after the edits for the others. Each edit was tried with those before it, so nothing else moved. */
  private assertTogether(files: SourceFiles, wanted: readonly ResolvedChange[], chosen: readonly ChosenLocation[]): void {
    const rendered = this.render(files)
    const lost = wanted.find((change) => !this.before.landed(change, rendered))
    if (lost !== undefined) throw undone(lost, chosen)
  }
}

/** Undefined for an object that no chart of a kustomization made. @throws Failure of the chart and its values */
function valuesOfChart(source: BuiltSource, library: BuildLibrary, { location }: DesiredResource): HelmLocations | undefined {
  if (location.step !== HELM_CHARTS) return undefined
  const text = textOf(location.path, source.files).replaceAll('\r\n', '\n')
  const lines = new LineIndex(text)
  const items = itemsAt(readYamlNodes(text, location.path)[0], HELM_CHARTS)
  const index = items.findIndex(({ source: span }) => span !== undefined && lines.position(span.start).line === location.line)
  const chart = index === -1 ? undefined : kustomizeChart(location.path, index, source.files)
  return chart === undefined ? undefined : new HelmLocations(source, library, chart)
}
