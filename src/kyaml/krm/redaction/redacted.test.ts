import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { path } from '../../../../test/fakes/live-object.ts'
import { randomJson, randomPath } from '../../../../test/property/random-krm.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { formatJson, isJsonEqual, type Json } from '../../text/json.ts'
import type { ResourceId } from '../resource-id.ts'
import {
  computeKeyedHash,
  convertShownToJson,
  createRedactionKey,
  isHiddenOfSecret,
  isSensitive,
  redact,
  redactUnread,
  show,
} from './redacted.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(1))
const OTHER_KEY = createRedactionKey(new Uint8Array(32).fill(2))
const SECRET: ResourceId = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }
const CONFIG: ResourceId = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const CANARY = 'c4n4ry-b3f0-11ee'

const OF_A_SECRET: readonly (readonly [place: string, value: Json, hidden: boolean])[] = [
  ['data.color', 'Ymx1ZQ==', true],
  ['data', {}, true],
  ['stringData.color', 'blue', true],
  ['metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]', '{}', true],
  ['metadata.annotations.owner', 'ada', true],
  ['metadata.annotations["argocd.argoproj.io/sync-wave"]', '1', false],
  ['metadata.annotations["argocd.argoproj.io/sync-wave"]', 'password=hunter2', true],
  ['metadata.annotations', { 'argocd.argoproj.io/sync-wave': '1' }, false],
  [
    'metadata.annotations',
    { 'argocd.argoproj.io/sync-wave': '1', 'kapp.k14s.io/original': '{}' },
    true,
  ],
  ['metadata', { labels: { app: 'web' } }, false],
  ['metadata', { annotations: { owner: 'ada' } }, true],
  ['metadata.annotations.password', 'hunter2', true],
  ['metadata.labels.app', 'web', false],
  [
    'metadata.finalizers',
    ['kubernetes', 'argocd.argoproj.io/hook-finalizer', 'gardener.cloud/gardener'],
    false,
  ],
  ['metadata.finalizers', ['kubernetes', 'example.com/hunter2'], true],
  ['metadata.finalizers[0]', 'example.com/hunter2', true],
  ['metadata', { finalizers: ['example.com/hunter2'] }, true],
  ['type', 'Opaque', false],
  ['immutable', true, false],
  ['anythingNew', 'x', true],
]

for (const [location, value, hidden] of OF_A_SECRET) {
  test(`in a Secret, ${location} is ${hidden ? 'hidden' : 'shown'}`, () =>
    assert.equal(isSensitive({ id: SECRET, path: path(location) }, value), hidden))
}

test('names of built-in JavaScript properties do not count as known marks of a Secret', () => {
  for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
    const location = [
      { kind: 'field', name: 'metadata' } as const,
      { kind: 'field', name } as const,
    ]
    assert.equal(isHiddenOfSecret(location, { a: 1 }), false)
  }
})

test('never shows any content of a Secret, for all paths and values', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('data', 'stringData', 'unknown'),
      fc.array(randomPath, { maxLength: 1 }),
      randomJson,
      (top, rest, value) => {
        const shown = show(
          KEY,
          { id: SECRET, path: [{ kind: 'field', name: top }, ...rest.flat()] },
          value,
        )
        assert.equal(shown?.kind, 'redacted')
        assert.match(String(convertShownToJson(shown)), /^hmac-sha256:[0-9a-f]{16} \(\d+ bytes\)$/)
      },
    ),
  )
})

test('a Secret of another group is not a core Secret', () => {
  assert.equal(
    isSensitive({ id: { ...SECRET, group: 'example.com' }, path: path('data.color') }, 'blue'),
    false,
  )
})

test('the output never contains a hidden value', () => {
  const wrapped: readonly Json[] = [
    CANARY,
    { password: CANARY },
    [{ name: 'DB_PASSWORD', value: CANARY }],
    `password=${CANARY}`,
  ]
  for (const value of wrapped) {
    const shown =
      convertShownToJson(show(KEY, { id: CONFIG, path: path('data.password') }, value)) ?? null
    assert.ok(!formatJson(shown).includes(CANARY), formatJson(value))
  }
})

test('hidden values compare equal only if they are, within one installation and one path', () => {
  fc.assert(
    fc.property(randomJson, randomJson, (left, right) => {
      const [a, b] = [
        redact(KEY, SECRET, path('data.x'), left),
        redact(KEY, SECRET, path('data.x'), right),
      ]
      if (isJsonEqual(left, right)) assert.equal(a.hmac, b.hmac)
      else assert.notEqual(a.hmac, b.hmac)
    }),
  )
  assert.notEqual(
    redact(KEY, SECRET, path('data.x'), 'v').hmac,
    redact(KEY, SECRET, path('data.y'), 'v').hmac,
  )
  assert.notEqual(
    redact(KEY, SECRET, path('data.x'), 'v').hmac,
    redact(OTHER_KEY, SECRET, path('data.x'), 'v').hmac,
  )
})

test('the hash does not reveal a six-digit PIN without the key', () => {
  const { hmac } = redact(KEY, SECRET, path('data.pin'), '004711')
  const domain = '/Secret/shop/db#data.pin'
  // The true guess with the key is found, so the search below would find it if the key did not matter.
  assert.equal(computeKeyedHash(KEY, domain, '004711').slice(0, 16), hmac)
  for (let pin = 0; pin < 10_000; pin += 1) {
    const text = String(pin).padStart(6, '0')
    assert.notEqual(computeKeyedHash(OTHER_KEY, domain, text).slice(0, 16), hmac)
    for (const guess of [text, `"${text}"`, `${domain}\0value\0"${text}"`]) {
      assert.notEqual(createHash('sha256').update(guess).digest('hex').slice(0, 16), hmac)
    }
  }
})

test('distinguishes an absent value from null, and different paths', () => {
  assert.notEqual(computeKeyedHash(KEY, 'a', undefined), computeKeyedHash(KEY, 'a', null))
  assert.notEqual(computeKeyedHash(KEY, 'a', 'absent'), computeKeyedHash(KEY, 'a', undefined))
  assert.notEqual(computeKeyedHash(KEY, 'a', 'x'), computeKeyedHash(KEY, 'b', 'x'))
})

test('the id of a key reveals nothing about the key and changes with it', () => {
  assert.match(KEY.id, /^[0-9a-f]{8}$/)
  assert.notEqual(KEY.id, OTHER_KEY.id)
  assert.ok(!Buffer.from(KEY.bytes).toString('hex').includes(KEY.id))
})

test('shows an unread value as such, and a length in bytes', () => {
  assert.equal(convertShownToJson(redactUnread()), 'redacted (not read)')
  assert.match(
    String(convertShownToJson(redact(KEY, SECRET, path('stringData.x'), 'ü'))),
    /\(2 bytes\)$/,
  )
  // A Secret stores base64; what people compare is the content.
  assert.match(
    String(convertShownToJson(redact(KEY, SECRET, path('data.x'), 'aHVudGVyMg=='))),
    /\(7 bytes\)$/,
  )
})

test('shows an insensitive value unchanged, and an absent one as absent', () => {
  assert.deepEqual(show(KEY, { id: CONFIG, path: path('data.color') }, 'blue'), {
    kind: 'revealed',
    value: 'blue',
  })
  assert.equal(show(KEY, { id: SECRET, path: path('data.x') }, undefined), undefined)
  assert.equal(convertShownToJson(undefined), undefined)
})
