import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { formatJson, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey, type WantedObject } from '@backporch/kyaml/resource'
import {
  assertSameOwnership,
  at,
  bind,
  connect,
  create,
  realClock,
  resourceOf,
  verdict,
  wanted,
} from '../../../test/apiserver/live-cluster.ts'
import type { ControlPlane } from '../../../test/controlplane/control-plane.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { retryWhile, waitUntil } from '../../../test/waiting/wait-until.ts'
import { type ConnectedCluster, connectCluster } from './connect-cluster.ts'

const signal = new AbortController().signal

function configMap(namespace: string, name: string, data: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
}

/** A CRD whose list-map keys only its own schema can tell. Cluster-scoped, so its group is the namespace's name. */
async function installWidgets(plane: ControlPlane, namespace: string): Promise<string> {
  const group = `${namespace}.example.com`
  const rule = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      zone: { type: 'string', default: 'any' },
      weight: { type: 'integer', format: 'int64' },
    },
    required: ['id'],
  }
  const rules = {
    type: 'array',
    items: rule,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['id', 'zone'],
  }
  const spec = {
    type: 'object',
    properties: {
      big: { type: 'integer', format: 'int64' },
      rules,
      plain: { type: 'array', items: { type: 'string' } },
    },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  }
  await create(plane, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [version],
    },
  })
  return `${group}/v1`
}

/** Until discovery and OpenAPI, which follow a new CRD after a moment, both have it. */
async function untilServed(
  cluster: ConnectedCluster,
  apiVersion: string,
  kind: string,
): Promise<void> {
  const ask = () => cluster.reader.findServedKind(apiVersion, kind, signal)
  await retryWhile(
    `${kind} is served`,
    ask,
    (thrown) => thrown instanceof Failure && thrown.code === 'BP3009',
  )
}

