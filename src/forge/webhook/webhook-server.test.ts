import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as sent } from 'node:timers/promises'
import { Failure } from '@backporch/kyaml/failure'
import {
  dial,
  headersFor,
  openWebhook,
  PUSH,
  post,
  rawHead,
  SECRET,
} from '../../../test/fakes/webhook-sender.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import { systemClock } from '../../adapters/system/system-clock.ts'
import { WebhookIntake } from './webhook-intake.ts'
import { startWebhookServer } from './webhook-server.ts'
import { DeliveryWindow } from './webhook-window.ts'

test('accepts a signed delivery with 202, and rejects and reports an unsigned one once', async (t) => {
  const { url, updates, refused } = await openWebhook(t)
  assert.deepEqual(await post(url, PUSH, headersFor(PUSH)), { status: 202, text: 'accepted\n' })
  assert.equal(updates(), 1)
  assert.equal((await post(url, PUSH, headersFor(PUSH, 'a guess'))).status, 401)
  assert.equal((await post(url, PUSH, { 'content-type': 'application/json' })).status, 401)
  assert.equal(updates(), 1)
  assert.equal(refused.length, 2)
})

test('the signature covers the raw bytes in any chunking', async (t) => {
  const { port, updates } = await openWebhook(t)
  const body = JSON.stringify({ repository: { full_name: 'acme/deploy' }, text: 'ä → 🦊' })
  const { socket, closed } = dial(port)
  socket.write(
    rawHead({
      ...headersFor(body),
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }),
  )
  for (const byte of Buffer.from(body)) {
    socket.write(Buffer.of(byte))
    await sent()
  }
  assert.match(await closed, /^HTTP\/1\.1 202 /)
  assert.equal(updates(), 1)
})

test('responds to other methods and paths with the right ones, and to health checks without a secret', async (t) => {
  const { url, updates } = await openWebhook(t)
  const get = await fetch(url)
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
  await get.text()
  const health = new URL('/healthz', url)
  assert.deepEqual(
    [(await fetch(health)).status, await (await fetch(health)).text()],
    [200, 'ok\n'],
  )
  assert.equal((await fetch(health, { method: 'HEAD' })).status, 200)
  const posted = await fetch(health, { method: 'POST', body: 'x' })
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
  assert.equal((await fetch(new URL('/', url), { method: 'HEAD' })).status, 404)
  for (const path of ['/', '/webhook/', '/webhooks', '/%77ebhook', '/webhook/../healthz/x']) {
    assert.equal(
      (await fetch(new URL(path, url), { method: 'POST', body: PUSH, headers: headersFor(PUSH) }))
        .status,
      404,
      path,
    )
  }
  assert.equal((await post(`${url}?from=github`, PUSH, headersFor(PUSH))).status, 202)
  assert.equal(updates(), 1)
})

test('rejects a form and names the content type to choose', async (t) => {
  const { url } = await openWebhook(t)
  const answer = await post(url, 'payload=%7B%7D', {
    ...headersFor('payload=%7B%7D'),
    'content-type': 'application/x-www-form-urlencoded',
  })
  assert.equal(answer.status, 415)
  assert.match(answer.text, /application\/json/)
})

test('rejects a declared 25 MB before it is sent', async (t) => {
  const { url, intake } = await openWebhook(t)
  const sent = await new Promise<{ status: number; continued: boolean }>((resolve, reject) => {
    let continued = false
    const request = httpRequest(url, {
      method: 'POST',
      headers: { ...headersFor(''), expect: '100-continue', 'content-length': '26214400' },
    })
    request.on('continue', () => {
      continued = true
    })
    request.on('response', (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, continued })
      request.destroy()
    })
    request.on('error', reject)
    request.flushHeaders()
  })
  assert.deepEqual(sent, { status: 413, continued: false })
  assert.equal(intake.held, 0)
})

test('tells a client that sends Expect to continue', async (t) => {
  const { url, updates } = await openWebhook(t)
  const status = await new Promise((resolve, reject) => {
    const headers = {
      ...headersFor(PUSH),
      expect: '100-continue',
      'content-length': String(PUSH.length),
    }
    const request = httpRequest(url, { method: 'POST', headers })
    request.on('continue', () => request.end(PUSH))
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject)
    request.flushHeaders()
  })
  assert.equal(status, 202)
  assert.equal(updates(), 1)
})

