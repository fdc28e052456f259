import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DISCOVERY, type Routes, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import { connectionTo, testClock } from '../../../test/apiserver/scripted-cluster.ts'
import { type ScriptedServer, scriptedServer } from '../../../test/apiserver/scripted-server.ts'
import { readApi } from '../connection/cluster-api.ts'
import type { DriftEvent } from '../ports/drift-events.ts'
import { createEventApi } from './event-api.ts'
import { EventWriter, MOST_EVENTS } from './event-writer.ts'

const SHOP = '/apis/events.k8s.io/v1/namespaces/shop/events'
const SIGNAL = new AbortController().signal
const EVENT: DriftEvent = {
  reason: 'DriftDetected',
  regarding: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
  apiVersion: 'apps/v1',
  uid: 'u1',
  resourceVersion: '7',
  note: 'spec.replicas 3 → 5 by kubectl-edit',
}

async function open(
  t: TestContext,
  routes: Routes,
): Promise<{ readonly server: ScriptedServer; readonly writer: EventWriter }> {
  const all: Routes = { ...DISCOVERY, ...routes }
  const server = await scriptedServer((request) => {
    const route =
      all[
        `${request.method} ${request.path.replace(/\?.*$/, '').replace(/events\/backporch-\w+$/, 'events/*')}`
      ]
    return route === undefined ? { status: 404, body: '404 page not found' } : route(request)
  })
  const clock = testClock()
  const connection = connectionTo(server, { clock })
  t.after(async () => {
    connection.close()
    await server.close()
  })
  return { server, writer: new EventWriter(createEventApi(connection), readApi(connection), clock) }
}

test('an Event has the required fields, and its name depends on its content', async (t) => {
  const { server, writer } = await open(t, { [`POST ${SHOP}`]: () => ({ status: 201, body: {} }) })
  assert.deepEqual(await writer.write([EVENT, { ...EVENT, note: 'another' }], SIGNAL), [])
  const [first, second] = server.requests.map(({ body }) => JSON.parse(body))
  assert.deepEqual(first, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: first.metadata.name, namespace: 'shop' },
    eventTime: '2026-11-21T09:00:00.000000Z',
    type: 'Warning',
    reason: 'DriftDetected',
    action: 'Compare',
    reportingController: 'backporch.dev/controller',
    reportingInstance: 'backporch-controller',
    regarding: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
      resourceVersion: '7',
    },
    note: EVENT.note,
  })
  assert.match(first.metadata.name, /^backporch-[0-9a-f]{24}$/)
  assert.notEqual(first.metadata.name, second.metadata.name)
})

test('increments the series of an existing Event without permission to read it', async (t) => {
  let series: unknown
  const { server, writer } = await open(t, {
    [`POST ${SHOP}`]: () => statusAnswer(409, 'AlreadyExists', 'is there'),
    [`PATCH ${SHOP}/*`]: ({ body }) => {
      series = JSON.parse(body).series ?? series
      return { body: { metadata: { resourceVersion: '12' }, series } }
    },
  })
  for (const count of [2, 3]) {
    assert.deepEqual(await writer.write([EVENT], SIGNAL), [])
    assert.deepEqual(series, { count, lastObservedTime: '2026-11-21T09:00:00.000000Z' })
  }
  assert.deepEqual(
    server.requests.slice(0, 3).map(({ method, body }) => [method, method === 'POST' ? '' : body]),
    [
      ['POST', ''],
      ['PATCH', '{}'],
      [
        'PATCH',
        '{"metadata":{"resourceVersion":"12"},"series":{"count":2,"lastObservedTime":"2026-11-21T09:00:00.000000Z"}}',
      ],
    ],
  )
})

