/** Builds the arguments of `helm template` (helm `pkg/cmd/template.go`). */
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { filterObjects, getPartAt, getTextAt, type JsonObject } from '@backporch/kyaml/json'
import type { ClusterCapabilities, HelmOrder } from '../../build/built-source.ts'
import type { ChartFiles } from '../../build/chart-templates.ts'
import { joinFolderPath, resolvePath } from '../../kustomize/files/kustomization-walk.ts'
import { readKustomizationAt } from '../../kustomize/files/kustomize-build.ts'

/** The requested ones, else the cluster's. */
export function buildCapabilityArgs(
  asked: ClusterCapabilities,
  cluster: ClusterCapabilities | undefined,
): readonly string[] {
  const version = asked.version || cluster?.version || ''
  const apiVersions =
    asked.apiVersions.length > 0 ? asked.apiVersions : (cluster?.apiVersions ?? [])
  // A distribution's suffix is not part of the Kubernetes version.
  const [, major, minor = '0', patch = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? []
  return [
    ...(major === undefined ? [] : ['--kube-version', `${major}.${minor}.${patch}`]),
    ...apiVersions.flatMap((each) => ['--api-versions', each]),
  ]
}

/**
 * @param words after the chart
 * @throws Failure BP1210 for a chart that Helm would have to complete from elsewhere
 */
export function createHelmOrder(
  chart: ChartFiles,
  words: readonly string[],
  written: PackageFiles,
): HelmOrder {
  const path = joinFolderPath(chart.folder, 'Chart.yaml')
  if (!chart.files.has(path))
    throw createNotRenderedFailure(
      chart.folder,
      'the folder has no Chart.yaml',
      'name the folder of a chart',
    )
  const beside = listLocalDependencies(chart)
  const copies = beside.flatMap(({ name, folder }) =>
    copyFiles(chart, folder, joinFolderPath(chart.folder, `charts/${name}`)),
  )
  const missing = listMissingDependencies(chart).filter(
    (name) => !beside.some((each) => each.name === name),
  )
  if (missing.length > 0)
    throw createNotRenderedFailure(
      chart.folder,
      `its ${missing.length === 1 ? 'dependency' : 'dependencies'} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not in its folder charts, and nothing is fetched`,
      `run helm dependency build ${chart.folder || '.'} and commit the folder charts, or name another renderer of the folder in a policy (spec.render)`,
    )
  return { words: ['template', `./${chart.folder}`, ...words], written: [...copies, ...written] }
}

interface Dependency {
  readonly name: string
  readonly folder: string
}

/** `repository: file://../common`, if not in the folder `charts`. */
export function listLocalDependencies(chart: ChartFiles): readonly Dependency[] {
  const missing = listMissingDependencies(chart)
  return listDependencies(chart).flatMap((each) => {
    const path = /^file:\/\/(.+)$/.exec(getTextAt(each, 'repository'))?.[1]
    const folder = path === undefined ? undefined : resolvePath(chart.folder, path)
    return folder === undefined || !missing.includes(getTextAt(each, 'name'))
      ? []
      : [{ name: getTextAt(each, 'name'), folder }]
  })
}

function copyFiles({ files }: ChartFiles, from: string, to: string): PackageFiles {
  return [...files.values()].flatMap((file) =>
    file.path.startsWith(`${from}/`)
      ? [{ ...file, path: `${to}${file.path.slice(from.length)}` }]
      : [],
  )
}

function listDependencies({ folder, files }: ChartFiles): readonly JsonObject[] {
  return ['Chart.yaml', 'requirements.yaml'].flatMap((name) => {
    const path = joinFolderPath(folder, name)
    return files.has(path)
      ? filterObjects(getPartAt(readKustomizationAt(path, files), 'dependencies'))
      : []
  })
}

function listMissingDependencies({ folder, files }: ChartFiles): readonly string[] {
  const below = [...files.keys()].filter((path) =>
    path.startsWith(joinFolderPath(folder, 'charts/')),
  )
  const has = (name: string): boolean =>
    below.some((path) => {
      const rest = path.slice(joinFolderPath(folder, 'charts/').length)
      return rest.startsWith(`${name}/`) || (rest.startsWith(`${name}-`) && rest.endsWith('.tgz'))
    })
  return listDependencies({ folder, files })
    .map((each) => getTextAt(each, 'name'))
    .filter((name) => name !== '' && !has(name))
}

function createNotRenderedFailure(folder: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the chart cannot be rendered',
    where: folder || '.',
    why,
    remedy,
    retry: 'on-change',
  })
}
