import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { LookupFunction, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { accessTo, connectionTo } from '../../../test/apiserver/scripted-cluster.ts'
import { type ScriptedOptions, scriptedServer } from '../../../test/apiserver/scripted-server.ts'
import type { RequestDescription } from './kubernetes-failure.ts'
import { isLinkLocal } from './link-local.ts'

const ASKED: RequestDescription = {
  cluster: 'scripted',
  verb: 'get',
  resource: undefined,
  path: '/x',
}
const never = new AbortController().signal

/** Addresses to which a connection was begun, whether or not it came about. */
const attempts: string[] = []
subscribe('net.client.socket', (message) => {
  const { socket } = message as { readonly socket: Socket }
  socket.on('connectionAttempt', (address) => attempts.push(address))
})

/** A connection to a server by name, whose addresses are the next of `answers`; then the last of them. */
async function named(
  t: TestContext,
  answers: readonly (readonly string[])[],
  options: ScriptedOptions = {},
) {
  const server = await scriptedServer(() => ({ body: { ok: true } }), options)
  const looked: string[] = []
  const lookup: LookupFunction = (name, { all }, give) => {
    const found = (answers[looked.length] ?? answers.at(-1) ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    looked.push(name)
    if (all === true) give(null, found)
    else give(null, found[0]?.address ?? '', found[0]?.family)
  }
  const { port, protocol } = new URL(server.url)
  const access = { ...accessTo(server), server: new URL(`${protocol}//localhost:${port}`) }
  // Nobody answers at link-local addresses here: a connection to one would take this long, and end as another failure.
  const connection = connectionTo(server, {
    access,
    lookup,
    user: { token: 'canary' },
    connectTimeout: 1_000,
  })
  t.after(async () => {
    connection.close()
    await server.close()
  })
  return {
    server,
    looked,
    send: () => connection.send({ method: 'GET', path: '/x', repeatable: true }, ASKED, never),
    connection,
  }
}

function refused(thrown: unknown): boolean {
  assert.ok(thrown instanceof Failure, String(thrown))
  assert.equal(thrown.code, 'BP1006', thrown.message)
  assert.match(
    thrown.message,
    /the name of the server resolves to a link-local address, where clouds keep machine credentials/,
  )
  assert.equal(thrown.remedy, 'correct clusters[].cluster.server')
  return true
}

for (const protocol of ['h2', 'http/1.1', 'plain'] as const) {
  for (const address of [
    '169.254.169.254',
    'fe80::1',
    'febf::a9fe',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    'fe80::1%eth0',
  ]) {
    test(`${protocol}: does not connect to a name that resolves to ${address}`, async (t) => {
      const { server, looked, send } = await named(t, [[address]], { protocol })
      await assert.rejects(send(), refused)
      assert.deepEqual(
        [looked, server.connections, attempts.filter(isLinkLocal)],
        [['localhost'], 0, []],
      )
    })
  }

  test(`${protocol}: connects only to the addresses of a name that are not link-local`, async (t) => {
    const { server, send } = await named(t, [['fe80::1', '169.254.169.254', '127.0.0.1']], {
      protocol,
    })
    attempts.length = 0
    assert.equal((await send()).status, 200)
    assert.equal(server.requests.length, 1)
    assert.deepEqual([...new Set(attempts)], ['127.0.0.1'])
  })
}

test('rejects a stream like a request', async (t) => {
  const { connection } = await named(t, [['169.254.169.254']])
  await assert.rejects(connection.stream({ path: '/x?watch=true' }, ASKED, never), refused)
})

test('http/1.1: does not reconnect to a name that changed to a link-local address', async (t) => {
  const { server, looked, send } = await named(t, [['127.0.0.1'], ['169.254.169.254']], {
    protocol: 'http/1.1',
  })
  await assert.rejects(send(), refused)
  assert.deepEqual([looked.length, server.requests.length], [2, 0])
})

test('h2: rejects the next connection to a name that changed to a link-local address', async (t) => {
  const { server, send } = await named(t, [['127.0.0.1'], ['169.254.169.254']])
  assert.equal((await send()).status, 200)
  server.goaway()
  // The client hears of it a moment later.
  const ended = async (): Promise<never> => {
    for (;;) await send()
  }
  await assert.rejects(ended(), refused)
  assert.equal(server.connections, 1)
})

test('behind a proxy, leaves the lookup of the server name to the proxy', async (t) => {
  const proxy = await scriptedServer(() => ({ body: {} }), { protocol: 'plain' })
  const connection = connectionTo(
    { url: 'https://api.example', authority: '-----BEGIN CERTIFICATE-----' },
    {
      access: { authority: undefined, proxyUrl: proxy.url },
      lookup: () => assert.fail('it was looked up'),
    },
  )
  t.after(async () => {
    connection.close()
    await proxy.close()
  })
  // This proxy makes no tunnels.
  await assert.rejects(
    connection.send({ method: 'GET', path: '/x', repeatable: false }, ASKED, never),
    { code: 'BP3001' },
  )
  assert.equal(proxy.connections, 1)
})

test('names and other addresses are not link-local', () => {
  const others = [
    '169.254.example',
    'fe80.example',
    '169.253.0.1',
    '10.0.0.1',
    'fec0::1',
    'fe7f::1',
    '::ffff:10.0.0.1',
    '::1',
    '',
  ]
  assert.deepEqual(others.filter(isLinkLocal), [])
})