test('without permission, stops writing to the namespace and notes the RBAC rule once', async (t) => {
  const other = '/apis/events.k8s.io/v1/namespaces/other/events'
  const { server, writer } = await open(t, {
    [`POST ${SHOP}`]: () =>
      statusAnswer(
        403,
        'Forbidden',
        'events is forbidden: User "drift" cannot create resource "events"',
      ),
    [`POST ${other}`]: () => ({ status: 201, body: {} }),
  })
  const elsewhere = { ...EVENT, regarding: { ...EVENT.regarding, namespace: 'other' } }
  const notes = await writer.write([EVENT, { ...EVENT, note: 'b' }, elsewhere], SIGNAL)
  assert.deepEqual(notes, [
    {
      cause: 'events-not-written',
      subject: notes[0]?.subject,
      text: 'no Events are written in namespace shop, because the account may not: bind user "drift" to a Role in namespace shop with apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"]',
    },
  ])
  assert.deepEqual(await writer.write([EVENT], SIGNAL), [])
  assert.deepEqual(
    server.requests.map(({ path }) => path),
    [SHOP, other],
  )
})

test('does not report a terminating namespace as a missing permission', async (t) => {
  const details = { causes: [{ reason: 'NamespaceTerminating' }] }
  const { writer } = await open(t, {
    [`POST ${SHOP}`]: () => statusAnswer(403, 'Forbidden', 'terminating', details),
  })
  assert.deepEqual(await writer.write([EVENT], SIGNAL), [])
})

test('writes a limited number of Events per turn, and stops with one note when the server fails', async (t) => {
  let isBroken = false
  const { server, writer } = await open(t, {
    [`POST ${SHOP}`]: () => ({ status: isBroken ? 500 : 201, body: {} }),
  })
  const many = Array.from({ length: MOST_EVENTS + 5 }, (_, index) => ({
    ...EVENT,
    note: `${index}`,
  }))
  const notes = await writer.write(many, SIGNAL)
  assert.deepEqual(
    notes.map(({ text }) => text),
    ['5 of 25 Events are not written: a turn writes 20 in a cluster'],
  )
  assert.equal(server.requests.length, MOST_EVENTS)
  isBroken = true
  const [note, ...more] = await writer.write(many.slice(0, 3), SIGNAL)
  assert.match(note?.text ?? '', /^Events are not written: cannot create /)
  assert.deepEqual(more, [])
  assert.equal(server.requests.length, MOST_EVENTS + 1)
})

test('reads only the metadata of an object that the turn did not read', async (t) => {
  const path = '/apis/apps/v1/namespaces/shop/deployments/web'
  const { server, writer } = await open(t, {
    [`POST ${SHOP}`]: () => ({ status: 201, body: {} }),
    [`GET ${path}`]: () => ({
      body: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { uid: 'u9', resourceVersion: '9' },
      },
    }),
  })
  await writer.write(
    [{ ...EVENT, reason: 'DriftGone', apiVersion: undefined, uid: undefined }],
    SIGNAL,
  )
  const read = server.requests.find((request) => request.path.startsWith(path))
  assert.match(String(read?.headers['accept']), /PartialObjectMetadata/)
  const { type, regarding } = JSON.parse(server.requests.at(-1)?.body ?? '')
  assert.deepEqual([type, regarding.uid, regarding.apiVersion], ['Normal', 'u9', 'apps/v1'])
})

test('writes only Events, whatever namespace or name it gets', async (t) => {
  const { server } = await open(t, {})
  const connection = connectionTo(server, { clock: testClock() })
  t.after(() => connection.close())
  const api = createEventApi(connection)
  assert.deepEqual(Object.keys(api).sort(), ['cluster', 'create', 'patch'])
  await api.create('../../pods?x=', '{}', SIGNAL)
  await api.patch('shop', '../../secrets/a', '{}', SIGNAL)
  assert.deepEqual(
    server.requests.map(({ path }) => path),
    [
      '/apis/events.k8s.io/v1/namespaces/..%2F..%2Fpods%3Fx%3D/events',
      `${SHOP}/..%2F..%2Fsecrets%2Fa`,
    ],
  )
})
