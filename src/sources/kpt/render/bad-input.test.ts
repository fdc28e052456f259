/** Bad files (reliability.md §4, C18 to C31) give the same code, file and line with and without a pipeline. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import { builtInFunctions } from '../../../../functions/built-in-functions.ts'
import { renderPackage } from './render-package.ts'

const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'
const PIPELINE = `${KPTFILE}pipeline:\n  mutators:\n    - exec: set-labels\n      configMap: {team: store}\n`
const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'

function bomb(): string {
  const lines = ['l0: &l0 [x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 9; level += 1)
    lines.push(
      `l${level}: &l${level} [${Array.from({ length: 9 }, () => `*l${level - 1}`).join(', ')}]`,
    )
  return `${OBJECT}data:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function merges(): string {
  const lines = ['m0: &m0 {k0: v}']
  for (let level = 1; level < 2_000; level += 1)
    lines.push(`m${level}: &m${level} {<<: *m${level - 1}, k${level}: v}`)
  return `${OBJECT}data:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const ROWS: readonly (readonly [name: string, content: Uint8Array, code: string, where: RegExp])[] =
  [
    [
      'C18: bytes that are no UTF-8',
      Uint8Array.from([...text(OBJECT), 0xff, 0xfe]),
      'BP1110',
      /^a\.yaml/,
    ],
    ['C18: a NUL byte', text(`${OBJECT}data: {a: "\u0000"}\n`), 'BP1110', /^a\.yaml:5:/],
    ['C19: a tab as indentation', text(`${OBJECT}data:\n\ta: b\n`), 'BP1110', /^a\.yaml:6:/],
    ['C20: a bomb of aliases', text(bomb()), 'BP1111', /^a\.yaml:/],
    ['C21: merge keys upon merge keys', text(merges()), 'BP1111', /^a\.yaml:/],
    [
      'C22: brackets 20,000 deep',
      text(`${OBJECT}data: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`),
      'BP1111',
      /^a\.yaml:5:/,
    ],
    [
      'C23: a file of 11 MiB',
      text(`${OBJECT}data: {a: "${'x'.repeat(11 * 1024 * 1024)}"}\n`),
      'BP1111',
      /^a\.yaml/,
    ],
    [
      'a file of 300,000 keys',
      text(`${OBJECT}data:\n${'  k: v\n'.repeat(300_000)}`),
      'BP1111',
      /^a\.yaml:\d{6}:.* more than 500,000 keys, values and comments/,
    ],
    [
      'a list of a million numbers in JSON',
      text(`{"a":[${'1,'.repeat(1_000_000)}1]}`),
      'BP1111',
      /^a\.yaml:1:.* more than 500,000/,
    ],
    [
      'a file of 600,000 comments',
      text(`${OBJECT}data:\n${'  k: # c\n    |-\n'.repeat(200_000)}`),
      'BP1111',
      /^a\.yaml:\d+:.* more than 500,000/,
    ],
    [
      'a file of 20,000 documents',
      text(`---\n${OBJECT}`.repeat(20_000)),
      'BP1111',
      /^a\.yaml:50001:1 .*more than 10,000 documents/,
    ],
    [
      'a file of a million empty documents',
      text('---\n'.repeat(1_000_000)),
      'BP1111',
      /^a\.yaml:10001:1 .*more than 10,000 documents/,
    ],
    [
      'an object of 160,000 numbers',
      text(`${OBJECT}list: [${'1,'.repeat(160_000)}1]\n`),
      'BP1111',
      /^a\.yaml:1 .*the object has more than 150,000/,
    ],
    [
      'C25: a tag of another language',
      text(`${OBJECT}data: {a: !!python/object x}\n`),
      'BP1110',
      /^a\.yaml:5:/,
    ],
    ['C25: a tag of somebody', text(`${OBJECT}data: {a: !foo x}\n`), 'BP1110', /^a\.yaml:5:/],
    [
      'C29: a list in a list',
      text(
        'apiVersion: v1\nkind: List\nmetadata: {name: l}\nitems:\n- apiVersion: v1\n  kind: List\n  items: []\n',
      ),
      'BP1112',
      /^a\.yaml:5/,
    ],
    ['C30: no kind', text('apiVersion: v1\nmetadata: {name: a}\n'), 'BP1112', /^a\.yaml:1/],
    ['C30: no apiVersion', text('kind: ConfigMap\nmetadata: {name: a}\n'), 'BP1112', /^a\.yaml:1/],
    [
      'C30: no name',
      text('apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n'),
      'BP1112',
      /^a\.yaml:1/,
    ],
    ['C31: one object twice', text(`${OBJECT}---\n${OBJECT}`), 'BP1113', /^a\.yaml:6/],
  ]

for (const [name, content, code, where] of ROWS)
  for (const kptfile of [KPTFILE, PIPELINE])
    test(`${name}, ${kptfile === KPTFILE ? 'without' : 'with'} a pipeline`, () => {
      const files = [
        { path: 'Kptfile', mode: '100644' as const, content: text(kptfile) },
        { path: 'a.yaml', mode: '100644' as const, content },
      ]
      const rendering = answerCalls(renderPackage('', files), builtInFunctions)
      assert.ok('failures' in rendering)
      const [failure] = rendering.failures
      assert.equal(failure.code, code, failure.message)
      assert.match(`${failure.where ?? ''} ${failure.why}`, where)
      assert.ok(failure.remedy.length > 0 && failure.message.length < 2_000)
    })

test('C24: keys named like prototype properties are plain data, and C27: numbers keep every digit, both ways', () => {
  const odd = `${OBJECT}data:\n  __proto__: x\n  constructor: {prototype: z}\n  long: 9007199254740993\n`
  for (const kptfile of [KPTFILE, PIPELINE]) {
    const files = [
      { path: 'Kptfile', mode: '100644' as const, content: text(kptfile) },
      { path: 'a.yaml', mode: '100644' as const, content: text(odd) },
    ]
    const rendering = answerCalls(renderPackage('', files), builtInFunctions)
    assert.ok('desired' in rendering)
    const data = rendering.desired.resources[0]?.object['data'] as {
      readonly [key: string]: unknown
    }
    assert.deepEqual(Object.entries(data), [
      ['__proto__', 'x'],
      ['constructor', { prototype: 'z' }],
      ['long', 9007199254740993n],
    ])
    assert.equal(({} as { x?: unknown }).x, undefined)
  }
})
