/** Records a staged case: what the API server says of its objects, and of applying what git says. */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { computePredictionKey } from '@backporch/cluster/recording'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText, parseApiVersion, type Resource } from '@backporch/kyaml/resource'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import type { Observation } from '../../src/plan/observation/observation.ts'
import { trimDocument } from '../apiserver/trim-document.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { filesBelow } from './case.ts'
import { observeCase } from './observe-case.ts'
import {
  type CaseRecording,
  type RecordedAnswer,
  type RecordedKind,
  readSchemas,
  writeSchema,
} from './recording.ts'
import { versionOf } from './replay-cluster.ts'
import type { CaseStage } from './stage.ts'

/** What was asked of the cluster while a case was observed. */
export interface RequestDescription {
  readonly observation: Observation
  readonly recording: CaseRecording
}

/** Observes the case on its plane, and gives the verdict and what it was made of. */
export async function recordCase(
  stage: CaseStage,
  kinds: readonly RecordedKind[],
): Promise<RequestDescription> {
  const { one, namespace, plane } = stage
  const { reader, close } = connectCluster({
    kubeconfig: stage.kubeconfig,
    name: 'corpus',
    environment: {},
    clock: systemClock,
    version: '0.0.0',
  })
  const signal = new AbortController().signal
  try {
    const requested: ClusterQuestion = {
      predictions: new Map(),
      versions: new Map(),
      read: new Map(),
    }
    const observation = await observeCase(one, stage, listening(reader, requested))
    // The truth does not depend on what was asked: every object that git declares is recorded with its dry run.
    const manager = observation.syncer?.manager ?? 'kubectl'
    for (const { desired } of observation.verdicts)
      if (desired !== undefined)
        requested.predictions.set(computePredictionKey(desired, manager), {
          resource: desired,
          fieldManager: manager,
        })
    // An object that was read is recorded as it was read: the test's own requests do not keep large numbers.
    const live = (
      await liveObjects(plane, namespace, kinds, [
        ...requested.versions.values(),
        ...clusterObjects(stage, kinds),
      ])
    ).map((object) => requested.read.get(keyOf(object)) ?? object)
    const answers: RecordedAnswer[] = []
    for (const [key, { resource, fieldManager }] of [...requested.predictions].sort(
      ([left], [right]) => (left < right ? -1 : 1),
    )) {
      const answer = await reader.predict(resource, fieldManager, signal)
      if (answer.state === 'predicted') answers.push({ key, fieldManager, object: answer.object })
      else if (answer.state === 'refused')
        answers.push({ key, fieldManager, refused: answer.failure.why })
    }
    const { version, observedAt } = observation.cluster
    return {
      observation,
      recording: {
        live: {
          version,
          observedAt,
          appliedAt: stage.appliedAt,
          movedAt: stage.movedAt,
          objects: live,
        },
        answers,
      },
    }
  } finally {
    close()
  }
}

interface ClusterQuestion {
  readonly predictions: Map<string, { readonly resource: Resource; readonly fieldManager: string }>
  /** What was read, by kind, version, place and name. */
  readonly read: Map<string, JsonObject>
  /** Objects that are asked for in a version. */
  readonly versions: Map<
    string,
    {
      readonly apiVersion: string
      readonly kind: string
      readonly name: string
      readonly namespace: string
    }
  >
}

