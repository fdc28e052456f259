/**
 * Builds a HelmRelease: its values over those of `valuesFrom`, the chart of the deployed release,
 * and added labels (fluxcd/pkg `chartutil/values.go`, helm-controller 1.4.0 `internal/postrender`).
 * Helm's stored manifest is what it applied; `helm template` renders the stored chart with the
 * values of edited files.
 */
import type { DeployedRelease } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import {
  formatJson,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getMetadataText } from '@backporch/kyaml/resource'
import type {
  BuiltDocument,
  ClusterCapabilities,
  HelmChart,
  HelmInput,
  HelmOrder,
  PostRenderer,
  SyncerBuilder,
  ValuesLayer,
  ValuesPlace,
} from '../build/built-source.ts'
import type { ChartFiles } from '../build/chart-templates.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { formatValuesKey } from '../build/syncer-object.ts'
import type { ValuesRef } from '../build/unit-source.ts'
import {
  listChartLayers,
  mergeValues,
  parseValues,
  setValueAt,
} from '../helm/chart/chart-values.ts'
import { buildCapabilityArgs, createHelmOrder } from '../helm/chart/helm-order.ts'
import { HELM_TOOL } from '../helm/helm-tool.ts'

export interface FluxRelease {
  readonly deployed: DeployedRelease
  readonly valuesFrom: readonly ValuesRef[]
  readonly entries: readonly (string | undefined)[]
}

/** No commit has files there. */
const CHART = '.git/chart'
const VALUES = '.git/values.yaml'
const GROUP = 'helm.toolkit.fluxcd.io'

export function createFluxReleaseBuilder(release: FluxRelease): SyncerBuilder {
  return {
    ...PLAIN_BUILDER,
    tool: HELM_TOOL,
    way: {
      helm: (input) => createOrder(release, input),
      chart: (input) => createHelmChart(release, input),
      reads: () => [],
    },
    namespace: (object) =>
      getTextAt(object, 'spec', 'targetNamespace') || getMetadataText(object, 'namespace'),
    documents: (_build, _object, text) => [maskSecrets(text, listSecrets(release))],
    finished: (built, object) => (isHook(built) ? undefined : addLabels(built, object)),
  }
}

function createOrder(
  release: FluxRelease,
  { build, object, declared }: HelmInput,
): HelmOrder | { readonly text: string } {
  const { deployed } = release
  // What Helm applied last is the desired state, also while the next release waits.
  if (declared === undefined) return { text: deployed.manifest }
  const values = computeReleaseValues(release, object, declared)
  const isSame =
    isJsonEqual(values, deployed.values) &&
    isJsonEqual(getPostRenderers(object), getPostRenderers(build.object))
  if (isSame) return { text: deployed.manifest }
  const unknown = explainNotRendered(deployed)
  if (unknown === undefined) return createStoredOrder(release, object, values, build.capabilities)
  const why = `its values are not those of revision ${deployed.revision}, and ${unknown}`
  throw createRefusedReleaseFailure(
    build.title,
    why,
    'wait for the release, or check the HelmRelease',
  )
}

function createHelmChart(release: FluxRelease, { build, object, declared }: HelmInput): HelmChart {
  const { deployed } = release
  const unknown = explainNotRendered(deployed)
  if (unknown !== undefined)
    throw createRefusedReleaseFailure(
      build.title,
      `other values cannot be tried: ${unknown}`,
      'change the values by hand and commit them, or choose restore',
    )
  const files = indexChartFiles(deployed.chart ?? [])
  const chart = { folder: CHART, files }
  const defaults = listChartLayers(chart).map((layer) => ({
    ...layer,
    place: { kind: 'elsewhere', title: `the chart ${deployed.chartTitle}` } as const,
  }))
  const order = createStoredOrder(
    release,
    object,
    computeReleaseValues(release, object, declared),
    build.capabilities,
  )
  return {
    order,
    chart,
    title: `the chart ${deployed.chartTitle}`,
    layers: [...defaults, ...listOwnLayers(release, object, declared)],
  }
}

