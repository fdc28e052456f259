/**
 * The charts of a kustomization. Helm renders them within the build (kustomize
 * `api/types/helmchartargs.go`, `HelmChartInflationGenerator.go`).
 */
import { isKustomizationFile } from '@backporch/kpt/package'
import type { PackageFile } from '@backporch/kyaml/files'
import {
  filterObjects,
  filterTexts,
  findNonEmptyText,
  getPartAt,
  getTextAt,
  type JsonObject,
} from '@backporch/kyaml/json'

/** They name no file and run nothing. */
const PLAIN = new Set([
  'valuesInline',
  'valuesMerge',
  'includeCRDs',
  'skipHooks',
  'skipTests',
  'apiVersions',
  'kubeVersion',
])
const READ = new Set([
  'name',
  'version',
  'repo',
  'releaseName',
  'namespace',
  'valuesFile',
  'additionalValuesFiles',
])

interface ChartEntry {
  readonly entry: JsonObject
  readonly name: string
  /** From the kustomization. */
  readonly path: string
  /** From the kustomization. */
  readonly values: readonly string[]
  /** Undefined if it may be built. */
  readonly problem: { readonly why: string; readonly remedy: string } | undefined
}

export function listChartEntries(kustomization: JsonObject): readonly ChartEntry[] {
  const home = getTextAt(kustomization, 'helmGlobals', 'chartHome') || 'charts'
  return filterObjects(getPartAt(kustomization, 'helmCharts')).map((entry) => {
    const name = getTextAt(entry, 'name')
    const [version, repo] = [findNonEmptyText(entry, 'version'), findNonEmptyText(entry, 'repo')]
    const pulled = version !== undefined && repo !== undefined ? `${name}-${version}/` : ''
    const values = [
      getTextAt(entry, 'valuesFile'),
      ...filterTexts(getPartAt(entry, 'additionalValuesFiles')),
    ].filter((path) => path !== '')
    return { entry, name, path: `${home}/${pulled}${name}`, values, problem: findProblem(entry) }
  })
}

function findProblem(entry: JsonObject): ChartEntry['problem'] {
  const unknown = Object.keys(entry).find((key) => !PLAIN.has(key) && !READ.has(key))
  if (unknown !== undefined)
    return { why: `${unknown} of a chart is not known here`, remedy: 'leave it out' }
  if (findNonEmptyText(entry, 'name') === undefined)
    return { why: 'a chart has no name', remedy: 'name its folder' }
  return findNonEmptyText(entry, 'releaseName') === undefined
    ? {
        why: `the chart ${getTextAt(entry, 'name')} has no releaseName, and Helm gives it another name each time`,
        remedy: 'give it a releaseName',
      }
    : undefined
}

export function pullCommand({ entry, name }: ChartEntry): string {
  const [repo, version] = [findNonEmptyText(entry, 'repo'), findNonEmptyText(entry, 'version')]
  const of = repo?.startsWith('oci://')
    ? `${repo.replace(/\/$/, '')}/${name}`
    : `${name}${repo === undefined ? '' : ` --repo ${repo}`}`
  return `helm pull ${of}${version === undefined ? '' : ` --version ${version}`} --untar`
}

export function hasCharts(files: ReadonlyMap<string, Pick<PackageFile, 'content'>>): boolean {
  return [...files].some(
    ([path, { content }]) =>
      isKustomizationFile(path) &&
      /(?:^|[{,])\s*"?helmCharts"?\s*:/m.test(new TextDecoder().decode(content)),
  )
}
