/** From a field that Helm rendered back to the values of the chart, and to the places where they are authored. */
import { Failure } from '../../../failure.ts'
import { type FieldPath, formatFieldPath, valueAt } from '../../../krm/field-path.ts'
import { readResource } from '../../../krm/resource.ts'
import { resourceKey } from '../../../krm/resource-id.ts'
import type { DesiredResource } from '../../../render/desired-set.ts'
import { type ChartFiles, fieldLine, isTemplate, templateOf } from '../../../render/helm/chart-templates.ts'
import { mergedValues } from '../../../render/helm/chart-values.ts'
import { textOf } from '../../../render/kustomize/kustomize-build.ts'
import { type BuiltSource, helmBuild, resourceOf } from '../../../render/kustomize/read-built.ts'
import type { BuildLibrary } from '../../../render/package-builder.ts'
import type { HelmChart } from '../../../render/syncer-build.ts'
import { isJsonObject } from '../../../text/json.ts'
import { objectsIn, parseGoYaml } from '../../../yaml/read/go-yaml.ts'
import type { Obstacle, Wanted } from '../candidate.ts'
import type { SourceLocations } from '../source-edits.ts'
import { referencesIn, switches, valueChanges } from './value-candidates.ts'
import { ValuePlaces } from './value-places.ts'

export class HelmLocations {
  private readonly source: BuiltSource
  private readonly library: BuildLibrary
  private readonly chart: HelmChart
  private readonly places: ValuePlaces

  /** @throws Failure where other values cannot be tried, MissingBuilds where the unit above has to be built first */
  constructor(source: BuiltSource, library: BuildLibrary) {
    const { synced, folder, files } = source
    if (synced === undefined || !('chart' in synced.builder.way)) throw new Error(`${folder} is no chart`)
    this.source = source
    this.library = library
    this.chart = synced.builder.way.chart({ build: synced, ...resourceOf(source, library), folder, files })
    this.places = new ValuePlaces(source, library, this.chart.layers)
  }

  /** Groups of edits of values; one counts where none before it has a result. @throws MissingBuilds */
  find(desired: DesiredResource, path: FieldPath, wanted: Wanted): readonly SourceLocations[] {
    const template = this.templateFor(desired)
    const values = mergedValues(...this.chart.layers.map((layer) => layer.values))
    const now = valueAt(desired.object, path)
    const groups = valueChanges({ values, references: this.referencesOf(template), path, now, wanted })
    const found = groups.map((changes) => this.places.of(changes))
    const obstacle = this.hardCoded(template, desired, path)
    return [{ candidates: [], obstacles: [obstacle] }, ...found.map((each) => each.first), ...found.map((each) => each.otherwise)]
  }

  /** Of an object that is not there: a value that switches it off. */
  removal(desired: DesiredResource): SourceLocations {
    const template = this.templateFor(desired)
    const values = mergedValues(...this.chart.layers.map((layer) => layer.values))
    const { candidates, obstacles } = this.places.of(switches({ values, references: this.referencesOf(template) })).first
    const why = `no value of the chart takes the object out, which ${this.shown(template)} makes`
    return { candidates, obstacles: [{ where: this.shown(template), why, remedy: REMEDY }, ...obstacles] }
  }

  private templateFor({ id, location }: DesiredResource): string {
    if (this.source.parent === undefined) return location.path
    const answer = this.library.built(helmBuild(this.source, this.chart.order))
    if ('failure' in answer) throw new Failure(answer.failure)
    const key = resourceKey({ ...id, namespace: '' })
    for (const document of parseGoYaml(answer.text, 'the chart').documents)
      for (const { object, line } of objectsIn(document, answer.text, 'the chart')) {
        const read = isJsonObject(object) ? readResource(object) : { problem: '' }
        const isSame = !('problem' in read) && resourceKey({ ...read.id, namespace: '' }) === key
        if (isSame) return templateOf(this.chart.chart, object, answer.text, line).path
      }
    return location.path
  }

  /** Of the template, and of the parts that templates share. */
  private referencesOf(template: string): readonly FieldPath[] {
    const { folder, files } = this.chart.chart
    const dependency = /^charts\/([^/]+)\//.exec(template.slice(folder === '' ? 0 : folder.length + 1))?.[1]
    const under = dependency === undefined ? [] : [dependency]
    const shared = [...files.keys()].filter((path) => path.endsWith('.tpl') && sharedWith(path, dependency, folder))
    const all = [template, ...shared].flatMap((path) =>
      files.has(path) && isTemplate(path) ? referencesIn(textOf(path, files), under) : [],
    )
    return [...new Map(all.map((path) => [formatFieldPath(path), path])).values()]
  }

  private hardCoded(template: string, desired: DesiredResource, path: FieldPath): Obstacle {
    const { files } = this.chart.chart
    const isThere = files.has(template) && isTemplate(template)
    const found = isThere ? fieldLine({ path: template, kind: desired.id.kind, field: path }, files) : undefined
    const where = `${this.shown(template)}${found === undefined ? '' : `:${found.line}`}`
    const sets = found?.isField === true ? `${where} sets it` : `${where} is the nearest line of its template`
    return { where, why: `no value of the chart leads to the field: ${sets}`, remedy: REMEDY }
  }

  /** `apps/web/templates/deployment.yaml`, or `templates/deployment.yaml of the chart podinfo 6.5.0`. */
  private shown(template: string): string {
    const { chart, title } = this.chart
    return title === '' ? template : template.slice(chart.folder.length + 1)
  }
}

const REMEDY = 'add a value to the chart, or a patch after it (a post-renderer, an overlay), or choose restore'

function sharedWith(path: string, dependency: string | undefined, folder: ChartFiles['folder']): boolean {
  const own = path.slice(folder === '' ? 0 : folder.length + 1)
  return dependency === undefined ? !own.startsWith('charts/') : own.startsWith(`charts/${dependency}/`)
}
