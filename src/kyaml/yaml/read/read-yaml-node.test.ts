import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { randomCommentedYaml } from '../../../../test/property/random-commented-yaml.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { Failure } from '../../failure.ts'
import { convertYamlToJson, copyNode, findEntry, findNodeAt, type YamlNode } from '../yaml-node.ts'
import { readYamlNodes } from './read-yaml-node.ts'

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

it('reads the non-empty documents, numbered without the empty ones', () => {
  const nodes = readYamlNodes(
    '# nothing\n---\na: 1\n---\n\n---\nnull\n--- # more\n---\nb: 2\n---\n',
    'a.yaml',
  )
  assert.deepEqual(nodes.map(convertYamlToJson), [{ a: 1 }, { b: 2 }])
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
      const items = findNodeAt(root, 'b')
      assert.ok(items?.kind === 'list')
      const lf = (node: YamlNode | undefined): string =>
        covered(text, node).replaceAll('\r\n', '\n')
      assert.equal(lf(findEntry(root, 'a')?.key), 'a')
      assert.equal(lf(findEntry(root, 'a')?.value), "'x y'")
      assert.deepEqual(items.items.map(lf), ['"\u00e9"', '[c, {d: e}]', '|\n    one\n\n    two'])
      assert.equal(lf(items), `- &i "\u00e9" # é\n  - [c, {d: e}] # f\n  - |\n    one\n\n    two`)
      assert.equal(lf(findEntry(root, 'g')?.value), '*i')
      assert.equal(lf(findEntry(root, 'h')?.value), '')
      assert.ok(lf(root).startsWith("a: 'x y'") && lf(root).endsWith('h:'))
    })
})

it('an alias names its node, also in a copy', () => {
  const root = read('a: &x {b: 1}\nc: *x\n')
  const alias = findEntry(root, 'c')?.value
  assert.ok(alias?.kind === 'alias')
  assert.equal(alias.name, 'x')
  assert.equal(alias.target, findEntry(root, 'a')?.value)
  const copy = copyNode(root)
  assert.equal(findNodeAt(copy, 'c'), findNodeAt(copy, 'a'))
})

it('keeps a written tag in its short form', () => {
  const root = read('a: !!str 5\nb: 5\nc: !<tag:yaml.org,2002:int> 5\nd: !!seq []\ne: ! x\n')
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((key) => findNodeAt(root, key)?.tag),
    ['!!str', '', '!!int', '!!seq', '!'],
  )
  assert.deepEqual(convertYamlToJson(root), { a: '5', b: 5, c: 5, d: [], e: 'x' })
})

it('attaches comments to the same nodes as go-yaml', () => {
  const root = read('# licence\n\n# head\na: 1 # line\n# foot\n\nb:\n- x\n\n# end\n')
  const a = findEntry(root, 'a')
  const b = findEntry(root, 'b')
  assert.equal(root.headComment, '# licence\n\n')
  assert.equal(a?.key.headComment, '# head')
  assert.equal(a?.value.lineComment, '# line')
  assert.equal(a?.key.footComment, '# foot')
  assert.equal(b?.key.footComment, '')
  assert.equal(root.footComment, '# end')
})

describe('rejects what kpt rejects', () => {
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
        (thrown) =>
          thrown instanceof Failure &&
          thrown.code === 'BP1110' &&
          thrown.where?.startsWith('a.yaml:') === true,
      )
    })
})

/** The texts of a tree, keys and values in their order, with brackets around what is in a map or list. */
function textsOf(node: YamlNode): readonly string[] {
  if (node.kind === 'alias') return [`*${node.name}`]
  if (node.kind === 'scalar')
    return [node.source?.unended === true ? `${node.value}\n` : node.value]
  if (node.kind === 'list') return ['[', ...node.items.flatMap(textsOf), ']']
  return [
    '{',
    ...node.entries.flatMap(({ key, value }) => [...textsOf(key), ...textsOf(value)]),
    '}',
  ]
}

