import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  getResourceKey,
  type LiveState,
  type Resource,
  readResource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { type RecordableCluster, recordCluster } from '../../../test/apiserver/record-cluster.ts'
import {
  failsWith,
  observedAt,
  stateOf,
  verdict,
  wanted,
  writeRecording,
} from '../../../test/fakes/recorded-files.ts'
import { openRecordedCluster } from './recorded-cluster.ts'

const signal = new AbortController().signal

const SECRET_VALUE = 'Q0FOQVJZLXZhbHVl'

function liveCluster(objects: readonly JsonObject[]): RecordableCluster {
  const present = new Map<string, LiveState>(
    objects.map((object) => {
      const resource = readResource(object)
      assert.ok('id' in resource)
      return [getResourceKey(resource.id), { state: 'present', object, metadataOnly: false }]
    }),
  )
  return {
    name: 'prod',
    identify: async () => ({
      uid: 'u-1',
      version: 'v1.34.3',
      observedAt: '2026-11-21T09:00:00Z',
      recorded: false,
      namespace: 'team',
    }),
    findServedKind: async () => ({ namespaced: true, schema: UNKNOWN_SCHEMA }),
    readLive: async (ids) =>
      new Map(
        ids.map(({ id }) => [
          getResourceKey(id),
          present.get(getResourceKey(id)) ?? { state: 'absent' },
        ]),
      ),
    list: async () => ({ objects: [], complete: true }),
    readInventories: async (refs) => refs.map(() => undefined),
    predict: async (resource) => ({
      state: 'predicted',
      object: { ...resource.object, predicted: true },
    }),
    openApiDocument: async () => ({
      components: {
        schemas: {
          W: {
            type: 'object',
            properties: { a: {} },
            'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'ConfigMap' }],
          },
        },
      },
    }),
  }
}

test('a recording answers like the cluster, except for the content of Secrets', async (t) => {
  const folder = writeRecording(t, {})
  const configMap: JsonObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'team' },
    data: { n: 9007199254740993n },
  }
  const annotations = {
    keep: 'me',
    'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"x":"${SECRET_VALUE}"}}`,
  }
  const secret: JsonObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 's', namespace: 'team', annotations },
    data: { x: SECRET_VALUE },
  }
  const [c, s, gone] = [
    wanted('v1', 'ConfigMap', 'team', 'c'),
    wanted('v1', 'Secret', 'team', 's'),
    wanted('v1', 'ConfigMap', 'team', 'gone'),
  ]
  const desired: Resource = { ...c, object: configMap }
  const predictions = [desired, { ...s, object: secret }].map((resource) => ({
    resource,
    fieldManager: 'kubectl',
  }))
  await recordCluster(
    liveCluster([configMap, secret]),
    { wanted: [c, s, gone], predictions },
    folder,
    signal,
  )

  const cluster = openRecordedCluster({ path: folder, observedAt })
  assert.equal(cluster.name, 'prod')
  assert.deepEqual(await cluster.identify(signal), {
    uid: 'u-1',
    version: 'v1.34.3',
    observedAt: '2026-11-21T09:00:00Z',
    recorded: true,
    namespace: 'team',
  })
  assert.deepEqual(await stateOf(cluster, c), {
    state: 'present',
    object: configMap,
    metadataOnly: false,
  })
  assert.equal(await verdict(cluster, gone), 'absent')
  const hidden = await stateOf(cluster, s)
  assert.ok(hidden.state === 'present' && hidden.metadataOnly)
  assert.equal((await cluster.findServedKind('v1', 'ConfigMap', signal)).schema.hasField('a'), true)
  const predicted = await cluster.predict(desired, 'kubectl', signal)
  assert.ok(predicted.state === 'predicted')
  assert.equal(predicted.object['predicted'], true)
  assert.equal((await cluster.predict(desired, 'other', signal)).state, 'unproven')
  assert.equal(
    (await cluster.predict({ ...desired, object: { ...configMap, data: {} } }, 'kubectl', signal))
      .state,
    'unproven',
  )
  const everything = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
  assert.doesNotMatch(everything, new RegExp(SECRET_VALUE))
  assert.match(everything, /"keep": "me"/)
})

test('records an object known only from an inventory without a version', async (t) => {
  const folder = writeRecording(t, {})
  const configMap: JsonObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'team' },
  }
  const c = { ...wanted('v1', 'ConfigMap', 'team', 'c'), apiVersion: '' }
  const gone = { ...wanted('example.com/v1', 'Widget', 'team', 'gone'), apiVersion: '' }
  const live = liveCluster([configMap])
  const cluster = {
    ...live,
    openApiDocument: async (apiVersion: string) =>
      apiVersion === 'v1' ? live.openApiDocument(apiVersion, signal) : assert.fail(apiVersion),
  }
  await recordCluster(cluster, { wanted: [c, gone], predictions: [] }, folder, signal)
  const recording = openRecordedCluster({ path: folder, observedAt })
  assert.deepEqual(
    [await verdict(recording, c), await verdict(recording, gone)],
    ['present', 'absent'],
  )
})

test('recording fails at an unreadable object', async (t) => {
  const folder = writeRecording(t, {})
  const failure = new Failure({ code: 'BP3003', what: 'x', why: 'y', remedy: 'z' })
  const cluster = {
    ...liveCluster([]),
    readLive: async (ids: readonly WantedObject[]) =>
      new Map(ids.map(({ id }) => [getResourceKey(id), { state: 'unreadable', failure } as const])),
  }
  await assert.rejects(
    recordCluster(
      cluster,
      { wanted: [wanted('apps/v1', 'Deployment', 'shop', 'web')], predictions: [] },
      folder,
      signal,
    ),
    failsWith('BP3003', /cannot be recorded/),
  )
})