await controlPlaneSuite('API server cluster', {}, (plane) => {
  test('identifies the cluster by its kube-system namespace', async () => {
    const { reader } = await connect(plane)
    const { body } = await plane.request<{ metadata: { uid: string } }>(
      'GET',
      '/api/v1/namespaces/kube-system',
    )
    const identity = await reader.identify(signal)
    assert.equal(identity.uid, body.metadata.uid)
    assert.match(identity.version, /^v1\./)
    assert.equal((await (await connect(plane, 'nobody')).reader.identify(signal)).uid, undefined)
    const options = {
      kubeconfig: plane.kubeconfig,
      environment: {},
      clock: realClock,
      version: 'test',
    }
    const given = connectCluster(options, 'boutique')
    assert.deepEqual(
      [identity.namespace, (await given.reader.identify(signal)).namespace],
      ['default', 'boutique'],
    )
  })

  test('lists a kind over all namespaces, and reports unserved and forbidden kinds', async () => {
    const [one, two] = [await plane.namespace('list'), await plane.namespace('list')]
    for (const namespace of [one, two])
      await create(
        plane,
        `/api/v1/namespaces/${namespace}/configmaps`,
        configMap(namespace, 'listed', {}),
      )
    const { objects, complete } = await (await connect(plane)).reader.list('', 'ConfigMap', signal)
    const found = objects
      .filter((object) => getMetadataText(object, 'name') === 'listed')
      .map((object) => getMetadataText(object, 'namespace'))
    assert.ok(found.includes(one) && found.includes(two) && complete)
    assert.equal(objects[0]?.['kind'], 'ConfigMap')
    const refused = async (work: Promise<unknown>, code: string) =>
      assert.rejects(work, (thrown) => thrown instanceof Failure && thrown.code === code)
    await refused((await connect(plane)).reader.list('argoproj.io', 'NoSuchKind', signal), 'BP3009')
    await refused((await connect(plane, 'nobody')).reader.list('', 'ConfigMap', signal), 'BP3003')
  })

  test('lists over several pages are complete', async () => {
    const namespace = await plane.namespace('pages')
    const names = Array.from({ length: 620 }, (_, index) => `c${String(index).padStart(3, '0')}`)
    for (let start = 0; start < names.length; start += 40) {
      const batch = names.slice(start, start + 40)
      await Promise.all(
        batch.map((name) =>
          create(
            plane,
            `/api/v1/namespaces/${namespace}/configmaps`,
            configMap(namespace, name, { name }),
          ),
        ),
      )
    }
    const { reader } = await connect(plane)
    const view = await reader.readLive(
      [...names, 'missing'].map((name) => wanted('v1', 'ConfigMap', namespace, name)),
      signal,
    )
    assert.equal([...view.values()].filter(({ state }) => state === 'present').length, 620)
    assert.equal(view.get(`/ConfigMap/${namespace}/missing`)?.state, 'absent')
  })

  test('reports a forbidden object as unreadable with the missing RBAC rule, and a missing one as absent', async () => {
    const namespace = await plane.namespace('rights')
    await create(plane, `/api/v1/namespaces/${namespace}/configmaps`, configMap(namespace, 'a', {}))
    const ids = ['a', 'b'].map((name) => wanted('v1', 'ConfigMap', namespace, name))
    const observed = await (await connect(plane)).reader.readLive(ids, signal)
    assert.deepEqual([...observed.values()].map(verdict), ['present', 'absent'])
    const blind = await (await connect(plane, 'eve')).reader.readLive(ids, signal)
    assert.deepEqual([...blind.values()].map(verdict), ['BP3003', 'BP3003'])
    const first = [...blind.values()][0]
    assert.ok(first?.state === 'unreadable')
    const rule = 'apiGroups: [""], resources: ["configmaps"], verbs: ["list"]'
    assert.equal(
      first.failure.remedy,
      `bind user "eve" to a Role in namespace ${namespace} with ${rule}`,
    )

    // The rule as printed is the one that helps.
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await create(plane, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
      metadata: { name: 'r' },
      rules,
    })
    await bind(plane, namespace, 'r', 'eve')
    const granted = await (await connect(plane, 'eve')).reader.readLive(ids, signal)
    assert.deepEqual([...granted.values()].map(verdict), ['present', 'absent'])
  })

  test('a role for named Secrets permits reading these by name, and no others', async () => {
    const namespace = await plane.namespace('secrets')
    for (const name of ['mine', 'theirs'])
      await create(plane, `/api/v1/namespaces/${namespace}/secrets`, {
        metadata: { name },
        stringData: { a: 'b' },
      })
    const rules = [
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['list'] },
    ]
    await create(plane, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
      metadata: { name: 'r' },
      rules,
    })
    await bind(plane, namespace, 'r', 'sam')
    const ids = ['mine', 'theirs'].map((name) => wanted('v1', 'Secret', namespace, name))
    const view = await (await connect(plane, 'sam')).reader.readLive(ids, signal)
    assert.deepEqual([...view.values()].map(verdict), ['present', 'BP3003'])
  })

  test('a dry run shows what an apply would change, and changes nothing', async () => {
    const namespace = await plane.namespace('predict')
    const { reader } = await connect(plane)
    await plane.kubectl(['apply', '--server-side', '-f', '-'], {
      stdin: JSON.stringify(configMap(namespace, 'c', { a: 'git' })),
    })
    await plane.kubectl([
      'patch',
      'configmap',
      'c',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"data":{"a":"hand"}}',
    ])
    const id = wanted('v1', 'ConfigMap', namespace, 'c')
    const before = await present(reader, id)
    const prediction = await reader.predict(
      resourceOf(configMap(namespace, 'c', { a: 'git' })),
      'kubectl',
      signal,
    )
    assert.ok(prediction.state === 'predicted')
    assert.deepEqual([before['data'], prediction.object['data']], [{ a: 'hand' }, { a: 'git' }])
    assert.equal(
      getMetadataText(await present(reader, id), 'resourceVersion'),
      getMetadataText(before, 'resourceVersion'),
    )
  })

  test('reports why the API server rejects restoring a Service whose port was edited by hand', async () => {
    const namespace = await plane.namespace('service')
    const service: JsonObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace },
      spec: { selector: { app: 'x' }, ports: [{ name: 'http', port: 80 }] },
    }
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(service) })
    await plane.kubectl([
      'patch',
      'service',
      's',
      '-n',
      namespace,
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/ports/0/port","value":81}]',
    ])
    const prediction = await (await connect(plane)).reader.predict(
      resourceOf(service),
      'kubectl',
      signal,
    )
    assert.ok(prediction.state === 'refused', prediction.state)
    assert.equal(prediction.failure.code, 'BP3011')
    assert.match(prediction.failure.why, /Duplicate/)
  })

  test('a missing patch permission proves nothing, and an admission policy is a rejection', async () => {
    const namespace = await plane.namespace('policy')
    const object = resourceOf(configMap(namespace, 'c', { a: '1' }))
    const forbidden = await (await connect(plane, 'eve')).reader.predict(object, 'kubectl', signal)
    assert.ok(forbidden.state === 'unproven' && forbidden.failure.code === 'BP3003')

    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
    const matchConstraints = {
      resourceRules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['configmaps'],
        },
      ],
    }
    const validations = [
      { expression: 'false', reason: 'Forbidden', message: 'no ConfigMaps here' },
    ]
    await create(plane, policies, {
      metadata: { name: namespace },
      spec: { matchConstraints, validations },
    })
    const matchResources = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    }
    await create(plane, `${policies.replace('policies', 'policybindings')}`, {
      metadata: { name: namespace },
      spec: { policyName: namespace, validationActions: ['Deny'], matchResources },
    })
    const { reader } = await connect(plane)
    const denied = await waitUntil('the policy is in force', async () => {
      const prediction = await reader.predict(object, 'kubectl', signal)
      return prediction.state !== 'predicted' && prediction
    })
    assert.ok(denied.state === 'refused')
    assert.match(denied.failure.why, /the policy .* denies it: no ConfigMaps here/)
  })

  test('a rejection names the missing namespace', async () => {
    const prediction = await (await connect(plane)).reader.predict(
      resourceOf(configMap('no-such-namespace', 'c', {})),
      'kubectl',
      signal,
    )
    assert.ok(prediction.state === 'refused')
    assert.match(prediction.failure.why, /namespace no-such-namespace does not exist/)
  })

  test('reads list keys of a custom resource from the server, and its integers exactly', async () => {
    const namespace = await plane.namespace('widgets')
    const cluster = await connect(plane)
    const id = (apiVersion: string) => wanted(apiVersion, 'Widget', namespace, 'w')
    assert.equal(
      verdict(
        (await cluster.reader.readLive([id(`${namespace}.example.com/v1`)], signal)).values().next()
          .value,
      ),
      'BP3009',
    )
    const apiVersion = await installWidgets(plane, namespace)
    await untilServed(cluster, apiVersion, 'Widget')
    const { namespaced, schema } = await cluster.reader.findServedKind(apiVersion, 'Widget', signal)
    const rules = schema.getChildSchema('spec').getChildSchema('rules')
    assert.deepEqual(
      [namespaced, rules.listType, rules.keys, rules.getItemSchema().findDefault('zone')],
      [true, 'map', ['id', 'zone'], 'any'],
    )
    assert.equal(schema.getChildSchema('spec').getChildSchema('plain').listType, 'atomic')
    assert.deepEqual(schema.getChildSchema('metadata').getChildSchema('ownerReferences').keys, [
      'uid',
    ])

    const widget: JsonObject = {
      apiVersion,
      kind: 'Widget',
      metadata: { name: 'w', namespace },
      spec: { big: 9007199254740993n, rules: [{ id: 'a', weight: -9007199254740995n }] },
    }
    const path = `/apis/${apiVersion}/namespaces/${namespace}/widgets`
    const created = await plane.request('POST', path, {
      body: formatJson(widget),
      contentType: 'application/json',
    })
    assert.equal(created.status, 201)
    const live = await present(cluster.reader, id(apiVersion))
    assert.deepEqual(at(live, 'spec', 'big'), 9007199254740993n)
    const prediction = await cluster.reader.predict(resourceOf(widget), 'kubectl', signal)
    assert.ok(prediction.state === 'predicted')
    assert.deepEqual(at(prediction.object, 'spec'), {
      big: 9007199254740993n,
      rules: [{ id: 'a', weight: -9007199254740995n, zone: 'any' }],
    })
    assertSameOwnership(widget, prediction.object, 'kubectl', schema)
  })
})

async function present(reader: ConnectedCluster['reader'], id: WantedObject): Promise<JsonObject> {
  const state = (await reader.readLive([id], signal)).get(getResourceKey(id.id))
  assert.ok(state?.state === 'present', verdict(state))
  return state.object
}
