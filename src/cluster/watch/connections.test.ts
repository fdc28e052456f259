import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { recordingClock } from '../../../test/apiserver/live-cluster.ts'
import { query, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import {
  after,
  CONFIG_MAPS,
  EVENTS,
  event,
  LISTED,
  listOf,
  namespaces,
  scriptedWatch,
  TOLD,
} from '../../../test/faults/scripted-watch.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { ApiCall } from '../connection/api-connection.ts'
import type { RequestDescription } from '../connection/kubernetes-failure.ts'

const API: ApiCall = { method: 'GET', path: '/api', repeatable: true }
const ASKED: RequestDescription = {
  cluster: 'scripted',
  verb: 'get',
  resource: undefined,
  path: '/api',
}

test('another cluster at the same address makes every kind unreadable and emits nothing', async (t) => {
  let uid = 'uid-1'
  let breakOff = (): void => {}
  const { watch, observer, server, state } = await scriptedWatch(t, {
    routes: { 'GET /api/v1/namespaces': () => ({ body: namespaces(uid, '1000') }) },
    list: () => ({ body: listOf(uid === 'uid-1' ? ['a', 'b'] : []) }),
    watch: (_, body) => {
      breakOff = () => body.reset()
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it watches', () => state().state === 'watching')
  uid = 'uid-2'
  breakOff()
  await waitUntil('it is unreadable', () => observer.failures.length > 0)
  const looks = server.requests.length
  await waitUntil('it looked three more times', () => server.requests.length >= looks + 3)
  assert.deepEqual(observer.told, [...LISTED, 'unreadable ConfigMap BP3015'])
  uid = 'uid-1'
  await waitUntil('the first one is back', () => observer.count('listed ConfigMap') === 2)
})

test('relists a store restored to an older state, although the server would accept the version', async (t) => {
  let version = '150'
  let breakOff = (): void => {}
  const { watch, observer, state } = await scriptedWatch(t, {
    routes: { 'GET /api/v1/namespaces': () => ({ body: namespaces('uid-1', version) }) },
    list: () => ({
      body: listOf(version === '150' ? ['a', 'b'] : ['a'], { resourceVersion: version }),
    }),
    watch: (_, body) => {
      breakOff = () => body.reset()
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it watches', () => state().state === 'watching')
  version = '60'
  breakOff()
  await waitUntil('it was listed again', () => observer.count('listed ConfigMap') === 2)
  assert.deepEqual([...observer.objects.keys()], ['ConfigMap/shop/a'])
})

test('following another set starts and stops only the difference', async (t) => {
  const third = 'GET /api/v1/namespaces/third/configmaps'
  const { watch, observer, watches, server } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(after(from)),
    routes: { [third]: () => statusAnswer(403, 'Forbidden', 'no') },
  })
  const other = { ...CONFIG_MAPS, namespace: 'other' }
  watch.follow([CONFIG_MAPS, other])
  await waitUntil('the events came', () => observer.told.length >= 7)
  watch.follow([{ ...CONFIG_MAPS }])
  watch.follow([CONFIG_MAPS, CONFIG_MAPS])
  assert.deepEqual(
    watch.state().map(({ watched }) => watched.namespace),
    ['shop'],
  )
  // What was begun before this one is seen by the server before it.
  watch.follow([CONFIG_MAPS, { ...CONFIG_MAPS, namespace: 'third' }])
  await waitUntil('the third is asked for', () =>
    server.requests.some(({ path }) => path.includes('/third/')),
  )
  assert.equal(watches.length, 1)
  assert.equal(server.connections, 1)
})

test('unfollowing a kind ends its stream, and closing ends all', async (t) => {
  let open = 0
  const { watch, observer, server, connection } = await scriptedWatch(t, {
    watch: (_, body) => {
      open += 1
      void body.closed.then(() => {
        open -= 1
      })
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it is open', () => open === 1)
  watch.follow([])
  await waitUntil('it is closed', () => open === 0)
  watch.follow([CONFIG_MAPS])
  await waitUntil('it is open again', () => open === 1)
  await watch.close()
  await waitUntil('it is closed', () => open === 0)
  const [told, requests] = [observer.told.length, server.requests.length]
  watch.follow([CONFIG_MAPS])
  // What was begun before this one is seen by the server before it.
  await connection.send(API, ASKED, new AbortController().signal)
  assert.deepEqual([observer.told.length, server.requests.length], [told, requests + 1])
  assert.deepEqual(watch.state(), [])
})

for (const protocol of ['h2', 'http/1.1', 'plain'] as const) {
  test(`${protocol}: a watch that breaks repeatedly loses no event`, async (t) => {
    const lines = Array.from({ length: 40 }, (_, index) =>
      event('MODIFIED', 'a', String(101 + index)),
    )
    const { watch, observer } = await scriptedWatch(t, {
      watch: (from, body) => {
        const left = after(from, lines)
        body.send(left.slice(0, 1000))
        if (left.length > 1000) body.reset()
      },
      server: { protocol },
    })
    watch.follow([CONFIG_MAPS])
    await waitUntil('the events came', () => observer.told.length >= 44)
    assert.deepEqual(observer.told, [
      ...LISTED,
      ...lines.map((_, index) => `changed a ${101 + index}`),
    ])
  })
}

test('HTTP/1.1: closes a watch that the server does not end within its short timeout', async (t) => {
  const { watch, watches, observer } = await scriptedWatch(t, {
    watch: () => undefined,
    server: { protocol: 'http/1.1' },
    options: { unprovenStreamLasts: [1, 1], endsWithin: -1900 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it was reopened', () => watches.length >= 3)
  assert.equal(observer.count('listing ConfigMap'), 1)
})

test('HTTP/2: a PING proves a quiet watch alive without reopening it', async (t) => {
  const { watch, watches, state } = await scriptedWatch(t, {
    watch: () => undefined,
    connection: { pingEvery: 20 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it watches', () => state().state === 'watching')
  const before = state().provenAt
  await waitUntil('it was proven again', () => state().provenAt > before + 100)
  assert.equal(watches.length, 1)
})

test('closes a watch that the server does not end in time', async (t) => {
  const { watch, watches } = await scriptedWatch(t, {
    watch: () => undefined,
    options: { streamLasts: [1, 1], endsWithin: -900 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it was reopened', () => watches.length >= 3)
})

test('spreads many watches over further connections, with room for requests', async (t) => {
  const { watch, server, connection, observer } = await scriptedWatch(t, {
    watch: () => undefined,
    list: () => ({ body: listOf([]) }),
    routes: Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [
        `GET /api/v1/namespaces/n${index}/configmaps`,
        (request) =>
          query(request, 'watch') === 'true' ? { write: () => {} } : { body: listOf([]) },
      ]),
    ),
    server: { maxConcurrentStreams: 20 },
  })
  watch.follow(
    Array.from({ length: 25 }, (_, index) => ({ ...CONFIG_MAPS, namespace: `n${index}` })),
  )
  await waitUntil('all watch', () => watch.state().every(({ state }) => state === 'watching'))
  assert.equal(server.connections, 3)
  assert.equal(observer.count('listed ConfigMap'), 25)
  await connection.send(API, ASKED, new AbortController().signal)
})

test('rereads rejected credentials once, then retries slowly', async (t) => {
  let opened = 0
  const clock = recordingClock()
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: () => {
      opened += 1
      return statusAnswer(401, 'Unauthorized', 'Unauthorized')
    },
    options: { longestWait: 60_000 },
    clock,
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it waits', () => state().state === 'waiting' && clock.slept.length > 0)
  assert.equal(state().failure?.code, 'BP3002')
  assert.equal(opened, 2)
  assert.ok((clock.slept[0] ?? 0) >= 60_000, `it waits ${clock.slept} ms`)
  assert.equal(observer.objects.size, 2)
})

test('reads a replaced token file when the old token is rejected, and resumes the watch', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'watch-token-'))
  t.after(() => rm(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, 'old')
  let accepted = 'old'
  let breakOff = (): void => {}
  const { watch, observer, watches, state } = await scriptedWatch(t, {
    watch: (from, body, { headers }) => {
      if (headers['authorization'] !== `Bearer ${accepted}`)
        return statusAnswer(401, 'Unauthorized', 'Unauthorized')
      breakOff = () => body.reset()
      body.send(accepted === 'old' ? (EVENTS[0] ?? '') : after(from))
      return undefined
    },
    connection: { user: { tokenFile } },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the first event came', () => observer.told.length === 5)
  accepted = 'new'
  await writeFile(tokenFile, 'new')
  breakOff()
  await waitUntil('the other events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual(
    watches.map(({ headers }) => headers['authorization']),
    ['Bearer old', 'Bearer old', 'Bearer new'],
  )
  assert.equal(state().failure, undefined)
})

test('a connection that the server drains keeps its watches, and new ones use another', async (t) => {
  let send: (text: string) => void = () => {}
  const { watch, observer, server, watches } = await scriptedWatch(t, {
    watch: (_, body) => {
      send = body.send
    },
    routes: {
      'GET /api/v1/namespaces/other/configmaps': () => statusAnswer(403, 'Forbidden', 'no'),
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it watches', () => watches.length === 1)
  server.goaway()
  // What is sent later on the same connection comes later.
  send(EVENTS[0] ?? '')
  await waitUntil('the first event came', () => observer.told.length === 5)
  watch.follow([CONFIG_MAPS, { ...CONFIG_MAPS, namespace: 'other' }])
  await waitUntil('the other one was answered', () => observer.failures.length === 1)
  send(EVENTS.slice(1).join(''))
  await waitUntil('the events came', () => observer.told.includes('deleted b 104'))
  assert.equal(watches.length, 1)
  assert.equal(server.connections, 2)
})
