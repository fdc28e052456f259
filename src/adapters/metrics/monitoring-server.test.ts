import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Failure } from '@backporch/kyaml/failure'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { Readiness } from '../../ports/readiness.ts'
import { type MonitoringLimits, startMonitoringServer } from './monitoring-server.ts'

const TEXT = `# HELP a A.\n# TYPE a gauge\n${'a{b="c"} 1\n'.repeat(100)}`

interface Parts {
  readonly readiness?: Readiness
  readonly renderExposition?: () => Promise<string>
  readonly limits?: Partial<MonitoringLimits>
}

async function open(
  t: TestContext,
  { readiness = { ready: true, checks: [] }, renderExposition, limits = {} }: Parts = {},
) {
  const server = await startMonitoringServer({
    host: '127.0.0.1',
    port: 0,
    metrics: {
      contentType: 'text/plain; version=0.0.4',
      renderExposition: renderExposition ?? (async () => TEXT),
    },
    readiness: () => readiness,
    onRefused: () => undefined,
    limits,
  })
  t.after(() => server.close())
  const { origin, port } = new URL(server.url)
  return { ...server, origin, port: Number(port) }
}

/** Everything that comes back until the connection is closed. */
function dial(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}

test('/metrics serves the text with its content type, compressed if the client accepts it', async (t) => {
  const { url } = await open(t)
  const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  assert.deepEqual(
    [plain.status, plain.headers.get('content-type'), await plain.text()],
    [200, 'text/plain; version=0.0.4', TEXT],
  )
  const [encoding, body] = await new Promise<[unknown, Buffer]>((resolve) => {
    const request = httpRequest(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve([response.headers['content-encoding'], Buffer.concat(chunks)]),
      )
    })
    request.end()
  })
  assert.equal(encoding, 'gzip')
  assert.equal(gunzipSync(body).toString(), TEXT)
  assert.ok(body.length < TEXT.length)
})

test('/readyz lists each check, answers 503 when not ready, and names stale clusters even when ready', async (t) => {
  const checks = [
    { ok: true, text: 'cluster prod ok' },
    { ok: false, text: 'cluster edge: stale for 3m12s' },
  ]
  const lines = '[+]cluster prod ok\n[-]cluster edge: stale for 3m12s\n'
  const ready = await open(t, { readiness: { ready: true, checks } })
  const answer = await fetch(`${ready.origin}/readyz`)
  assert.deepEqual([answer.status, await answer.text()], [200, `${lines}readyz check passed\n`])
  const unready = await open(t, { readiness: { ready: false, checks } })
  const refused = await fetch(`${unready.origin}/readyz`)
  assert.deepEqual([refused.status, await refused.text()], [503, `${lines}readyz check failed\n`])
})

test('/healthz answers ok even when nothing is ready', async (t) => {
  const { origin } = await open(t, { readiness: { ready: false, checks: [] } })
  const answer = await fetch(`${origin}/healthz`)
  assert.deepEqual(
    [answer.status, await answer.text(), answer.headers.get('cache-control')],
    [200, 'ok\n', 'no-store'],
  )
  const head = await fetch(`${origin}/metrics`, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('rejects other paths, other methods and request bodies', async (t) => {
  const { origin, port } = await open(t)
  const statusOf = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${origin}${path}`, init)).status
  assert.equal(await statusOf('/'), 404)
  assert.equal(await statusOf('/webhook', { method: 'POST', body: '{}' }), 404)
  assert.equal(await statusOf('/metrics', { method: 'POST', body: '{}' }), 405)
  assert.equal(await statusOf('/metrics?collect[]=a'), 200)
  const head = 'GET /metrics HTTP/1.1\r\nhost: x\r\n'
  assert.match(await dial(port, `${head}content-length: 2\r\n\r\n{}`), /^HTTP\/1\.1 413 /)
  assert.match(
    await dial(port, `${head}content-length: 2\r\nexpect: 100-continue\r\n\r\n{}`),
    /^HTTP\/1\.1 413 /,
  )
  assert.match(await dial(port, `${head}x: ${'a'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
  assert.match(await dial(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), /^HTTP\/1\.1 400 /)
})

test('an endless request body is answered and disconnected', async (t) => {
  const { port } = await open(t, { limits: { linger: 50 } })
  assert.match(
    await dial(port, 'POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\nabc'),
    /^HTTP\/1\.1 405 /,
  )
})

test('disconnects a client that sends its request or reads the answer too slowly', async (t) => {
  const slow = await open(t, { limits: { headers: 100 } })
  assert.match(await dial(slow.port, 'GET /metrics HTTP/1.1\r\n'), /^HTTP\/1\.1 408 /)
  const { port } = await open(t, {
    limits: { answer: 100 },
    renderExposition: async () => 'a'.repeat(64 * 1024 * 1024),
  })
  let isClosed = false
  const socket = connect(port, '127.0.0.1', () =>
    socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'),
  ).pause()
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true
    })
  // It does not read, so only a write shows it that the connection is gone.
  await waitUntil('it is cut off', () => {
    if (!isClosed) socket.write('\r\n')
    return isClosed
  })
})

test('a rendering error fails the scrape, and the server keeps running', async (t) => {
  const { url, origin } = await open(t, {
    renderExposition: () => Promise.reject(new Error('a secret')),
  })
  const answer = await fetch(url)
  assert.deepEqual(
    [answer.status, await answer.text()],
    [500, 'the metrics could not be written\n'],
  )
  assert.equal((await fetch(`${origin}/healthz`)).status, 200)
})

test('an address in use is a failure whose remedy names the flag', async (t) => {
  const { port } = await open(t)
  const metrics = { contentType: '', renderExposition: async () => '' }
  const readiness = () => ({ ready: true, checks: [] })
  const second = startMonitoringServer({
    host: '127.0.0.1',
    port,
    metrics,
    readiness,
    onRefused: () => undefined,
  })
  await assert.rejects(
    second,
    (thrown) =>
      thrown instanceof Failure && thrown.code === 'BP1001' && /--http-address/.test(thrown.remedy),
  )
})
