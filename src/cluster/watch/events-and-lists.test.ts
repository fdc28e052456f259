import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../../test/apiserver/live-cluster.ts'
import { query, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import {
  after,
  bookmark,
  CONFIG_MAPS,
  EVENTS,
  event,
  LISTED,
  listOf,
  scriptedWatch,
  TOLD,
} from '../../../test/faults/scripted-watch.ts'
import { HANGS_AFTER, waitUntil } from '../../../test/waiting/wait-until.ts'

const AT = Date.parse('2026-11-21T10:00:00Z')

test('emits a list, then the events after it, in order', async (t) => {
  const { watch, observer, state, watches } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(after(from)),
    clock: { ...realClock, now: () => new Date(AT) },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual([...observer.objects.keys()].sort(), ['ConfigMap/shop/a', 'ConfigMap/shop/c'])
  const [request] = watches
  assert.ok(request !== undefined)
  assert.deepEqual(
    [
      query(request, 'resourceVersion'),
      query(request, 'allowWatchBookmarks'),
      query(request, 'timeoutSeconds'),
    ],
    ['100', 'true', '60'],
  )
  const { state: now, lists, reopened, events, failure, provenAt } = state()
  assert.deepEqual([now, lists, reopened, events, failure], ['watching', 1, 0, 4, undefined])
  assert.ok(provenAt <= AT && provenAt > AT - HANGS_AFTER, `proven ${AT - provenAt} ms ago`)
})

for (const how of ['end', 'reset'] as const) {
  const bytes = Buffer.from(EVENTS.join(''))
  // A reset takes longer, and its bytes are as those of an end.
  const step = how === 'end' ? 1 : 40
  test(`a watch cut with ${how} after any byte neither loses nor repeats events`, async (t) => {
    let cut = 0
    let first = true
    const { watch, observer } = await scriptedWatch(t, {
      watch: (from, body) => {
        const [now, isFirst] = [cut, first]
        first = false
        if (!isFirst) return void body.send(after(from))
        body.send(bytes.subarray(0, now))
        body[how]()
      },
    })
    for (cut = 0; cut <= bytes.length; cut += step) {
      first = true
      observer.told.length = 0
      watch.follow([CONFIG_MAPS])
      await waitUntil(`the events came after a cut at ${cut}`, () => observer.told.length >= 7)
      watch.follow([])
      assert.deepEqual(observer.told, [...LISTED, ...TOLD], `cut at ${cut}`)
    }
  })
}

test('does not skip a line that is truncated before its newline', async (t) => {
  let opened = 0
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened > 1) return void body.send(after(from))
      body.send(`${EVENTS[0]}${EVENTS[1]?.slice(0, 30)}\n${EVENTS[2]}${EVENTS[3]}`)
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual(
    watches.map((request) => query(request, 'resourceVersion')),
    ['100', '101'],
  )
})

test('relists to get past a line that is never complete', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return { body: listOf(['a', 'b'], { resourceVersion: lists === 1 ? '100' : '200' }) }
    },
    watch: (from, body) =>
      void body.send(from === '100' ? 'not JSON\n' : after(from, [event('ADDED', 'c', '201')])),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the event came', () => observer.told.at(-1) === 'changed c 201')
  assert.deepEqual(observer.told, [...LISTED, ...LISTED, 'changed c 201'])
})

for (const [name, refusal] of [
  ['429', statusAnswer(429, 'TooManyRequests', 'busy')],
  ['500', statusAnswer(500, 'InternalError', 'etcdserver: leader changed')],
  ['503', statusAnswer(503, 'ServiceUnavailable', 'starting')],
  ['504', statusAnswer(504, 'Timeout', 'Timeout: request did not complete')],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
  [
    'a login page',
    { status: 200, body: '<html>log in</html>', headers: { 'content-type': 'text/html' } },
  ],
] as const) {
  test(`waits out ${name} as answer to a watch and resumes without a relist`, async (t) => {
    let opened = 0
    const { watch, observer, state, watches } = await scriptedWatch(t, {
      watch: (from, body) => {
        opened += 1
        if (opened > 4) body.send(after(from))
        return opened > 4 ? undefined : refusal
      },
    })
    watch.follow([CONFIG_MAPS])
    await waitUntil('the events came', () => observer.told.length >= 7)
    assert.deepEqual(observer.told, [...LISTED, ...TOLD])
    assert.equal(watches.length, 5)
    assert.equal(state().failure, undefined)
  })
}

test('duplicate events, older events and older bookmarks emit nothing and do not move the version back', async (t) => {
  let opened = 0
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened > 1) return void body.send(after(from))
      const [one = '', two = ''] = EVENTS
      body.send(`${one}${two}${two}${one}${bookmark('50')}`)
      body.end()
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.equal(query(watches[1] ?? assert.fail('not reopened'), 'resourceVersion'), '102')
})

test('emits both the deletion and the recreation of an object', async (t) => {
  const { watch, observer } = await scriptedWatch(t, {
    watch: (from, body) =>
      void body.send(after(from, [event('DELETED', 'a', '101'), event('ADDED', 'a', '102')])),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 6)
  assert.deepEqual(observer.told, [...LISTED, 'deleted a 101', 'changed a 102'])
})

test('a streamed list ends at its bookmark and continues as a watch', async (t) => {
  const initial = `${event('ADDED', 'b', '9')}${event('ADDED', 'a', '5')}${bookmark('100', { 'k8s.io/initial-events-end': 'true' })}`
  const { watch, observer, watches, state } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(`${initial}${after(from)}`),
    options: { streamedLists: true },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [
    'listing ConfigMap',
    'changed b 9',
    'changed a 5',
    'listed ConfigMap',
    ...TOLD,
  ])
  const [request] = watches
  assert.ok(request !== undefined && watches.length === 1)
  assert.deepEqual(
    [
      query(request, 'sendInitialEvents'),
      query(request, 'resourceVersionMatch'),
      query(request, 'resourceVersion'),
    ],
    ['true', 'NotOlderThan', null],
  )
  assert.equal(state().state, 'watching')
})

test('a broken streamed list restarts and counts only when complete', async (t) => {
  let opened = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (_, body) => {
      opened += 1
      body.send(event('ADDED', 'a', '5'))
      if (opened === 1) return void body.reset()
      body.send(bookmark('100', { 'k8s.io/initial-events-end': 'true' }))
    },
    options: { streamedLists: true },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it was listed', () => observer.count('listed ConfigMap') === 1)
  assert.deepEqual(observer.told, [
    'listing ConfigMap',
    'changed a 5',
    'listing ConfigMap',
    'changed a 5',
    'listed ConfigMap',
  ])
})

test('a metadata-only kind emits only metadata, whatever the server sends', async (t) => {
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) =>
      void body.send(after(from, [event('ADDED', 'c', '101', { password: 'canary' })])),
  })
  watch.follow([{ ...CONFIG_MAPS, metadataOnly: true }])
  await waitUntil('the event came', () => observer.told.length >= 5)
  assert.equal(
    watches[0]?.headers['accept'],
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  )
  for (const object of observer.objects.values())
    assert.deepEqual(Object.keys(object), ['apiVersion', 'kind', 'metadata'])
})
