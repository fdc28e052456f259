import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { query, statusAnswer } from '../../../../test/apiserver/scripted-api.ts'
import { until } from '../../../../test/faults/recording-observer.ts'
import { bookmark, CONFIG_MAPS, errorEvent, event, listOf, namespaces, scriptedWatch } from '../../../../test/faults/scripted-watch.ts'

const LISTED = ['listing ConfigMap', 'changed a 5', 'changed b 5', 'listed ConfigMap']
const EVENTS = [event('MODIFIED', 'a', '101'), event('ADDED', 'c', '102'), bookmark('103'), event('DELETED', 'b', '104')]
const TOLD = ['changed a 101', 'changed c 102', 'deleted b 104']

/** The lines that a server sends to who has everything up to `from`. */
function after(from: string, lines: readonly string[] = EVENTS): string {
  return lines.filter((line) => Number(JSON.parse(line).object.metadata.resourceVersion) > Number(from)).join('')
}

test('a list, then the events after it, in order', async (t) => {
  const { watch, observer, state, watches } = await scriptedWatch(t, { watch: (from, body) => void body.send(after(from)) })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual([...observer.objects.keys()].sort(), ['ConfigMap/shop/a', 'ConfigMap/shop/c'])
  const [request] = watches
  assert.ok(request !== undefined)
  assert.deepEqual(
    [query(request, 'resourceVersion'), query(request, 'allowWatchBookmarks'), query(request, 'timeoutSeconds')],
    ['100', 'true', '60'],
  )
  const { state: now, lists, reopened, events, failure, provenAt } = state()
  assert.deepEqual([now, lists, reopened, events, failure], ['watching', 1, 0, 4, undefined])
  assert.ok(Math.abs(Date.now() - provenAt) < 10_000)
})

for (const how of ['end', 'reset'] as const) {
  const bytes = Buffer.from(EVENTS.join(''))
  // A reset takes longer, and its bytes are as those of an end.
  const step = how === 'end' ? 1 : 40
  test(`a watch whose stream is cut with ${how} after any byte loses no event and tells none twice`, async (t) => {
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
      await until(() => observer.told.length >= 7, `the events came after a cut at ${cut}`)
      watch.follow([])
      assert.deepEqual(observer.told, [...LISTED, ...TOLD], `cut at ${cut}`)
    }
  })
}

test('a line that is cut in the middle, although the newline came, is not passed over', async (t) => {
  let opened = 0
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened > 1) return void body.send(after(from))
      body.send(`${EVENTS[0]}${EVENTS[1]?.slice(0, 30)}\n${EVENTS[2]}${EVENTS[3]}`)
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual(
    watches.map((request) => query(request, 'resourceVersion')),
    ['100', '101'],
  )
})

test('a line that is never whole is passed by with a new list', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return { body: listOf(['a', 'b'], { resourceVersion: lists === 1 ? '100' : '200' }) }
    },
    watch: (from, body) => void body.send(from === '100' ? 'not JSON\n' : after(from, [event('ADDED', 'c', '201')])),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.at(-1) === 'changed c 201', 'the event came')
  assert.deepEqual(observer.told, [...LISTED, ...LISTED, 'changed c 201'])
})

for (const [name, gone] of [
  ['an ERROR event', (body: { send(text: string): void }) => void body.send(errorEvent(410, 'Expired'))],
  ['a status', () => statusAnswer(410, 'Expired', 'too old resource version')],
] as const) {
  test(`410 as ${name} leads to one new list, and nothing is deleted in between`, async (t) => {
    let lists = 0
    const { watch, observer } = await scriptedWatch(t, {
      list: () => {
        lists += 1
        return { body: listOf(lists === 1 ? ['a', 'b'] : ['a'], { resourceVersion: lists === 1 ? '100' : '200' }) }
      },
      watch: (from, body) => (from === '100' ? gone(body) : void body.send(bookmark('201'))),
    })
    watch.follow([CONFIG_MAPS])
    await until(() => observer.count('listed ConfigMap') === 2, 'it was listed again')
    assert.deepEqual(observer.told, [...LISTED, 'listing ConfigMap', 'changed a 5', 'listed ConfigMap'])
    assert.deepEqual([...observer.objects.keys()], ['ConfigMap/shop/a'])
  })
}

