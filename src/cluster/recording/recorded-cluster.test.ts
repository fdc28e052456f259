import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { fieldSetOf, leavesOf, UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  type LiveState,
  type Resource,
  readResource,
  resourceKey,
  type WantedObject,
} from '@backporch/kyaml/resource'
import { type RecordableCluster, recordCluster } from '../../../test/apiserver/record-cluster.ts'
import { openRecordedCluster, type RecordedCluster } from './recorded-cluster.ts'

const signal = new AbortController().signal
const observedAt = '2026-01-01T00:00:00Z'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  managedFields:
  - manager: kubectl
    operation: Apply
    apiVersion: apps/v1
    time: "2026-11-20T10:00:00Z"
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:selector: {}
        f:template:
          f:spec:
            f:containers:
              k:{"name":"app"}:
                .: {}
                f:image: {}
                f:name: {}
spec:
  selector: {matchLabels: {app: web}}
  template:
    spec:
      containers:
      - {name: app, image: nginx, ports: [{containerPort: 80}]}
`

function write(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function recorded(t: TestContext, files: Readonly<Record<string, string>>): RecordedCluster {
  return openRecordedCluster({ path: write(t, files), observedAt })
}

function wanted(apiVersion: string, kind: string, namespace: string, name: string): WantedObject {
  return {
    apiVersion,
    id: {
      group: apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '',
      kind,
      namespace,
      name,
    },
  }
}

const WEB = wanted('apps/v1', 'Deployment', 'shop', 'web')

async function stateOf(cluster: RecordedCluster, one: WantedObject): Promise<LiveState> {
  const state = (await cluster.readLive([one], signal)).get(resourceKey(one.id))
  assert.ok(state !== undefined)
  return state
}

async function verdict(cluster: RecordedCluster, one: WantedObject): Promise<string> {
  const state = await stateOf(cluster, one)
  return state.state === 'unreadable' ? state.failure.code : state.state
}

function failsWith(code: string, ...parts: readonly RegExp[]) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, thrown.message)
    for (const part of parts) assert.match(`${thrown.where} ${thrown.what} ${thrown.why}`, part)
    return true
  }
}

test('objects are read from YAML, JSON and lists, at any depth, with Kubernetes scalars', async (t) => {
  const cluster = recorded(t, {
    'a/deployment.yaml': DEPLOYMENT,
    'list.yaml':
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {on: "1", x: yes}}\n',
    'big.json':
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"shop"},"data":{"n":9007199254740993}}',
    'readme.txt': 'not read',
  })
  assert.equal(await verdict(cluster, WEB), 'present')
  const [a, b] = [
    await stateOf(cluster, wanted('v1', 'ConfigMap', 'shop', 'a')),
    await stateOf(cluster, wanted('v1', 'ConfigMap', 'shop', 'b')),
  ]
  assert.ok(a.state === 'present' && b.state === 'present')
  assert.deepEqual(
    [a.object['data'], b.object['data']],
    [{ true: '1', x: true }, { n: 9007199254740993n }],
  )
})

test('one file is a recording too', async (t) => {
  const folder = write(t, { 'prod.yaml': DEPLOYMENT })
  const cluster = openRecordedCluster({ path: join(folder, 'prod.yaml'), observedAt })
  assert.equal(cluster.name, 'prod')
  assert.equal(await verdict(cluster, WEB), 'present')
})

test('what is not in a plain recording is unreadable, never absent', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  assert.equal(await verdict(cluster, wanted('apps/v1', 'Deployment', 'shop', 'other')), 'BP3012')
})

test('absence is claimed where the recording says that the kind is complete, or that the object was not there', async (t) => {
  const header = {
    apiVersion: 'backporch.dev/v1alpha1',
    kind: 'Recording',
    spec: {
      complete: [
        { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop' },
        { apiVersion: 'v1', kind: 'ConfigMap' },
      ],
      absent: [{ apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'gone' }],
    },
  }
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT, 'recording.json': JSON.stringify(header) })
  const cases: readonly (readonly [WantedObject, string])[] = [
    [wanted('apps/v1', 'Deployment', 'shop', 'other'), 'absent'],
    [wanted('apps/v1', 'Deployment', 'elsewhere', 'other'), 'BP3012'],
    [wanted('v1', 'ConfigMap', 'anywhere', 'x'), 'absent'],
    [wanted('v1', 'Service', 'shop', 'gone'), 'absent'],
    [wanted('v1', 'Service', 'shop', 'another'), 'BP3012'],
    [wanted('v1', 'Secret', 'shop', 'x'), 'BP3012'],
  ]
  for (const [one, expected] of cases)
    assert.equal(await verdict(cluster, one), expected, resourceKey(one.id))
})

test('an object recorded in another version is not compared', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  assert.equal(
    await verdict(cluster, wanted('apps/v1beta1', 'Deployment', 'shop', 'web')),
    'BP3012',
  )
  // An inventory names no version.
  assert.equal(await verdict(cluster, { ...WEB, apiVersion: '' }), 'present')
})

test('an object without a namespace is looked for in the default one', async (t) => {
  const cluster = recorded(t, {
    'a.yaml': DEPLOYMENT.replace('namespace: shop', 'namespace: default'),
  })
  assert.equal(await verdict(cluster, wanted('apps/v1', 'Deployment', '', 'web')), 'present')
})

test('a Secret without content is metadata only', async (t) => {
  const cluster = recorded(t, {
    'a.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop}\n---\napiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata: {name: b, namespace: shop}\n',
  })
  const states = [
    await stateOf(cluster, wanted('v1', 'Secret', 'shop', 'a')),
    await stateOf(cluster, wanted('v1', 'Secret', 'shop', 'b')),
  ]
  assert.deepEqual(
    states.map((state) => state.state === 'present' && state.metadataOnly),
    [true, false],
  )
})

test('the time of a plain recording is the newest that its objects tell', async (t) => {
  assert.equal(
    (await recorded(t, { 'a.yaml': DEPLOYMENT }).identify(signal)).observedAt,
    '2026-11-20T10:00:00Z',
  )
  const timeless = await recorded(t, {
    'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  }).identify(signal)
  assert.deepEqual(timeless, {
    uid: '',
    version: '',
    observedAt,
    recorded: true,
    namespace: 'default',
  })
})

test('list keys and atomic maps are told from managedFields, the rest from what is known of built-in kinds', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const { namespaced, schema } = await cluster.servedKind('apps/v1', 'Deployment', signal)
  assert.equal(namespaced, true)
  const containers = schema.child('spec').child('template').child('spec').child('containers')
  assert.deepEqual(
    [containers.kind, containers.listType, containers.keys],
    ['list', 'map', ['name']],
  )
  assert.equal(schema.child('spec').child('selector').atomic, true)
  const ports = containers.items().child('ports')
  assert.deepEqual(
    [ports.keys, ports.items().defaultOf('protocol')],
    [['containerPort', 'protocol'], 'TCP'],
  )
})

test('the inferred schema names the fields of a manifest as the server does', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const { schema } = await cluster.servedKind('apps/v1', 'Deployment', signal)
  const state = await stateOf(cluster, WEB)
  assert.ok(state.state === 'present')
  const paths = leavesOf(fieldSetOf(state.object, schema)).map((path) =>
    path
      .map((step) =>
        step.kind === 'item'
          ? JSON.stringify(step.keys)
          : step.kind === 'field'
            ? step.name
            : step.kind,
      )
      .join('/'),
  )
  assert.ok(
    paths.includes(
      'spec/template/spec/containers/{"name":"app"}/ports/{"containerPort":80,"protocol":"TCP"}/containerPort',
    ),
    paths.join('\n'),
  )
  assert.ok(paths.includes('spec/selector'))
})

test('of a custom kind that is not in the recording nothing is said', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  await assert.rejects(cluster.servedKind('example.com/v1', 'Widget', signal), failsWith('BP3012'))
  assert.equal(
    (await cluster.servedKind('rbac.authorization.k8s.io/v1', 'ClusterRole', signal)).namespaced,
    false,
  )
})

test('a dry run that was not recorded is unproven', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const prediction = await cluster.predict({ ...WEB, object: {} }, 'kubectl', signal)
  assert.ok(prediction.state === 'unproven')
  assert.equal(prediction.failure.code, 'BP3012')
})

test('an inventory is found by name and by id, and its absence is not guessed', async (t) => {
  const group = `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata: {name: inv, namespace: shop, labels: {cli-utils.sigs.k8s.io/inventory-id: id-1}}
