import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { getResourceKey } from '@backporch/kyaml/resource'
import { type AuditSample, auditEvent } from '../../../test/fakes/audit-samples.ts'
import { AuditIntake } from './audit-intake.ts'
import { startAuditServer } from './audit-server.ts'

const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const TOKEN = 'f00d'.repeat(8)

interface Context {
  readonly intake: AuditIntake
  readonly url: string
  readonly refused: string[]
  readonly send: (body: string, headers?: Record<string, string>, path?: string) => Promise<number>
}

async function listen(
  t: TestContext,
  options: ConstructorParameters<typeof AuditIntake>[0] = { token: TOKEN },
): Promise<Context> {
  const refused: string[] = []
  const intake = new AuditIntake(options)
  const server = await startAuditServer({
    host: '127.0.0.1',
    port: 0,
    intake,
    onRefused: (why) => refused.push(why),
  })
  t.after(() => server.close())
  const send = async (
    body: string,
    headers: Record<string, string> = {},
    path = '',
  ): Promise<number> => {
    const all = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers }
    return (await fetch(server.url + path, { method: 'POST', body, headers: all })).status
  }
  return { intake, url: server.url, refused, send }
}

function list(...samples: AuditSample[]): string {
  return JSON.stringify({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    metadata: {},
    items: samples.map(auditEvent),
  })
}

async function users(intake: AuditIntake, cluster = 'prod'): Promise<string[]> {
  const { writes } = await intake.writesTo(cluster, [ID])
  return (writes.get(getResourceKey(ID)) ?? []).map(({ user }) => user)
}

test('keeps only the writes from a list of events', async (t) => {
  const { intake, send, refused } = await listen(t)
  assert.equal(
    await send(
      list({ user: 'ada' }, { verb: 'get', user: 'reader' }, { user: 'bob', name: 'other' }),
    ),
    200,
  )
  assert.deepEqual(await users(intake), ['ada'])
  assert.deepEqual(refused, [])
})

test('rejects a delivery without the token, and reveals nothing from it', async (t) => {
  const { intake, send, refused } = await listen(t)
  for (const authorization of ['', 'Bearer nowhere', TOKEN])
    assert.equal(await send(list({ user: 'eve' }), { authorization }), 401)
  assert.deepEqual(await users(intake), [])
  assert.doesNotMatch(refused.join(), /eve|nowhere|f00d/)
})

const BAD: readonly (readonly [
  body: string,
  headers: Record<string, string>,
  path: string,
  status: number,
])[] = [
  ['{', {}, '', 400],
  ['[]', {}, '', 400],
  ['{"kind":"Event"}', {}, '', 400],
  ['{"kind":"EventList","items":{}}', {}, '', 400],
  ['{}', { 'content-type': 'text/plain' }, '', 415],
  ['{}', {}, '/a/b', 404],
  [' '.repeat(16_777_217), {}, '', 413],
]

for (const [body, headers, path, status] of BAD) {
  test(`responds ${status} to ${body.length > 30 ? 'a body of 16 MiB and more' : `${body} at /audit${path}`}`, async (t) => {
    const { send, refused } = await listen(t)
    assert.equal(await send(body, headers, path), status)
    assert.equal(refused.length, 1)
  })
}

test('with several clusters, each delivery names its cluster and counts for no other', async (t) => {
  const { intake, send } = await listen(t, { token: TOKEN, named: true })
  assert.equal(await send(list({ user: 'ada' }), {}, '/prod'), 200)
  assert.equal(await send(list({ user: 'bob' }), {}, '/test'), 200)
  assert.equal(await send(list({ user: 'carl' })), 400)
  assert.deepEqual(await users(intake, 'prod'), ['ada'])
})

test('keeps a bounded number of events and drops the oldest first', async () => {
  const one = list({ user: 'u0' }).length
  const intake = new AuditIntake({ token: undefined, limit: one * 3 })
  for (let number = 0; number < 10; number += 1)
    intake.take(undefined, Buffer.from(list({ user: `u${number}` })))
  assert.deepEqual(await users(intake), ['u7', 'u8', 'u9'])
})

test('answers health checks and accepts only POST', async (t) => {
  const { url } = await listen(t)
  assert.equal((await fetch(url.replace('/audit', '/healthz'))).status, 200)
  assert.equal((await fetch(url)).status, 405)
})