/** The same, read by the YAML library without any types; undefined where it refuses the text, empty where it has no document. */
function libraryTexts(text: string): readonly string[] | undefined {
  const { errors, contents } = parseDocument(text, {
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    logLevel: 'silent',
  })
  if (errors.length > 0) return undefined
  const isEmpty =
    contents === null ||
    (isScalar(contents) &&
      contents.type === 'PLAIN' &&
      /^(|~|null|Null|NULL)$/.test(contents.source ?? ''))
  return isEmpty ? [] : textsOfLibrary(contents)
}

function textsOfLibrary(node: unknown): readonly string[] {
  if (isAlias(node)) return [`*${node.source}`]
  if (isMap(node))
    return [
      '{',
      ...node.items.flatMap(({ key, value }) => [...textsOfLibrary(key), ...textsOfLibrary(value)]),
      '}',
    ]
  if (isSeq(node)) return ['[', ...node.items.flatMap(textsOfLibrary), ']']
  return [isScalar(node) ? (node.source ?? '') : '']
}

function nodesOrRefusal(text: string): readonly YamlNode[] | undefined {
  try {
    return readYamlNodes(text, 'a.yaml')
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

const PIECES = [
  ...[
    'a:',
    'b: 1',
    'c: x y',
    'd:  # c',
    '"k": v',
    "'l': v",
    '"": x',
    'm: null',
    'null: 1',
    'y: no',
    'k l: m',
    'e : 1',
  ],
  ...[
    '- x',
    '-',
    '- ',
    '- # c',
    '- a: 1',
    '- b:',
    '- - x',
    '- - y: z',
    '-   a: 1',
    '- - - |',
    '- {a: b}',
    '- [a, b]: c',
  ],
  ...['f: |', 'g: >-', 'h: |+', 'i: |  # c', '- |', '- >', 'k: | x'],
  ...[
    'n: "q"',
    "o: 'it''s'",
    'p: "a" b',
    'q: "a" # c',
    'r: "a"#c',
    's: "a\\nb"',
    't: "\\/"',
    "u: 'a",
    'v: "a',
  ],
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
  ...[
    'ff: >-\n  x',
    '  y',
    'vv: &x y',
    'ww: *x',
    'xx: !!str a',
    '<<: a',
    '? a',
    ': b',
    'text',
    '',
    '  ',
    '# c',
    '#',
    '%A',
  ],
]

describe('properties', () => {
  it('scalars equal those of the YAML library, with and without comments', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.constantFrom(0, 0.25, 0.5),
        (seed, comments) => {
          const text = randomCommentedYaml(seed, { comments, brackets: true, folded: true })
          assert.deepEqual(textsOf(read(text)), libraryTexts(text), text)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('reads or rejects all line kinds at all indentations like the YAML library', () => {
    let same = 0
    const line = fc.record({
      piece: fc.constantFrom(...PIECES),
      location: fc.nat(5),
      shift: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2, -1),
    })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.boolean(), (lines, ends) => {
        // Most lines begin where one before them did, or where its content did.
        const columns = [0]
        const texts = lines.map(({ piece, location: index, shift }) => {
          const column = Math.max(
            0,
            (columns[columns.length - 1 - (index % columns.length)] ?? 0) + shift,
          )
          if (!/^( *|-+|#.*|\.+)$/.test(piece))
            columns.push(column, column + (/^(- *)*/.exec(piece)?.[0].length || 2))
          return ' '.repeat(column) + piece
        })
        const text = texts.join('\n') + (ends || texts.at(-1)?.trim() === '' ? '\n' : '')
        const own = nodesOrRefusal(text)
        const library = libraryTexts(text)
        if (own === undefined || library === undefined) return
        assert.deepEqual(own.flatMap(textsOf), library, JSON.stringify(text))
        same += 1
      }),
      { numRuns: 12_000 },
    )
    assert.ok(same > 400, `${same}`)
  })

  it('any text is read or rejected, without other exceptions', () => {
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
        try {
          readYamlNodes(pieces.join(''), 'a.yaml')
        } catch (thrown) {
          assert.ok(thrown instanceof Failure)
        }
      }),
      { numRuns: 600 },
    )
  })
})