export function listOwnLayers(
  release: FluxRelease,
  object: JsonObject,
  declared: HelmInput['declared'],
): readonly ValuesLayer[] {
  const files = release.valuesFrom.flatMap((ref, at): ValuesLayer[] => {
    const text = findEntryText(declared?.get(formatValuesKey(ref)), ref.key) ?? release.entries[at]
    if (text === undefined || ref.targetPath !== undefined) return []
    const { kind, namespace, name, key } = ref
    const values = readValues(text, ref)
    const place: ValuesPlace =
      kind === 'ConfigMap'
        ? { kind: 'entry', namespace, name, key }
        : { kind: 'elsewhere', title: `the Secret ${namespace}/${name}` }
    return [{ values, place, isDefault: false }]
  })
  const own = getPartAt(object, 'spec', 'values')
  return [
    ...files,
    {
      values: isJsonObject(own) ? own : {},
      place: { kind: 'resource', at: ['spec', 'values'] },
      isDefault: false,
    },
  ]
}

function createStoredOrder(
  release: FluxRelease,
  object: JsonObject,
  values: JsonObject,
  capabilities: ClusterCapabilities | undefined,
): HelmOrder {
  const files = indexChartFiles(release.deployed.chart ?? [])
  return createChartOrder(
    release,
    { folder: CHART, files },
    { own: [...files.values()], object, values, capabilities },
  )
}

/**
 * @param of `own`: the chart's own files
 * @throws Failure BP1210 for a chart with external dependencies
 */
export function createChartOrder(
  { deployed, valuesFrom }: FluxRelease,
  chart: ChartFiles,
  of: {
    readonly own: PackageFiles
    readonly object: JsonObject
    readonly values: JsonObject
    readonly capabilities: ClusterCapabilities | undefined
  },
): HelmOrder {
  const order = createHelmOrder(chart, releaseWords(deployed, of.capabilities), [
    ...of.own,
    { path: VALUES, mode: '100644', content: new TextEncoder().encode(formatJson(of.values)) },
  ])
  return {
    ...order,
    hasSecrets: valuesFrom.some(({ kind }) => kind === 'Secret'),
    postRenderers: listPostRenderers(of.object),
  }
}

function getPostRenderers(object: JsonObject): Json {
  return getPartAt(object, 'spec', 'postRenderers') ?? null
}

/** As `internal/postrender/kustomize.go` of helm-controller. */
const POST_RENDERED = {
  patches: ['patch', 'target'],
  images: ['name', 'newName', 'newTag', 'digest'],
} as const

function listPostRenderers(object: JsonObject): readonly PostRenderer[] {
  const renderers = getPostRenderers(object)
  return (isJsonArray(renderers) ? renderers : []).flatMap((renderer, index): PostRenderer[] => {
    if (!isJsonObject(getPartAt(renderer, 'kustomize'))) return []
    const fields = Object.entries(POST_RENDERED).map(([name, known]) => {
      const parts = getPartAt(renderer, 'kustomize', name)
      return [
        name,
        (isJsonArray(parts) ? parts : []).map((part) => selectKnownFields(part, known)),
      ] as const
    })
    return [
      {
        kustomization: Object.fromEntries(fields),
        at: ['spec', 'postRenderers', index, 'kustomize'],
      },
    ]
  })
}

function selectKnownFields(part: Json, known: readonly string[]): JsonObject {
  const fields = isJsonObject(part) ? Object.entries(part) : []
  return Object.fromEntries(fields.filter(([name]) => known.includes(name)))
}

function releaseWords(
  { name, namespace, revision }: DeployedRelease,
  capabilities: ClusterCapabilities | undefined,
): readonly string[] {
  const words = [
    '--name-template',
    name,
    '--namespace',
    namespace,
    '--values',
    VALUES,
    '--no-hooks',
  ]
  if (revision > 1) words.push('--is-upgrade')
  return [...words, ...buildCapabilityArgs({ version: undefined, apiVersions: [] }, capabilities)]
}

function indexChartFiles(chart: PackageFiles): ReadonlyMap<string, PackageFiles[number]> {
  return new Map(
    chart.map((file) => [`${CHART}/${file.path}`, { ...file, path: `${CHART}/${file.path}` }]),
  )
}

function explainNotRendered({ chart, chartTitle }: DeployedRelease): string | undefined {
  return chart === undefined
    ? `the charts that ${chartTitle} depends on are not stored with the release`
    : undefined
}

