import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import * as fc from '../../test/seeds/fast-check.ts'
import { redactShownText } from './shown-text.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(7))
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n'
const shown = (text: string): string | undefined =>
  redactShownText(text, KEY)?.replace(/hmac-sha256:[0-9a-f]{16} /g, 'hidden ')

const ROWS: readonly (readonly [about: string, text: string, shown: string | undefined])[] = [
  [
    'plain values and comments stay',
    `${head}data:\n  color: blue # ok\n`,
    `${head}data:\n  color: blue # ok\n`,
  ],
  [
    'a credential',
    `${head}data:\n  db-password: hunter2 # old\n`,
    `${head}data:\n  db-password: hidden (7 bytes) # old\n`,
  ],
  [
    'a multi-line credential, keeping its line count',
    `${head}data:\n  token: |\n    a\n    b\n  c: d\n`,
    `${head}data:\n  token: hidden (4 bytes)\n\n\n  c: d\n`,
  ],
  [
    'a credential in a comment',
    `${head}data:\n  # password: hunter22\n  a: b\n`,
    `${head}data:\n  # ••••\n  a: b\n`,
  ],
  [
    'a credential that an alias repeats',
    `a: &a {password: hunter2}\nb: *a\n`,
    `a: &a {password: hidden (7 bytes)}\nb: *a\n`,
  ],
  [
    'a Secret hides the whole file',
    `${head}---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\n`,
    undefined,
  ],
  [
    'a secretGenerator hides the whole file',
    'secretGenerator:\n- name: a\n  literals: [a=b]\n',
    undefined,
  ],
  ['invalid YAML hides the whole file', 'a: b: c\n', undefined],
  ['a file without an object is hidden', '- a\n', undefined],
]

for (const [about, text, wanted] of ROWS)
  test(`redacts a file: ${about}`, () => assert.equal(shown(text), wanted))

test('two texts differ where their hidden values differ', () => {
  const [one, other] = ['hunter2', 'hunter3'].map((value) =>
    redactShownText(`${head}data: {password: ${value}}\n`, KEY),
  )
  assert.notEqual(one, other)
})

test('a credential never appears in the shown text, however it is written', () => {
  const secret = 'c4n4ry-hunter2'
  const forms = fc.constantFrom(
    secret,
    `"${secret}"`,
    `'${secret}'`,
    `|\n    ${secret}`,
    `>-\n    ${secret}`,
    `!!str ${secret}`,
    `&x ${secret}`,
  )
  const keys = fc.constantFrom('password', 'db-password', '"API_KEY"', 'token', 'private-key')
  fc.assert(
    fc.property(keys, forms, fc.boolean(), (key, form, again) => {
      const text = redactShownText(
        `${head}data:\n  a: b\n  ${key}: ${form}\n  c: d\n${again ? `---\n${head}data: {${key}: ${secret}}\n` : ''}`,
        KEY,
      )
      assert.ok(text !== undefined)
      assert.ok(!text.includes(secret), text)
    }),
  )
})
