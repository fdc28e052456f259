import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSecretData } from './secret-data.ts'

const BASE = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }

test('stringData goes over data, in base64, and is gone', () => {
  assert.deepEqual(withSecretData({ ...BASE, data: { a: 'eA==', b: 'eQ==' }, stringData: { b: 'ü', c: '' } }), {
    ...BASE,
    data: { a: 'eA==', b: 'w7w=', c: '' },
  })
})

test('a Secret without stringData is the same object', () => {
  const secret = { ...BASE, data: { a: 'eA==' } }
  assert.equal(withSecretData(secret), secret)
})

test('a key with a hostile name is a key', () => {
  const { data } = withSecretData({ ...BASE, stringData: JSON.parse('{"__proto__":"x"}') })
  assert.deepEqual(Object.keys(data as object), ['__proto__'])
})
