import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, create, wanted } from '../../../test/apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import { readFailedPods } from './read-failed-pods.ts'

const signal = new AbortController().signal
const CONTAINERS = [{ name: 'app', image: 'db:1' }]
const LOOPING = {
  phase: 'Running',
  containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
}

await controlPlaneSuite(
  'pods that failed, on a real API server',
  { controllerManager: true },
  (plane) => {
    async function setStatus(namespace: string, name: string, status: object): Promise<void> {
      const patch = { contentType: 'application/merge-patch+json', body: { status } }
      assert.equal(
        (await plane.request('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, patch))
          .status,
        200,
      )
    }

    test('a StatefulSet fails because of its own pod, not of another pod with its labels', async () => {
      const { reader } = await connect(plane)
      const namespace = await plane.namespace('pods')
      const template = { metadata: { labels: { app: 'db' } }, spec: { containers: CONTAINERS } }
      const spec = {
        replicas: 1,
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template,
      }
      await create(plane, `/apis/apps/v1/namespaces/${namespace}/statefulsets`, {
        metadata: { name: 'db' },
        spec,
      })
      const id = wanted('apps/v1', 'StatefulSet', namespace, 'db')
      const failed = async () => {
        const live = await reader.readLive([id], signal)
        const identity = await reader.identify(signal)
        const { failed: found, notes } = await readFailedPods(
          { reader, identity },
          [id.id],
          live,
          signal,
        )
        assert.deepEqual(notes, [])
        return [...found.values()].map(({ message }) => message)
      }
      const path = `/api/v1/namespaces/${namespace}`
      await waitUntil(
        'the StatefulSet has its pod',
        async () => (await plane.request('GET', `${path}/pods/db-0`)).status === 200,
      )

      await create(plane, `${path}/configmaps`, { metadata: { name: 'other' } })
      const { metadata } = (await plane.request('GET', `${path}/configmaps/other`)).body as {
        metadata: { uid: string }
      }
      const owner = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'other',
        uid: metadata.uid,
        controller: true,
      }
      const stranger = { name: 'stranger', labels: { app: 'db' }, ownerReferences: [owner] }
      await create(plane, `${path}/pods`, { metadata: stranger, spec: { containers: CONTAINERS } })
      await setStatus(namespace, 'stranger', LOOPING)
      assert.deepEqual(await failed(), [])

      await setStatus(namespace, 'db-0', LOOPING)
      assert.deepEqual(await failed(), [
        '1 pods have failed (db-0: Containers in CrashLoop state: app)',
      ])
    })
  },
)
