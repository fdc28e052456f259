import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { randomCommentedYaml } from '../../../test/property/random-commented-yaml.ts'
import { Failure } from '../../failure.ts'
import { jsonEquals } from '../../text/json.ts'
import { copyNode, entryOf, jsonOf, nodeAt, type YamlNode } from '../yaml-node.ts'
import { parseGoYaml } from './go-yaml.ts'
import { readOwnYaml, readYamlNodes } from './read-yaml-node.ts'

function read(text: string): YamlNode {
  const [node] = readYamlNodes(text, 'a.yaml')
  assert.ok(node !== undefined)
  return node
}

/** What a node's source covers. */
function covered(text: string, node: YamlNode | undefined): string {
  assert.ok(node?.source !== undefined)
  return text.slice(node.source.start, node.source.end)
}

it('reads the documents that are not empty, numbered without the others', () => {
  const nodes = readYamlNodes('# nothing\n---\na: 1\n---\n\n---\nnull\n--- # more\n---\nb: 2\n---\n', 'a.yaml')
  assert.deepEqual(nodes.map(jsonOf), [{ a: 1 }, { b: 2 }])
  assert.deepEqual(
    nodes.map(({ source }) => [source?.path, source?.document]),
    [
      ['a.yaml', 0],
      ['a.yaml', 1],
    ],
  )
  assert.deepEqual(readYamlNodes('', 'a.yaml'), [])
})

describe('sources are offsets in the file', () => {
  const body = `# head
a: 'x y'  # line
b:
  - &i "\u00e9" # é
  - [c, {d: e}] # f
  - |
    one

    two

g: *i
h:
# end
`
  const texts: readonly (readonly [name: string, text: string])[] = [
    ['LF', body],
    ['CRLF', body.replaceAll('\n', '\r\n')],
    ['byte order mark', `\uFEFF${body}`],
    ['a second document', `x: 1\r\n--- # c\n${body}`],
  ]
  for (const [name, text] of texts)
    it(name, () => {
      const root = readYamlNodes(text, 'a.yaml').at(-1)
      const items = nodeAt(root, 'b')
      assert.ok(items?.kind === 'list')
      const lf = (node: YamlNode | undefined): string => covered(text, node).replaceAll('\r\n', '\n')
      assert.equal(lf(entryOf(root, 'a')?.key), 'a')
      assert.equal(lf(entryOf(root, 'a')?.value), "'x y'")
      assert.deepEqual(items.items.map(lf), ['"\u00e9"', '[c, {d: e}]', '|\n    one\n\n    two'])
      assert.equal(lf(items), `- &i "\u00e9" # é\n  - [c, {d: e}] # f\n  - |\n    one\n\n    two`)
      assert.equal(lf(entryOf(root, 'g')?.value), '*i')
      assert.equal(lf(entryOf(root, 'h')?.value), '')
      assert.ok(lf(root).startsWith("a: 'x y'") && lf(root).endsWith('h:'))
    })
})

it('an alias names the node it stands for, and keeps doing so in a copy', () => {
  const root = read('a: &x {b: 1}\nc: *x\n')
  const alias = entryOf(root, 'c')?.value
  assert.ok(alias?.kind === 'alias')
  assert.equal(alias.name, 'x')
  assert.equal(alias.target, entryOf(root, 'a')?.value)
  const copy = copyNode(root)
  assert.equal(nodeAt(copy, 'c'), nodeAt(copy, 'a'))
})

it('a tag is there where it was written, in its short form', () => {
  const root = read('a: !!str 5\nb: 5\nc: !<tag:yaml.org,2002:int> 5\nd: !!seq []\ne: ! x\n')
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((key) => nodeAt(root, key)?.tag),
    ['!!str', '', '!!int', '!!seq', '!'],
  )
  assert.deepEqual(jsonOf(root), { a: '5', b: 5, c: 5, d: [], e: 'x' })
})

it('comments stand at the nodes that go-yaml gives them to', () => {
  const root = read('# licence\n\n# head\na: 1 # line\n# foot\n\nb:\n- x\n\n# end\n')
  const a = entryOf(root, 'a')
  const b = entryOf(root, 'b')
  assert.equal(root.headComment, '# licence\n\n')
  assert.equal(a?.key.headComment, '# head')
  assert.equal(a?.value.lineComment, '# line')
  assert.equal(a?.key.footComment, '# foot')
  assert.equal(b?.key.footComment, '')
  assert.equal(root.footComment, '# end')
})

describe('what kpt refuses is refused, also where our own parse does not', () => {
  const texts = [
    '-\ta\n',
    'a: [b\n',
    'a: {b\n c: d}\n',
    'a: "\\q"\n',
    'a: *x\n',
    'a: &x [*x]\n',
    '%YAML 1.1\n---\na: 1\n',
    'a: [!!str, b]\n',
  ]
  for (const text of texts)
    it(JSON.stringify(text), () => {
      assert.throws(
        () => readYamlNodes(text, 'a.yaml'),
        (thrown) => thrown instanceof Failure && thrown.code === 'BP1110' && thrown.where?.startsWith('a.yaml:') === true,
      )
    })
})

describe('properties', () => {
  it('values are those of the strict parse, with comments and without', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.constantFrom(0, 0.25, 0.5), (seed, comments) => {
        const text = randomCommentedYaml(seed, { comments, brackets: true, folded: true })
        const expected = parseGoYaml(text, 'a.yaml').documents[0]?.value
        assert.ok(expected !== undefined && jsonEquals(jsonOf(read(text)), expected))
      }),
      { numRuns: 200 },
    )
  })

  it('text of any kind is read or refused, never anything else', () => {
    const piece = fc.constantFrom(
      'a',
      ':',
      ' ',
      '\n',
      '- ',
      '#',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ',',
      '|',
      '>',
      '&a',
      '*a',
      '!',
      '?',
      '---\n',
      '\t',
      '\r\n',
      '%',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const reader of [readYamlNodes, readOwnYaml])
          try {
            reader(pieces.join(''), 'a.yaml')
          } catch (thrown) {
            assert.ok(thrown instanceof Failure)
          }
      }),
      { numRuns: 600 },
    )
  })
})
