import assert from 'node:assert/strict'
import { connect as connectTcp, createServer } from 'node:net'
import { test } from 'node:test'
import type { TracedRequest } from '@backporch/system/trace'
import { connectionTo, testClock } from '../../../test/apiserver/scripted-cluster.ts'
import { relayTo, scriptedServer } from '../../../test/apiserver/scripted-server.ts'
import {
  ASKED,
  failsWith,
  GET,
  never,
  serveConnection,
} from '../../../test/fakes/served-connection.ts'
import { HANGS_AFTER, waitUntil } from '../../../test/waiting/wait-until.ts'

test('speaks HTTP/2 over one connection when the server offers it', async (t) => {
  const { server, connection } = await serveConnection(t, () => ({ body: { ok: true } }))
  await Promise.all(Array.from({ length: 20 }, () => connection.send(GET, ASKED, never)))
  assert.deepEqual([...new Set(server.requests.map((request) => request.httpVersion))], ['2.0'])
  assert.equal(server.connections, 1)
})

test('falls back to HTTP/1.1 when the server does not offer HTTP/2', async (t) => {
  const { server, connection } = await serveConnection(t, () => ({ body: { ok: true } }), {
    protocol: 'http/1.1',
  })
  const answer = await connection.send(
    { ...GET, method: 'PATCH', body: '{"a":1}', contentType: 'application/apply-patch+yaml' },
    ASKED,
    never,
  )
  assert.equal(answer.body, '{"ok":true}')
  assert.equal(server.requests[0]?.httpVersion, '1.1')
  assert.equal(server.requests[0]?.body, '{"a":1}')
  assert.equal(server.requests[0]?.headers['content-type'], 'application/apply-patch+yaml')
})

test('speaks plain HTTP on loopback', async (t) => {
  const { connection } = await serveConnection(t, () => ({ body: { ok: true } }), {
    protocol: 'plain',
  })
  assert.equal((await connection.send(GET, ASKED, never)).status, 200)
})

for (const protocol of ['h2', 'http/1.1'] as const) {
  test(`${protocol}: decompresses a compressed body`, async (t) => {
    const { connection } = await serveConnection(
      t,
      () => ({ body: { text: 'x'.repeat(10_000) }, gzip: true }),
      { protocol },
    )
    assert.equal((await connection.send(GET, ASKED, never)).body.length, 10_011)
  })

  test(`${protocol}: retries a truncated body, then reports a broken connection`, async (t) => {
    const { server, connection } = await serveConnection(
      t,
      () => ({ body: { text: 'x'.repeat(10_000) }, fault: 'reset' }),
      { protocol },
    )
    await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3001', /broke/))
    assert.equal(server.requests.length, 4)
  })

  test(`${protocol}: reports a truncated compressed body as a broken connection`, async (t) => {
    const { connection } = await serveConnection(
      t,
      () => ({ body: { text: 'x'.repeat(1000) }, gzip: true, fault: 'reset' }),
      { protocol },
    )
    await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3001'))
  })

  test(`${protocol}: stops reading a body that exceeds the limit`, async (t) => {
    const { connection } = await serveConnection(
      t,
      () => ({ body: { text: 'x'.repeat(100_000) }, gzip: true }),
      {
        protocol,
        connection: { maxBody: 5_000 },
      },
    )
    await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3010', /too large/))
  })

  test(`${protocol}: a silent server ends in a timeout without retry`, async (t) => {
    const { server, connection } = await serveConnection(t, () => ({ fault: 'silent' }), {
      protocol,
      connection: { timeout: 150 },
    })
    await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3006'))
    assert.equal(server.requests.length, 1)
  })

  test(`${protocol}: an aborted signal ends the request with its reason`, async (t) => {
    const { server, connection } = await serveConnection(t, () => ({ fault: 'silent' }), {
      protocol,
    })
    const control = new AbortController()
    const refused = assert.rejects(connection.send(GET, ASKED, control.signal), /enough/)
    await waitUntil('it is asked', () => server.requests.length === 1)
    control.abort(new Error('enough'))
    await refused
  })

  test(`${protocol}: does not follow a redirect`, async (t) => {
    const { server, connection } = await serveConnection(
      t,
      () => ({ status: 302, headers: { location: 'https://elsewhere.example/' } }),
      {
        protocol,
      },
    )
    await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3008', /redirect/))
    assert.equal(server.requests.length, 1)
  })
}

test('retries a 429 after the Retry-After of the server, also for a write', async (t) => {
  const clock = testClock()
  let calls = 0
  const { connection } = await serveConnection(
    t,
    () => (calls++ < 2 ? { status: 429, headers: { 'retry-after': '7' } } : { body: {} }),
    {
      connection: { clock },
    },
  )
  await connection.send({ ...GET, method: 'PATCH', body: '{}', repeatable: false }, ASKED, never)
  assert.deepEqual(clock.waits, [7000, 7000])
})

test('a persistent 429 fails after four attempts', async (t) => {
  const { server, connection } = await serveConnection(t, () => ({ status: 429 }))
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3004'))
  assert.equal(server.requests.length, 4)
})

test('retries a 5xx with growing delays for reads, but not for writes', async (t) => {
  const clock = testClock()
  const { server, connection } = await serveConnection(
    t,
    () => ({ status: 503, body: '<html>down</html>' }),
    { connection: { clock } },
  )
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3005'))
  assert.deepEqual(clock.waits, [100, 200, 400])
  await assert.rejects(
    connection.send({ ...GET, method: 'DELETE', repeatable: false }, ASKED, never),
    failsWith('BP3005'),
  )
  assert.equal(server.requests.length, 5)
})

