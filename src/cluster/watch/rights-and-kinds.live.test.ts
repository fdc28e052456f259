import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getPartAt } from '@backporch/kyaml/json'
import { create } from '../../../test/apiserver/live-cluster.ts'
import type { ControlPlane } from '../../../test/controlplane/control-plane.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { configMapsOf, liveWatch, told, Writer } from '../../../test/faults/live-watch.ts'
import { HANGS_AFTER, waitUntil } from '../../../test/waiting/wait-until.ts'
import type { WatchedKind } from '../ports/cluster-watch.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

async function grant(
  plane: ControlPlane,
  namespace: string,
  user: string,
  verbs: readonly string[],
): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
  await create(plane, `${RBAC}/namespaces/${namespace}/roles`, {
    metadata: { name: 'reader' },
    rules,
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
  await create(plane, `${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef,
    subjects,
  })
}

async function install(plane: ControlPlane, group: string): Promise<WatchedKind> {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  await create(plane, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  return { apiVersion: `${group}/v1`, kind: 'Widget', namespace: '', metadataOnly: false }
}

await controlPlaneSuite('watch of kinds and rights that come and go', {}, (plane) => {
  for (const streamedLists of [true, false]) {
    const how = streamedLists ? 'streamed list' : 'list in pages'
    test(`a ${how}, then each write once, over streams that the server ends repeatedly`, async (t) => {
      const namespace = await plane.namespace('plain')
      const writer = new Writer(plane, namespace)
      for (const name of ['b', 'a', 'c']) await writer.create(name)
      await writer.change('a', 0)
      const { observer, watch, state } = liveWatch(t, plane.kubeconfig, {
        streamedLists,
        streamLasts: [1_000, 1_000],
      })
      watch.follow([configMapsOf(namespace)])
      await waitUntil('it watches', () => state().state === 'watching')
      assert.deepEqual(
        new Set(
          observer.told
            .filter((line) => line.startsWith('changed'))
            .map((line) => line.split(' ')[1]),
        ),
        new Set(['a', 'b', 'c']),
      )
      const listed = told(observer).length
      assert.equal(listed, 3)
      writer.expected.length = 0
      for (let n = 1; n < 100 || state().reopened < 2; n += 1) {
        await writer.change('a', n)
        if (n % 10 === 0) await writer.delete('b')
        if (n % 10 === 5 && n > 10) await writer.create('b')
        if (n % 10 === 9 && n < 10) await writer.change('b', n)
      }
      await waitUntil(
        'the events came',
        () => told(observer).length >= listed + writer.expected.length,
      )
      await writer.assertTold(observer, listed)
      assert.equal(state().lists, 1)
    })

    test(`a ${how} and events of metadata-only Secrets have no data, and the real kind`, async (t) => {
      const namespace = await plane.namespace('secrets')
      const path = `/api/v1/namespaces/${namespace}/secrets`
      const body = (name: string) => ({ metadata: { name }, stringData: { password: 'canary' } })
      await create(plane, path, body('listed'))
      const { observer, watch, state } = liveWatch(t, plane.kubeconfig, { streamedLists })
      watch.follow([{ apiVersion: 'v1', kind: 'Secret', namespace, metadataOnly: true }])
      await waitUntil('it watches', () => state('Secret').state === 'watching')
      await create(plane, path, body('event'))
      await waitUntil('the event came', () => observer.objects.size === 2)
      for (const object of observer.objects.values()) {
        assert.deepEqual(Object.keys(object).sort(), ['apiVersion', 'kind', 'metadata'])
        assert.deepEqual([object['apiVersion'], object['kind']], ['v1', 'Secret'])
        assert.ok(getPartAt(object, 'metadata', 'managedFields') !== undefined)
      }
      await plane.request('DELETE', `${path}/listed`)
      await waitUntil('the deletion came', () => observer.objects.size === 1)
    })
  }

  test('reports the rule with both verbs for an account without permission, and lists once it is granted', async (t) => {
    const namespace = await plane.namespace('rights')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    const user = `watcher-${namespace}`
    const { observer, watch, state } = liveWatch(t, await plane.kubeconfigFor(user))
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it is unreadable', () => observer.failures.length > 0)
    const [failure] = observer.failures
    assert.equal(failure?.code, 'BP3003')
    assert.match(
      failure?.remedy ?? '',
      new RegExp(
        `user "${user}" to a Role in namespace ${namespace} .*\\["configmaps"\\], verbs: \\["list", "watch"\\]`,
      ),
    )
    await grant(plane, namespace, user, ['list', 'watch'])
    await waitUntil('it watches', () => state().state === 'watching')
    assert.deepEqual(observer.told.slice(0, 2), [
      'unreadable ConfigMap BP3003',
      'listing ConfigMap',
    ])
    await writer.assertKnown(observer)
  })

  test('a permission revoked during a watch makes the kind unreadable at the next stream and deletes nothing', async (t) => {
    const namespace = await plane.namespace('taken')
    await new Writer(plane, namespace).create('one')
    const user = `loser-${namespace}`
    await grant(plane, namespace, user, ['list', 'watch'])
    const { observer, watch, state } = liveWatch(t, await plane.kubeconfigFor(user), {
      streamLasts: [1_000, 1_000],
    })
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    await plane.request('DELETE', `${RBAC}/namespaces/${namespace}/rolebindings/reader`)
    await waitUntil('it is unreadable', () => observer.failures.length > 0)
    assert.equal(observer.failures[0]?.code, 'BP3003')
    assert.equal(state().state, 'unreadable')
    assert.deepEqual(
      told(observer).filter((line) => line.startsWith('deleted')),
      [],
    )
  })

  test('reports the missing watch permission of an account that may only list', async (t) => {
    const namespace = await plane.namespace('half')
    const user = `half-${namespace}`
    await grant(plane, namespace, user, ['list'])
    const { observer, watch } = liveWatch(t, await plane.kubeconfigFor(user), {
      streamedLists: false,
    })
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it is unreadable', () => observer.failures.length > 0)
    assert.match(observer.failures[0]?.message ?? '', /cannot watch configmaps .*may not watch it/)
  })

  test('an unserved kind is unreadable until it is served, and again once removed, without affecting other kinds', async (t) => {
    const namespace = await plane.namespace('kinds')
    const group = `${namespace}.example.com`
    const writer = new Writer(plane, namespace)
    const { observer, watch, state } = liveWatch(t, plane.kubeconfig, { unreadableWait: 300 })
    watch.follow([
      { apiVersion: `${group}/v1`, kind: 'Widget', namespace: '', metadataOnly: false },
      configMapsOf(namespace),
    ])
    await waitUntil('it is unreadable', () => observer.failures.length > 0)
    assert.equal(observer.failures[0]?.code, 'BP3009')
    await install(plane, group)
    await waitUntil('it is served', () => state('Widget').state === 'watching')
    await create(plane, `/apis/${group}/v1/namespaces/${namespace}/widgets`, {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'w' },
    })
    await waitUntil('its object came', () => observer.objects.size === 1)
    const before = observer.failures.length
    await plane.request(
      'DELETE',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`,
    )
    await waitUntil('it is unreadable again', () => observer.failures.length > before)
    assert.equal(state('Widget').failure?.code, 'BP3009')
    assert.equal(observer.count('listed Widget'), 1)
    await writer.create('one')
    await waitUntil('the other kind goes on', () =>
      told(observer).includes(writer.expected[0] ?? ''),
    )
  })

  test('follows a kind without a version in the preferred version of the server', async (t) => {
    const namespace = await plane.namespace('preferred')
    const group = `${namespace}.example.com`
    const kind = await install(plane, group)
    const { observer, watch, state } = liveWatch(t, plane.kubeconfig, { unreadableWait: 300 })
    watch.follow([{ ...kind, apiVersion: `${group}/` }])
    await waitUntil('it is served', () => state('Widget').state === 'watching')
    const { apiVersion } = kind
    await create(plane, `/apis/${apiVersion}/namespaces/${namespace}/widgets`, {
      apiVersion,
      kind: 'Widget',
      metadata: { name: 'w' },
    })
    await waitUntil('its object came', () => observer.objects.size === 1)
    assert.deepEqual(
      [...observer.objects.values()].map((object) => object['apiVersion']),
      [apiVersion],
    )
  })

  test('a kind that supports list but not watch is unreadable and is not listed', async (t) => {
    const { observer, watch } = liveWatch(t, plane.kubeconfig)
    watch.follow([
      { apiVersion: 'v1', kind: 'ComponentStatus', namespace: '', metadataOnly: false },
    ])
    await waitUntil('it is unreadable', () => observer.failures.length > 0)
    assert.deepEqual(observer.told, ['unreadable ComponentStatus BP3009'])
    assert.match(observer.failures[0]?.why ?? '', /without the verb watch/)
  })

  test('kinds of an unavailable API service keep their known objects, and other kinds continue', async (t) => {
    const namespace = await plane.namespace('aggregated')
    const group = `${namespace}.example.com`
    await create(plane, '/apis/apiregistration.k8s.io/v1/apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 1,
        insecureSkipTLSVerify: true,
        service: { namespace, name: 'nobody' },
      },
    })
    t.after(() =>
      plane.request('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`),
    )
    const { watch, state, observer } = liveWatch(t, plane.kubeconfig)
    watch.follow([
      { apiVersion: `${group}/v1`, kind: 'Thing', namespace: '', metadataOnly: false },
      configMapsOf(namespace),
    ])
    // Until discovery has the group, the kind is not known at all.
    await waitUntil(
      'one watches and one does not',
      () => state().state === 'watching' && state('Thing').failure?.code === 'BP3005',
    )
    assert.match(state('Thing').failure?.why ?? '', /API service behind the group/)
    assert.deepEqual(told(observer), [])
  })

  test('a process exits once its watches and connection are closed', async () => {
    const connect = fileURLToPath(new URL('../client/connect-cluster.ts', import.meta.url))
    const clock = fileURLToPath(new URL('../../adapters/system/system-clock.ts', import.meta.url))
    const script = `
      import { connectCluster } from ${JSON.stringify(connect)}
      import { systemClock } from ${JSON.stringify(clock)}
      const cluster = connectCluster({ kubeconfig: ${JSON.stringify(plane.kubeconfig)}, environment: {}, clock: systemClock, version: 'test' })
      const nothing = () => {}
      const watch = cluster.watch({ beginList: nothing, handleChange: nothing, handleDeletion: nothing, handleUnreadable: nothing, finishList: () => setTimeout(end, 100) })
      watch.follow([{ apiVersion: 'v1', kind: 'Namespace', namespace: '', metadataOnly: false }, { apiVersion: 'x/v1', kind: 'None', namespace: '', metadataOnly: false }])
      const end = async () => { await watch.close(); cluster.close(); console.log('closed') }
    `
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', script],
      { timeout: HANGS_AFTER },
    )
    assert.equal(stdout.trim(), 'closed')
  })
})
