import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testClock } from '../../../test/apiserver/scripted-cluster.ts'
import type { ScriptedAnswer, ScriptedRequest } from '../../../test/apiserver/scripted-server.ts'
import { x509Certificate } from '../../../test/controlplane/x509-certificate.ts'
import {
  ASKED,
  failsWith,
  GET,
  never,
  serveConnection,
} from '../../../test/fakes/served-connection.ts'

test('a 401 rereads the credentials once, on a new connection', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'token-'))
  t.after(() => rm(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, 'old')
  const { server, connection } = await serveConnection(
    t,
    async ({ headers }) => {
      if (headers['authorization'] === 'Bearer new') return { body: {} }
      await writeFile(tokenFile, 'new\n')
      return { status: 401 }
    },
    { connection: { user: { tokenFile } } },
  )
  assert.equal((await connection.send(GET, ASKED, never)).status, 200)
  assert.deepEqual(
    server.requests.map(({ headers }) => headers['authorization']),
    ['Bearer old', 'Bearer new'],
  )
})

test('a persistent 401 fails without a retry storm', async (t) => {
  const { server, connection } = await serveConnection(t, () => ({ status: 401 }), {
    connection: { user: { token: 'SECRET-TOKEN' } },
  })
  await assert.rejects(connection.send(GET, ASKED, never), (thrown) => {
    assert.doesNotMatch(JSON.stringify(thrown) + String((thrown as Error).stack), /SECRET-TOKEN/)
    return failsWith('BP3002')(thrown)
  })
  assert.equal(server.requests.length, 2)
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3002'))
  assert.equal(server.requests.length, 3)
})

test('rereads token files after a minute, on the same connection', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'token-'))
  t.after(() => rm(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  const clock = testClock()
  const { server, connection } = await serveConnection(t, () => ({ body: {} }), {
    connection: { user: { tokenFile }, clock },
  })
  await writeFile(tokenFile, 'one')
  await connection.send(GET, ASKED, never)
  await writeFile(tokenFile, 'two')
  await connection.send(GET, ASKED, never)
  clock.advance(61_000)
  await connection.send(GET, ASKED, never)
  assert.deepEqual(
    server.requests.map(({ headers }) => headers['authorization']),
    ['Bearer one', 'Bearer one', 'Bearer two'],
  )
  assert.equal(server.connections, 1)
})

test('a clock set back by an hour does not prolong the use of old credentials', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'token-'))
  t.after(() => rm(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  const clock = testClock()
  const answer = ({ headers }: ScriptedRequest): ScriptedAnswer =>
    headers['authorization'] === 'Bearer two' ? { body: {} } : { status: 401, body: {} }
  const { connection } = await serveConnection(t, answer, {
    connection: { user: { tokenFile }, clock },
  })
  await writeFile(tokenFile, 'one')
  await assert.rejects(connection.send(GET, ASKED, never), failsWith('BP3002'))
  await writeFile(tokenFile, 'two')
  clock.advance(-3_600_000)
  await connection.send(GET, ASKED, never)
})

test('rejects a certificate from an unknown authority', async (t) => {
  const { connection } = await serveConnection(t, () => ({}), {
    connection: { access: { authority: undefined } },
  })
  await assert.rejects(
    connection.send(GET, ASKED, never),
    failsWith('BP3007', /UNABLE_TO_VERIFY|SELF_SIGNED/),
  )
})

test('reports an expired server certificate with its expiry date', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const common = {
    organizations: [],
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    issuer: { commonName: 'old', key: issuer },
  }
  const [notBefore, notAfter] = [new Date('2020-01-01T00:00:00Z'), new Date('2021-02-03T04:05:06Z')]
  const certificate = x509Certificate({
    ...common,
    purpose: 'server',
    commonName: 'api',
    notBefore,
    notAfter,
    key: privateKey,
  })
  const authority = x509Certificate({
    ...common,
    purpose: 'authority',
    commonName: 'old',
    notBefore,
    notAfter: new Date('2049-01-01T00:00:00Z'),
    key: issuer,
  })
  const credential = {
    certificate,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const data = Buffer.from(authority).toString('base64')
  const { connection } = await serveConnection(t, () => ({}), {
    credential,
    connection: { access: { authority: { data } } },
  })
  await assert.rejects(
    connection.send(GET, ASKED, never),
    failsWith('BP3007', /CERT_HAS_EXPIRED/, /Feb {2}3 04:05:06 2021/),
  )
})

test('reports an expired client certificate as the reason for a 401', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = x509Certificate({
    purpose: 'client',
    commonName: 'someone',
    organizations: [],
    names: [],
    addresses: [],
    notBefore: new Date('2020-01-01T00:00:00Z'),
    notAfter: new Date('2021-02-03T04:05:06Z'),
    key: privateKey,
    issuer: { commonName: 'x', key: privateKey },
  })
  const data = (text: string) => ({ data: Buffer.from(text).toString('base64') })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { connection } = await serveConnection(t, () => ({ status: 401 }), {
    connection: { user: { certificate: data(certificate), key: data(key) } },
  })
  await assert.rejects(
    connection.send(GET, ASKED, never),
    failsWith('BP3002', /2021-02-03T04:05:06Z/),
  )
})
