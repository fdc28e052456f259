/** People or a pipeline install the release. */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { annotationsOf } from '@backporch/kyaml/resource'
import type { HelmInput, SyncerBuild, ValuesLayer } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import type { HelmChoice } from '../build/render-choice.ts'
import { joined, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import { type SourceFiles, textOf } from '../kustomize/files/kustomize-build.ts'
import { chartLayers, valuesIn } from './chart/chart-values.ts'
import { capabilityWords, helmOrder } from './chart/helm-order.ts'
import { followed } from './chart/linked-files.ts'
import { HELM_TOOL } from './helm-tool.ts'

export function plainChart(choice: HelmChoice, packagePath: string): SyncerBuild {
  const folder = resolvePath(packagePath, choice.path) ?? packagePath
  const { path, release, namespace, values } = choice
  const paths = values.flatMap((each) => resolvePath(packagePath, each) ?? [])
  const outside = values.find((each) => resolvePath(packagePath, each) === undefined)
  const led = (files: SourceFiles): readonly string[] =>
    paths.map((each) => {
      const target = followed(each, files)
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
    ...capabilityWords({ version: '', apiVersions: [] }, choice.capabilities),
  ]
  const orderOf = ({ files }: HelmInput) => {
    if (outside !== undefined) throw leavesRepository(outside, folder)
    return helmOrder({ folder, files }, wordsWith(led(files)), [])
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
            const values: JsonObject = valuesIn(textOf(path, input.files), path)
            return {
              values,
              place: { kind: 'file', path, under: [] },
              isDefault: path === joined(folder, 'values.yaml'),
            }
          })
          return {
            order: orderOf(input),
            chart,
            title: '',
            layers: [...chartLayers(chart), ...layers],
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
  const policies = annotationsOf(built).get('helm.sh/hook-delete-policy') ?? ''
  return (
    annotationsOf(built).has('helm.sh/hook') &&
    policies.split(',').some((each) => each.trim() === 'hook-succeeded')
  )
}
