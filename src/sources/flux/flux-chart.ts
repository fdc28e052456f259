/**
 * Builds a HelmRelease whose stored release is unknown from the commit's chart and values
 * (docs/facts/flux-helm-release.md).
 */
import { getPartAt, type JsonObject } from '@backporch/kyaml/json'
import type { HelmChart, HelmInput, HelmOrder, SyncerBuilder } from '../build/built-source.ts'
import { listChartLayers } from '../helm/chart/chart-values.ts'
import { HELM_TOOL } from '../helm/helm-tool.ts'
import {
  computeReleaseValues,
  createChartOrder,
  createFluxReleaseBuilder,
  createRefusedReleaseFailure,
  type FluxRelease,
  listOwnLayers,
} from './flux-release.ts'

export function createFluxChartBuilder(release: FluxRelease): SyncerBuilder {
  return {
    ...createFluxReleaseBuilder(release),
    tool: HELM_TOOL,
    substitution: 'none',
    way: {
      helm: (input) =>
        Object.keys(input.object).length === 0 ? { text: '' } : createOrder(release, input),
      chart: (input) => createHelmChart(release, input),
      reads: () => [],
    },
  }
}

function createOrder(
  release: FluxRelease,
  { build, object, declared, folder, files }: HelmInput,
): HelmOrder {
  const why = explainOnlyFlux(object)
  if (why !== undefined)
    throw createRefusedReleaseFailure(
      build.title,
      why,
      'record what Helm stores of the release, or ask the cluster',
    )
  const own = [...files.values()].filter(
    ({ path }) => folder === '' || path.startsWith(`${folder}/`),
  )
  const values = computeReleaseValues(release, object, declared)
  return createChartOrder(
    release,
    { folder, files },
    { own, object, values, capabilities: build.capabilities },
  )
}

function createHelmChart(release: FluxRelease, input: HelmInput): HelmChart {
  const { object, declared, folder, files } = input
  const layers = [
    ...listChartLayers({ folder, files }),
    ...listOwnLayers(release, object, declared),
  ]
  return { order: createOrder(release, input), chart: { folder, files }, title: undefined, layers }
}

/** A clause; undefined if a render equals Flux's result. */
export function explainOnlyFlux(object: JsonObject): string | undefined {
  const valuesFiles = getPartAt(object, 'spec', 'chart', 'spec', 'valuesFiles')
  // Most templates print the chart version into a label.
  if (Array.isArray(valuesFiles) && valuesFiles.length > 0)
    return 'Flux adds a number to the version of its chart (spec.chart.spec.valuesFiles)'
  if (getPartAt(object, 'spec', 'chart', 'spec', 'reconcileStrategy') === 'Revision')
    return 'Flux adds the commit to the version of its chart (spec.chart.spec.reconcileStrategy)'
  return undefined
}