test('opens no more concurrent streams than the server allows', async (t) => {
  let open = 0
  let most = 0
  const { server, connection } = await serveConnection(
    t,
    async () => {
      open += 1
      most = Math.max(most, open)
      // Until as many are open as are allowed, or only the last ones are left.
      await waitUntil('others are open', () => open >= 3 || server.requests.length === 12)
      open -= 1
      return { body: {} }
    },
    { maxConcurrentStreams: 3 },
  )
  await Promise.all(Array.from({ length: 12 }, () => connection.send(GET, ASKED, never)))
  assert.equal(most, 3)
  assert.equal(server.connections, 1)
})

test('a PING detects a frozen HTTP/2 server long before the timeout', async (t) => {
  const server = await scriptedServer(() => ({ fault: 'silent' }))
  const relay = await relayTo(server)
  t.after(async () => {
    relay.close()
    await server.close()
  })
  const connection = connectionTo(
    { ...relay, authority: server.authority },
    { timeout: HANGS_AFTER, pingEvery: 50, pingWithin: 100 },
  )
  const refused = assert.rejects(
    connection.send({ ...GET, repeatable: false }, ASKED, never),
    failsWith('BP3006', /PING/),
  )
  await waitUntil('it is asked', () => server.requests.length === 1)
  relay.freeze()
  await refused
})

test('a slow server that answers PING keeps its connection', async (t) => {
  const { connection } = await serveConnection(t, () => ({ body: {}, delay: 1_500 }), {
    connection: { pingEvery: 30, pingWithin: 1_000 },
  })
  assert.equal((await connection.send(GET, ASKED, never)).status, 200)
})

test('reopens a closed connection', async (t) => {
  const { server, connection } = await serveConnection(t, ({ path }) =>
    path === '/bad' ? { fault: 'disconnect', body: 'xx' } : { body: {} },
  )
  await connection.send(GET, ASKED, never)
  await assert.rejects(
    connection.send({ ...GET, path: '/bad', repeatable: false }, ASKED, never),
    failsWith('BP3001'),
  )
  assert.equal((await connection.send(GET, ASKED, never)).status, 200)
  assert.equal(server.connections, 2)
})

test('reports a refused connection as unreachable, without retry', async (t) => {
  const { server, connection } = await serveConnection(t, () => ({}))
  await server.close()
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3001', /ECONNREFUSED/))
})

test('a server that accepts but stays silent fails at the connection timeout', async (t) => {
  const mute = createServer(() => {})
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  t.after(() => mute.close())
  const address = mute.address()
  assert.ok(typeof address === 'object' && address !== null)
  const connection = connectionTo(
    { url: `https://127.0.0.1:${address.port}`, authority: '-----BEGIN CERTIFICATE-----' },
    { access: { authority: undefined }, connectTimeout: 100 },
  )
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3006', /no connection/))
})

test('requests through the proxy of the kubeconfig use a tunnel to the server', async (t) => {
  const tunnels: string[] = []
  const proxy = createServer((client) => {
    client.once('data', (head) => {
      const target = /^CONNECT ([^ :]+):(\d+)/.exec(head.toString())
      tunnels.push(target?.[0] ?? 'no tunnel')
      const upstream = connectTcp(Number(target?.[2]), target?.[1], () => {
        client.write('HTTP/1.1 200 ok\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => client.destroy())
    })
    client.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { server, connection } = await serveConnection(t, () => ({ body: { ok: true } }), {
    connection: { access: { proxyUrl: `http://127.0.0.1:${address.port}` } },
  })
  t.after(() => proxy.close())
  assert.equal((await connection.send(GET, ASKED, never)).body, '{"ok":true}')
  assert.equal(tunnels.length, 1)
  assert.match(tunnels[0] ?? '', /^CONNECT 127\.0\.0\.1:/)
  assert.equal(server.requests.length, 1)
})

test('reports status and duration of each request, also of retries, but no credential', async (t) => {
  const reported: TracedRequest[] = []
  let calls = 0
  const { connection } = await serveConnection(
    t,
    () => {
      calls += 1
      return calls === 1
        ? { status: 503, body: { kind: 'Status', message: 'canary in a body' } }
        : { body: { ok: true } }
    },
    { connection: { user: { token: 'canary-token' }, trace: (request) => reported.push(request) } },
  )
  await connection.send({ ...GET, path: '/api/v1/pods?limit=5' }, ASKED, never)
  assert.deepEqual(
    reported.map(({ what, outcome }) => `${what} ${outcome.split(' ')[0]}`),
    ['GET /api/v1/pods?limit=5 503', 'GET /api/v1/pods?limit=5 200'],
  )
  assert.ok(reported.every(({ milliseconds }) => milliseconds >= 0 && milliseconds < 60_000))
  assert.ok(reported.every(({ to }) => to.system === 'cluster' && to.name === connection.name))
  assert.doesNotMatch(JSON.stringify(reported), /canary/)
})

test('reports a failed request by its error class', async (t) => {
  const reported: TracedRequest[] = []
  const { connection } = await serveConnection(t, () => ({ fault: 'disconnect' }), {
    connection: { trace: (request) => reported.push(request) },
  })
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3001'))
  assert.equal(reported.length, 4)
  assert.ok(reported.every(({ outcome }) => outcome === 'broken'))
})