for (const reported of [true, false]) {
  test(`responds 413 to 25 MB ${reported ? 'of declared length' : 'in chunks'} without growing memory`, async (t) => {
    const { port, intake, updates } = await openWebhook(t)
    const before = process.memoryUsage().rss
    const { socket, closed } = dial(port)
    const length = { 'content-length': '26214400' }
    socket.write(
      rawHead({ ...headersFor(''), ...(reported ? length : { 'transfer-encoding': 'chunked' }) }),
    )
    const piece = Buffer.alloc(65_536, 'a')
    let most = 0
    for (let sent = 0; sent < 26_214_400 && !socket.destroyed; sent += piece.length) {
      if (!reported) socket.write('10000\r\n')
      if (!socket.write(piece))
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
      if (!reported) socket.write('\r\n')
      most = Math.max(most, intake.held)
    }
    if (!reported) socket.write('0\r\n\r\n')
    assert.match(await closed, /^HTTP\/1\.1 413 [\s\S]*25 MB/)
    assert.ok(most < 1_200_000, `${most} bytes were held`)
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 64 * 1_048_576, `memory grew by ${grown} bytes`)
    assert.equal(intake.held, 0)
    assert.equal(updates(), 0)
  })
}

test('a large signed body causes a turn, and is not kept', async (t) => {
  const { url, intake, updates } = await openWebhook(t)
  const body = Buffer.from(
    JSON.stringify({ repository: { full_name: 'acme/deploy' }, pad: 'x'.repeat(5_000_000) }),
  )
  assert.equal((await post(url, body, headersFor(body))).status, 202)
  assert.equal(updates(), 1)
  assert.equal(intake.held, 0)
})

test('responds 408 to a slow body and to endless headers, and closes the connection', async (t) => {
  const { port, intake, updates } = await openWebhook(t, { headers: 200, request: 400 })
  const slow = dial(port)
  slow.socket.write(rawHead({ ...headersFor(PUSH), 'content-length': String(PUSH.length) }))
  const drip = setInterval(() => slow.socket.write('{'), 50)
  const slower = dial(port)
  slower.socket.write('POST /webhook HTTP/1.1\r\nhost: x\r\n')
  const headers = setInterval(() => slower.socket.write('x-a: b\r\n'), 50)
  const silent = dial(port)
  try {
    const answers = await Promise.all([slow.closed, slower.closed, silent.closed])
    assert.match(answers[0], /^HTTP\/1\.1 408 /)
    assert.match(answers[1], /^HTTP\/1\.1 408 /)
  } finally {
    clearInterval(drip)
    clearInterval(headers)
  }
  assert.equal(intake.held, 0)
  assert.equal(updates(), 0)
})

test('limits slow connections, and blocks others no longer than a request may take', async (t) => {
  const { url, port } = await openWebhook(t, { headers: 200, request: 300, connections: 20 })
  const slow = Array.from({ length: 60 }, () => dial(port))
  for (const { socket } of slow) socket.write('POST /webhook HTTP/1.1\r\n')
  const answers = await Promise.all(slow.map(({ closed }) => closed))
  assert.ok(
    answers.filter((answer) => answer !== '').length <= 20,
    'the others were closed at once',
  )
  // This machine may be too slow for one request.
  await waitUntil(
    'a request gets through',
    async () => (await post(url, PUSH, headersFor(PUSH))).status === 202,
  )
})

test('a client that disconnects midway leaves nothing behind', async (t) => {
  const { url, port, intake, updates } = await openWebhook(t)
  for (let number = 0; number < 20; number += 1) {
    const { socket, closed } = dial(port)
    socket.write(rawHead({ ...headersFor(PUSH), 'content-length': '100000' }))
    socket.write('{"repository"')
    await waitUntil('the server has its beginning', () => intake.held > 0)
    socket.resetAndDestroy()
    await closed
  }
  assert.equal((await post(url, PUSH, headersFor(PUSH))).status, 202)
  assert.equal(intake.held, 0)
  assert.equal(updates(), 1)
})

