import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { realClock } from '../../../test/apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { secondApiServer } from '../../../test/controlplane/server-hands.ts'
import {
  configMapsOf,
  liveWatch,
  longerThanProofs,
  throughTcp,
  told,
  Writer,
} from '../../../test/faults/live-watch.ts'
import { type TcpFaults, tcpFaults } from '../../../test/faults/tcp-faults.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { WatchOptions } from './watch-options.ts'

// A plane of its own: another server works on its store (docs/facts/stale-replicas.md).
await controlPlaneSuite(
  'watch of a replica that lags behind',
  { apiServerFlags: ['--watch-cache=true'] },
  (plane) => {
    /** A relay to the first server, a watch through it, and a second server whose way to the store can be frozen. */
    async function world(
      t: TestContext,
      flag: (etcd: string) => string,
      options: WatchOptions & { readonly timeout?: number } = {},
    ) {
      const etcd = await tcpFaults(`unix://${join(dirname(plane.kubeconfig), 'etcd.sock')}`)
      t.after(() => etcd.close())
      const replica = await secondApiServer(t, plane, [flag(etcd.url)])
      const relay = await throughTcp(t, plane)
      const namespace = await plane.namespace('stale')
      const writer = new Writer(plane, namespace)
      const run = liveWatch(t, relay.kubeconfig, options)
      const switchTo = (server: string): void => {
        relay.retarget(server)
        relay.reset()
      }
      return { ...run, etcd, replica, relay, namespace, writer, switchTo }
    }
    /** The replica reads everything else from the store itself, so its answers say nothing of how far its ConfigMaps are behind. */
    const onlyConfigMaps = (etcd: string): string => `--etcd-servers-overrides=/configmaps#${etcd}`
    const everything = (etcd: string): string => `--etcd-servers=${etcd}`

    /** Watches, has the replica fall behind what was told, and goes on there. */
    async function watchingBehind(t: TestContext) {
      const run = await world(t, onlyConfigMaps)
      const { observer, watch, state, writer, namespace, etcd, replica, switchTo } = run
      watch.follow([configMapsOf(namespace)])
      await waitUntil('it watches', () => state().state === 'watching')
      await writer.create('one')
      await writer.create('goes')
      // Frozen before the replica saw them, or after: it is behind in both cases.
      etcd.freeze()
      for (let n = 0; n < 5; n += 1) await writer.change('one', n)
      await writer.delete('goes')
      await waitUntil(
        'they were told by the first server',
        () => told(observer).length === writer.expected.length,
      )
      const before = [...observer.told]
      switchTo(replica)
      await waitUntil(
        'the replica is watched',
        () => state().reopened === 1 && state().state === 'watching',
      )
      for (let n = 10; n < 15; n += 1) await writer.change('one', n)
      await writer.create('two')
      return { ...run, before }
    }

    test('a replica that answers PING but lags emits nothing older; the first server then emits the rest once', async (t) => {
      const { observer, state, writer, switchTo, before } = await watchingBehind(t)
      const written = realClock.now().getTime()
      await waitUntil('the replica answered PING', () => state().provenAt > written)
      assert.equal(state().failure, undefined)
      assert.deepEqual(observer.told, before)
      switchTo(plane.url)
      await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
      await writer.assertTold(observer)
      assert.equal(state().lists, 1)
    })

    test('a replica that catches up emits once what the first server had not emitted', async (t) => {
      const { observer, state, writer, etcd, before } = await watchingBehind(t)
      assert.deepEqual(observer.told, before)
      etcd.reset()
      await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
      await writer.change('one', 20)
      await waitUntil(
        'the replica tells what is new',
        () => told(observer).length >= writer.expected.length,
      )
      await writer.assertTold(observer)
      assert.equal(state().lists, 1)
    })

    test('switching between both servers under writes neither loses nor repeats events', async (t) => {
      const { observer, state, writer, switchTo, replica } = await watchingBehind(t)
      for (let n = 100; n < 150; n += 1) {
        await writer.change('one', n)
        if (n % 10 === 5) switchTo(n % 20 === 5 ? plane.url : replica)
      }
      switchTo(plane.url)
      await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
      await writer.assertTold(observer)
      assert.equal(state().lists, 1)
    })

    for (const streamedLists of [true, false]) {
      test(`rejects a ${streamedLists ? 'streamed' : 'paged'} list of the replica until it caught up`, async (t) => {
        const run = await world(t, onlyConfigMaps, {
          streamedLists,
          timeout: 500,
          longestListSilence: 500,
        })
        const { observer, watch, state, writer, namespace, etcd, replica, switchTo } = run
        await writer.create('one')
        etcd.freeze()
        await writer.delete('one')
        await writer.create('two')
        switchTo(replica)
        watch.follow([configMapsOf(namespace)])
        await waitUntil('the list does not come', () => state().failure?.code === 'BP3006')
        assert.deepEqual([state().lists, state().provenAt, told(observer)], [0, 0, []])
        etcd.reset()
        await waitUntil('it watches', () => state().state === 'watching')
        assert.equal(told(observer).filter((line) => line !== writer.expected.at(-1)).length, 0)
        await writer.assertKnown(observer)
      })
    }

    test('a replica cut off from the store is not watched, its state ages, and the first server emits the rest once', async (t) => {
      const { observer, watch, state, writer, namespace, etcd, replica, switchTo } = await world(
        t,
        everything,
        { timeout: 500 },
      )
      watch.follow([configMapsOf(namespace)])
      await waitUntil('it watches', () => state().state === 'watching')
      await writer.create('one')
      await waitUntil('the first event came', () => told(observer).length === 1)
      freezeAll(t, etcd)
      switchTo(replica)
      // PING is answered there, but whether it is the same server, and how far its history goes, is not.
      await waitUntil(
        'it waits',
        () => state().state === 'waiting' && state().failure?.code === 'BP3006',
      )
      const { reopened } = state()
      const unknown = realClock.now().getTime()
      for (let n = 0; n < 5; n += 1) await writer.change('one', n)
      await longerThanProofs()
      assert.deepEqual(
        [told(observer).length, state().reopened, state().failure?.code],
        [1, reopened, 'BP3006'],
      )
      assert.ok(state().provenAt <= unknown, 'nothing proves it meanwhile')
      switchTo(plane.url)
      await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
      await writer.assertTold(observer)
      assert.equal(state().lists, 1)
    })
  },
)

/** Connections that are opened later freeze as well. */
function freezeAll(t: TestContext, etcd: TcpFaults): void {
  etcd.freeze()
  const freezing = setInterval(() => etcd.freeze(), 20)
  t.after(() => clearInterval(freezing))
}
