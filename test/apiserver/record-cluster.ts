/** Writes a recording of a real cluster: what `RecordedCluster` then answers from. No Secret's content is written. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ClusterReader } from '@backporch/cluster/cluster'
import { computePredictionKey, RECORDING } from '@backporch/cluster/recording'
import { Failure } from '@backporch/kyaml/failure'
import { formatJson, getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { getResourceKey, type Resource, type WantedObject } from '@backporch/kyaml/resource'
import { LAST_APPLIED } from '../../src/syncers/kubectl.ts'
import { trimDocument } from './trim-document.ts'

/** What is recorded; `ApiServerCluster` is one. */
export interface RecordableCluster extends ClusterReader {
  openApiDocument(apiVersion: string, signal: AbortSignal): Promise<Json>
}

export interface RecordingRequest {
  /** Live objects to record. */
  readonly wanted: readonly WantedObject[]
  /** Dry runs to record: the desired objects with the syncer's field manager. Secrets are left out. */
  readonly predictions: readonly { readonly resource: Resource; readonly fieldManager: string }[]
}

/**
 * Records into a new or empty folder.
 * @throws Failure BP1010 when something wanted cannot be read, because a recording with holes would be taken for the cluster; BP30xx
 */
export async function recordCluster(
  cluster: RecordableCluster,
  resolutionRequest: RecordingRequest,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const identity = await cluster.identify(signal)
  const view = await cluster.readLive(resolutionRequest.wanted, signal)
  const absent: JsonObject[] = []
  const versions: WantedObject[] = []
  for (const { id, apiVersion } of resolutionRequest.wanted) {
    const state = view.get(getResourceKey(id))
    if (state === undefined || state.state === 'unreadable')
      throw notRecorded(getResourceKey(id), state?.failure)
    // An id of an inventory has no version: of what is there the object tells it, of what is not only the group counts.
    const version =
      apiVersion || (state.state === 'present' ? String(getKey(state.object, 'apiVersion')) : '')
    if (version !== '') versions.push({ id, apiVersion: version })
    if (state.state === 'absent') {
      absent.push({
        apiVersion: version || `${id.group}/v1`.replace(/^\//, ''),
        kind: id.kind,
        namespace: id.namespace,
        name: id.name,
      })
    } else
      writeJson(
        join(folder, 'objects', `${fileName(getResourceKey(id))}.json`),
        isSecret(id) ? secretMetadata(state.object) : state.object,
      )
  }
  const kinds = await recordKinds(cluster, versions, folder, signal)
  for (const { resource, fieldManager } of resolutionRequest.predictions) {
    if (!isSecret(resource.id))
      await recordPrediction(cluster, resource, fieldManager, folder, signal)
  }
  const { uid, version: serverVersion, observedAt, namespace } = identity
  writeJson(join(folder, 'recording.json'), {
    apiVersion: RECORDING.apiVersion,
    kind: RECORDING.kind,
    metadata: { name: 'recording', annotations: { 'config.kubernetes.io/local-config': 'true' } },
    spec: {
      cluster: cluster.name,
      serverVersion,
      uid: uid ?? '',
      observedAt,
      namespace,
      kinds,
      absent,
    },
  })
}

async function recordKinds(
  cluster: RecordableCluster,
  wanted: readonly WantedObject[],
  folder: string,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const byVersion = new Map<string, Set<string>>()
  for (const { id, apiVersion } of wanted)
    byVersion.set(apiVersion, (byVersion.get(apiVersion) ?? new Set()).add(id.kind))
  const kinds: JsonObject[] = []
  for (const [apiVersion, names] of byVersion) {
    for (const kind of names)
      kinds.push({
        apiVersion,
        kind,
        namespaced: (await cluster.findServedKind(apiVersion, kind, signal)).namespaced,
      })
    const document = await cluster.openApiDocument(apiVersion, signal)
    writeJson(
      join(folder, 'schemas', `${fileName(apiVersion)}.json`),
      trimDocument(document, apiVersion, [...names]),
    )
  }
  return kinds
}

async function recordPrediction(
  cluster: RecordableCluster,
  resource: Resource,
  fieldManager: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const prediction = await cluster.predict(resource, fieldManager, signal)
  if (prediction.state === 'unproven')
    throw notRecorded(`the dry run of ${getResourceKey(resource.id)}`, prediction.failure)
  const key = computePredictionKey(resource, fieldManager)
  const answer: JsonObject =
    prediction.state === 'predicted'
      ? { object: prediction.object }
      : { refused: prediction.failure.why }
  writeJson(join(folder, 'predictions', `${fileName(key)}.json`), {
    apiVersion: RECORDING.apiVersion,
    kind: RECORDING.prediction,
    metadata: { name: fileName(key).toLowerCase() },
    spec: { key, fieldManager, ...answer },
  })
}

/** Kind, metadata and ownership, without the annotation in which kubectl keeps the whole Secret. */
function secretMetadata(object: JsonObject): JsonObject {
  const metadata = getKey(object, 'metadata')
  const annotations = isJsonObject(metadata) ? getKey(metadata, 'annotations') : undefined
  const retained = isJsonObject(annotations)
    ? Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED)
    : []
  return {
    apiVersion: getKey(object, 'apiVersion') ?? '',
    kind: getKey(object, 'kind') ?? '',
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      ...(isJsonObject(annotations) ? { annotations: Object.fromEntries(retained) } : {}),
    },
  }
}

function fileName(key: string): string {
  return key.replace(/^\//, 'core/').replaceAll(/[^A-Za-z0-9._-]+/g, '_')
}

function writeJson(file: string, value: Json): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${formatJson(value, 2)}\n`)
}

function notRecorded(what: string, cause: Failure | undefined): Failure {
  return new Failure({
    code: cause?.code ?? 'BP1010',
    what: `${what} cannot be recorded`,
    ...(cause?.where === undefined ? {} : { where: cause.where }),
    why: cause?.why ?? 'the cluster did not answer for it',
    remedy: cause?.remedy ?? 'try again',
    retry: cause?.retry ?? 'backoff',
  })
}
