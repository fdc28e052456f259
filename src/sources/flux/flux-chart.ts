/**
 * If Helm's stored release is unknown, the commit's chart and values count
 * (docs/facts/flux-helm-release.md).
 */
import { type JsonObject, partOf } from '@backporch/kyaml/json'
import type { HelmChart, HelmInput, HelmOrder, SyncerBuilder } from '../build/built-source.ts'
import { chartLayers } from '../helm/chart/chart-values.ts'
import { HELM_TOOL } from '../helm/helm-tool.ts'
import {
  type FluxRelease,
  fluxRelease,
  ownLayers,
  refused,
  rendered,
  valuesOf,
} from './flux-release.ts'

export function fluxChart(release: FluxRelease): SyncerBuilder {
  return {
    ...fluxRelease(release),
    tool: HELM_TOOL,
    substitution: 'none',
    way: {
      helm: (input) =>
        Object.keys(input.object).length === 0 ? { text: '' } : orderOf(release, input),
      chart: (input) => chartOf(release, input),
      reads: () => [],
    },
  }
}

function orderOf(
  release: FluxRelease,
  { build, object, declared, folder, files }: HelmInput,
): HelmOrder {
  const why = whyOnlyFlux(object)
  if (why !== undefined)
    throw refused(build.title, why, 'record what Helm stores of the release, or ask the cluster')
  const own = [...files.values()].filter(
    ({ path }) => folder === '' || path.startsWith(`${folder}/`),
  )
  const values = valuesOf(release, object, declared)
  return rendered(
    release,
    { folder, files },
    { own, object, values, capabilities: build.capabilities },
  )
}

function chartOf(release: FluxRelease, input: HelmInput): HelmChart {
  const { object, declared, folder, files } = input
  const layers = [...chartLayers({ folder, files }), ...ownLayers(release, object, declared)]
  return { order: orderOf(release, input), chart: { folder, files }, title: '', layers }
}

/** A clause; undefined if a render equals Flux's result. */
export function whyOnlyFlux(object: JsonObject): string | undefined {
  const valuesFiles = partOf(object, 'spec', 'chart', 'spec', 'valuesFiles')
  // Most templates print the chart version into a label.
  if (Array.isArray(valuesFiles) && valuesFiles.length > 0)
    return 'Flux adds a number to the version of its chart (spec.chart.spec.valuesFiles)'
  if (partOf(object, 'spec', 'chart', 'spec', 'reconcileStrategy') === 'Revision')
    return 'Flux adds the commit to the version of its chart (spec.chart.spec.reconcileStrategy)'
  return undefined
}