test('responds to pipelined requests one by one, in order', async (t) => {
  const { port, updates } = await openWebhook(t)
  const { socket, closed } = dial(port)
  const good = (body: string): string =>
    rawHead({ ...headersFor(body), 'content-length': String(body.length) }) + body
  socket.write(
    `${good(PUSH)}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n${good(`${PUSH} `)}${good('null')}GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n`,
  )
  const statuses = [...(await closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  assert.deepEqual(statuses, ['202', '200', '202', '202', '404'])
  assert.equal(updates(), 2)
})

test('rejects a length together with chunks, an invalid length, and data that is not HTTP', async (t) => {
  const { port, updates } = await openWebhook(t)
  const heads = [
    rawHead({
      ...headersFor(PUSH),
      'content-length': String(PUSH.length),
      'transfer-encoding': 'chunked',
    }),
    rawHead({ ...headersFor(PUSH), 'content-length': '-1' }),
    rawHead({ ...headersFor(PUSH), 'content-length': '1e9' }),
    `POST /webhook HTTP/1.1\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n${rawHead({ ...headersFor(PUSH), 'content-length': String(PUSH.length) }).slice(24)}`,
    'hello\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    `POST /webhook HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
  ]
  for (const head of heads) {
    const { socket, closed } = dial(port)
    socket.write(head + PUSH)
    assert.match(await closed, /^HTTP\/1\.1 4\d\d /)
  }
  assert.equal(updates(), 0)
})

test('accepts 200 concurrent deliveries', async (t) => {
  const { url, updates } = await openWebhook(t)
  const bodies = Array.from({ length: 200 }, (_, number) =>
    JSON.stringify({ number, repository: { full_name: 'acme/deploy' } }),
  )
  const answers = await Promise.all(bodies.map((body) => post(url, body, headersFor(body))))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]))
  assert.equal(updates(), 200)
})

test('no response or log contains the secret or any part of the request', async (t) => {
  const { url, refused } = await openWebhook(t)
  const marked = '{"marker":"m4rk3r"}'
  const observed: string[] = []
  for (const headers of [
    headersFor(marked),
    headersFor(marked, 'x'),
    { ...headersFor(marked), 'x-github-event': 'm4rk3r' },
    {},
  ]) {
    const answer = await fetch(`${url}?m4rk3r`, { method: 'POST', body: marked, headers })
    observed.push(JSON.stringify([...answer.headers]), await answer.text())
  }
  observed.push(await (await fetch(new URL('/m4rk3r', url))).text(), ...refused)
  assert.doesNotMatch(observed.join('\n'), /m4rk3r/)
  assert.ok(!observed.join('\n').includes(SECRET))
})

test('passes a button press on with its notification', async (t) => {
  const { intake } = await openWebhook(t)
  const requested: unknown[] = []
  const onUpdate = (requestedAction: unknown): void => void requested.push(requestedAction)
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    intake,
    clock: systemClock,
    onUpdate,
    onRefused: () => undefined,
  })
  t.after(() => server.close())
  const body = JSON.stringify({
    action: 'rerequested',
    check_run: { name: 'backporch', head_sha: 'a'.repeat(40), external_id: '0123456789abcdef.x.y' },
    repository: { full_name: 'acme/deploy' },
    sender: { login: 'wendy', type: 'User' },
  })
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'check_run',
    'x-hub-signature-256': signature,
  }
  assert.equal((await fetch(server.url, { method: 'POST', body, headers })).status, 202)
  assert.deepEqual(
    requested.map((action) => (action as { button: string }).button),
    ['recheck'],
  )
})

test('reports an unavailable listen address with the reason', async (t) => {
  const { port } = await openWebhook(t)
  const intake = new WebhookIntake({
    secrets: ['s'],
    repository: undefined,
    window: new DeliveryWindow(),
  })
  const quiet = {
    intake,
    clock: systemClock,
    onUpdate: () => undefined,
    onRefused: () => undefined,
  }
  const cases = [
    ['127.0.0.1', port, /another program/],
    ['192.0.2.1', 0, /does not have that address/],
    ['name.invalid', 0, /no address|the system answered/],
  ] as const
  for (const [host, wanted, why] of cases) {
    await assert.rejects(
      startWebhookServer({ host, port: wanted, ...quiet }),
      (thrown: unknown) => {
        assert.ok(thrown instanceof Failure)
        assert.equal(thrown.code, 'BP1001')
        assert.match(thrown.why, why)
        return true
      },
    )
  }
})

test('closing waits a second for the current request, and accepts no new one', async (t) => {
  const context = await openWebhook(t)
  const server = await startWebhookServer({
    host: '::1',
    port: 0,
    intake: context.intake,
    clock: systemClock,
    onUpdate: () => undefined,
    onRefused: () => undefined,
  })
  assert.match(server.url, /^http:\/\/\[::1\]:\d+\/webhook$/)
  const socket = connect(Number(new URL(server.url).port), '::1')
  socket.on('error', () => undefined)
  socket.write(`${rawHead({ ...headersFor(PUSH), 'content-length': '100000' })}{"repository"`)
  await waitUntil('the server has its beginning', () => context.intake.held > 0)
  const cut = new Promise((resolve) => socket.once('close', resolve))
  await server.close()
  // Nobody ended the request: the server did not wait for it any longer.
  await cut
  await assert.rejects(fetch(server.url))
})
