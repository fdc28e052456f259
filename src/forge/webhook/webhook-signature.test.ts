import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { findSignature, SignatureCheck } from './webhook-signature.ts'

/** Values that GitHub publishes for tests (docs.github.com, "Validating webhook deliveries"). */
const GITHUB = {
  secret: "It's a Secret to Everybody",
  body: 'Hello, World!',
  hex: '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
}
const HEX = GITHUB.hex

function checks(secrets: readonly string[], hex: string): boolean {
  const check = new SignatureCheck(secrets)
  for (const part of ['Hello', ', ', 'World!']) check.update(Buffer.from(part))
  return check.matches(Buffer.from(hex, 'hex'))
}

test("accepts GitHub's published example, and rejects any changed byte of it", () => {
  assert.equal(checks([GITHUB.secret], HEX), true)
  for (let index = 0; index < 64; index += 1) {
    const other = HEX[index] === '0' ? '1' : '0'
    assert.equal(checks([GITHUB.secret], HEX.slice(0, index) + other + HEX.slice(index + 1)), false)
  }
})

test('accepts each of several secrets, and rejects a former one', () => {
  assert.equal(checks(['new', GITHUB.secret], HEX), true)
  assert.equal(checks([GITHUB.secret, 'new'], HEX), true)
  assert.equal(checks(['new', 'newer'], HEX), false)
})

test('reads the signature header of each forge', () => {
  const bytes = Buffer.from(HEX, 'hex')
  assert.deepEqual(findSignature({ 'x-hub-signature-256': `sha256=${HEX}` }), bytes)
  assert.deepEqual(findSignature({ 'x-gitea-signature': HEX }), bytes)
  assert.deepEqual(findSignature({ 'x-forgejo-signature': HEX }), bytes)
  const all = {
    'x-hub-signature-256': `sha256=${HEX}`,
    'x-gitea-signature': HEX,
    'x-forgejo-signature': HEX,
  }
  assert.deepEqual(findSignature({ ...all, 'x-hub-signature': 'sha1=00' }), bytes)
})

const NONE: readonly (readonly [why: string, headers: Record<string, string | string[]>])[] = [
  ['no header', {}],
  ['only SHA-1', { 'x-hub-signature': `sha1=${createHmac('sha1', 'x').digest('hex')}` }],
  ['an empty signature', { 'x-hub-signature-256': '' }],
  ['only a prefix', { 'x-hub-signature-256': 'sha256=' }],
  ['no prefix', { 'x-hub-signature-256': HEX }],
  ['an unexpected prefix', { 'x-gitea-signature': `sha256=${HEX}` }],
  ['too short', { 'x-hub-signature-256': `sha256=${HEX.slice(1)}` }],
  ['too long', { 'x-hub-signature-256': `sha256=${HEX}0` }],
  ['upper case', { 'x-hub-signature-256': `sha256=${HEX.toUpperCase()}` }],
  ['not hexadecimal', { 'x-hub-signature-256': `sha256=${'g'.repeat(64)}` }],
  ['twice, as node:http joins them', { 'x-hub-signature-256': `sha256=${HEX}, sha256=${HEX}` }],
  ['twice, as a list', { 'x-hub-signature-256': [`sha256=${HEX}`, `sha256=${HEX}`] }],
  ['a line break at its end', { 'x-gitea-signature': `${HEX}\n` }],
  [
    'two different signatures',
    { 'x-hub-signature-256': `sha256=${HEX}`, 'x-gitea-signature': '0'.repeat(64) },
  ],
  [
    'a valid and an invalid one',
    { 'x-hub-signature-256': `sha256=${HEX}`, 'x-gitea-signature': '' },
  ],
]
for (const [why, headers] of NONE)
  test(`rejects the signature: ${why}`, () => assert.equal(findSignature(headers), undefined))
