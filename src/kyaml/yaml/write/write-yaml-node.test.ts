import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { REWRITES } from '../../../../test/golden/yaml-rewrites.ts'
import { randomCommentedYaml } from '../../../../test/property/random-commented-yaml.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { isJsonEqual } from '../../text/json.ts'
import { parseGoYaml } from '../read/go-yaml.ts'
import { readYamlNodes } from '../read/read-yaml-node.ts'
import {
  convertJsonToYaml,
  convertYamlToJson,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  createYamlText,
  type YamlMap,
  type YamlNode,
} from '../yaml-node.ts'
import { detectSequenceIndent } from '../yaml-sequence-indent.ts'
import { writeYamlDocuments, writeYamlNode } from './write-yaml-node.ts'

function read(text: string): YamlNode {
  const [node] = readYamlNodes(text, 'a.yaml')
  assert.ok(node !== undefined)
  return node
}

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 })

describe('writes parsed YAML like kpt', () => {
  for (const { name, text, written } of REWRITES)
    it(name, () =>
      assert.equal(
        writeYamlNode(read(text), { sequenceIndent: detectSequenceIndent(text) }),
        written,
      ),
    )
})

describe('writes constructed nodes so that they read back as the same values', () => {
  const rows: readonly (readonly [node: YamlNode, text: string])[] = [
    [createYamlText('x'), 'x\n'],
    [createYamlText('5'), '"5"\n'],
    [createYamlText('yes'), '"yes"\n'],
    [createYamlText('2020-01-01'), '"2020-01-01"\n'],
    [createYamlText('2020-13-01'), '2020-13-01\n'],
    [createYamlText('1_000'), '"1_000"\n'],
    [createYamlText('.5'), '".5"\n'],
    [createYamlText('~'), '"~"\n'],
    [createYamlText('<<'), '"<<"\n'],
    [createYamlText(''), '""\n'],
    [createYamlText('a: b'), "'a: b'\n"],
    [createYamlText('- a'), "'- a'\n"],
    [createYamlText('a\n b\n'), '|\n  a\n   b\n'],
    [createYamlText(' a\n'), '|2\n   a\n'],
    [createYamlText('a \nb'), '"a \\nb"\n'],
    [createYamlText('\u{1F600}\u00A0"'), '"\\U0001F600\u00A0\\""\n'],
    [createYamlPlain('5'), '5\n'],
    [{ ...createYamlPlain('5'), tag: '!!float' }, '!!float 5\n'],
    [{ ...createYamlPlain('x'), tag: '!!int' }, '!!int x\n'],
    [{ ...createYamlPlain('5'), tag: '!!int' }, '5\n'],
    [{ ...createYamlPlain('aGk='), tag: '!!binary' }, '!!binary aGk=\n'],
    [{ ...createYamlPlain('x'), tag: '!<a b>' }, '!%3Ca%20b%3E x\n'],
    [createYamlMap(), '{}\n'],
    [createYamlList(), '[]\n'],
    [
      createYamlMap([['a', createYamlList([createYamlMap([['b', createYamlMap()]])])]]),
      'a:\n- b: {}\n',
    ],
    [
      convertJsonToYaml({ a: [null, true, 9007199254740993n, 'true'] }),
      'a:\n- null\n- true\n- 9007199254740993\n- "true"\n',
    ],
  ]
  for (const [node, text] of rows)
    it(text.trim().replaceAll('\n', ' '), () => assert.equal(writeYamlNode(node), text))

  it('any text stays the same text for kubectl', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        fc.pre(value.isWellFormed())
        const text = writeYamlNode(createYamlMap([['a', createYamlText(value)]]))
        const [document] = parseGoYaml(text, 'a.yaml').documents
        assert.deepEqual(document?.value, { a: value })
      }),
      { numRuns: 200 },
    )
  })
})

it('indents a list, or places it at the indentation of its key', () => {
  const node = convertJsonToYaml({ a: [[1], { b: [2] }] })
  assert.equal(writeYamlNode(node), 'a:\n- - 1\n- b:\n  - 2\n')
  assert.equal(writeYamlNode(node, { sequenceIndent: 'wide' }), 'a:\n  - - 1\n  - b:\n      - 2\n')
})

it('writes inserted comments in their positions, each line with its hash', () => {
  const map = read('a: 1\nb:\n  c: 2\n') as YamlMap
  const [a, b] = map.entries
  assert.ok(a !== undefined && b !== undefined)
  a.key.headComment = '# head\nof two lines'
  a.value.lineComment = 'line'
  b.key.footComment = '# foot'
  assert.equal(writeYamlNode(map), '# head\n# of two lines\na: 1 # line\nb:\n  c: 2\n# foot\n')
})

it('separates documents of a file, and an unplaced comment appears in the next one', () => {
  const nodes = readYamlNodes('a: &x 1\nb: # of b\n  *x\n---\nc: d\ne:\n- f\n', 'a.yaml')
  assert.equal(
    writeYamlDocuments(nodes.map((node) => ({ node, sequenceIndent: 'wide' as const }))),
    'a: &x 1\nb: *x\n---\nc: d # of b\ne:\n  - f\n',
  )
  assert.equal(writeYamlDocuments([]), '')
})

it('a block that keeps its line breaks gets one more before a comment, like in kpt', () => {
  const text = 'a: |+\n  b\n\n# c\n'
  assert.equal(writeYamlNode(read(text)), 'a: |+\n  b\n\n\n# c\n')
  assert.equal(writeYamlNode(read(text.replace('# c\n', ''))), 'a: |+\n  b\n\n')
})

describe('properties', () => {
  const check = (
    comments: number,
    brackets: boolean,
    folded: boolean,
    holds: (text: string, node: YamlNode) => void,
  ): void =>
    fc.assert(
      fc.property(seed, (start) => {
        const text = randomCommentedYaml(start, { comments, brackets, folded })
        holds(text, read(text))
      }),
      { numRuns: 150 },
    )

  it('the output is stable when there are no comments', () => {
    check(0, true, false, (_text, node) => {
      const once = writeYamlNode(node)
      assert.equal(writeYamlNode(read(once)), once)
    })
  })

  it('the value never changes', () => {
    check(0.25, false, false, (text, node) => {
      // The one text whose value kpt changes too (docs/facts/kpt-writes-yaml.md).
      if (/\|\+\n[^#]*\n\n *#/.test(text)) return
      const once = read(writeYamlNode(node, { sequenceIndent: 'wide' }))
      assert.ok(isJsonEqual(convertYamlToJson(once), convertYamlToJson(node)))
      assert.ok(isJsonEqual(convertYamlToJson(read(writeYamlNode(once))), convertYamlToJson(node)))
    })
  })
})
