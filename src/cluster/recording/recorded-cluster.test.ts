import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { buildFieldSet, listLeaves } from '@backporch/kyaml/field'
import { getResourceKey, type WantedObject } from '@backporch/kyaml/resource'
import {
  failsWith,
  observedAt,
  recorded,
  stateOf,
  verdict,
  wanted,
  writeRecording,
} from '../../../test/fakes/recorded-files.ts'
import { openRecordedCluster } from './recorded-cluster.ts'

const signal = new AbortController().signal

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

const WEB = wanted('apps/v1', 'Deployment', 'shop', 'web')

test('reads objects from YAML, JSON and nested lists, with Kubernetes scalars', async (t) => {
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

test('a single file is a recording too', async (t) => {
  const folder = writeRecording(t, { 'prod.yaml': DEPLOYMENT })
  const cluster = openRecordedCluster({ path: join(folder, 'prod.yaml'), observedAt })
  assert.equal(cluster.name, 'prod')
  assert.equal(await verdict(cluster, WEB), 'present')
})

test('reports an object missing from a plain recording as unreadable, never absent', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  assert.equal(await verdict(cluster, wanted('apps/v1', 'Deployment', 'shop', 'other')), 'BP3012')
})

test('reports absence when the recording marks the kind as complete or the object as absent', async (t) => {
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
    assert.equal(await verdict(cluster, one), expected, getResourceKey(one.id))
})

test('does not compare an object recorded in another version', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  assert.equal(
    await verdict(cluster, wanted('apps/v1beta1', 'Deployment', 'shop', 'web')),
    'BP3012',
  )
  // An inventory names no version.
  assert.equal(await verdict(cluster, { ...WEB, apiVersion: '' }), 'present')
})

test('looks for an object without a namespace in the default one', async (t) => {
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

test('the time of a plain recording is the newest time in its objects', async (t) => {
  assert.equal(
    (await recorded(t, { 'a.yaml': DEPLOYMENT }).identify(signal)).observedAt,
    '2026-11-20T10:00:00Z',
  )
  const timeless = await recorded(t, {
    'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  }).identify(signal)
  assert.deepEqual(timeless, {
    uid: undefined,
    version: '',
    observedAt,
    recorded: true,
    namespace: 'default',
  })
})

test('infers list keys and atomic maps from managedFields, the rest from built-in knowledge', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const { namespaced, schema } = await cluster.findServedKind('apps/v1', 'Deployment', signal)
  assert.equal(namespaced, true)
  const containers = schema
    .getChildSchema('spec')
    .getChildSchema('template')
    .getChildSchema('spec')
    .getChildSchema('containers')
  assert.deepEqual(
    [containers.kind, containers.listType, containers.keys],
    ['list', 'map', ['name']],
  )
  assert.equal(schema.getChildSchema('spec').getChildSchema('selector').atomic, true)
  const ports = containers.getItemSchema().getChildSchema('ports')
  assert.deepEqual(
    [ports.keys, ports.getItemSchema().findDefault('protocol')],
    [['containerPort', 'protocol'], 'TCP'],
  )
})

test('the inferred schema names the fields of a manifest like the server', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const { schema } = await cluster.findServedKind('apps/v1', 'Deployment', signal)
  const state = await stateOf(cluster, WEB)
  assert.ok(state.state === 'present')
  const paths = listLeaves(buildFieldSet(state.object, schema)).map((path) =>
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

test('infers nothing about a custom kind that is not in the recording', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  await assert.rejects(
    cluster.findServedKind('example.com/v1', 'Widget', signal),
    failsWith('BP3012'),
  )
  assert.equal(
    (await cluster.findServedKind('rbac.authorization.k8s.io/v1', 'ClusterRole', signal))
      .namespaced,
    false,
  )
})

test('a dry run that was not recorded is unproven', async (t) => {
  const cluster = recorded(t, { 'a.yaml': DEPLOYMENT })
  const prediction = await cluster.predict({ ...WEB, object: {} }, 'kubectl', signal)
  assert.ok(prediction.state === 'unproven')
  assert.equal(prediction.failure.code, 'BP3012')
})

test('finds an inventory by name and by id, and never guesses its absence', async (t) => {
  const group = `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata: {name: inv, namespace: shop, labels: {cli-utils.sigs.k8s.io/inventory-id: id-1}}
spec: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web}, {kind: "", name: x}]}
`
  const cluster = recorded(t, { 'a.yaml': group })
  for (const ref of [
    { namespace: 'shop', name: 'inv', id: undefined },
    { namespace: 'shop', name: undefined, id: 'id-1' },
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

test('reports unreadable recordings with their file', (t) => {
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

test('finalizers are a set in every kind', async (t) => {
  const { schema } = await recorded(t, { 'a.yaml': DEPLOYMENT }).findServedKind(
    'apps/v1',
    'Deployment',
    signal,
  )
  assert.equal(schema.getChildSchema('metadata').getChildSchema('finalizers').listType, 'set')
})

test('lists the recorded objects of a kind and says whether the list is complete', async (t) => {
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
