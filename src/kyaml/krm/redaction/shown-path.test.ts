import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { type FieldPath, formatFieldPath, type PathStep, parseFieldPath } from '../field-path.ts'
import { createRedactionKey, show } from './redacted.ts'
import { formatRedactedPath, formatShownPath, redactHashes } from './shown-path.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(7))
const OTHER_KEY = createRedactionKey(new Uint8Array(32).fill(8))
const ID = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
const TOKEN = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
const HIDDEN = 'hmac-sha256:[0-9a-f]{16}'

function path(text: string): FieldPath {
  const parsed = parseFieldPath(text)
  assert.ok('path' in parsed, JSON.stringify(parsed))
  return parsed.path
}

const ROWS: readonly (readonly [path: string, shown: string])[] = [
  [`metadata.finalizers[="${TOKEN}"]`, `metadata\\.finalizers\\[=${HIDDEN}\\]`],
  [`metadata.labels["${TOKEN}"]`, `metadata\\.labels\\["${HIDDEN}"\\]`],
  [
    `spec.containers[name=app].env[name="${TOKEN}"].value`,
    `spec\\.containers\\[name=app\\]\\.env\\[name=${HIDDEN}\\]\\.value`,
  ],
  [
    `spec.hosts[name=app,url="https://app:hunter2@db/app"]`,
    `spec\\.hosts\\[name=app,url=${HIDDEN}\\]`,
  ],
  [
    'spec.users[name=ada,password=hunter2].role',
    `spec\\.users\\[name=ada,password=${HIDDEN}\\]\\.role`,
  ],
  ['spec.tokens[=abc]', `spec\\.tokens\\[=${HIDDEN}\\]`],
  [`spec.set[={"a":["${TOKEN}"]}].b`, `spec\\.set\\[=${HIDDEN}\\]\\.b`],
  [`data.${TOKEN}.${TOKEN}`, `data\\["${HIDDEN}"\\]\\["${HIDDEN}"\\]`],
]

describe('a path with a credential', () => {
  for (const [text, shown] of ROWS) {
    test(`${text.replaceAll(TOKEN, '<token>')} is printed without the credential`, () => {
      assert.match(formatShownPath(KEY, ID, path(text)), new RegExp(`^${shown}$`))
      assert.equal(
        formatRedactedPath(path(text), ID),
        redactHashes(formatShownPath(KEY, ID, path(text))),
      )
      assert.equal(
        formatRedactedPath(path(text), ID),
        redactHashes(formatShownPath(OTHER_KEY, ID, path(text))),
      )
    })
  }

  test('is identified by a keyed hash that differs between paths, keys and objects', () => {
    const one = path(`metadata.finalizers[="${TOKEN}"]`)
    const two = path(`metadata.finalizers[="${TOKEN}0"]`)
    const texts = [
      formatShownPath(KEY, ID, one),
      formatShownPath(KEY, ID, two),
      formatShownPath(OTHER_KEY, ID, one),
      formatShownPath(KEY, { ...ID, name: 'other' }, one),
    ]
    assert.equal(new Set(texts).size, 4)
    assert.equal(formatShownPath(KEY, { ...ID }, [...one]), texts[0])
  })

  test('hides the value below it too, so that a credential cannot be adopted', () => {
    for (const [text] of ROWS.slice(0, 3))
      assert.equal(show(KEY, { id: ID, path: path(text) }, 'plain')?.kind, 'redacted', text)
    assert.equal(
      show(KEY, { id: ID, path: path('spec.labels') }, { [TOKEN]: 'plain' })?.kind,
      'redacted',
    )
  })
})

describe('a finalizer of a Secret', () => {
  const secret = { ...ID, group: '', kind: 'Secret' }
  const finalizer = path('metadata.finalizers[="example.com/hunter2"]')

  test('is printed without its name, unless a known controller sets it on Secrets', () => {
    assert.match(
      formatShownPath(KEY, secret, finalizer),
      new RegExp(`^metadata\\.finalizers\\[=${HIDDEN}\\]$`),
    )
    assert.equal(
      formatRedactedPath(finalizer, secret),
      redactHashes(formatShownPath(KEY, secret, finalizer)),
    )
    assert.equal(
      show(KEY, { id: secret, path: finalizer }, 'example.com/hunter2')?.kind,
      'redacted',
    )
    const known = path('metadata.finalizers[="argocd.argoproj.io/hook-finalizer"]')
    assert.equal(formatShownPath(KEY, secret, known), formatFieldPath(known))
  })

  test('is printed unchanged on another kind', () =>
    assert.equal(formatShownPath(KEY, ID, finalizer), formatFieldPath(finalizer)))
})

describe('every other path', () => {
  const PLAIN = [
    'spec.template.spec.containers[name=app].image',
    'metadata.annotations["example.com/owner"]',
    'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
    'metadata.finalizers[=example.com/guard]',
    'spec.template.spec.containers[name=token-refresher].env[name=DB_PASSWORD].value',
    'spec.ports[port=8080,protocol=TCP]',
    'spec.template.spec.volumes[name=t].projected.sources[0].serviceAccountToken.path',
    'spec.template.spec.imagePullSecrets[name=regcred]',
    'spec.tls[secretName=web-tls]',
    'data.password',
    'spec.set[=5]',
  ]
  for (const text of PLAIN)
    test(`${text} is printed unchanged`, () =>
      assert.equal(formatShownPath(KEY, ID, path(text)), text))
})

const secret = fc.constantFrom(
  TOKEN,
  'AKIAIOSFODNN7EXAMPLE',
  'https://a:canary-b@c/d',
  'x password=canary-e',
  'glpat-abcdefghijklmnopqrst',
)
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.stringMatching(/^[a-z-]{1,12}$/), secret)
const step: fc.Arbitrary<PathStep> = fc.oneof(
  text.map((name): PathStep => ({ kind: 'field', name })),
  fc.oneof(text, fc.integer(), fc.boolean()).map((value): PathStep => ({ kind: 'member', value })),
  fc
    .dictionary(fc.constantFrom('name', 'port', 'k 8'), fc.oneof(text, fc.integer()), {
      minKeys: 1,
    })
    .map(
      (keys): PathStep => ({
        kind: 'item',
        keys: { ...keys },
      }),
    ),
  fc.nat(20).map((index): PathStep => ({ kind: 'index', index })),
)
const paths = fc
  .array(step, { minLength: 1, maxLength: 6 })
  .filter(([first]) => first?.kind === 'field' && first.name !== '')

test('property: printed paths contain no credential, are equal only for equal paths, and parse back', () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [one, two] = [formatShownPath(KEY, ID, left), formatShownPath(KEY, ID, right)]
      for (const canary of ['ghp_', 'AKIA', 'canary-', 'glpat-']) {
        assert.ok(!one.includes(canary), one)
        assert.ok(!formatRedactedPath(left, ID).includes(canary))
      }
      assert.equal(one === two, formatFieldPath(left) === formatFieldPath(right))
      // A selector is what was printed, typed again.
      assert.equal(formatFieldPath(path(one)), one)
      if (redactHashes(one) === one) assert.equal(one, formatFieldPath(left))
    }),
    { numRuns: 2000 },
  )
})
