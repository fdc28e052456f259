import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { scriptedServer } from '../../../test/apiserver/scripted-server.ts'
import type { ControlPlane } from '../../../test/controlplane/control-plane.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { startControlPlane } from '../../../test/controlplane/start-control-plane.ts'
import {
  CUT,
  type HttpFault,
  type HttpFaults,
  httpFaults,
} from '../../../test/faults/http-faults.ts'
import { configMapsOf, liveWatch, told, Writer } from '../../../test/faults/live-watch.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { WatchOptions } from './watch-options.ts'

/** A credential that could go with a redirect; the proxy asks under an identity of its own. */
async function addToken(file: string): Promise<void> {
  const config = JSON.parse(await readFile(file, 'utf8'))
  config.users[0].user.token = 'canary-token'
  await writeFile(file, JSON.stringify(config))
}

async function faultsFor(
  t: TestContext,
  plane: ControlPlane,
  protocol: 'h2' | 'http/1.1' = 'h2',
): Promise<HttpFaults> {
  const faults = await httpFaults(plane, { protocol })
  t.after(() => faults.close())
  return faults
}

/** Writes 30 changes while `plan` makes faults of the first watches, and checks that each was told once. */
async function assertNothingLost(
  t: TestContext,
  plane: ControlPlane,
  {
    protocol,
    plan,
    ...options
  }: WatchOptions & {
    readonly protocol?: 'h2' | 'http/1.1'
    readonly plan: (nth: number) => HttpFault | undefined
  },
) {
  const faults = await faultsFor(t, plane, protocol)
  faults.plan = ({ isWatch, path, nth }) =>
    isWatch && path.includes('/configmaps') ? plan(nth) : undefined
  const namespace = await plane.namespace('faulty')
  const run = liveWatch(t, faults.kubeconfig, { streamedLists: false, ...options })
  run.watch.follow([configMapsOf(namespace)])
  await waitUntil('it was listed', () => run.observer.count('listed ConfigMap') === 1)
  const writer = new Writer(plane, namespace)
  await writer.create('one')
  for (let n = 0; n < 30; n += 1) await writer.change('one', n)
  await waitUntil('the events came', () => told(run.observer).length >= writer.expected.length)
  await writer.assertTold(run.observer)
  return { ...run, faults }
}

const error = (code: number): string =>
  `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code } })}\n`

