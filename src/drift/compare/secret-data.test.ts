import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFieldPath } from '@backporch/kyaml/field'
import { path } from '../../../test/fakes/live-object.ts'
import { getAuthoredSecretPath, mergeSecretData } from './secret-data.ts'

const BASE = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }

test('stringData overrides data, in base64, and is removed', () => {
  assert.deepEqual(
    mergeSecretData({ ...BASE, data: { a: 'eA==', b: 'eQ==' }, stringData: { b: 'ü', c: '' } }),
    {
      ...BASE,
      data: { a: 'eA==', b: 'w7w=', c: '' },
    },
  )
})

test('a Secret without stringData is unchanged', () => {
  const secret = { ...BASE, data: { a: 'eA==' } }
  assert.equal(mergeSecretData(secret), secret)
})

test('treats a hostile key name as a plain key', () => {
  const { data } = mergeSecretData({ ...BASE, stringData: JSON.parse('{"__proto__":"x"}') })
  assert.deepEqual(Object.keys(data as object), ['__proto__'])
})

test('the authored field is in stringData when git has the key there or has no data', () => {
  const authored = (secret: object, at: string) =>
    formatFieldPath(getAuthoredSecretPath({ ...BASE, ...secret }, path(at)))
  const both = { data: { a: 'eA==' }, stringData: { b: 'y' } }
  assert.equal(authored(both, 'data.b'), 'stringData.b')
  assert.equal(authored(both, 'data.a'), 'data.a')
  assert.equal(authored(both, 'data.c'), 'data.c')
  assert.equal(authored({ stringData: { b: 'y' } }, 'data.c'), 'stringData.c')
  assert.equal(authored({}, 'data.c'), 'data.c')
  assert.equal(authored(both, 'type'), 'type')
})
