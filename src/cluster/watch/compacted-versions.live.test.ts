import assert from 'node:assert/strict'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { ControlPlane } from '../../../test/controlplane/control-plane.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { handsOf, type ServerHands } from '../../../test/controlplane/server-hands.ts'
import {
  auditedRequests,
  configMapsOf,
  liveWatch,
  throughTcp,
  told,
  Writer,
} from '../../../test/faults/live-watch.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'

/** Without its cache a server takes each watch to etcd, which knows no version from before a compaction. */
const CAUSES = [
  { cause: 'etcd compacted', flag: '--watch-cache=false', expire: compact },
  // A cache begins with what is there when its server starts.
  {
    cause: 'a server that started anew does not have in its cache',
    flag: '--watch-cache=true',
    expire: restart,
  },
]

for (const { cause, flag, expire } of CAUSES) {
  await controlPlaneSuite(
    `watch from a version that ${cause}`,
    { apiServerFlags: [flag], auditLevel: 'Metadata' },
    (plane) => {
      const server = handsOf({ after }, plane, 'kube-apiserver')
      for (const streamedLists of [true, false]) {
        const list = streamedLists ? 'streamed list' : 'list in pages'

        test(`one ${list} deletes no existing object and drops the deleted ones`, async (t) => {
          const { faults, namespace, writer, observer, state } = await watched(
            t,
            plane,
            streamedLists,
          )
          const before = observer.told.length
          await faults.refuse()
          await waitUntil('it waits', () => state().failure?.code === 'BP3001')
          const untold = await auditedRequests(plane, namespace)
          await writer.delete('goes')
          await writer.delete('again')
          await writer.create('again')
          await writer.create('came')
          await expire(plane, server)
          await faults.accept()
          await waitUntil(
            'it was listed anew',
            () => state().state === 'watching' && state().lists === 2,
          )
          const anew = observer.told.slice(before)
          assert.deepEqual([anew[0], anew.at(-1)], ['listing ConfigMap', 'listed ConfigMap'])
          assert.deepEqual(
            anew
              .slice(1, -1)
              .map((line) => line.split(' ').slice(0, 2).join(' '))
              .toSorted(),
            ['changed again', 'changed came', 'changed stays'],
          )
          await writer.assertKnown(observer)
          await assertGoesOn()

          async function assertGoesOn(): Promise<void> {
            const listed = told(observer).length
            writer.expected.length = 0
            for (let n = 0; n < 10; n += 1) await writer.change('came', n)
            await writer.delete('stays')
            await waitUntil(
              'the events came',
              () => told(observer).length >= listed + writer.expected.length,
            )
            await writer.assertTold(observer, listed)
            assert.equal(state().lists, 2)
            const made = (await auditedRequests(plane, namespace)).slice(untold.length)
            const watches = made.filter(
              (line) => line.includes('/configmaps') && line.includes('watch=true'),
            )
            assert.equal(
              watches.filter((line) => line.includes('resourceVersion=')).length,
              streamedLists ? 1 : 2,
              watches.join('\n'),
            )
            // Whether the server is the same, discovery, and the list.
            assert.ok(made.length <= watches.length + 5, made.join('\n'))
          }
        })

        test(`a quiet kind needs one ${list}, and reports no object as changed`, async (t) => {
          const { faults, writer, observer, state } = await watched(t, plane, streamedLists)
          const objects = new Map(observer.objects)
          await faults.refuse()
          const other = new Writer(plane, await plane.namespace('busy'))
          for (let n = 0; n < 20; n += 1) await other.create(`other-${n}`)
          await expire(plane, server)
          await faults.accept()
          await waitUntil(
            'it was listed anew',
            () => state().state === 'watching' && state().lists === 2,
          )
          await writer.assertKnown(observer)
          assert.deepEqual(observer.objects, objects)
          assert.equal(state().failure, undefined)
        })
      }
    },
  )
}

/** A watch of three ConfigMaps through a relay. */
async function watched(t: TestContext, plane: ControlPlane, streamedLists: boolean) {
  const faults = await throughTcp(t, plane)
  const namespace = await plane.namespace('quiet')
  const writer = new Writer(plane, namespace)
  for (const name of ['stays', 'goes', 'again']) await writer.create(name)
  const run = liveWatch(t, faults.kubeconfig, { streamedLists, version: namespace })
  run.watch.follow([configMapsOf(namespace)])
  await waitUntil('it watches', () => run.state().state === 'watching')
  return { ...run, faults, namespace, writer }
}

async function restart(_: ControlPlane, server: ServerHands): Promise<void> {
  await server.kill()
  await server.start()
}

/** Up to the version that the server lists now, by the gateway of etcd. */
async function compact(plane: ControlPlane): Promise<void> {
  const { body } = await plane.request<{ metadata: { resourceVersion: string } }>(
    'GET',
    '/api/v1/namespaces',
  )
  const socketPath = join(dirname(plane.kubeconfig), 'etcd.sock')
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const asked = request({ socketPath, method: 'POST', path: '/v3/kv/compaction' }, (answer) =>
      resolve(answer.resume().statusCode),
    )
    asked.on('error', reject)
    asked.end(JSON.stringify({ revision: body.metadata.resourceVersion, physical: true }))
  })
  assert.equal(status, 200)
}