function listening(reader: ClusterReader, requested: ClusterQuestion): ClusterReader {
  return new Proxy(reader, {
    get(target, property) {
      if (property === 'predict') {
        return (resource: Resource, fieldManager: string, signal: AbortSignal) => {
          requested.predictions.set(computePredictionKey(resource, fieldManager), {
            resource,
            fieldManager,
          })
          return target.predict(resource, fieldManager, signal)
        }
      }
      if (property === 'readLive') {
        return async (wanted: Parameters<ClusterReader['readLive']>[0], signal: AbortSignal) => {
          for (const { id, apiVersion } of wanted)
            if (apiVersion !== '')
              requested.versions.set(JSON.stringify([id, apiVersion]), { apiVersion, ...id })
          const view = await target.readLive(wanted, signal)
          for (const state of view.values())
            if (state.state === 'present') requested.read.set(keyOf(state.object), state.object)
          return view
        }
      }
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What controllers make for every namespace, or in such numbers that nobody could read the recording. */
const LEFT_OUT = new Set([
  'Event',
  'Lease',
  'Endpoints',
  'EndpointSlice',
  'Pod',
  'ReplicaSet',
  'ControllerRevision',
  'PodMetrics',
])

async function liveObjects(
  plane: ControlPlane,
  namespace: string,
  kinds: readonly RecordedKind[],
  also: readonly {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly namespace: string
  }[],
): Promise<JsonObject[]> {
  const found = new Map<string, JsonObject>()
  const add = (object: JsonObject): void => {
    found.set(keyOf(object), object)
  }
  for (const { group, kind, plural, namespaced, versions } of kinds) {
    if (!namespaced || LEFT_OUT.has(kind)) continue
    const apiVersion = versionOf(group, versions[0] ?? '')
    const { status, body } = await plane.request<Json>(
      'GET',
      `${pathOfVersion(apiVersion)}/namespaces/${namespace}/${plural}`,
    )
    const items = isJsonObject(body) ? getKey(body, 'items') : undefined
    if (status !== 200 || !isJsonArray(items)) continue
    for (const item of items)
      if (isJsonObject(item) && !isOfEveryNamespace(kind, item)) add({ apiVersion, kind, ...item })
  }
  for (const { apiVersion, kind, name, namespace: other } of also) {
    const { group, version } = parseApiVersion(apiVersion)
    const served = kinds.find(
      (one) => one.group === group && one.kind === kind && one.versions.includes(version),
    )
    if (served === undefined) continue
    const location = served.namespaced ? `/namespaces/${other || namespace}` : ''
    const { status, body } = await plane.request<Json>(
      'GET',
      `${pathOfVersion(apiVersion)}${location}/${served.plural}/${name}`,
    )
    if (status === 200 && isJsonObject(body)) add(body)
  }
  return [...found].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object)
}

function keyOf(object: JsonObject): string {
  return `${getKey(object, 'apiVersion')} ${getKey(object, 'kind')} ${getMetadataText(object, 'namespace')}/${getMetadataText(object, 'name')}`
}

function isOfEveryNamespace(kind: string, object: JsonObject): boolean {
  const name = getMetadataText(object, 'name')
  return (
    (kind === 'ServiceAccount' && name === 'default') ||
    (kind === 'ConfigMap' && name === 'kube-root-ca.crt')
  )
}

/** Cluster-scoped objects that the case's own files name, in the version that the server prefers. */
function clusterObjects({ folder }: CaseStage, kinds: readonly RecordedKind[]) {
  const texts = Object.entries(filesBelow(folder)).filter(([path]) =>
    /^(package|setup|history|edits)\/.*\.ya?ml$/.test(path),
  )
  return texts.flatMap(([, text]) =>
    text.split(/^---$/m).flatMap((document) => {
      const kind = /^kind: (\S+)/m.exec(document)?.[1] ?? ''
      const name =
        /^ {2}name: (\S+)/m.exec(document)?.[1] ??
        /^metadata: \{name: ([^,}\s]+)/m.exec(document)?.[1] ??
        ''
      const group = parseApiVersion(/^apiVersion: (\S+)/m.exec(document)?.[1] ?? '').group
      const served = kinds.find(
        (one) => one.group === group && one.kind === kind && !one.namespaced,
      )
      return served === undefined
        ? []
        : [{ apiVersion: versionOf(group, served.versions[0] ?? ''), kind, name, namespace: '' }]
    }),
  )
}

interface ResourceList {
  readonly groupVersion: string
  readonly resources?: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
  }[]
}

/** Every kind that the server lets be listed, the preferred version of each group first. */
export async function discoverKinds(plane: ControlPlane): Promise<RecordedKind[]> {
  interface Groups {
    readonly groups: readonly {
      readonly name: string
      readonly versions: readonly { readonly version: string }[]
    }[]
  }
  const { body } = await plane.request<Groups>('GET', '/apis')
  const groups = [{ name: '', versions: [{ version: 'v1' }] }, ...body.groups]
  const kinds: RecordedKind[] = []
  for (const { name: group, versions } of groups) {
    const found = new Map<string, { plural: string; namespaced: boolean; versions: string[] }>()
    for (const { version } of versions) {
      const { body: list } = await plane.request<ResourceList>(
        'GET',
        pathOfVersion(versionOf(group, version)),
      )
      for (const { name, kind, namespaced, verbs } of list.resources ?? []) {
        if (name.includes('/') || !verbs.includes('list')) continue
        const known = found.get(kind)
        if (known === undefined) found.set(kind, { plural: name, namespaced, versions: [version] })
        else known.versions.push(version)
      }
    }
    kinds.push(...[...found].map(([kind, rest]) => ({ group, kind, ...rest })))
  }
  return kinds
}

/** Writes the schemas of these kinds, beside those that are there already. */
export async function recordSchemas(
  plane: ControlPlane,
  used: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const known = readSchemas()
  for (const [apiVersion, kinds] of used) {
    const { status, body } = await plane.request<Json>(
      'GET',
      `/openapi/v3${pathOfVersion(apiVersion)}`,
    )
    if (status !== 200) continue
    const all = new Set([...kinds, ...kindsIn(known.get(apiVersion), apiVersion)])
    writeSchema(apiVersion, trimDocument(body, apiVersion, [...all].sort()))
  }
}

/** The kinds of which a trimmed document has the schema. */
function kindsIn(document: Json | undefined, apiVersion: string): string[] {
  const { group, version } = parseApiVersion(apiVersion)
  const components = isJsonObject(document) ? getKey(document, 'components') : undefined
  const schemas = isJsonObject(components) ? getKey(components, 'schemas') : undefined
  return Object.values(isJsonObject(schemas) ? schemas : {}).flatMap((definition) => {
    const marks = isJsonObject(definition)
      ? getKey(definition, 'x-kubernetes-group-version-kind')
      : undefined
    return (isJsonArray(marks) ? marks : [])
      .filter(isJsonObject)
      .filter(
        (mark) => (getKey(mark, 'group') ?? '') === group && getKey(mark, 'version') === version,
      )
      .map((mark) => String(getKey(mark, 'kind')))
  })
}

function pathOfVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}