await controlPlaneSuite('watch of a server with faulty answers', {}, (plane) => {
  for (const protocol of ['h2', 'http/1.1'] as const) {
    test(`${protocol}: watches answered with 429, 500, 503, 504, a redirect or a login page lose nothing`, async (t) => {
      const html = {
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html>log in</html>',
      }
      const redirect = { status: 302, headers: { location: 'https://elsewhere.example/' } }
      const answers: readonly HttpFault[] = [
        { status: 429 },
        { status: 500 },
        { status: 503 },
        { status: 504 },
        redirect,
        html,
      ]
      const { state } = await assertNothingLost(t, plane, {
        protocol,
        plan: (nth) => answers[nth - 1],
      })
      assert.equal(state().lists, 1)
    })

    for (const [name, answer, why] of [
      ...[301, 302, 307, 308].map(
        (status) =>
          [
            `a redirect with ${status}`,
            { status },
            /answers 30\d, a redirect, which is not followed/,
          ] as const,
      ),
      [
        'a login page',
        { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>log in</html>' },
        /answers with text\/html, wanted JSON/,
      ],
    ] as const) {
      test(`${protocol}: ${name} for a list or watch appears in the state, emits nothing, and leaks no credential`, async (t) => {
        const elsewhere = await scriptedServer(() => ({ body: {} }), { protocol: 'plain' })
        t.after(() => elsewhere.close())
        const faults = await faultsFor(t, plane, protocol)
        await addToken(faults.kubeconfig)
        let isAnswered = true
        const headers = { location: `${elsewhere.url}/api/v1/configmaps` }
        faults.plan = ({ path }) =>
          isAnswered && path.includes('/configmaps') ? { headers, body: '', ...answer } : undefined
        const namespace = await plane.namespace('elsewhere')
        const writer = new Writer(plane, namespace)
        const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
        watch.follow([configMapsOf(namespace)])
        await waitUntil('the list is not taken', () => why.test(state().failure?.message ?? ''))
        assert.deepEqual(
          [state().failure?.code, state().provenAt, observer.told],
          ['BP3008', 0, []],
        )
        isAnswered = false
        await waitUntil('it watches', () => state().state === 'watching')
        isAnswered = true
        faults.disconnect()
        await waitUntil('the watch is not taken', () => why.test(state().failure?.message ?? ''))
        assert.deepEqual(
          [state().failure?.code, observer.told],
          ['BP3008', ['listing ConfigMap', 'listed ConfigMap']],
        )
        for (let n = 0; n < 5; n += 1) await writer.create(`c-${n}`)
        isAnswered = false
        await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
        await writer.assertTold(observer)
        assert.deepEqual([state().lists, elsewhere.connections], [1, 0])
      })
    }

    test(`${protocol}: watches cut in the middle of a line neither lose nor repeat events`, async (t) => {
      const { state } = await assertNothingLost(t, plane, {
        protocol,
        plan: (nth) => (nth > 8 ? undefined : { lines: (line) => [line.slice(0, nth * 60), CUT] }),
      })
      assert.equal(state().lists, 1)
      assert.ok(state().reopened >= 4, `reopened ${state().reopened} times`)
    })

    test(`${protocol}: watches that end cleanly after each event lose nothing`, async (t) => {
      const { state } = await assertNothingLost(t, plane, {
        protocol,
        plan: (nth) => (nth > 10 ? undefined : { lines: (line) => [line, CUT] }),
      })
      assert.equal(state().lists, 1)
    })
  }

  test('http/1.1: a quiet watch renews its streams at the server timeout without a relist', async (t) => {
    const faults = await faultsFor(t, plane, 'http/1.1')
    const namespace = await plane.namespace('quiet')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig, {
      unprovenStreamLasts: [1_000, 1_000],
    })
    watch.follow([{ apiVersion: 'v1', kind: 'Secret', namespace, metadataOnly: true }])
    await waitUntil('it watches', () => state('Secret').state === 'watching')
    const before = state('Secret').provenAt
    await waitUntil('it was proven twice', () => state('Secret').provenAt > before + 1_500)
    assert.deepEqual(
      [state('Secret').lists, told(observer), state('Secret').failure],
      [1, [], undefined],
    )
  })

  test('does not skip half a line with a newline after it', async (t) => {
    await assertNothingLost(t, plane, {
      plan: (nth) => (nth > 2 ? undefined : { lines: (line) => [`${line.slice(0, 100)}\n`] }),
    })
  })

  test('waits out ERROR events with codes other than 410 and resumes without a relist', async (t) => {
    const { state } = await assertNothingLost(t, plane, {
      plan: (nth) => ({
        lines: (line) => (nth <= 3 ? [line, error([500, 504, 429][nth - 1] ?? 500)] : [line]),
      }),
    })
    assert.equal(state().lists, 1)
  })

  test('duplicate events, older events and older bookmarks change nothing', async (t) => {
    let last = ''
    const old = `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '2' } } })}\n`
    const { state } = await assertNothingLost(t, plane, {
      plan: () => ({
        lines: (line) => {
          const before = last
          last = line
          return [line, line, old, before]
        },
      }),
    })
    assert.equal(state().lists, 1)
  })

  for (const [name, fault] of [
    ['an ERROR event', { lines: () => [error(410)] }],
    ['a status', { status: 410 }],
  ] as const satisfies readonly (readonly [string, HttpFault])[]) {
    test(`410 as ${name} causes a relist that deletes no existing object`, async (t) => {
      const faults = await faultsFor(t, plane)
      const namespace = await plane.namespace('expired')
      const writer = new Writer(plane, namespace)
      for (const object of ['stays', 'goes']) await writer.create(object)
      let isExpired = false
      faults.plan = ({ isWatch, path }) =>
        isWatch && isExpired && path.includes('resourceVersion=') ? fault : undefined
      const { observer, watch, state } = liveWatch(t, faults.kubeconfig, { streamedLists: false })
      watch.follow([configMapsOf(namespace)])
      await waitUntil('it watches', () => state().state === 'watching')
      isExpired = true
      faults.disconnect()
      await writer.delete('goes')
      await writer.create('came')
      await waitUntil('it was listed again', () => state().lists >= 2)
      isExpired = false
      await writer.change('came', 1)
      const last = writer.expected.at(-1) ?? ''
      await waitUntil(
        'it goes on',
        () => observer.told.includes(last) && state().state === 'watching',
      )
      await writer.assertKnown(observer)
      assert.ok(told(observer).every((line) => line !== 'deleted stays'))
    })
  }

  test('410 on the second page restarts the list, and an incomplete list never counts as complete', async (t) => {
    const faults = await faultsFor(t, plane)
    const namespace = await plane.namespace('pages')
    const writer = new Writer(plane, namespace)
    const names = Array.from({ length: 510 }, (_, index) => `c${index}`)
    for (let at = 0; at < names.length; at += 30)
      await Promise.all(names.slice(at, at + 30).map((name) => writer.create(name)))
    faults.plan = ({ path }) =>
      path.includes('continue=') &&
      faults.requests.filter((one) => one.path.includes('continue=')).length === 1
        ? { status: 410 }
        : undefined
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig, { streamedLists: false })
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    assert.deepEqual(
      [observer.count('listing ConfigMap'), observer.count('listed ConfigMap')],
      [2, 1],
    )
    assert.equal(told(observer).length, 500 + 510)
    await writer.assertKnown(observer)
  })

  test('another cluster at the same address makes all unreadable and deletes nothing, until the first one returns', async (t) => {
    const other = await startControlPlane()
    assert.ok(other.state === 'ready')
    t.after(() => other.stop())
    const faults = await faultsFor(t, plane)
    const namespace = await plane.namespace('replaced')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([
      configMapsOf(namespace),
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace, metadataOnly: false },
    ])
    await waitUntil('all watch', () => watch.state().every((one) => one.state === 'watching'))
    faults.retarget(other)
    faults.disconnect()
    await waitUntil('both are unreadable', () => observer.failures.length === 2)
    assert.ok(observer.failures.every(({ code }) => code === 'BP3015'))
    assert.equal(state().state, 'unreadable')
    assert.equal(told(observer).length, 1)
    faults.retarget(plane)
    faults.disconnect()
    await waitUntil('all watch again', () => watch.state().every((one) => one.state === 'watching'))
    await writer.assertKnown(observer)
  })

  test('a kind whose server returns errors does not block the others', async (t) => {
    const faults = await faultsFor(t, plane)
    faults.plan = ({ path }) => (path.includes('/deployments') ? { status: 500 } : undefined)
    const namespace = await plane.namespace('one-kind')
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace, metadataOnly: false },
      configMapsOf(namespace),
    ])
    const writer = new Writer(plane, namespace)
    await waitUntil('the other one watches', () => state().state === 'watching')
    await writer.create('one')
    await waitUntil('its event came', () => told(observer).length === 1)
    await waitUntil('the failure is known', () => state('Deployment').failure?.code === 'BP3005')
    assert.deepEqual(
      observer.failures.map(({ code }) => code),
      [],
    )
  })

  test('a list sent byte by byte ends at the timeout, while a watch sent so still emits its events', async (t) => {
    const faults = await faultsFor(t, plane)
    const namespace = await plane.namespace('drip')
    const writer = new Writer(plane, namespace)
    await writer.create('one')
    let isSlow = true
    faults.plan = ({ path, isWatch }) =>
      path.includes('/configmaps') && (isWatch || isSlow) ? { drip: isSlow ? 40 : 1 } : undefined
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig, {
      streamedLists: false,
      timeout: 500,
    })
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it is too slow', () => state().failure?.code === 'BP3006')
    assert.equal(observer.told.length, 0)
    isSlow = false
    await waitUntil('it watches', () => state().state === 'watching')
    await writer.change('one', 1)
    await waitUntil('its event came', () => told(observer).at(-1) === writer.expected.at(-1))
  })

  test('objects of the maximum size arrive complete, in a list and as events', async (t) => {
    const faults = await faultsFor(t, plane)
    const namespace = await plane.namespace('large')
    const writer = new Writer(plane, namespace)
    const text = 'x'.repeat(1_000_000)
    for (let n = 0; n < 3; n += 1) await writer.create(`listed-${n}`, { text })
    const { observer, watch, state } = liveWatch(t, faults.kubeconfig)
    watch.follow([configMapsOf(namespace)])
    await waitUntil('it watches', () => state().state === 'watching')
    for (let n = 0; n < 3; n += 1) await writer.create(`event-${n}`, { text })
    await waitUntil('the events came', () => observer.objects.size >= 6)
    await writer.assertKnown(observer)
    assert.equal(state().failure, undefined)
  })
})
