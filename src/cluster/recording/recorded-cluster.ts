/** What the recording cannot prove is unproven; nothing is guessed. */
import { basename, extname } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, findKindSchema } from '@backporch/kyaml/field'
import {
  filterObjects,
  getKey,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getMetadataText,
  getResourceKey,
  type LiveState,
  type LiveView,
  type Prediction,
  parseApiVersion,
  type Resource,
  type ResourceId,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type {
  ClusterIdentity,
  ClusterReader,
  Inventory,
  InventoryQuestion,
  ObjectList,
  ServedKind,
} from '../ports/cluster.ts'
import { inferSchema } from './inferred-schema.ts'
import { isKnownNamespaced } from './known-kinds.ts'
import { findRecordedInventory, type RecordedEvidence } from './recorded-inventory.ts'
import { computePredictionKey, type Recording, readRecording } from './recording.ts'

interface RecordedClusterOptions {
  readonly path: string
  readonly name?: string
  readonly namespace?: string
  /** For a recording without a time. RFC 3339 UTC. */
  readonly observedAt: string
}

/** @throws Failure BP1010, BP1110–BP1112 */
export function openRecordedCluster(options: RecordedClusterOptions): RecordedCluster {
  return new RecordedCluster(readRecording(options.path), options)
}

export function emptyCluster(name: string, observedAt: string): RecordedCluster {
  const recording: Recording = {
    ...{ cluster: name, serverVersion: '', uid: undefined, observedAt, namespace: 'default' },
    ...{
      complete: [],
      absent: new Set<string>(),
      kinds: [],
      objects: new Map(),
      predictions: new Map(),
      schemas: [],
    },
  }
  return new RecordedCluster(recording, { path: '', name, observedAt })
}

export class RecordedCluster implements ClusterReader {
  readonly name: string
  private readonly recording: Recording
  private readonly observedAt: string
  private readonly schemas = new Map<string, FieldSchema>()
  private readonly namespaced: ReadonlyMap<string, boolean>

  constructor(recording: Recording, options: RecordedClusterOptions) {
    this.name = options.name ?? (recording.cluster || basename(options.path, extname(options.path)))
    this.recording =
      options.namespace === undefined ? recording : { ...recording, namespace: options.namespace }
    this.namespaced = new Map([
      ...[...recording.objects.values()].map(
        ({ id }) => [`${id.group}/${id.kind}`, id.namespace !== ''] as const,
      ),
      ...recording.kinds.map(
        ({ apiVersion, kind, namespaced }) =>
          [`${parseApiVersion(apiVersion).group}/${kind}`, namespaced] as const,
      ),
    ])
    this.observedAt = recording.observedAt || findNewestTime(recording) || options.observedAt
  }

  async identify(_signal: AbortSignal): Promise<ClusterIdentity> {
    const { uid, serverVersion: version, namespace } = this.recording
    return { uid, version, observedAt: this.observedAt, recorded: true, namespace }
  }

  async findServedKind(
    apiVersion: string,
    kind: string,
    _signal: AbortSignal,
  ): Promise<ServedKind> {
    const namespaced = this.isNamespaced(apiVersion, kind)
    if (namespaced === undefined) {
      throw this.createUnrecordedFailure(
        `whether ${kind} of ${apiVersion} lies in namespaces`,
        'no such object and no schema of it is in the recording',
      )
    }
    return { namespaced, schema: this.getSchema(apiVersion, kind) }
  }

  async readLive(wanted: readonly WantedObject[], _signal: AbortSignal): Promise<LiveView> {
    return new Map(wanted.map((one) => [getResourceKey(one.id), this.getState(one)]))
  }

  async list(group: string, kind: string, _signal: AbortSignal): Promise<ObjectList> {
    const { objects, complete } = this.recording
    return {
      objects: [...objects.values()]
        .filter(({ id }) => id.group === group && id.kind === kind)
        .map(({ object }) => object),
      complete: complete.some(
        (scope) =>
          scope.kind === kind &&
          scope.namespace === undefined &&
          parseApiVersion(scope.apiVersion).group === group,
      ),
    }
  }

  async readInventories(
    refs: readonly InventoryQuestion[],
    _signal: AbortSignal,
  ): Promise<readonly (Inventory | Failure | undefined)[]> {
    const evidence: RecordedEvidence = {
      objects: [...this.recording.objects.values()],
      defaultNamespace: this.recording.namespace,
      isNamespaced: (group, kind) => this.isNamespaced(`${group}/`, kind),
      isProvenAbsent: (id) => this.isProvenAbsent(id),
      isWhole: ({ group, kind, namespace }) => this.isWhole(group, kind, namespace),
      cannotSay: (what, why) => this.createUnrecordedFailure(what, why),
    }
    return Promise.all(refs.map((ref) => findRecordedInventory(evidence, ref)))
  }

  async predict(
    resource: Resource,
    fieldManager: string,
    _signal: AbortSignal,
  ): Promise<Prediction> {
    const recorded = this.recording.predictions.get(computePredictionKey(resource, fieldManager))
    if (recorded === undefined) {
      const failure = this.createUnrecordedFailure(
        `what an apply of ${describeResourceId(resource.id)} would give`,
        'the recording does not hold this dry run',
      )
      return { state: 'unproven', failure }
    }
    const object = getKey(recorded, 'object')
    if (isJsonObject(object)) return { state: 'predicted', object }
    const why = getKey(recorded, 'refused')
    const failure = new Failure({
      code: 'BP3011',
      what: `the apply of ${describeResourceId(resource.id)} is refused`,
      where: `cluster ${this.name}, recorded ${this.observedAt}`,
      why: typeof why === 'string' ? why : 'the recording does not say why',
      remedy: 'correct the object, or what refuses it',
      retry: 'on-change',
    })
    return { state: 'refused', failure }
  }

  private getState({ id, apiVersion }: WantedObject): LiveState {
    const found = this.listCandidates(id, apiVersion).flatMap(
      (candidate) => this.recording.objects.get(getResourceKey(candidate)) ?? [],
    )[0]
    if (found === undefined) {
      if (this.listCandidates(id, apiVersion).some((candidate) => this.isProvenAbsent(candidate)))
        return { state: 'absent' }
      const failure = this.createUnrecordedFailure(
        `whether ${describeResourceId(id)} is there`,
        'it is not in the recording, and the recording does not say that it is complete',
      )
      return { state: 'unreadable', failure }
    }
    if (apiVersion !== '' && found.apiVersion !== apiVersion) {
      // Only the server converts; a comparison across versions finds false differences.
      return {
        state: 'unreadable',
        failure: this.createUnrecordedFailure(
          `what ${describeResourceId(id)} is in ${apiVersion}`,
          `it was recorded in ${found.apiVersion}`,
        ),
      }
    }
    return {
      state: 'present',
      object: found.object,
      metadataOnly: isSecret(id) && !hasContent(found.object),
    }
  }

  /** The id as the server would take it, if its namespace does not fit its kind. */
  private listCandidates(id: ResourceId, apiVersion: string): readonly ResourceId[] {
    const namespaced = this.isNamespaced(apiVersion === '' ? `${id.group}/` : apiVersion, id.kind)
    if (namespaced === true && id.namespace === '')
      return [{ ...id, namespace: this.recording.namespace }]
    if (namespaced === false && id.namespace !== '') return [{ ...id, namespace: '' }]
    return [id]
  }

  private isProvenAbsent(id: ResourceId): boolean {
    return (
      this.recording.absent.has(getResourceKey(id)) || this.isWhole(id.group, id.kind, id.namespace)
    )
  }

  private isWhole(group: string, kind: string, namespace: string): boolean {
    return this.recording.complete.some(
      (scope) =>
        scope.kind === kind &&
        parseApiVersion(scope.apiVersion).group === group &&
        (scope.namespace === undefined || scope.namespace === namespace),
    )
  }

  private isNamespaced(apiVersion: string, kind: string): boolean | undefined {
    const { group } = parseApiVersion(apiVersion)
    return this.namespaced.get(`${group}/${kind}`) ?? isKnownNamespaced(group, kind)
  }

  private getSchema(apiVersion: string, kind: string): FieldSchema {
    const key = `${apiVersion}#${kind}`
    const known = this.schemas.get(key)
    if (known !== undefined) return known
    const published = this.recording.schemas.flatMap(
      (document) => findKindSchema(document, apiVersion, kind) ?? [],
    )[0]
    const objects = (): readonly JsonObject[] =>
      [...this.recording.objects.values()]
        .filter((one) => one.apiVersion === apiVersion && one.id.kind === kind)
        .map(({ object }) => object)
    const schema = published ?? inferSchema(apiVersion, kind, objects())
    this.schemas.set(key, schema)
    return schema
  }

  private createUnrecordedFailure(what: string, why: string): Failure {
    return new Failure({
      code: 'BP3012',
      what: `the recording cannot say ${what}`,
      where: `cluster ${this.name}, recorded ${this.observedAt}`,
      why,
      remedy: 'record the cluster again with what is missing, or ask the cluster itself',
      retry: 'on-change',
    })
  }
}

/** Backporch's recorder writes only a Secret's metadata; the server gives every Secret a type. */
function hasContent(object: JsonObject): boolean {
  return ['data', 'stringData', 'type'].some((key) => Object.hasOwn(object, key))
}

/** The recording is not older. */
function findNewestTime({ objects }: Recording): string {
  let newest = ''
  for (const { object } of objects.values()) {
    const times = filterObjects(getPartAt(object, 'metadata', 'managedFields')).map((entry) =>
      getTextAt(entry, 'time'),
    )
    for (const time of [...times, getMetadataText(object, 'creationTimestamp')]) {
      if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) && time > newest) newest = time
    }
  }
  return newest
}