spec: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web}, {kind: "", name: x}]}
`
  const cluster = recorded(t, { 'a.yaml': group })
  for (const ref of [
    { namespace: 'shop', name: 'inv', id: '' },
    { namespace: 'shop', name: '', id: 'id-1' },
    { namespace: '', name: 'inv', id: 'id-1' },
  ]) {
    const [inventory] = await cluster.readInventories([ref], signal)
    assert.deepEqual(inventory, {
      source: 'ResourceGroup shop/inv',
      resources: [{ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }],
    })
  }
  const [unknown] = await cluster.readInventories(
    [{ namespace: 'shop', name: 'inv', id: 'id-2' }],
    signal,
  )
  assert.equal(unknown instanceof Failure && unknown.code, 'BP3012')
})

test('recordings that cannot be read are named with their file', (t) => {
  const open = (files: Readonly<Record<string, string>>) => () => recorded(t, files)
  assert.throws(
    () => openRecordedCluster({ path: '/nonexistent', observedAt }),
    failsWith('BP1010', /\/nonexistent.*does not exist/),
  )
  assert.throws(open({ 'a.txt': 'x' }), failsWith('BP1010', /no \.yaml/))
  assert.throws(open({ 'a.json': '{' }), failsWith('BP1010', /a\.json.*not valid JSON/))
  assert.throws(open({ 'a.yaml': 'a: [' }), failsWith('BP1110', /a\.yaml:1/))
  assert.throws(
    open({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: null\n' }),
    failsWith('BP1112', /a\.yaml:1.*metadata\.name/),
  )
  assert.throws(
    open({ 'a.yaml': DEPLOYMENT, 'b.yaml': DEPLOYMENT.replace('nginx', 'other') }),
    failsWith('BP1010', /b\.yaml:1.*a\.yaml:1/),
  )
  open({ 'a.yaml': DEPLOYMENT, 'b.yaml': DEPLOYMENT })()
})

const SECRET_VALUE = 'Q0FOQVJZLXZhbHVl'

function liveCluster(objects: readonly JsonObject[]): RecordableCluster {
  const present = new Map<string, LiveState>(
    objects.map((object) => {
      const resource = readResource(object)
      assert.ok('id' in resource)
      return [resourceKey(resource.id), { state: 'present', object, metadataOnly: false }]
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
    servedKind: async () => ({ namespaced: true, schema: UNKNOWN_SCHEMA }),
    readLive: async (ids) =>
      new Map(
        ids.map(({ id }) => [resourceKey(id), present.get(resourceKey(id)) ?? { state: 'absent' }]),
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

test('what is recorded answers as the cluster did, but for the content of Secrets', async (t) => {
  const folder = write(t, {})
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
  assert.equal((await cluster.servedKind('v1', 'ConfigMap', signal)).schema.declares('a'), true)
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

test('an object of which only an inventory tells is recorded without a version to ask for', async (t) => {
  const folder = write(t, {})
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

test('recording stops at what cannot be read', async (t) => {
  const folder = write(t, {})
  const failure = new Failure({ code: 'BP3003', what: 'x', why: 'y', remedy: 'z' })
  const cluster = {
    ...liveCluster([]),
    readLive: async (ids: readonly WantedObject[]) =>
      new Map(ids.map(({ id }) => [resourceKey(id), { state: 'unreadable', failure } as const])),
  }
  await assert.rejects(
    recordCluster(cluster, { wanted: [WEB], predictions: [] }, folder, signal),
    failsWith('BP3003', /cannot be recorded/),
  )
})

test('finalizers are a set in every kind', async (t) => {
  const { schema } = await recorded(t, { 'a.yaml': DEPLOYMENT }).servedKind(
    'apps/v1',
    'Deployment',
    signal,
  )
  assert.equal(schema.child('metadata').child('finalizers').listType, 'set')
})

test('lists what was recorded of a kind, and says whether that is all of it', async (t) => {
  const header =
    'apiVersion: backporch.dev/v1alpha1\nkind: Recording\nspec: {complete: [{apiVersion: apps/v1, kind: Deployment}]}\n'
  const cluster = recorded(t, {
    'recording.yaml': header,
    'a.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: x}\n',
  })
  const { objects, complete } = await cluster.list('apps', 'Deployment', signal)
  assert.deepEqual([objects.length, complete], [1, true])
  assert.deepEqual(await cluster.list('', 'Deployment', signal), { objects: [], complete: false })
  assert.deepEqual(await cluster.list('apps', 'StatefulSet', signal), {
    objects: [],
    complete: false,
  })
})
