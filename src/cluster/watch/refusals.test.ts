import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingClock } from '../../../test/apiserver/live-cluster.ts'
import { query, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import {
  after,
  bookmark,
  CONFIG_MAPS,
  EVENTS,
  errorEvent,
  event,
  LISTED,
  listOf,
  scriptedWatch,
  TOLD,
} from '../../../test/faults/scripted-watch.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'

for (const [name, gone] of [
  [
    'an ERROR event',
    (body: { send(text: string): void }) => void body.send(errorEvent(410, 'Expired')),
  ],
  ['a status', () => statusAnswer(410, 'Expired', 'too old resource version')],
] as const) {
  test(`410 as ${name} causes one relist, and deletes nothing in between`, async (t) => {
    let lists = 0
    const { watch, observer } = await scriptedWatch(t, {
      list: () => {
        lists += 1
        return {
          body: listOf(lists === 1 ? ['a', 'b'] : ['a'], {
            resourceVersion: lists === 1 ? '100' : '200',
          }),
        }
      },
      watch: (from, body) => (from === '100' ? gone(body) : void body.send(bookmark('201'))),
    })
    watch.follow([CONFIG_MAPS])
    await waitUntil('it was listed again', () => observer.count('listed ConfigMap') === 2)
    assert.deepEqual(observer.told, [
      ...LISTED,
      'listing ConfigMap',
      'changed a 5',
      'listed ConfigMap',
    ])
    assert.deepEqual([...observer.objects.keys()], ['ConfigMap/shop/a'])
  })
}

test('repeated 410 causes no hot loop', async (t) => {
  const clock = recordingClock(1)
  const { watch, observer } = await scriptedWatch(t, {
    watch: () => statusAnswer(410, 'Expired', 'too old resource version'),
    options: { firstWait: 50, longestWait: 60_000, random: () => 1 },
    clock,
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it waited', () => clock.slept.length >= 6)
  const [lists, waits] = [observer.count('listing ConfigMap'), clock.slept.length]
  assert.ok(lists <= waits + 2, `${lists} lists, ${waits} waits`)
  assert.deepEqual(clock.slept.slice(0, 6), [50, 100, 200, 400, 800, 1_600])
})

test('while waiting, the state gives the reason and keeps the known objects', async (t) => {
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: () => statusAnswer(503, 'ServiceUnavailable', 'starting'),
    options: { firstWait: 60_000, longestWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it waits', () => state().state === 'waiting')
  assert.equal(state().failure?.code, 'BP3005')
  assert.equal(observer.objects.size, 2)
})

test('waits for Retry-After', async (t) => {
  let opened = 0
  const clock = recordingClock(1)
  const { watch, observer } = await scriptedWatch(t, {
    clock,
    watch: (from, body) => {
      opened += 1
      if (opened > 1) return void body.send(after(from))
      return { ...statusAnswer(429, 'TooManyRequests', 'busy'), headers: { 'retry-after': '1' } }
    },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.ok((clock.slept[0] ?? 0) >= 1_000, `waited ${clock.slept} ms`)
  assert.equal(opened, 2)
})

test('an ERROR event of another code causes a delay, and the watch resumes', async (t) => {
  let opened = 0
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      body.send(opened === 1 ? `${EVENTS[0]}${errorEvent(500, 'InternalError')}` : after(from))
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

test('an exception of the observer loses only that event and marks the kind as failed', async (t) => {
  const { watch, observer, state, watches } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(after(from)),
  })
  const changed = observer.handleChange.bind(observer)
  observer.handleChange = (kind, object) => {
    if (JSON.stringify(object).includes('"101"')) throw new Error('poison')
    changed(kind, object)
  }
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 6)
  assert.deepEqual(observer.told, [...LISTED, 'changed c 102', 'deleted b 104'])
  assert.equal(state().failure?.code, 'BP9001')
  assert.equal(watches.length, 1)
})

test('an event without an object, or with one nested too deeply, loses only that event', async (t) => {
  const deep = event('MODIFIED', 'a', '101').replace(
    '"data":{}',
    `"data":${'['.repeat(3000)}${']'.repeat(3000)}`,
  )
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: (from, body) =>
      void body.send(`{"type":"ADDED","object":null}\n${deep}${after(from, EVENTS.slice(1))}`),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 6)
  assert.deepEqual(observer.told, [...LISTED, 'changed c 102', 'deleted b 104'])
  assert.equal(state().failure?.code, 'BP3012')
})

test('a 403 names both verbs in one rule, is reported once, and is retried slowly', async (t) => {
  let lists = 0
  const { watch, observer, state } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return lists <= 3
        ? statusAnswer(403, 'Forbidden', 'User "ada" cannot list it')
        : { body: listOf(['a', 'b']) }
    },
    watch: (from, body) => void body.send(after(from)),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it is unreadable', () => observer.told.length >= 1)
  assert.equal(state().state, 'unreadable')
  await waitUntil('it is readable again', () => observer.told.length >= 8)
  assert.deepEqual(observer.told, ['unreadable ConfigMap BP3003', ...LISTED, ...TOLD])
  assert.match(
    observer.failures[0]?.remedy ?? '',
    /user "ada" to a Role in namespace shop .* resources: \["configmaps"\], verbs: \["list", "watch"\]/,
  )
})

test('reports a revoked permission after two more attempts, never as deletions', async (t) => {
  let opened = 0
  const { watch, observer, server } = await scriptedWatch(t, {
    watch: (_, body) => {
      opened += 1
      if (opened === 1) body.end()
      return opened === 1 ? undefined : statusAnswer(403, 'Forbidden', 'User "ada" cannot watch it')
    },
    list: () => (opened > 1 ? statusAnswer(403, 'Forbidden', 'no') : { body: listOf(['a', 'b']) }),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it is unreadable', () => observer.failures.length > 0)
  const looks = server.requests.length
  await waitUntil('it looked three more times', () => server.requests.length >= looks + 3)
  assert.deepEqual(observer.told, [
    ...LISTED,
    'unreadable ConfigMap BP3003',
    ...observer.told.slice(5),
  ])
  assert.equal(opened, 4)
  assert.ok(observer.told.every((line) => !line.startsWith('deleted')))
})

test('an interrupted list restarts and counts only when complete', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: (request) => {
      lists += 1
      if (query(request, 'continue') === null)
        return { body: listOf(['a'], { continue: 'next', remainingItemCount: 1 }) }
      return lists === 2
        ? statusAnswer(410, 'Expired', 'the token expired')
        : { body: listOf(['b']) }
    },
    watch: (from, body) => void body.send(after(from)),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 9)
  assert.deepEqual(observer.told, ['listing ConfigMap', 'changed a 5', ...LISTED, ...TOLD])
})

test('rejects a list from a server that lags behind the applied version', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return {
        body: listOf(['a', 'b'], {
          resourceVersion: ['100', '90', '90', '110'][lists - 1] ?? '110',
        }),
      }
    },
    watch: (from, body) =>
      from === '100'
        ? void body.send(errorEvent(410, 'Expired'))
        : void body.send(after(from, [event('ADDED', 'c', '111')])),
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the event came', () => observer.told.at(-1) === 'changed c 111')
  assert.deepEqual(observer.told, [...LISTED, ...LISTED, 'changed c 111'])
  assert.equal(lists, 4)
})

test('does not buffer an oversized event, and makes the kind unreadable', async (t) => {
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: (_, body) =>
      void body.send(event('MODIFIED', 'a', '101', { text: 'x'.repeat(100_000) })),
    options: { largestEvent: 50_000, unreadableWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('it is unreadable', () => state().state === 'unreadable')
  assert.deepEqual(observer.told, [...LISTED, 'unreadable ConfigMap BP3010'])
  assert.match(state().failure?.message ?? '', /more than 50000 bytes/)
})

test('unfinished events beyond the memory of the cluster end their stream, which then resumes', async (t) => {
  let opened = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened === 1)
        body.send(event('MODIFIED', 'a', '101', { text: 'x'.repeat(100_000) }).slice(0, -1))
      else body.send(after(from))
    },
    options: { memory: 50_000 },
  })
  watch.follow([CONFIG_MAPS])
  await waitUntil('the events came', () => observer.told.length >= 7)
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
})

for (const [name, answer] of [
  ['refuses', () => statusAnswer(422, 'Invalid', 'resourceVersionMatch is forbidden for watch')],
  ['does not know', () => undefined],
] as const) {
  test(`pages lists from then on for a server that ${name} streamed lists`, async (t) => {
    let streamed = 0
    const { watch, observer } = await scriptedWatch(t, {
      watch: (from, body, request) => {
        if (query(request, 'sendInitialEvents') === null)
          return void body.send(from === '100' ? `${after(from)}${errorEvent(410, 'Expired')}` : '')
        streamed += 1
        return answer()
      },
      list: () => ({
        body: listOf(['a', 'b'], {
          resourceVersion: String(100 * (observer.count('listed ConfigMap') + 1)),
        }),
      }),
      options: { streamedLists: true, longestListSilence: 100 },
    })
    watch.follow([CONFIG_MAPS])
    await waitUntil('it was listed twice', () => observer.count('listed ConfigMap') === 2)
    assert.equal(streamed, 1)
  })
}
