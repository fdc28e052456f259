/**
 * Helm renders them within the build (kustomize `api/types/helmchartargs.go`,
 * `HelmChartInflationGenerator.go`).
 */
import { isKustomizationFile } from '@backporch/kpt/package'
import type { PackageFile } from '@backporch/kyaml/files'
import { type JsonObject, objectsIn, partOf, textOf, textsIn } from '@backporch/kyaml/json'

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

export function chartEntries(kustomization: JsonObject): readonly ChartEntry[] {
  const home = textOf(kustomization, 'helmGlobals', 'chartHome') || 'charts'
  return objectsIn(partOf(kustomization, 'helmCharts')).map((entry) => {
    const [name, version, repo] = [
      textOf(entry, 'name'),
      textOf(entry, 'version'),
      textOf(entry, 'repo'),
    ]
    const pulled = version !== '' && repo !== '' ? `${name}-${version}/` : ''
    const values = [
      textOf(entry, 'valuesFile'),
      ...textsIn(partOf(entry, 'additionalValuesFiles')),
    ].filter((path) => path !== '')
    return { entry, name, path: `${home}/${pulled}${name}`, values, problem: problemOf(entry) }
  })
}

function problemOf(entry: JsonObject): ChartEntry['problem'] {
  const unknown = Object.keys(entry).find((key) => !PLAIN.has(key) && !READ.has(key))
  if (unknown !== undefined)
    return { why: `${unknown} of a chart is not known here`, remedy: 'leave it out' }
  if (textOf(entry, 'name') === '') return { why: 'a chart has no name', remedy: 'name its folder' }
  return textOf(entry, 'releaseName') === ''
    ? {
        why: `the chart ${textOf(entry, 'name')} has no releaseName, and Helm gives it another name each time`,
        remedy: 'give it a releaseName',
      }
    : undefined
}

export function pullCommand({ entry, name }: ChartEntry): string {
  const [repo, version] = [textOf(entry, 'repo'), textOf(entry, 'version')]
  const of = repo.startsWith('oci://')
    ? `${repo.replace(/\/$/, '')}/${name}`
    : `${name}${repo === '' ? '' : ` --repo ${repo}`}`
  return `helm pull ${of}${version === '' ? '' : ` --version ${version}`} --untar`
}

export function hasCharts(files: ReadonlyMap<string, Pick<PackageFile, 'content'>>): boolean {
  return [...files].some(
    ([path, { content }]) =>
      isKustomizationFile(path) &&
      /(?:^|[{,])\s*"?helmCharts"?\s*:/m.test(new TextDecoder().decode(content)),
  )
}
