import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectMark, reportMark } from './object-mark.ts'
import { redactionKey } from './redaction/redacted.ts'

const KEY = redactionKey(new Uint8Array(32).fill(7))
const REST = { metadata: { name: 'a', resourceVersion: '1' }, data: { color: 'red' }, status: { seen: true } }

for (const [name, markOf] of [
  ['objectMark', objectMark],
  ['reportMark', reportMark],
] as const) {
  test(`${name}: an object has the same mark from a list, whose reader adds the type, from a stream and alone`, () => {
    const ways = [
      { apiVersion: 'v1', kind: 'ConfigMap', ...REST },
      { kind: 'ConfigMap', apiVersion: 'v1', ...REST },
      { ...REST, kind: 'ConfigMap', apiVersion: 'v1' },
    ]
    const marks = ways.map((object) => Buffer.from(markOf(KEY, object)).toString('hex'))
    assert.equal(new Set(marks).size, 1)
    const other = Buffer.from(markOf(KEY, { apiVersion: 'v1', kind: 'Secretive', ...REST })).toString('hex')
    assert.notEqual(other, marks[0])
  })
}