/** @throws Failure BP1210 if values are missing or cannot be read */
export function computeReleaseValues(
  release: FluxRelease,
  object: JsonObject,
  declared: HelmInput['declared'],
): JsonObject {
  const own = getPartAt(object, 'spec', 'values')
  const spec = isJsonObject(own) ? own : {}
  let values: JsonObject = {}
  release.valuesFrom.forEach((ref, at) => {
    const name = `${ref.kind} ${ref.namespace}/${ref.name}`
    const text = findEntryText(declared?.get(formatValuesKey(ref)), ref.key) ?? release.entries[at]
    if (text === undefined) {
      if (ref.optional) return
      throw createRefusedReleaseFailure(
        name,
        `valuesFrom names its entry ${ref.key}, which does not exist`,
        'create it, or mark it as optional',
      )
    }
    if (ref.targetPath === undefined) values = mergeValues(values, readValues(text, ref))
    else {
      const set = setValueAt(mergeValues(values, spec), ref.targetPath, text)
      if (set === undefined)
        throw createRefusedReleaseFailure(
          name,
          `the value for targetPath ${ref.targetPath} has several parts, which are not read here`,
          'name a file of values',
        )
      values = set
    }
  })
  return mergeValues(values, spec)
}

function findEntryText(object: JsonObject | undefined, key: string): string | undefined {
  const found = getPartAt(object, 'data', key) ?? getPartAt(object, 'stringData', key)
  return typeof found === 'string' && getTextAt(object, 'kind') === 'ConfigMap' ? found : undefined
}

/** Shorter texts may occur anywhere. */
const SHORTEST_SECRET = 4

/** They may be in any object of the release. */
function listSecrets({ valuesFrom, entries }: FluxRelease): readonly string[] {
  return valuesFrom.flatMap((ref, at) => {
    const text = entries[at]
    if (ref.kind !== 'Secret' || text === undefined) return []
    return (ref.targetPath === undefined ? listTextsBelow(readValues(text, ref)) : [text]).filter(
      (each) => each.length >= SHORTEST_SECRET,
    )
  })
}

/** @throws Failure BP1210, which does not quote the text: it may come from a Secret */
function readValues(text: string, { kind, namespace, name, key }: ValuesRef): JsonObject {
  try {
    return parseValues(text, name)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    throw createRefusedReleaseFailure(
      `${kind} ${namespace}/${name}`,
      `its entry ${key} is not a file of values`,
      'correct the entry',
    )
  }
}

function listTextsBelow(value: Json): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return value === null || typeof value !== 'object'
    ? []
    : Object.values(value).flatMap(listTextsBelow)
}

function maskSecrets(text: string, secrets: readonly string[]): BuiltDocument {
  if (secrets.length === 0) return { text }
  const documents = parseGoYaml(text, 'the manifest').documents.map(({ value }) =>
    formatJson(maskValue(value, secrets)),
  )
  return { text, other: documents.join('\n---\n') }
}

function maskValue(value: Json, secrets: readonly string[]): Json {
  if (isJsonArray(value)) return value.map((each) => maskValue(each, secrets))
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, maskValue(each, secrets)]),
    )
  if (typeof value !== 'string' && typeof value !== 'number') return value
  return secrets.some((secret) => String(value).includes(secret)) ? '' : value
}

function isHook(built: JsonObject): boolean {
  return getPartAt(built, 'metadata', 'annotations', 'helm.sh/hook') !== undefined
}

/** Origin labels override `commonMetadata`, which overrides the chart. */
function addLabels(built: JsonObject, object: JsonObject): JsonObject {
  const metadata = getPartAt(built, 'metadata')
  if (!isJsonObject(metadata)) return built
  const [labels, annotations] = ['labels', 'annotations'].map((name) => ({
    ...convertToMap(metadata[name]),
    ...convertToMap(getPartAt(object, 'spec', 'commonMetadata', name)),
  }))
  const origin = {
    [`${GROUP}/name`]: getMetadataText(object, 'name'),
    [`${GROUP}/namespace`]: getMetadataText(object, 'namespace'),
  }
  const all = {
    ...metadata,
    labels: { ...labels, ...origin },
    ...(Object.keys(annotations ?? {}).length > 0 ? { annotations } : {}),
  }
  return { ...built, metadata: all as JsonObject }
}

function convertToMap(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

export function createRefusedReleaseFailure(where: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the objects of the HelmRelease are unknown',
    where,
    why,
    remedy,
    retry: 'backoff',
  })
}
