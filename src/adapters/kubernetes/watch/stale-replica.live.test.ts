import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { controlPlaneSuite } from '../../../../test/controlplane/control-plane-suite.ts'
import { secondApiServer } from '../../../../test/controlplane/server-hands.ts'
import { configMapsOf, liveWatch, throughTcp, told, Writer } from '../../../../test/faults/live-watch.ts'
import { until } from '../../../../test/faults/recording-observer.ts'
import { type TcpFaults, tcpFaults } from '../../../../test/faults/tcp-faults.ts'
import type { WatchOptions } from './watch-options.ts'

// A plane of its own: another server works on its store (docs/facts/stale-replicas.md).
await controlPlaneSuite('watch of a replica that lags behind', { apiServerFlags: ['--watch-cache=true'] }, (plane) => {
  /** A relay to the first server, a watch through it, and a second server whose way to the store can be frozen. */
  async function world(t: TestContext, flag: (etcd: string) => string, options: WatchOptions & { readonly timeout?: number } = {}) {
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
    await until(() => state().state === 'watching', 'it watches')
    await writer.create('one')
    await writer.create('goes')
    // Frozen before the replica saw them, or after: it is behind in both cases.
    etcd.freeze()
    for (let n = 0; n < 5; n += 1) await writer.change('one', n)
    await writer.delete('goes')
    await until(() => told(observer).length === writer.expected.length, 'they were told by the first server')
    const before = [...observer.told]
    switchTo(replica)
    await until(() => state().reopened === 1 && state().state === 'watching', 'the replica is watched')
    for (let n = 10; n < 15; n += 1) await writer.change('one', n)
    await writer.create('two')
    return { ...run, before }
  }

  test('PING proves that the replica answers, not that it has what was written; nothing older is told, and back at the first server the rest is told once', async (t) => {
    const { observer, state, writer, switchTo, before } = await watchingBehind(t)
    const written = Date.now()
    await until(() => state().provenAt > written, 'the replica answered PING')
    assert.equal(state().failure, undefined)
    assert.deepEqual(observer.told, before)
    switchTo(plane.url)
    await until(() => told(observer).length >= writer.expected.length, 'the events came')
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })

  test('a replica that catches up tells what the first server had not told, once', async (t) => {
    const { observer, state, writer, etcd, before } = await watchingBehind(t)
    assert.deepEqual(observer.told, before)
    etcd.reset()
    await until(() => told(observer).length >= writer.expected.length, 'the events came')
    await writer.change('one', 20)
    await until(() => told(observer).length >= writer.expected.length, 'the replica tells what is new')
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })

  test('back and forth between both servers under writes loses no event and tells none twice', async (t) => {
    const { observer, state, writer, switchTo, replica } = await watchingBehind(t)
    for (let n = 100; n < 150; n += 1) {
      await writer.change('one', n)
      if (n % 10 === 5) switchTo(n % 20 === 5 ? plane.url : replica)
      await sleep(10)
    }
    switchTo(plane.url)
    await until(() => told(observer).length >= writer.expected.length, 'the events came')
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })

  for (const streamedLists of [true, false]) {
    test(`a ${streamedLists ? 'streamed' : 'paged'} list of the replica is not taken before it caught up`, async (t) => {
      const run = await world(t, onlyConfigMaps, { streamedLists, timeout: 500, longestListSilence: 500 })
      const { observer, watch, state, writer, namespace, etcd, replica, switchTo } = run
      await writer.create('one')
      etcd.freeze()
      await writer.delete('one')
      await writer.create('two')
      switchTo(replica)
      watch.follow([configMapsOf(namespace)])
      await until(() => state().failure?.code === 'BP3006', 'the list does not come')
      assert.deepEqual([state().lists, state().provenAt, told(observer)], [0, 0, []])
      etcd.reset()
      await until(() => state().state === 'watching', 'it watches')
      assert.equal(told(observer).filter((line) => line !== writer.expected.at(-1)).length, 0)
      await writer.assertKnown(observer)
    })
  }

  test('a replica without any way to the store is not watched: the state says so and ages, and the first server tells the rest once', async (t) => {
    const { observer, watch, state, writer, namespace, etcd, replica, switchTo } = await world(t, everything, { timeout: 500 })
    watch.follow([configMapsOf(namespace)])
    await until(() => state().state === 'watching', 'it watches')
    await writer.create('one')
    await until(() => told(observer).length === 1, 'the first event came')
    freezeAll(t, etcd)
    switchTo(replica)
    // PING is answered there, but whether it is the same server, and how far its history goes, is not.
    await until(() => state().state === 'waiting' && state().failure?.code === 'BP3006', 'it waits')
    const { provenAt, reopened } = state()
    for (let n = 0; n < 5; n += 1) await writer.change('one', n)
    await sleep(500)
    assert.deepEqual([told(observer).length, state().reopened, state().failure?.code], [1, reopened, 'BP3006'])
    assert.ok(Math.abs(state().provenAt - provenAt) < 20, 'nothing proves it meanwhile')
    switchTo(plane.url)
    await until(() => told(observer).length >= writer.expected.length, 'the events came')
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })
})

/** Connections that are opened later freeze as well. */
function freezeAll(t: TestContext, etcd: TcpFaults): void {
  etcd.freeze()
  const freezing = setInterval(() => etcd.freeze(), 20)
  t.after(() => clearInterval(freezing))
}
