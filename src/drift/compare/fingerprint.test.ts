import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatJson, isJsonEqual, type JsonObject } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { driftOf, TEST_KEY } from '../../../test/fakes/drift-samples.ts'
import { randomJson, randomPath } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { Drift } from './drift.ts'
import { computeFingerprint, computeItemFingerprint, getEpisodeId } from './fingerprint.ts'

const UNIT = { cluster: 'uid-1', package: 'apps/web' }

const randomDrift: fc.Arbitrary<Drift> = fc
  .tuple(randomPath, randomJson, randomJson, fc.constantFrom('modified', 'added', 'removed'))
  .map(([path, git, live, change]) => ({ ...driftOf(''), path, git, live, change }) as Drift)

test('the order of the differences does not matter', () => {
  fc.assert(
    fc.property(
      fc.array(randomDrift, { maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      (items, seeds) => {
        const shuffled = items
          .map((item) => ({ item, at: seeds.next().value ?? 0 }))
          .sort((left, right) => left.at - right.at)
        assert.equal(
          computeFingerprint(
            UNIT,
            shuffled.map(({ item }) => item),
            TEST_KEY,
          ),
          computeFingerprint(UNIT, items, TEST_KEY),
        )
      },
    ),
  )
})

test('different values give different fingerprints', () => {
  fc.assert(
    fc.property(randomDrift, randomJson, (item, live) => {
      const same =
        computeItemFingerprint({ ...item, live }, TEST_KEY) ===
        computeItemFingerprint(item, TEST_KEY)
      if (!/e\+/.test(formatJson([item.live ?? null, live])))
        assert.equal(same, isJsonEqual(item.live, live))
    }),
  )
})

const BASE = driftOf('spec.replicas')
const OTHERS: readonly (readonly [name: string, item: Drift])[] = [
  ['the value in git', { ...BASE, git: 4 }],
  ['the live value', { ...BASE, live: 6 }],
  ['no live value', { ...BASE, live: undefined }],
  ['null as live value', { ...BASE, live: null }],
  ['the field', driftOf('spec.paused')],
  ['the kind of change', { ...BASE, change: 'added' }],
  ['the name', { ...BASE, id: { ...BASE.id, name: 'api' } }],
  ['the namespace', { ...BASE, id: { ...BASE.id, namespace: 'other' } }],
  ['the kind', { ...BASE, id: { ...BASE.id, kind: 'StatefulSet' } }],
  ['the group', { ...BASE, id: { ...BASE.id, group: 'example.com' } }],
  ['the uid of an object recreated under its name', { ...BASE, uid: 'u-2' }],
]

for (const [name, item] of OTHERS) {
  test(`the fingerprint depends on ${name}`, () =>
    assert.notEqual(computeItemFingerprint(item, TEST_KEY), computeItemFingerprint(BASE, TEST_KEY)))
}

const SAME: readonly (readonly [name: string, item: Drift])[] = [
  ['the writer', { ...BASE, actor: { ...BASE.actor, manager: 'x' } }],
  ['when', { ...BASE, actor: { ...BASE.actor, at: '2027-01-01T00:00:00Z' } }],
  ['the risk', { ...BASE, risk: 'critical', reason: 'X' }],
  ['the API version', { ...BASE, apiVersion: 'apps/v2' }],
  ['notes', { ...BASE, notes: ['a'] }],
  ['the kind of number', { ...BASE, live: 5n }],
]

for (const [name, item] of SAME) {
  test(`the fingerprint does not depend on ${name}`, () =>
    assert.equal(computeItemFingerprint(item, TEST_KEY), computeItemFingerprint(BASE, TEST_KEY)))
}

test('a unit is its cluster and its package', () => {
  const print = (cluster: string, folder: string): string =>
    computeFingerprint({ cluster, package: folder }, [BASE], TEST_KEY)
  assert.equal(
    new Set([print('a', 'b'), print('b', 'a'), print('ab', ''), print('', 'ab')]).size,
    4,
  )
})

test('another installation key gives another fingerprint', () => {
  assert.notEqual(
    computeItemFingerprint(BASE, createRedactionKey(new Uint8Array(32).fill(8))),
    computeItemFingerprint(BASE, TEST_KEY),
  )
})

test('an episode is named by the first eight digits', () => {
  const fingerprint = computeFingerprint(UNIT, [BASE], TEST_KEY)
  assert.match(fingerprint, /^sha256:[0-9a-f]{64}$/)
  assert.equal(getEpisodeId(fingerprint), fingerprint.slice(7, 15))
})

test('new content of an unexpected object is a new difference; a new status or version is not', () => {
  const object = (data: string, resourceVersion: string): JsonObject => ({
    kind: 'ConfigMap',
    metadata: { name: 'extra', resourceVersion },
    data: { a: data },
    status: { observed: resourceVersion },
  })
  const print = (live: JsonObject): string =>
    computeFingerprint(
      UNIT,
      [driftOf('', { change: 'unexpected', path: [], git: undefined, live })],
      TEST_KEY,
    )
  assert.equal(print(object('1', '5')), print(object('1', '6')))
  assert.notEqual(print(object('1', '5')), print(object('2', '5')))
})
