import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../../test/apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import {
  configMapsOf,
  liveWatch,
  longerThanProofs,
  throughTcp,
  told,
  Writer,
} from '../../../test/faults/live-watch.ts'
import { HANGS_AFTER, waitUntil } from '../../../test/waiting/wait-until.ts'
import { WATCH_DEFAULTS } from './watch-options.ts'

await controlPlaneSuite('watch over a connection that breaks', {}, (plane) => {
  test('while a server refuses connections, the state reports it and ages; then each event arrives once, without a relist', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('refused')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    await waitUntil('the first event came', () => told(observer).length === 1)
    await faults.refuse()
    await waitUntil(
      'it waits',
      () => state().state === 'waiting' && state().failure?.code === 'BP3001',
    )
    const refused = realClock.now().getTime()
    for (let n = 0; n < 5; n += 1) await writer.change('one', n)
    await longerThanProofs()
    assert.ok(state().provenAt <= refused, 'nothing proves it meanwhile')
    assert.equal(state().failure?.code, 'BP3001')
    await faults.accept()
    await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
    await waitUntil(
      'it watches again',
      () => state().state === 'watching' && state().failure === undefined,
    )
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })

  test('repeated connection resets under writes neither lose nor repeat events', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('reset')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    for (let n = 0; n < 150; n += 1) {
      await writer.change('one', n)
      if (n % 20 === 10) await writer.create(`more-${n}`)
      if (n % 40 === 30) await writer.delete(`more-${n}`)
      if (n % 15 !== 14) continue
      const { reopened } = state()
      faults.reset()
      // Half of the writes come while it is away, and half while it watches.
      if (n % 30 === 29)
        await waitUntil(
          'it watches again',
          () => state().reopened > reopened && state().state === 'watching',
        )
    }
    await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
    await writer.assertTold(observer)
    assert.ok(state().reopened > 3, `reopened ${state().reopened} times`)
    assert.equal(state().lists, 1)
  })

  test('connections cut after any number of bytes neither lose nor repeat events', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('cut')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    for (let n = 0; n < 60; n += 1) {
      faults.cutAfter(1 + n * 37)
      await writer.change('one', n)
      await writer.change('one', n + 1000)
    }
    faults.cutAfter(Number.POSITIVE_INFINITY)
    await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
    await writer.assertTold(observer)
    assert.equal(state().lists, 1)
  })

  test('a PING detects a half-open watch, and the events meanwhile arrive', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('half-open')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const writer = new Writer(plane, namespace)
    faults.freeze()
    await writer.create('one')
    // Without PING the stream would last longer than any wait of a test.
    assert.ok(WATCH_DEFAULTS.streamLasts[0] >= HANGS_AFTER)
    await waitUntil('the event came', () => told(observer).length >= 1)
    await writer.assertTold(observer)
    assert.deepEqual([state().lists, state().reopened], [1, 1])
  })

  test('a slow connection does not count as broken', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('slow')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    faults.delay(200)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const writer = new Writer(plane, namespace)
    for (let n = 0; n < 5; n += 1) await writer.create(`slow-${n}`)
    await waitUntil('the events came', () => told(observer).length >= 5)
    await writer.assertTold(observer)
    assert.equal(state().reopened, 0)
  })

  test('reports the current state of objects deleted, created or recreated during an outage', async (t) => {
    const faults = await throughTcp(t, plane)
    const namespace = await plane.namespace('away')
    const writer = new Writer(plane, namespace)
    for (const name of ['stays', 'goes', 'again']) await writer.create(name)
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    const listed = told(observer).length
    const uid = (await writer.there()).get('again')
    await faults.refuse()
    writer.expected.length = 0
    await writer.delete('goes')
    await writer.create('came-and-went')
    await writer.delete('came-and-went')
    await writer.delete('again')
    await writer.create('again')
    await faults.accept()
    await waitUntil(
      'the events came',
      () => told(observer).length >= listed + writer.expected.length,
    )
    await writer.assertTold(observer, listed)
    assert.notEqual((await writer.there()).get('again'), uid)
  })

  test('100 kinds of an unreachable server reconnect together, not one by one', async (t) => {
    const faults = await throughTcp(t, plane)
    const { watch } = liveWatch(t, faults.kubeconfig)
    watch.follow(Array.from({ length: 100 }, (_, index) => configMapsOf(`nobody-${index}`)))
    await waitUntil('all watch', () => watch.state().every(({ state }) => state === 'watching'))
    // 100 streams of the server's limit, less those that are kept for requests.
    assert.ok(faults.connections <= 3, `${faults.connections} connections`)
    const before = faults.connections
    faults.reset()
    await waitUntil('all watch again', () =>
      watch.state().every(({ state, reopened }) => state === 'watching' && reopened === 1),
    )
    assert.ok(faults.connections - before <= 4, `${faults.connections - before} new connections`)
  })
})
