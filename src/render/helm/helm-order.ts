/** A run of `helm template` for a chart in the files (helm `pkg/cmd/template.go`). */
import { Failure } from '../../failure.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { objectsIn, partOf, textOf } from '../../text/json.ts'
import { joined } from '../kustomize/kustomization-walk.ts'
import { kustomizationAt } from '../kustomize/kustomize-build.ts'
import type { ClusterCapabilities, HelmOrder } from '../syncer-build.ts'
import type { ChartFiles } from './chart-templates.ts'

/** `--kube-version` and `--api-versions`: what is asked for, else what the cluster has. */
export function capabilityWords(asked: ClusterCapabilities, cluster: ClusterCapabilities | undefined): readonly string[] {
  const version = asked.version || cluster?.version || ''
  const apiVersions = asked.apiVersions.length > 0 ? asked.apiVersions : (cluster?.apiVersions ?? [])
  // The version as three numbers: what a distribution adds to it is no version of Kubernetes.
  const numbers = /^v?(\d+(?:\.\d+){0,2})/.exec(version)?.[1]
  return [...(numbers === undefined ? [] : ['--kube-version', numbers]), ...apiVersions.flatMap((each) => ['--api-versions', each])]
}

/**
 * @param words the arguments after the chart
 * @throws Failure BP1210 for a chart that Helm would have to complete from elsewhere
 */
export function helmOrder(chart: ChartFiles, words: readonly string[], written: PackageFiles): HelmOrder {
  const path = joined(chart.folder, 'Chart.yaml')
  if (!chart.files.has(path)) throw notRendered(chart.folder, 'the folder has no Chart.yaml', 'name the folder of a chart')
  const missing = missingDependencies(chart)
  if (missing.length > 0)
    throw notRendered(
      chart.folder,
      `its ${missing.length === 1 ? 'dependency' : 'dependencies'} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not in its folder charts, and nothing is fetched`,
      `run helm dependency build ${chart.folder || '.'} and commit the folder charts, or name another renderer of the folder in a policy (spec.render)`,
    )
  return { words: ['template', `./${chart.folder}`, ...words], written }
}

/** Of Chart.yaml or, in charts of Helm 2, requirements.yaml. */
function missingDependencies({ folder, files }: ChartFiles): readonly string[] {
  const listed = ['Chart.yaml', 'requirements.yaml'].flatMap((name) => {
    const path = joined(folder, name)
    return files.has(path) ? objectsIn(partOf(kustomizationAt(path, files), 'dependencies')) : []
  })
  const below = [...files.keys()].filter((path) => path.startsWith(joined(folder, 'charts/')))
  const has = (name: string): boolean =>
    below.some((path) => {
      const rest = path.slice(joined(folder, 'charts/').length)
      return rest.startsWith(`${name}/`) || (rest.startsWith(`${name}-`) && rest.endsWith('.tgz'))
    })
  return listed.map((each) => textOf(each, 'name')).filter((name) => name !== '' && !has(name))
}

function notRendered(folder: string, why: string, remedy: string): Failure {
  return new Failure({ code: 'BP1210', what: 'the chart cannot be rendered', where: folder || '.', why, remedy, retry: 'on-change' })
}
