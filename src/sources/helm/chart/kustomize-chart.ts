/** As kustomize `HelmChartInflationGenerator.go`. */
import {
  formatJson,
  isJsonObject,
  type JsonObject,
  partOf,
  textOf,
  textsIn,
} from '@backporch/kyaml/json'
import type { HelmChart, ValuesLayer } from '../../build/built-source.ts'
import { chartEntries } from '../../kustomize/files/helm-charts.ts'
import { folderOf, joined, resolvePath } from '../../kustomize/files/kustomization-walk.ts'
import {
  kustomizationAt,
  type SourceFiles,
  textOf as textOfFile,
} from '../../kustomize/files/kustomize-build.ts'
import { HELM_CHARTS } from '../../kustomize/files/resource-origins.ts'
import { chartLayers, valuesIn } from './chart-values.ts'
import { helmOrder } from './helm-order.ts'

const INLINE = '.git/values.yaml'

/**
 * @param path from the repository root
 * @param index in `helmCharts`
 * @returns undefined if the chart is not in the repository
 * @throws Failure BP1110 or BP1111 of a values file, BP1210 of an incomplete chart
 */
export function kustomizeChart(
  path: string,
  index: number,
  files: SourceFiles,
): HelmChart | undefined {
  const own = folderOf(path)
  const found = chartEntries(kustomizationAt(path, files))[index]
  const folder = found === undefined ? undefined : resolvePath(own, found.path)
  if (found === undefined || folder === undefined) return undefined
  const { entry } = found
  const chart = { folder, files }
  const inline = partOf(entry, 'valuesInline')
  const given = isJsonObject(inline) ? inline : {}
  const merge = textOf(entry, 'valuesMerge')
  const fileAt = (name: string): readonly ValuesLayer[] => {
    const file = resolvePath(own, name)
    return file === undefined || name === '' || !files.has(file)
      ? []
      : [fileLayer(file, files, folder)]
  }
  const fields: ValuesLayer = {
    values: given,
    place: { kind: 'field', path, document: 0, at: [HELM_CHARTS, index, 'valuesInline'] },
    isDefault: false,
  }
  const file = fileAt(textOf(entry, 'valuesFile'))
  const hasInline = Object.keys(given).length > 0
  const first =
    merge === 'merge'
      ? [fields, ...file]
      : merge === 'replace' && hasInline
        ? [fields]
        : [...file, fields]
  const layers = [...first, ...textsIn(partOf(entry, 'additionalValuesFiles')).flatMap(fileAt)]
  const namespace = textOf(entry, 'namespace')
  const words = [
    ...['--name-template', textOf(entry, 'releaseName')],
    ...(namespace === '' ? [] : ['--namespace', namespace]),
    ...(partOf(entry, 'includeCRDs') === true ? ['--include-crds'] : []),
    ...layers.flatMap(({ place }) => ['--values', place.kind === 'file' ? place.path : INLINE]),
  ]
  const written = [
    {
      path: INLINE,
      mode: '100644' as const,
      content: new TextEncoder().encode(`${formatJson(given)}\n`),
    },
  ]
  return {
    order: helmOrder(chart, words, written),
    chart,
    title: '',
    layers: [...chartLayers(chart), ...layers],
  }
}

function fileLayer(path: string, files: SourceFiles, chart: string): ValuesLayer {
  const values: JsonObject = valuesIn(textOfFile(path, files), path)
  return {
    values,
    place: { kind: 'file', path, under: [] },
    isDefault: path === joined(chart, 'values.yaml'),
  }
}