test('410 again and again is not a hot loop', async (t) => {
  const { watch, observer } = await scriptedWatch(t, {
    watch: () => statusAnswer(410, 'Expired', 'too old resource version'),
    options: { firstWait: 50, longestWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await sleep(600)
  assert.ok(observer.count('listing ConfigMap') <= 5, `${observer.count('listing ConfigMap')} lists`)
})

for (const [name, refusal] of [
  ['429', statusAnswer(429, 'TooManyRequests', 'busy')],
  ['500', statusAnswer(500, 'InternalError', 'etcdserver: leader changed')],
  ['503', statusAnswer(503, 'ServiceUnavailable', 'starting')],
  ['504', statusAnswer(504, 'Timeout', 'Timeout: request did not complete')],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
  ['a login page', { status: 200, body: '<html>log in</html>', headers: { 'content-type': 'text/html' } }],
] as const) {
  test(`${name} as answer to a watch is waited out: it resumes, without a new list`, async (t) => {
    let opened = 0
    const { watch, observer, state, watches } = await scriptedWatch(t, {
      watch: (from, body) => {
        opened += 1
        if (opened > 4) body.send(after(from))
        return opened > 4 ? undefined : refusal
      },
    })
    watch.follow([CONFIG_MAPS])
    await until(() => observer.told.length >= 7, 'the events came')
    assert.deepEqual(observer.told, [...LISTED, ...TOLD])
    assert.equal(watches.length, 5)
    assert.equal(state().failure, undefined)
  })
}

test('while it waits, the state says why, and keeps what is known', async (t) => {
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: () => statusAnswer(503, 'ServiceUnavailable', 'starting'),
    options: { firstWait: 60_000, longestWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'waiting', 'it waits')
  assert.equal(state().failure?.code, 'BP3005')
  assert.equal(observer.objects.size, 2)
})

test('Retry-After is waited for', async (t) => {
  let opened = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened > 1) return void body.send(after(from))
      return { ...statusAnswer(429, 'TooManyRequests', 'busy'), headers: { 'retry-after': '1' } }
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => opened === 1, 'it was refused')
  await sleep(700)
  assert.equal(opened, 1)
  await until(() => observer.told.length >= 7, 'the events came')
})

test('an ERROR event of another code leads to a wait, and the watch resumes', async (t) => {
  let opened = 0
  const { watch, observer, watches } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      body.send(opened === 1 ? `${EVENTS[0]}${errorEvent(500, 'InternalError')}` : after(from))
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual(
    watches.map((request) => query(request, 'resourceVersion')),
    ['100', '101'],
  )
})

test('duplicate events, older events and a bookmark that goes back are not told, and do not move it back', async (t) => {
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
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.equal(query(watches[1] ?? assert.fail('not reopened'), 'resourceVersion'), '102')
})

test('an object that is deleted and created again is told as both', async (t) => {
  const { watch, observer } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(after(from, [event('DELETED', 'a', '101'), event('ADDED', 'a', '102')])),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 6, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, 'deleted a 101', 'changed a 102'])
})

test('an exception of the observer loses that event only, and is the failure of the kind', async (t) => {
  const { watch, observer, state, watches } = await scriptedWatch(t, { watch: (from, body) => void body.send(after(from)) })
  const changed = observer.changed.bind(observer)
  observer.changed = (kind, object) => {
    if (JSON.stringify(object).includes('"101"')) throw new Error('poison')
    changed(kind, object)
  }
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 6, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, 'changed c 102', 'deleted b 104'])
  assert.equal(state().failure?.code, 'BP9001')
  assert.equal(watches.length, 1)
})

test('an event without an object, or with one that is nested too deeply, costs that event only', async (t) => {
  const deep = event('MODIFIED', 'a', '101').replace('"data":{}', `"data":${'['.repeat(3000)}${']'.repeat(3000)}`)
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(`{"type":"ADDED","object":null}\n${deep}${after(from, EVENTS.slice(1))}`),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 6, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, 'changed c 102', 'deleted b 104'])
  assert.equal(state().failure?.code, 'BP3012')
})

test('403 names both verbs in one rule, is told once, and is tried again slowly', async (t) => {
  let lists = 0
  const { watch, observer, state } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return lists <= 3 ? statusAnswer(403, 'Forbidden', 'User "ada" cannot list it') : { body: listOf(['a', 'b']) }
    },
    watch: (from, body) => void body.send(after(from)),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 1, 'it is unreadable')
  assert.equal(state().state, 'unreadable')
  await until(() => observer.told.length >= 8, 'it is readable again')
  assert.deepEqual(observer.told, ['unreadable ConfigMap BP3003', ...LISTED, ...TOLD])
  assert.match(
    observer.failures[0]?.remedy ?? '',
    /user "ada" to a Role in namespace shop .* resources: \["configmaps"\], verbs: \["list", "watch"\]/,
  )
})

