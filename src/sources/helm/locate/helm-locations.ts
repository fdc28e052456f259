import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findValueAt, formatFieldPath } from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getResourceKey, readResource } from '@backporch/kyaml/resource'
import type { BuiltSource, HelmChart } from '../../build/built-source.ts'
import type { BuiltTarget } from '../../build/built-unit.ts'
import { isTemplate, locateTemplate } from '../../build/chart-templates.ts'
import { getSyncerResource } from '../../build/read-built.ts'
import { readSourceText, type SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { HELM_CHARTS } from '../../kustomize/files/resource-origins.ts'
import type { Obstacle, SourceCandidate, SourceLocations, Wanted } from '../../locate/candidate.ts'
import { patchText } from '../../locate/text-parts.ts'
import type { BuildLibrary } from '../../programs/package-builder.ts'
import { mergeValues } from '../chart/chart-values.ts'
import { createHelmBuild } from '../chart/helm-build.ts'
import { deduplicatePaths } from '../chart/template-actions.ts'
import { listReferences } from '../chart/template-lines.ts'
import {
  type FieldWriter,
  listTemplateDependencies,
  TemplateTrace,
} from '../chart/template-trace.ts'
import { listPostRendererFields } from './post-renderers.ts'
import {
  listDifferences,
  listValueChanges,
  listValueRemovals,
  type ValueChange,
} from './value-candidates.ts'
import { ValuePlaces } from './value-places.ts'

/** Traced individually, in a list or map. */
const MOST_DIFFERENCES = 4

export class HelmLocations {
  private readonly source: BuiltSource
  private readonly library: BuildLibrary
  private readonly chart: HelmChart
  private readonly places: ValuePlaces
  private readonly values: JsonObject
  private readonly trace: TemplateTrace

  constructor(source: BuiltSource, library: BuildLibrary, chart: HelmChart) {
    this.source = source
    this.library = library
    this.chart = chart
    this.places = new ValuePlaces(source, library, this.chart.layers)
    this.values = mergeValues(...this.chart.layers.map((layer) => layer.values))
    this.trace = new TemplateTrace(this.chart.chart)
  }

  /** Groups of edits of values; one counts where none before it has a result. @throws Unanswered */
  find(desired: DesiredResource, path: FieldPath, wanted: Wanted): readonly SourceLocations[] {
    const template = this.getTemplate(desired)
    const now = findValueAt(desired.object, path)
    const writersOf = (field: FieldPath): readonly FieldWriter[] =>
      this.trace
        .listWriters({ template, id: desired.id, field })
        .map((writer) => this.addTexts(writer))
    const writers = writersOf(path)
    const groups = [
      ...this.listChangesInside(path, now, wanted, writersOf),
      ...listValueChanges({ values: this.values, writers, now, wanted }),
    ]
    const found = groups.map((changes) => this.places.findPlaces(changes))
    const files = writers.some(({ isOfFiles }) => isOfFiles)
      ? [{ candidates: this.listInFiles(now, wanted), obstacles: [] }]
      : []
    const rendered = this.listInPostRenderers({
      desired,
      declaredName: desired.id.name,
      path,
      wanted,
    })
    const all = [
      ...rendered,
      ...found.map((each) => each.first),
      ...files,
      ...found.map((each) => each.otherwise),
      ...found.flatMap((each) => each.overlaid),
    ]
    const isElsewhere = all.some(({ obstacles }) => obstacles.length > 0)
    return isElsewhere
      ? all
      : [{ candidates: [], obstacles: [this.createHardCodedObstacle(template, writers)] }, ...all]
  }

  /** The last one takes precedence. */
  private listInPostRenderers(target: BuiltTarget): readonly SourceLocations[] {
    return (this.chart.order.postRenderers ?? []).toReversed().map((renderer) => {
      const found = listPostRendererFields(renderer, target).map(({ path, wanted }) =>
        this.places.locateField(path, wanted),
      )
      return {
        candidates: found.flatMap(({ candidates }) => candidates),
        obstacles: found.flatMap(({ obstacles }) => obstacles),
      }
    })
  }

  private addTexts(writer: FieldWriter): FieldWriter {
    const { folder, files } = this.chart.chart
    const dependencies = listTemplateDependencies(this.chart.chart, writer.path)
    const values = writer.refs
      .map((ref) => findValueAt(this.values, ref))
      .filter((value) => typeof value === 'string')
    const read = writer.isOfFiles
      ? listChartFiles(folder, files).map((path) => readSourceText(path, files))
      : []
    const refs = [...values, ...read]
      .filter((text) => text.includes('{{'))
      .flatMap((text) => listReferences(text, dependencies))
    return refs.length === 0
      ? writer
      : { ...writer, refs: deduplicatePaths([...writer.refs, ...refs]) }
  }

  private listChangesInside(
    path: FieldPath,
    now: Json | undefined,
    wanted: Wanted,
    writersOf: (field: FieldPath) => readonly FieldWriter[],
  ): readonly (readonly ValueChange[])[] {
    const differences =
      typeof now === 'object' && typeof wanted === 'object' ? listDifferences(now, wanted) : []
    if (
      differences.length === 0 ||
      differences.length > MOST_DIFFERENCES ||
      differences.some(({ length }) => length === 0)
    )
      return []
    const groups = differences.map((below) =>
      listValueChanges({
        values: this.values,
        writers: writersOf([...path, ...below]),
        now: findValueAt(now, below),
        wanted: findValueAt(wanted, below),
      }),
    )
    const [first = [], ...others] = groups
    if (others.length === 0) return first
    const best = groups.map((each) => each.find((changes) => changes.length > 0)?.[0])
    return best.every((each) => each !== undefined) ? [[best.flatMap((each) => each ?? [])]] : []
  }

  private listInFiles(now: Json | undefined, wanted: Wanted): readonly SourceCandidate[] {
    const { folder, files } = this.chart.chart
    if (typeof now !== 'string' || typeof wanted !== 'string' || this.chart.title !== undefined)
      return []
    return listChartFiles(folder, files).flatMap((path): SourceCandidate[] => {
      const text = readSourceText(path, files)
      const isWhole = text.trimEnd() === now.trimEnd()
      const edited = isWhole
        ? wanted.trimEnd() + text.slice(text.trimEnd().length)
        : patchText(text, now, wanted)
      const name = path.slice(folder === '' ? 0 : folder.length + 1)
      return edited === undefined
        ? []
        : [
            {
              via: `file:${name}`,
              what: `the file ${path}`,
              edits: [],
              texts: new Map([[path, edited]]),
            },
          ]
    })
  }

  locateRemoval(desired: DesiredResource): readonly SourceLocations[] {
    const template = this.getTemplate(desired)
    const { controls, lists } = this.trace.listSwitches(template, desired.id)
    const found = listValueRemovals(this.values, controls, lists, desired.object).map(
      (changes) => this.places.findPlaces(changes).first,
    )
    const why = `no value of the chart removes the object, which ${this.formatTemplatePath(template)} creates`
    return [
      {
        candidates: [],
        obstacles: [
          { where: this.formatTemplatePath(template), why, remedy: this.describeRemedy() },
        ],
      },
      ...found,
    ]
  }

  private getTemplate({ id, location }: DesiredResource): string {
    const { title, order } = this.chart
    if (
      title === undefined &&
      location.step !== HELM_CHARTS &&
      (order.postRenderers ?? []).length === 0
    )
      return location.path
    const answer = this.library.built(createHelmBuild(this.source, order))
    if ('failure' in answer) throw new Failure(answer.failure)
    const kind = getResourceKey({ ...id, namespace: '', name: '' })
    const made = parseGoYaml(answer.text, 'the chart').documents.flatMap((document) =>
      listDocumentObjects(document, answer.text, 'the chart').flatMap(({ object, line }) => {
        const read = isJsonObject(object) ? readResource(object) : { problem: '' }
        return 'problem' in read || getResourceKey({ ...read.id, namespace: '', name: '' }) !== kind
          ? []
          : [{ object, line, name: read.id.name }]
      }),
    )
    // A kustomization may have given the object a prefix, a suffix and another namespace.
    const found =
      made.find(({ name }) => name === id.name) ?? made.find(({ name }) => id.name.includes(name))
    return found === undefined
      ? location.path
      : locateTemplate(this.chart.chart, found.object, answer.text, found.line).path
  }

  private createHardCodedObstacle(template: string, writers: readonly FieldWriter[]): Obstacle {
    const { files } = this.chart.chart
    const isThere = files.has(template) && isTemplate(template)
    const [found] = isThere ? writers : []
    const where =
      found === undefined
        ? this.formatTemplatePath(template)
        : `${this.formatTemplatePath(found.path)}:${found.line}`
    const refs = found?.refs.slice(0, 3).map((ref) => formatFieldPath(ref)) ?? []
    const from =
      refs.length === 0
        ? ''
        : ` from ${refs.join(' and ')}, and no other value of these was found to give the live one`
    const isWritten = found?.isField === true || refs.length > 0
    const asked =
      found !== undefined && isWritten
        ? findLookupLine(readSourceText(found.path, files), found.line)
        : undefined
    const asks =
      found === undefined || asked === undefined
        ? ''
        : `, and ${this.formatTemplatePath(found.path)}:${asked} asks the cluster (lookup), which has no answer when git is rendered`
    const sets = isWritten
      ? `${where} sets it${from}${asks}`
      : `no template writes it, and the nearest line above it is ${where}`
    const why = `no value of the chart leads to the field: ${sets}`
    return { where, why, remedy: this.describeRemedy() }
  }

  /** Only a HelmRelease and a kustomization have patches after the chart. */
  private describeRemedy(): string {
    const { tool, parent } = this.source
    const patch =
      tool.name === 'kustomize'
        ? ', or a patch to the kustomization'
        : parent === undefined
          ? ''
          : ', or a patch to the HelmRelease (spec.postRenderers)'
    return `add a value to the chart${patch}, or choose restore`
  }

  private formatTemplatePath(template: string): string {
    const { chart, title } = this.chart
    return title === undefined ? template : template.slice(chart.folder.length + 1)
  }
}

/** @throws Failure where other values cannot be tried, Unanswered where the unit above has to be built first */
export function getHelmChart(source: BuiltSource, library: BuildLibrary): HelmChart {
  const { synced, folder, files } = source
  if (synced === undefined || !('chart' in synced.builder.way))
    throw new Error(`${folder} is not a chart`)
  return synced.builder.way.chart({
    build: synced,
    ...getSyncerResource(source, library),
    folder,
    files,
  })
}

/** From 1; directly or through a variable. */
function findLookupLine(text: string, line: number): number | undefined {
  const lines = text.split('\n')
  const own = lines[line - 1] ?? ''
  const isLookup = (each: string): boolean => /\{\{.*\blookup\b/.test(each)
  if (isLookup(own)) return line
  const names = own.match(/\$\w+/g) ?? []
  const at = lines.findIndex(
    (each) => isLookup(each) && names.some((name) => each.match(/\$\w+(?=\s*:?=)/)?.[0] === name),
  )
  return at === -1 ? undefined : at + 1
}

function listChartFiles(folder: string, files: SourceFiles): readonly string[] {
  const prefix = folder === '' ? '' : `${folder}/`
  const isOfHelm =
    /^(?:templates|crds|charts)\/|^(?:Chart|values)\.yaml$|^values\.schema\.json$|\.tgz$/
  return [...files.keys()].filter(
    (path) => path.startsWith(prefix) && !isOfHelm.test(path.slice(prefix.length)),
  )
}
