/** The cluster of a case as it was recorded: it answers what the API server answered, and nothing that was not asked of it then. */
import type { ClusterIdentity, ClusterReader, ServedKind } from '@backporch/cluster/cluster'
import { computePredictionKey, RecordedCluster, type Recording } from '@backporch/cluster/recording'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, findKindSchema } from '@backporch/kyaml/field'
import { getKey, type Json } from '@backporch/kyaml/json'
import {
  getMetadataText,
  getResourceKey,
  type LiveState,
  type LiveView,
  type Prediction,
  parseApiVersion,
  type Resource,
  readResource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { type CaseRecording, type RecordedKind, readKinds, readSchemas } from './recording.ts'

/** What all cases share, read once. */
export class RecordedServer {
  private readonly kinds: readonly RecordedKind[] = readKinds()
  private readonly documents: ReadonlyMap<string, Json> = readSchemas()
  private readonly schemas = new Map<string, FieldSchema>()

  /** @param version empty for any */
  kindOf(group: string, version: string, kind: string): RecordedKind | undefined {
    return this.kinds.find(
      (one) =>
        one.group === group &&
        one.kind === kind &&
        (version === '' || one.versions.includes(version)),
    )
  }

  /** The recording of a case as our own recordings are: complete, and each object in the version that the server prefers. */
  recordingOf({ live }: CaseRecording, namespace: string): Recording {
    const resources = live.objects.flatMap((object) => {
      const read = readResource(object)
      if ('problem' in read) throw new Error(read.problem)
      const { group, version } = parseApiVersion(read.apiVersion)
      return this.kindOf(group, '', read.id.kind)?.versions[0] === version ? [read] : []
    })
    const kinds = this.kinds.map(({ group, kind, namespaced, versions }) => ({
      apiVersion: versionOf(group, versions[0] ?? ''),
      kind,
      namespaced,
      namespace: undefined,
    }))
    return {
      cluster: 'corpus',
      serverVersion: live.version,
      uid: 'corpus',
      observedAt: live.observedAt,
      namespace,
      complete: kinds,
      absent: new Set(),
      kinds,
      objects: new Map(resources.map((resource) => [getResourceKey(resource.id), resource])),
      predictions: new Map(),
      schemas: [],
    }
  }

  schemaOf(apiVersion: string, kind: string): FieldSchema {
    const key = `${apiVersion}#${kind}`
    const document = this.documents.get(apiVersion)
    const schema =
      this.schemas.get(key) ??
      (document === undefined ? undefined : findKindSchema(document, apiVersion, kind))
    if (schema === undefined) throw notRecorded(`the schema of ${apiVersion} ${kind}`)
    this.schemas.set(key, schema)
    return schema
  }
}

export class ReplayCluster implements ClusterReader {
  readonly name = 'corpus'
  private readonly server: RecordedServer
  private readonly recording: CaseRecording
  private readonly namespace: string

  /** Answers what is asked of whole lists. */
  private readonly lists: RecordedCluster

  constructor(server: RecordedServer, recording: CaseRecording, namespace: string) {
    this.server = server
    this.recording = recording
    this.namespace = namespace
    this.lists = new RecordedCluster(server.recordingOf(recording, namespace), {
      path: 'corpus',
      observedAt: recording.live.observedAt,
    })
  }

  async identify(): Promise<ClusterIdentity> {
    const { version, observedAt } = this.recording.live
    return { uid: 'corpus', version, observedAt, recorded: false, namespace: this.namespace }
  }

  async findServedKind(apiVersion: string, kind: string): Promise<ServedKind> {
    const { group, version } = parseApiVersion(apiVersion)
    const served = this.server.kindOf(group, version, kind)
    if (served === undefined) throw notServed(`${apiVersion} ${kind}`)
    return { namespaced: served.namespaced, schema: this.server.schemaOf(apiVersion, kind) }
  }

  async readLive(wanted: readonly WantedObject[]): Promise<LiveView> {
    return new Map(wanted.map((one) => [getResourceKey(one.id), this.stateOf(one)]))
  }

  list: ClusterReader['list'] = async (group, kind, signal) => {
    if (this.server.kindOf(group, '', kind) === undefined) throw notServed(`${group}/${kind}`)
    return this.lists.list(group, kind, signal)
  }

  readInventories: ClusterReader['readInventories'] = (refs, signal) =>
    this.lists.readInventories(refs, signal)

  async predict(resource: Resource, fieldManager: string): Promise<Prediction> {
    const key = computePredictionKey(resource, fieldManager)
    const answer = this.recording.answers.find((one) => one.key === key)
    if (answer === undefined)
      throw notRecorded(`the dry run of ${getResourceKey(resource.id)} as ${fieldManager}`)
    if (answer.object !== undefined) return { state: 'predicted', object: answer.object }
    const why = answer.refused ?? ''
    return {
      state: 'refused',
      failure: new Failure({
        code: 'BP3011',
        what: 'the apply is refused',
        why,
        remedy: 'correct the object',
      }),
    }
  }

  private stateOf({ id, apiVersion }: WantedObject): LiveState {
    const served = this.server.kindOf(id.group, '', id.kind)
    if (served === undefined)
      return { state: 'unreadable', failure: notServed(`${apiVersion} ${id.kind}`) }
    const namespace = served.namespaced ? id.namespace || this.namespace : ''
    const version = apiVersion || versionOf(id.group, served.versions[0] ?? '')
    const same = this.recording.live.objects.filter(
      (object) =>
        getKey(object, 'kind') === id.kind &&
        parseApiVersion(String(getKey(object, 'apiVersion'))).group === id.group &&
        getMetadataText(object, 'name') === id.name &&
        getMetadataText(object, 'namespace') === namespace,
    )
    if (same.length === 0) return { state: 'absent' }
    const object = same.find((one) => getKey(one, 'apiVersion') === version)
    if (object === undefined) throw notRecorded(`${getResourceKey(id)} in ${version}`)
    return { state: 'present', object, metadataOnly: false }
  }
}

export function versionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function notServed(what: string): Failure {
  return new Failure({
    code: 'BP3009',
    what: `cannot read ${what}`,
    why: 'the server does not serve it',
    remedy: 'install its definition',
  })
}

function notRecorded(what: string): Error {
  return new Error(`${what} was not recorded: node test/corpus/drift/record.ts`)
}