test('a right that is taken away is told after two more looks, never as deletions', async (t) => {
  let opened = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (_, body) => {
      opened += 1
      if (opened === 1) body.end()
      return opened === 1 ? undefined : statusAnswer(403, 'Forbidden', 'User "ada" cannot watch it')
    },
    list: () => (opened > 1 ? statusAnswer(403, 'Forbidden', 'no') : { body: listOf(['a', 'b']) }),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.failures.length > 0, 'it is unreadable')
  await sleep(150)
  assert.deepEqual(observer.told, [...LISTED, 'unreadable ConfigMap BP3003', ...observer.told.slice(5)])
  assert.equal(opened, 4)
  assert.ok(observer.told.every((line) => !line.startsWith('deleted')))
})

test('a list that breaks off is told from its beginning, and counts only when it is complete', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: (request) => {
      lists += 1
      if (query(request, 'continue') === null) return { body: listOf(['a'], { continue: 'next', remainingItemCount: 1 }) }
      return lists === 2 ? statusAnswer(410, 'Expired', 'the token expired') : { body: listOf(['b']) }
    },
    watch: (from, body) => void body.send(after(from)),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 9, 'the events came')
  assert.deepEqual(observer.told, ['listing ConfigMap', 'changed a 5', ...LISTED, ...TOLD])
})

