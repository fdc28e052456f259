/** Values of the charts that a kustomization has Helm render. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { itemsAt } from '@backporch/kyaml/yaml'
import type { BuildLibrary } from '../../../render/build/package-builder.ts'
import { kustomizeChart } from '../../../render/helm/kustomize-chart.ts'
import { textOf } from '../../../render/kustomize/kustomize-build.ts'
import { HELM_CHARTS } from '../../../render/kustomize/resource-origins.ts'
import type { BuiltSource } from '../../../render/read-built.ts'
import { HelmLocations } from './helm-locations.ts'

/** Undefined for an object that no chart of a kustomization made. @throws Failure of the chart and its values */
export function valuesOfChart(source: BuiltSource, library: BuildLibrary, { location }: DesiredResource): HelmLocations | undefined {
  if (location.step !== HELM_CHARTS) return undefined
  const text = textOf(location.path, source.files).replaceAll('\r\n', '\n')
  const lines = new LineIndex(text)
  const items = itemsAt(readYamlNodes(text, location.path)[0], HELM_CHARTS)
  const index = items.findIndex(({ source: span }) => span !== undefined && lines.position(span.start).line === location.line)
  const chart = index === -1 ? undefined : kustomizeChart(location.path, index, source.files)
  return chart === undefined ? undefined : new HelmLocations(source, library, chart)
}
