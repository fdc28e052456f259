import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { renderPackages } from '../../../bench/render-packages.ts'
import { randomCommentedObject, randomCommentedYaml } from '../../../test/property/random-commented-yaml.ts'
import { ALL_CASES } from '../../../test/render-corpus/all-cases.ts'
import { parseGoYaml } from './go-yaml.ts'
import { readOwnYaml } from './read-yaml-node.ts'
import { isSimpleYaml } from './read-yaml-simple.ts'

/** What the strict parse is left out for: it would refuse nothing, and find the same documents at the same places. */
function assertSameDocuments(text: string): void {
  const strict = parseGoYaml(text, 'a.yaml').documents.map(({ chunk, tree }) => chunk.start + (tree.contents.range?.[0] ?? 0))
  const own = readOwnYaml(text, 'a.yaml').map(({ source }) => source?.start)
  assert.deepEqual(own, strict, JSON.stringify(text))
}

/** @returns whether it is simple */
function check(text: string): boolean {
  const simple = isSimpleYaml(text)
  if (simple) assertSameDocuments(text)
  return simple
}

describe('what people write is simple', () => {
  for (const { name, files } of renderPackages(3, 1))
    for (const [path, text] of Object.entries(files)) it(`${path} of ${name}`, () => assert.ok(check(text)))
})

describe('not simple, whether it is valid or not', () => {
  const texts = [
    'a: &x 1\n',
    'a: *x\n',
    'a: !!str 1\n',
    '<<: {a: b}\n',
    '? a\n: b\n',
    '%YAML 1.1\n---\na: 1\n',
    'a: 1\n...\n',
    'a:\tb\n',
    'a: 1\r\n',
    'a: "\\u00e9"\n',
    'a: [b,\n  c]\n',
    'a: |2\n  b\n',
    'a: |\nb: c\n',
    'a: |\n   \n  b\n',
    'a: b\n  c\n',
    'a: "b\n  c"\n',
    'a: b: c\n',
    'a: .nan\n',
    'null: a\n',
    'a: {null: b}\n',
    'a: [-]\n',
    'a: "b"c\n',
    'a: @b\n',
    'a:\n  b: 1\n c: 2\n',
    '- a\nb: 1\n',
    'a: 1\n- b\n',
    'a:\n    - b\n  - c\n',
    ' a: 1\n',
    'text\n',
    '--- a: 1\n',
    '\uFEFFa: 1\n',
    'a: \u2028\n',
    'a: \u{1F600}\n',
    `${'- '.repeat(60)}a\n`,
    `${'k'.repeat(300)}: a\n`,
  ]
  for (const text of texts) it(JSON.stringify(text.slice(0, 40)), () => assert.equal(isSimpleYaml(text), false))
})

it('what is simple in the corpus of renders is read by the strict parse too', () => {
  const texts = ALL_CASES.flatMap(({ files }) => Object.values(files))
  assert.ok(texts.filter(check).length > texts.length / 3)
})

it('what is simple among random documents is read by the strict parse too', () => {
  let simple = 0
  for (let seed = 0; seed < 1500; seed += 1) {
    const options = { comments: (seed % 4) / 10, brackets: false, folded: true }
    if (check(randomCommentedYaml(seed, options))) simple += 1
    if (check(randomCommentedObject(seed, 'a', options))) simple += 1
  }
  assert.ok(simple > 100, `${simple}`)
})

const PIECES = [
  ...['a:', 'b: 1', 'c: x y', 'd:  # c', '"k": v', "'l': v", '"": x', 'm: null', 'null: 1', 'y: no', 'k l: m', 'e : 1'],
  ...['- x', '-', '- ', '- # c', '- a: 1', '- b:', '- - x', '- - y: z', '-   a: 1', '- - - |', '- {a: b}', '- [a, b]: c'],
  ...['f: |', 'g: >-', 'h: |+', 'i: |  # c', '- |', '- >', 'j: |2', 'k: | x'],
  ...['n: "q"', "o: 'it''s'", 'p: "a" b', 'q: "a" # c', 'r: "a"#c', 's: "a\\nb"', 't: "\\/"', "u: 'a", 'v: "a'],
  ...[
    'w: {}',
    'x: []',
    'aa: [a, b]',
    'bb: {x: y, z: 1}',
    'cc: [a',
    'dd: [-]',
    'ee: [- a]',
    'ff: [a, ]',
    'gg: {a: }',
    'hh: [a]b',
    'ii: [a:b]',
  ],
  ...[
    'jj: --x',
    'kk: -',
    'll: - a',
    'mm: a:b',
    'nn: a: b',
    'oo: a#b',
    'pp: a #b',
    'qq: a:',
    'rr: a,[b]{c}',
    'ss: 10:20',
    'tt: .nan',
    'uu: a  ',
  ],
  ...['vv: &x y', 'ww: *x', 'xx: !!str a', '<<: a', '? a', ': b', 'text', '...', '---', '--- # c', '', '  ', '# c', '#', '%A'],
]

it('lines of all kinds at all indentations are read by the strict parse too, where they are simple together', () => {
  let simple = 0
  const line = fc.record({ piece: fc.constantFrom(...PIECES), place: fc.nat(5), shift: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2, -1) })
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.boolean(), (lines, ends) => {
      // Most lines begin where one before them did, or where its content did.
      const columns = [0]
      const texts = lines.map(({ piece, place, shift }) => {
        const column = Math.max(0, (columns[columns.length - 1 - (place % columns.length)] ?? 0) + shift)
        if (!/^( *|-+|#.*|\.+)$/.test(piece)) columns.push(column, column + (/^(- *)*/.exec(piece)?.[0].length || 2))
        return piece === '---' ? piece : ' '.repeat(column) + piece
      })
      if (check(texts.join('\n') + (ends ? '\n' : ''))) simple += 1
    }),
    { numRuns: 12_000 },
  )
  assert.ok(simple > 400, `${simple}`)
})
