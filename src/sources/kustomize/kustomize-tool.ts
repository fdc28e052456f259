import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile } from '@backporch/kyaml/files'
import { isJsonObject } from '@backporch/kyaml/json'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { listItemsAt } from '@backporch/kyaml/yaml'
import type {
  BuildInput,
  BuildTool,
  BuiltSource,
  LinesOf,
  ObjectLocations,
  WrittenKustomization,
} from '../build/built-source.ts'
import { readSyncerObject } from '../build/syncer-object.ts'
import { findKustomizeChart } from '../helm/chart/kustomize-chart.ts'
import { HelmLocations } from '../helm/locate/helm-locations.ts'
import type { Build, BuildAnswer, BuildLibrary } from '../programs/package-builder.ts'
import { hasCharts } from './files/helm-charts.ts'
import { createKustomizeBuild, readSourceText, wantsOrigins } from './files/kustomize-build.ts'
import { HELM_CHARTS, ResourceOrigins } from './files/resource-origins.ts'
import { KustomizeLocations } from './locate/kustomize-locations.ts'
import { overlayLocations, overlayRemoval } from './locate/overlay-patch.ts'
import { KustomizeOrigins } from './origins/kustomize-origins.ts'
import { formatBuiltOriginLines } from './origins/origin-lines.ts'

export const KUSTOMIZE_TOOL: BuildTool = {
  name: 'kustomize',
  asksCluster: false,
  order: createOrder,
  keepsOrigins: (source) =>
    source.synced === undefined
      ? wantsOrigins(source.folder, source.files)
      : findWrittenBySyncer(source)?.keepsOrigins === true,
  locationsIn: ({ folder, files }) => {
    const origins = new ResourceOrigins(folder, files)
    return (object) => origins.findLocation(isJsonObject(object) ? object : {})
  },
  originOf: createOriginsLookup,
  locator: {
    locationsOf: createLocations,
    writesDefaults: false,
    ownPlace: ({ synced }) =>
      synced !== undefined && 'print' in synced.builder.way
        ? 'a file of its own'
        : 'a patch of its overlay',
    isMadeAnew: () => false,
  },
}

/** A syncer that lists the files of a folder prints them itself. */
function createOrder(source: BuildInput): Build | BuildAnswer {
  const { folder, files, synced } = source
  const way = synced?.builder.way
  if (synced !== undefined && way !== undefined && 'print' in way)
    return { text: way.print(readSyncerObject(synced, files), folder, selectPackedFiles(source)) }
  const written = findWrittenBySyncer(source)
  if (written === undefined) return createKustomizeBuild(folder, files)
  const { path, text, isWithoutHelm } = written
  const all = selectPackedFiles(source).set(path, {
    path,
    mode: '100644',
    content: new TextEncoder().encode(text),
  })
  if (isWithoutHelm === true && hasCharts(all)) throw createWithoutHelmFailure(folder)
  return createKustomizeBuild(folder, all)
}

function findWrittenBySyncer(source: BuildInput): WrittenKustomization | undefined {
  const { folder, files, synced } = source
  if (synced === undefined || !('kustomization' in synced.builder.way)) return undefined
  return synced.builder.way.kustomization(
    readSyncerObject(synced, files),
    folder,
    selectPackedFiles(source),
  )
}

function createWithoutHelmFailure(folder: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be built as its syncer builds it',
    where: folder || '.',
    why: 'a kustomization has helmCharts, which this syncer does not render, and it then applies nothing',
    remedy: 'make a release of the chart (HelmRelease), or commit what the chart makes as files',
    retry: 'on-change',
  })
}

/** An edit may add a file that the syncer does not receive. */
function selectPackedFiles({ files, isPacked = () => true }: BuildInput): Map<string, PackageFile> {
  return new Map([...files].filter(([path]) => isPacked(path)))
}

function createOriginsLookup(
  { folder, files, synced }: BuiltSource,
  resources: readonly DesiredResource[],
): LinesOf {
  const origins = new KustomizeOrigins({ folder, files, synced, resources })
  return (desired, path) => {
    const origin = origins.findOrigin(desired, path)
    return origin === undefined ? [] : formatBuiltOriginLines(origin)
  }
}

function createLocations(
  source: BuiltSource,
  library: BuildLibrary,
  desired: DesiredResource,
): ObjectLocations {
  const { files, folder, synced } = source
  const locations = new KustomizeLocations(
    files,
    synced === undefined ? undefined : { folder, build: synced },
  )
  const values = findChartValues(source, library, desired)
  return {
    removal: () =>
      values?.locateRemoval(desired) ?? [
        locations.locateRemoval(desired),
        ...overlayRemoval(source, desired),
      ],
    find: (field) => {
      const [first, ...others] = locations.find({
        desired,
        declaredName: locations.findDeclaredName(desired),
        ...field,
      })
      // An existing field of the kustomization comes before the values of a chart.
      return [
        ...(first === undefined ? [] : [first]),
        ...(values?.find(desired, field.path, field.wanted) ?? []),
        ...others,
        ...overlayLocations(source, desired, [field]),
      ]
    },
  }
}

/**
 * Undefined if no chart of a kustomization made the object.
 * @throws Failure of the chart and its values
 */
function findChartValues(
  source: BuiltSource,
  library: BuildLibrary,
  { location }: DesiredResource,
): HelmLocations | undefined {
  if (location.step !== HELM_CHARTS) return undefined
  const text = readSourceText(location.path, source.files).replaceAll('\r\n', '\n')
  const lines = new LineIndex(text)
  const items = listItemsAt(readYamlNodes(text, location.path)[0], HELM_CHARTS)
  const index = items.findIndex(
    ({ source: span }) =>
      span !== undefined && lines.getPosition(span.start).line === location.line,
  )
  const chart = index === -1 ? undefined : findKustomizeChart(location.path, index, source.files)
  return chart === undefined ? undefined : new HelmLocations(source, library, chart)
}