test('a list from a server that lags behind what was applied is not taken', async (t) => {
  let lists = 0
  const { watch, observer } = await scriptedWatch(t, {
    list: () => {
      lists += 1
      return { body: listOf(['a', 'b'], { resourceVersion: ['100', '90', '90', '110'][lists - 1] ?? '110' }) }
    },
    watch: (from, body) =>
      from === '100' ? void body.send(errorEvent(410, 'Expired')) : void body.send(after(from, [event('ADDED', 'c', '111')])),
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.at(-1) === 'changed c 111', 'the event came')
  assert.deepEqual(observer.told, [...LISTED, ...LISTED, 'changed c 111'])
  assert.equal(lists, 4)
})

test('an event that is too large is not buffered, and makes the kind unreadable', async (t) => {
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: (_, body) => void body.send(event('MODIFIED', 'a', '101', { text: 'x'.repeat(100_000) })),
    options: { largestEvent: 50_000, unreadableWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'unreadable', 'it is unreadable')
  assert.deepEqual(observer.told, [...LISTED, 'unreadable ConfigMap BP3010'])
  assert.match(state().failure?.message ?? '', /more than 50000 bytes/)
})

test('unfinished events beyond the memory of the cluster end their stream, which then resumes', async (t) => {
  let opened = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (from, body) => {
      opened += 1
      if (opened === 1) body.send(event('MODIFIED', 'a', '101', { text: 'x'.repeat(100_000) }).slice(0, -1))
      else body.send(after(from))
    },
    options: { memory: 50_000 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
})

test('a streamed list ends at its bookmark, and goes on as a watch', async (t) => {
  const initial = `${event('ADDED', 'b', '9')}${event('ADDED', 'a', '5')}${bookmark('100', { 'k8s.io/initial-events-end': 'true' })}`
  const { watch, observer, watches, state } = await scriptedWatch(t, {
    watch: (from, body) => void body.send(`${initial}${after(from)}`),
    options: { streamedLists: true },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length >= 7, 'the events came')
  assert.deepEqual(observer.told, ['listing ConfigMap', 'changed b 9', 'changed a 5', 'listed ConfigMap', ...TOLD])
  const [request] = watches
  assert.ok(request !== undefined && watches.length === 1)
  assert.deepEqual(
    [query(request, 'sendInitialEvents'), query(request, 'resourceVersionMatch'), query(request, 'resourceVersion')],
    ['true', 'NotOlderThan', null],
  )
  assert.equal(state().state, 'watching')
})

test('a streamed list that breaks off begins again, and counts only when it is complete', async (t) => {
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
  await until(() => observer.count('listed ConfigMap') === 1, 'it was listed')
  assert.deepEqual(observer.told, ['listing ConfigMap', 'changed a 5', 'listing ConfigMap', 'changed a 5', 'listed ConfigMap'])
})

for (const [name, answer] of [
  ['refuses', () => statusAnswer(422, 'Invalid', 'resourceVersionMatch is forbidden for watch')],
  ['does not know', () => undefined],
] as const) {
  test(`a server that ${name} streamed lists is listed in pages from then on`, async (t) => {
    let streamed = 0
    const { watch, observer } = await scriptedWatch(t, {
      watch: (from, body, request) => {
        if (query(request, 'sendInitialEvents') === null)
          return void body.send(from === '100' ? `${after(from)}${errorEvent(410, 'Expired')}` : '')
        streamed += 1
        return answer()
      },
      list: () => ({ body: listOf(['a', 'b'], { resourceVersion: String(100 * (observer.count('listed ConfigMap') + 1)) }) }),
      options: { streamedLists: true, longestListSilence: 100 },
    })
    watch.follow([CONFIG_MAPS])
    await until(() => observer.count('listed ConfigMap') === 2, 'it was listed twice')
    assert.equal(streamed, 1)
  })
}

test('another cluster at the same address makes every kind unreadable, and nothing of it is told', async (t) => {
  let uid = 'uid-1'
  let breakOff = (): void => {}
  const { watch, observer, state } = await scriptedWatch(t, {
    routes: { 'GET /api/v1/namespaces': () => ({ body: namespaces(uid, '1000') }) },
    list: () => ({ body: listOf(uid === 'uid-1' ? ['a', 'b'] : []) }),
    watch: (_, body) => {
      breakOff = () => body.reset()
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'watching', 'it watches')
  uid = 'uid-2'
  breakOff()
  await until(() => observer.failures.length > 0, 'it is unreadable')
  await sleep(150)
  assert.deepEqual(observer.told, [...LISTED, 'unreadable ConfigMap BP3015'])
  uid = 'uid-1'
  await until(() => observer.count('listed ConfigMap') === 2, 'the first one is back')
})

test('a store that was restored to an older state is listed anew, although the server would take the version', async (t) => {
  let version = '150'
  let breakOff = (): void => {}
  const { watch, observer, state } = await scriptedWatch(t, {
    routes: { 'GET /api/v1/namespaces': () => ({ body: namespaces('uid-1', version) }) },
    list: () => ({ body: listOf(version === '150' ? ['a', 'b'] : ['a'], { resourceVersion: version }) }),
    watch: (_, body) => {
      breakOff = () => body.reset()
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'watching', 'it watches')
  version = '60'
  breakOff()
  await until(() => observer.count('listed ConfigMap') === 2, 'it was listed again')
  assert.deepEqual([...observer.objects.keys()], ['ConfigMap/shop/a'])
})

test('following another set begins and ends only what is different', async (t) => {
  const { watch, observer, watches, server } = await scriptedWatch(t, { watch: (from, body) => void body.send(after(from)) })
  const other = { ...CONFIG_MAPS, namespace: 'other' }
  watch.follow([CONFIG_MAPS, other])
  await until(() => observer.told.length >= 7, 'the events came')
  watch.follow([{ ...CONFIG_MAPS }])
  watch.follow([CONFIG_MAPS, CONFIG_MAPS])
  await sleep(50)
  assert.equal(watches.length, 1)
  assert.deepEqual(
    watch.state().map(({ watched }) => watched.namespace),
    ['shop'],
  )
  assert.equal(server.connections, 1)
})

test('what is not followed any more ends its stream, and closing ends all', async (t) => {
  let open = 0
  const { watch, observer } = await scriptedWatch(t, {
    watch: (_, body) => {
      open += 1
      void body.closed.then(() => {
        open -= 1
      })
    },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => open === 1, 'it is open')
  watch.follow([])
  await until(() => open === 0, 'it is closed')
  watch.follow([CONFIG_MAPS])
  await until(() => open === 1, 'it is open again')
  await watch.close()
  await until(() => open === 0, 'it is closed')
  const told = observer.told.length
  watch.follow([CONFIG_MAPS])
  await sleep(50)
  assert.equal(observer.told.length, told)
  assert.deepEqual(watch.state(), [])
})

for (const protocol of ['h2', 'http/1.1', 'plain'] as const) {
  test(`${protocol}: a watch that breaks again and again loses nothing`, async (t) => {
    const lines = Array.from({ length: 40 }, (_, index) => event('MODIFIED', 'a', String(101 + index)))
    const { watch, observer } = await scriptedWatch(t, {
      watch: (from, body) => {
        const left = after(from, lines)
        body.send(left.slice(0, 1000))
        if (left.length > 1000) body.reset()
      },
      server: { protocol },
    })
    watch.follow([CONFIG_MAPS])
    await until(() => observer.told.length >= 44, 'the events came')
    assert.deepEqual(observer.told, [...LISTED, ...lines.map((_, index) => `changed a ${101 + index}`)])
  })
}

test('HTTP/1.1: a watch without an event or bookmark is reopened after some time', async (t) => {
  const { watch, watches, observer } = await scriptedWatch(t, {
    watch: () => undefined,
    server: { protocol: 'http/1.1' },
    options: { longestSilence: 60 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => watches.length >= 3, 'it was reopened')
  assert.equal(observer.count('listing ConfigMap'), 1)
})

test('HTTP/2: a quiet watch is proven by PING, and is not reopened', async (t) => {
  const { watch, watches, state } = await scriptedWatch(t, {
    watch: () => undefined,
    options: { longestSilence: 30 },
    connection: { pingEvery: 20 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'watching', 'it watches')
  const before = state().provenAt
  await until(() => state().provenAt > before + 100, 'it was proven again')
  assert.equal(watches.length, 1)
})

test('a server that does not end a watch in its time is left', async (t) => {
  const { watch, watches } = await scriptedWatch(t, { watch: () => undefined, options: { streamLasts: [1, 1], endsWithin: -900 } })
  watch.follow([CONFIG_MAPS])
  await until(() => watches.length >= 3, 'it was reopened')
})

test('more watches than one connection takes are spread over further ones, with room for requests', async (t) => {
  const { watch, server, connection, observer } = await scriptedWatch(t, {
    watch: () => undefined,
    list: () => ({ body: listOf([]) }),
    routes: Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [
        `GET /api/v1/namespaces/n${index}/configmaps`,
        (request) => (query(request, 'watch') === 'true' ? { write: () => {} } : { body: listOf([]) }),
      ]),
    ),
    server: { maxConcurrentStreams: 20 },
  })
  watch.follow(Array.from({ length: 25 }, (_, index) => ({ ...CONFIG_MAPS, namespace: `n${index}` })))
  await until(() => watch.state().every(({ state }) => state === 'watching'), 'all watch')
  assert.equal(server.connections, 3)
  assert.equal(observer.count('listed ConfigMap'), 25)
  const requested = { cluster: 'scripted', verb: 'get', resource: undefined, path: '/api' } as const
  await connection.send({ method: 'GET', path: '/api', repeatable: true }, requested, new AbortController().signal)
})

test('credentials that are refused are read anew once, and then tried slowly', async (t) => {
  let opened = 0
  const { watch, observer, state } = await scriptedWatch(t, {
    watch: () => {
      opened += 1
      return statusAnswer(401, 'Unauthorized', 'Unauthorized')
    },
    options: { longestWait: 60_000 },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => state().state === 'waiting' && state().failure !== undefined, 'it waits')
  await sleep(150)
  assert.equal(state().failure?.code, 'BP3002')
  assert.equal(opened, 2)
  assert.equal(observer.objects.size, 2)
})

test('a token that was replaced in its file is read when the old one is refused, and the watch resumes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'watch-token-'))
  t.after(() => rm(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, 'old')
  let accepted = 'old'
  let breakOff = (): void => {}
  const { watch, observer, watches, state } = await scriptedWatch(t, {
    watch: (from, body, { headers }) => {
      if (headers['authorization'] !== `Bearer ${accepted}`) return statusAnswer(401, 'Unauthorized', 'Unauthorized')
      breakOff = () => body.reset()
      body.send(accepted === 'old' ? (EVENTS[0] ?? '') : after(from))
      return undefined
    },
    connection: { user: { tokenFile } },
  })
  watch.follow([CONFIG_MAPS])
  await until(() => observer.told.length === 5, 'the first event came')
  accepted = 'new'
  await writeFile(tokenFile, 'new')
  breakOff()
  await until(() => observer.told.length >= 7, 'the other events came')
  assert.deepEqual(observer.told, [...LISTED, ...TOLD])
  assert.deepEqual(
    watches.map(({ headers }) => headers['authorization']),
    ['Bearer old', 'Bearer old', 'Bearer new'],
  )
  assert.equal(state().failure, undefined)
})
