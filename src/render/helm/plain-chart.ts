/** A chart that a policy has Helm render: a release that people or a pipeline install. */
import type { JsonObject } from '../../text/json.ts'
import { joined, resolvePath } from '../kustomize/kustomization-walk.ts'
import { textOf } from '../kustomize/kustomize-build.ts'
import type { HelmChoice } from '../render-choice.ts'
import type { HelmInput, SyncerBuild, ValuesLayer } from '../syncer-build.ts'
import { chartLayers, valuesIn } from './chart-values.ts'
import { helmOrder } from './helm-order.ts'

/** @param packagePath of the unit, from which the paths of the policy lead */
export function plainChart(choice: HelmChoice, packagePath: string): SyncerBuild {
  const folder = resolvePath(packagePath, choice.path) ?? packagePath
  const paths = choice.values.map((path) => resolvePath(packagePath, path) ?? path)
  const words = [
    '--name-template',
    choice.release,
    '--namespace',
    choice.namespace,
    '--include-crds',
    ...paths.flatMap((path) => ['--values', path]),
  ]
  const orderOf = ({ files }: HelmInput) => helmOrder({ folder, files }, words, [])
  return {
    title: `Helm release ${choice.namespace}/${choice.release}`,
    folder,
    object: {},
    variables: new Map(),
    builder: {
      fields: [],
      overrides: { names: [], field: '' },
      components: () => [],
      way: {
        helm: orderOf,
        chart: (input) => {
          const chart = { folder, files: input.files }
          const given = paths.filter((path) => input.files.has(path))
          const layers = given.map((path): ValuesLayer => {
            const values: JsonObject = valuesIn(textOf(path, input.files), path)
            return { values, place: { kind: 'file', path, under: [] }, isDefault: path === joined(folder, 'values.yaml') }
          })
          return { order: orderOf(input), chart, title: '', layers: [...chartLayers(chart), ...layers] }
        },
        reads: () => paths,
      },
      namespace: () => choice.namespace,
      documents: (_build, _object, text) => [{ text }],
      finished: (built) => built,
    },
  }
}
