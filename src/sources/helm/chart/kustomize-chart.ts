/** Reads a chart of `helmCharts` as kustomize `HelmChartInflationGenerator.go`. */
import {
  filterTexts,
  findNonEmptyText,
  formatJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { HelmChart, ValuesLayer } from '../../build/built-source.ts'
import { listChartEntries } from '../../kustomize/files/helm-charts.ts'
import {
  getParentFolder,
  joinFolderPath,
  resolvePath,
} from '../../kustomize/files/kustomization-walk.ts'
import {
  readKustomizationAt,
  type SourceFiles,
  readSourceText as textOfFile,
} from '../../kustomize/files/kustomize-build.ts'
import { HELM_CHARTS } from '../../kustomize/files/resource-origins.ts'
import { listChartLayers, parseValues } from './chart-values.ts'
import { createHelmOrder } from './helm-order.ts'

const INLINE = '.git/values.yaml'

/**
 * @param path from the repository root
 * @param index in `helmCharts`
 * @returns undefined if the chart is not in the repository
 * @throws Failure BP1110 or BP1111 of a values file, BP1210 of an incomplete chart
 */
export function findKustomizeChart(
  path: string,
  index: number,
  files: SourceFiles,
): HelmChart | undefined {
  const own = getParentFolder(path)
  const found = listChartEntries(readKustomizationAt(path, files))[index]
  const folder = found === undefined ? undefined : resolvePath(own, found.path)
  if (found === undefined || folder === undefined) return undefined
  const { entry } = found
  const chart = { folder, files }
  const inline = getPartAt(entry, 'valuesInline')
  const given = isJsonObject(inline) ? inline : {}
  const merge = getTextAt(entry, 'valuesMerge')
  const fileAt = (name: string): readonly ValuesLayer[] => {
    const file = resolvePath(own, name)
    return file === undefined || name === '' || !files.has(file)
      ? []
      : [createFileLayer(file, files, folder)]
  }
  const fields: ValuesLayer = {
    values: given,
    place: { kind: 'field', path, document: 0, at: [HELM_CHARTS, index, 'valuesInline'] },
    isDefault: false,
  }
  const file = fileAt(getTextAt(entry, 'valuesFile'))
  const hasInline = Object.keys(given).length > 0
  const first =
    merge === 'merge'
      ? [fields, ...file]
      : merge === 'replace' && hasInline
        ? [fields]
        : [...file, fields]
  const layers = [
    ...first,
    ...filterTexts(getPartAt(entry, 'additionalValuesFiles')).flatMap(fileAt),
  ]
  const namespace = findNonEmptyText(entry, 'namespace')
  const words = [
    ...['--name-template', getTextAt(entry, 'releaseName')],
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(getPartAt(entry, 'includeCRDs') === true ? ['--include-crds'] : []),
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
    order: createHelmOrder(chart, words, written),
    chart,
    title: undefined,
    layers: [...listChartLayers(chart), ...layers],
  }
}

function createFileLayer(path: string, files: SourceFiles, chart: string): ValuesLayer {
  const values: JsonObject = parseValues(textOfFile(path, files), path)
  return {
    values,
    place: { kind: 'file', path, under: [] },
    isDefault: path === joinFolderPath(chart, 'values.yaml'),
  }
}
