import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import * as fc from '../../test/seeds/fast-check.ts'
import { formatSides, formatValue, parseHiddenBytes } from './format-value.ts'

const ROWS: readonly (readonly [
  value: Json | undefined,
  text: string,
  bytes: number | undefined,
])[] = [
  [undefined, '∅', undefined],
  [null, 'null', undefined],
  [5, '5', undefined],
  [9007199254740993n, '9007199254740993', undefined],
  ['5', '"5"', undefined],
  ['a\nb', '"a\\nb"', undefined],
  ['', '""', undefined],
  [['b', 'a'], '["b","a"]', undefined],
  [{ b: 1, a: 2 }, '{"a":2,"b":1}', undefined],
  ['hmac-sha256:0123456789abcdef (8 bytes)', '••••', 8],
  ['redacted (not read)', '••••', undefined],
  [
    'hmac-sha256:0123456789abcdef (8 bytes) ',
    '"hmac-sha256:0123456789abcdef (8 bytes) "',
    undefined,
  ],
]

for (const [value, text, bytes] of ROWS) {
  test(`formats a value as ${text}`, () => {
    assert.equal(formatValue(value), text)
    assert.equal(parseHiddenBytes(value), bytes)
  })
}

test('truncates a long value', () => assert.equal(formatValue('x'.repeat(100), 5), '"xxx…'))

const IMAGE = 'docker.io/nginxinc/nginx-unprivileged:1.2'
const SIDES: readonly (readonly [
  about: string,
  git: Json | undefined,
  live: Json | undefined,
  shown: readonly [string, string],
])[] = [
  ['short values are whole', 'a', 'b', ['"a"', '"b"']],
  [
    'values that differ early are truncated at the end',
    `a${IMAGE}`,
    `b${IMAGE}`,
    ['"adocker.io/nginxinc/ng…', '"bdocker.io/nginxinc/ng…'],
  ],
  [
    'values that differ at the end show their end',
    `${IMAGE}7`,
    `${IMAGE}8`,
    ['…unprivileged:1.27"', '…unprivileged:1.28"'],
  ],
  [
    'values that differ in the middle show the text around it',
    `${IMAGE}7${'x'.repeat(50)}`,
    `${IMAGE}8${'x'.repeat(50)}`,
    ['…eged:1.27xxxxxxxxxxxxx…', '…eged:1.28xxxxxxxxxxxxx…'],
  ],
  [
    'one value is a prefix of the other',
    'x'.repeat(50),
    'x'.repeat(52),
    [`…${'x'.repeat(20)}"`, `…${'x'.repeat(22)}"`],
  ],
  [
    'characters are never split',
    `${'😀'.repeat(40)}a`,
    `${'😀'.repeat(40)}b`,
    [`…${'😀'.repeat(20)}a"`, `…${'😀'.repeat(20)}b"`],
  ],
  ['one side is absent', undefined, IMAGE, ['∅', '"docker.io/nginxinc/ngi…']],
  [
    'hidden values stay hidden',
    'hmac-sha256:0123456789abcdef (8 bytes)',
    'redacted (not read)',
    ['••••', '••••'],
  ],
]

for (const [about, git, live, [left, right]] of SIDES) {
  test(`formats two sides: ${about}`, () => {
    assert.deepEqual(formatSides({ git, live }, 24), { git: left, live: right })
  })
}

test('two different sides never look alike, and neither exceeds the limit', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', '/', '😀', ' '), { minLength: 0, maxLength: 40 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(
      text,
      text,
      text,
      text,
      fc.integer({ min: 8, max: 40 }),
      (start, one, other, end, limit) => {
        fc.pre(one !== other)
        const { git, live } = formatSides(
          { git: start + one + end, live: start + other + end },
          limit,
        )
        assert.notEqual(git, live)
        for (const side of [git, live]) assert.ok(Array.from(side).length <= limit, side)
      },
    ),
  )
})
