import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createRedactionKey, isLikelySecret } from '@backporch/kyaml/redaction'
import { driftOf, TEST_KEY } from '../../test/fakes/drift-samples.ts'
import { path } from '../../test/fakes/live-object.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import type { Drift } from '../drift/compare/drift.ts'
import { showChange } from './build-report.ts'
import { formatDocument } from './write-document.ts'

const CANARY = 'c4n4ry'
const SECRET = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }
const CONFIG = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const LAST_APPLIED = 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]'

function written(drift: Drift): string {
  return formatDocument(showChange({ drift, resolution: 'Restore' }, TEST_KEY))
}

const HIDDEN: readonly (readonly [name: string, drift: Drift])[] = [
  [
    'both values of a Secret',
    driftOf('data.user', { id: SECRET, git: `${CANARY}1`, live: `${CANARY}2` }),
  ],
  ['an added key of a Secret', driftOf('data.user', { id: SECRET, git: undefined, live: CANARY })],
  [
    'the whole data of a Secret',
    driftOf('data', { id: SECRET, git: { a: CANARY }, live: { b: CANARY } }),
  ],
  ['stringData', driftOf('stringData.user', { id: SECRET, git: CANARY, live: undefined })],
  [
    'any last-applied annotation',
    driftOf(LAST_APPLIED, { id: CONFIG, git: undefined, live: CANARY }),
  ],
  [
    'the git value when the live value is a credential',
    driftOf('data.color', { id: CONFIG, git: CANARY, live: `postgres://a:${CANARY}@db` }),
  ],
  [
    'the live value when git has a credential',
    driftOf('data.color', { id: CONFIG, git: `password=${CANARY}`, live: CANARY }),
  ],
  [
    'an environment variable named like a credential',
    driftOf('spec.template.spec.containers[name=app].env[name=API_TOKEN].value', {
      git: CANARY,
      live: `${CANARY}2`,
    }),
  ],
  [
    'a credential in a whole container',
    driftOf('spec.template.spec.containers[name=app]', {
      git: undefined,
      live: { name: 'app', env: [{ name: 'API_TOKEN', value: CANARY }] },
    }),
  ],
  [
    'the content of a missing Secret',
    driftOf('', { id: SECRET, change: 'missing', git: { data: { a: CANARY } }, live: undefined }),
  ],
  [
    'the content of an unexpected Secret',
    driftOf('', {
      id: SECRET,
      change: 'unexpected',
      git: undefined,
      live: { data: { a: CANARY } },
    }),
  ],
]

for (const [name, drift] of HIDDEN) {
  test(`the record does not contain ${name}`, () =>
    assert.doesNotMatch(written(drift), new RegExp(CANARY)))
}

test('a hidden value shows its length and a hash that changes with the value', () => {
  const change = showChange(
    {
      drift: driftOf('data.user', { id: SECRET, git: 'YWJj', live: 'YWJjZA==' }),
      resolution: 'Restore',
    },
    TEST_KEY,
  )
  assert.equal(change.redacted, true)
  assert.match(String(change.git), /\(3 bytes\)$/)
  assert.match(String(change.live), /\(4 bytes\)$/)
  const same = showChange(
    { drift: driftOf('data.user', { id: SECRET, git: 'abc', live: 'abc' }), resolution: 'Restore' },
    TEST_KEY,
  )
  assert.equal(same.git, same.live)
})

test('an unread live value is shown as redacted (not read)', () => {
  const drift = driftOf('data.user', { id: SECRET, git: 'abc', live: undefined, liveUnread: true })
  const change = showChange({ drift, resolution: 'Restore' }, TEST_KEY)
  assert.equal(change.live, 'redacted (not read)')
})

test('a change of a whole object contains no values', () => {
  const {
    git,
    live,
    path: location,
  } = showChange(
    { drift: driftOf('', { change: 'missing', git: { a: 1 } }), resolution: 'Adopt' },
    TEST_KEY,
  )
  assert.deepEqual([git, live, location], [undefined, undefined, undefined])
})

test('a hidden PIN cannot be guessed from its hash or fingerprint without the key', () => {
  const drift = (pin: string, key = TEST_KEY) =>
    showChange(
      {
        drift: driftOf('data.pin', { id: SECRET, git: '000000', live: pin }),
        resolution: 'Restore',
      },
      key,
    )
  const known = drift('004711')
  const other = createRedactionKey(new Uint8Array(32).fill(3))
  for (let pin = 4000; pin < 5000; pin += 1) {
    const guess = drift(String(pin).padStart(6, '0'), other)
    assert.notEqual(guess.live, known.live)
    assert.notEqual(guess.fingerprint, known.fingerprint)
  }
})

test('a value is unchanged if and only if it does not look like a credential', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('data.color', 'data.password', 'spec.secretName'),
      fc.string({ minLength: 1 }),
      (location, live) => {
        const change = showChange(
          { drift: driftOf(location, { id: CONFIG, git: undefined, live }), resolution: 'Restore' },
          TEST_KEY,
        )
        assert.equal(change.live === live, !isLikelySecret(path(location), live))
      },
    ),
  )
})

test('a value of one megabyte is stored whole, on both sides', () => {
  const large = 'a line of text\n'.repeat(70_000)
  for (const change of ['modified', 'added'] as const) {
    const drift = driftOf('data.big', {
      id: CONFIG,
      change,
      git: change === 'added' ? undefined : `${large}1`,
      live: `${large}2`,
    })
    const document = parseGoYaml(written(drift), 'record').documents[0]?.value as {
      git?: string
      live?: string
    }
    assert.equal(document.git, drift.git)
    assert.equal(document.live, `${large}2`)
  }
})
