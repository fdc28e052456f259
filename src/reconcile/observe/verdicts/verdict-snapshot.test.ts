import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { StoredVerdicts } from './cluster-verdicts.ts'
import { decodeVerdicts, encodeVerdicts } from './verdict-snapshot.ts'
import { VerdictTable } from './verdict-table.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(7))

function stored(rows: number): StoredVerdicts {
  const table = new VerdictTable()
  for (let at = 0; at < rows; at += 1)
    table.put(Uint32Array.of(at * 10, at), {
      mark: new Uint32Array(4).fill(at),
      question: new Uint32Array(3),
      unit: 0,
      until: at,
      state: at,
    })
  return {
    table,
    units: ['apps/web', 'apps/日本\n'],
    scopes: [{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop' }],
  }
}

function problemOf(bytes: Uint8Array, cluster = 'prod', key = KEY): string {
  const read = decodeVerdicts(bytes, cluster, key)
  assert.ok('problem' in read, 'it was read')
  return read.problem
}

test('written verdicts read back unchanged', () => {
  for (const rows of [0, 1, 100]) {
    const before = stored(rows)
    const read = decodeVerdicts(encodeVerdicts(before, 'prod', KEY), 'prod', KEY)
    assert.ok('table' in read)
    assert.deepEqual([read.units, read.scopes], [before.units, before.scopes])
    assert.deepEqual(
      read.table.convertToBytes().toSorted(),
      before.table.convertToBytes().toSorted(),
    )
    assert.equal(read.table.size, rows)
  }
})

test('truncated verdicts are rejected, at any length', () => {
  const bytes = encodeVerdicts(stored(3), 'prod', KEY)
  for (let length = 0; length < bytes.byteLength; length += 1)
    assert.match(problemOf(bytes.subarray(0, length)), /^it is (?:cut off|damaged)/, String(length))
  assert.match(problemOf(Buffer.concat([bytes, Buffer.of(0)])), /^it is damaged/)
})

test('verdicts with any changed byte are rejected', () => {
  const bytes = encodeVerdicts(stored(3), 'prod', KEY)
  for (let at = 0; at < bytes.byteLength; at += 1)
    for (const flip of [0x01, 0x80, 0xff]) {
      const damaged = Uint8Array.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ flip
      assert.match(problemOf(damaged), /^it is (?:cut off|damaged)/, `${at} ^ ${flip}`)
    }
})

test('verdicts of another installation or cluster are rejected', () => {
  const bytes = encodeVerdicts(stored(3), 'prod', KEY)
  assert.equal(
    problemOf(bytes, 'prod', createRedactionKey(new Uint8Array(32).fill(8))),
    'it is damaged, or of an installation with another key',
  )
  assert.equal(problemOf(bytes, 'staging'), 'it is of another cluster')
})
