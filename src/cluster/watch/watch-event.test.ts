import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOlder, readEvent } from './watch-event.ts'

const OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: 'u', resourceVersion: '5' },
}
const event = (type: string, object: unknown): string => JSON.stringify({ type, object })

test('reads the five types of events', () => {
  assert.deepEqual(readEvent(event('ADDED', OBJECT)), {
    type: 'changed',
    object: OBJECT,
    version: '5',
  })
  assert.deepEqual(readEvent(event('MODIFIED', OBJECT)), {
    type: 'changed',
    object: OBJECT,
    version: '5',
  })
  assert.deepEqual(readEvent(event('DELETED', OBJECT)), {
    type: 'deleted',
    object: OBJECT,
    version: '5',
  })
  const bookmark = { metadata: { resourceVersion: '7' } }
  assert.deepEqual(readEvent(event('BOOKMARK', bookmark)), {
    type: 'bookmark',
    version: '7',
    listed: false,
  })
  const last = {
    metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } },
  }
  assert.deepEqual(readEvent(event('BOOKMARK', last)), {
    type: 'bookmark',
    version: '7',
    listed: true,
  })
  const status = { kind: 'Status', code: 410, message: 'too old' }
  assert.deepEqual(readEvent(event('ERROR', status)), {
    type: 'error',
    code: 410,
    body: JSON.stringify(status),
  })
})

test('a line truncated at any byte is no event', () => {
  const line = event('ADDED', OBJECT)
  for (let end = 0; end < line.length; end += 1)
    assert.equal(readEvent(line.slice(0, end)), undefined, `${end}`)
})

test('rejects input that is not an event', () => {
  for (const line of ['[]', 'null', '1', '<html>', '{}', event('SOMETHING', OBJECT)])
    assert.equal(readEvent(line), undefined, line)
})

test('an event without a readable object is unusable, and keeps its version if it has one', () => {
  for (const object of [null, 'text', [], {}, { metadata: null }, { metadata: { name: 1 } }]) {
    assert.equal(readEvent(event('ADDED', object))?.type, 'unusable', JSON.stringify(object))
  }
  const nameless = readEvent(event('MODIFIED', { metadata: { resourceVersion: '9' } }))
  assert.equal(nameless?.type === 'unusable' && nameless.version, '9')
  const deep = `{"metadata":{"name":"a","resourceVersion":"9"},"spec":${'['.repeat(5000)}${']'.repeat(5000)}}`
  const read = readEvent(`{"type":"ADDED","object":${deep}}`)
  assert.ok(read?.type === 'unusable' && read.version === '9' && /deep/.test(read.why))
})

test('an error without a code is a server error, and integers stay exact', () => {
  for (const object of [null, {}, { code: 'x' }])
    assert.ok(readEvent(event('ERROR', object))?.type === 'error')
  const read = readEvent('{"type":"ERROR","object":{"code":500,"details":{"n":9007199254740993}}}')
  assert.ok(read?.type === 'error' && read.code === 500 && read.body.includes('9007199254740993'))
})

test('only numeric versions have an order', () => {
  assert.equal(isOlder('9', '10'), true)
  assert.equal(isOlder('10', '9'), false)
  assert.equal(isOlder('10', '10'), false)
  assert.equal(isOlder('9007199254740992', '9007199254740993'), true)
  assert.equal(isOlder('99999999999999999999', '100000000000000000000'), true)
  for (const [one, two] of [
    ['', '5'],
    ['5', ''],
    ['a', '5'],
    ['1-2', '5'],
  ] as const)
    assert.equal(isOlder(one, two), false)
})
