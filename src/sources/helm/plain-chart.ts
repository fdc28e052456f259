/** Builds a chart whose release is installed by people or a pipeline. */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import type { HelmInput, SyncerBuild, ValuesLayer } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import type { HelmChoice } from '../build/render-choice.ts'
import { joinFolderPath, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import { readSourceText, type SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { listChartLayers, parseValues } from './chart/chart-values.ts'
import { buildCapabilityArgs, createHelmOrder } from './chart/helm-order.ts'
import { followLinks } from './chart/linked-files.ts'
import { HELM_TOOL } from './helm-tool.ts'

export function createPlainChartBuild(choice: HelmChoice, packagePath: string): SyncerBuild {
  const folder = resolvePath(packagePath, choice.path) ?? packagePath
  const { path, release, namespace, values } = choice
  const paths = values.flatMap((each) => resolvePath(packagePath, each) ?? [])
  const outside = values.find((each) => resolvePath(packagePath, each) === undefined)
  const led = (files: SourceFiles): readonly string[] =>
    paths.map((each) => {
      const target = followLinks(each, files)
      if (target === undefined) throw leavesRepository(each, folder)
      return target
    })
  const wordsWith = (read: readonly string[]): readonly string[] => [
    '--name-template',
    choice.release,
    '--namespace',
    choice.namespace,
    '--include-crds',
    '--skip-tests',
    ...read.flatMap((path) => ['--values', path]),
    ...buildCapabilityArgs({ version: undefined, apiVersions: [] }, choice.capabilities),
  ]
  const orderOf = ({ files }: HelmInput) => {
    if (outside !== undefined) throw leavesRepository(outside, folder)
    return createHelmOrder({ folder, files }, wordsWith(led(files)), [])
  }
  return {
    title: `Helm release ${choice.namespace}/${choice.release}`,
    folder,
    object: { path, release, namespace, values },
    variables: new Map(),
    builder: {
      ...PLAIN_BUILDER,
      tool: HELM_TOOL,
      way: {
        helm: orderOf,
        chart: (input) => {
          const chart = { folder, files: input.files }
          const given = led(input.files).filter((path) => input.files.has(path))
          const layers = given.map((path): ValuesLayer => {
            const values: JsonObject = parseValues(readSourceText(path, input.files), path)
            return {
              values,
              place: { kind: 'file', path, under: [] },
              isDefault: path === joinFolderPath(folder, 'values.yaml'),
            }
          })
          return {
            order: orderOf(input),
            chart,
            title: undefined,
            layers: [...listChartLayers(chart), ...layers],
          }
        },
        reads: () => paths,
      },
      namespace: () => choice.namespace,
      finished: (built) => (isGoneAfterRun(built) ? undefined : built),
    },
  }
}

function leavesRepository(path: string, folder: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the chart cannot be rendered',
    where: folder || '.',
    why: `its file of values ${path} is outside of the repository, or a link out of it`,
    remedy: 'commit the file to this repository, and correct spec.render.values of the policy',
    retry: 'on-change',
  })
}

/** Helm deletes such a hook after success (helm `pkg/action/hooks.go`). */
function isGoneAfterRun(built: JsonObject): boolean {
  const policies = getAnnotations(built).get('helm.sh/hook-delete-policy') ?? ''
  return (
    getAnnotations(built).has('helm.sh/hook') &&
    policies.split(',').some((each) => each.trim() === 'hook-succeeded')
  )
}
