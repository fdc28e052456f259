import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Failure, type FailureCode } from '../../failure.ts'
import {
  emptyObject,
  formatJson,
  isJsonEqual,
  isJsonObject,
  type Json,
  parseJson,
  setKey,
} from '../../text/json.ts'
import { isTextToAll, readsAlike } from '../go-scalar.ts'
import { listDocumentObjects, parseGoYaml } from './go-yaml.ts'
import { splitChunks } from './go-yaml-text.ts'

interface Row {
  readonly yaml: string
  readonly value?: Json
  readonly refused?: true
}

const table = parseJson(
  readFileSync(new URL('../../../../test/corpus/yaml/go-scalars.json', import.meta.url), 'utf8'),
) as unknown as {
  readonly kubectl: string
  readonly rows: readonly Row[]
}

/** Read by kubectl and refused here, each for a reason. Nothing is read here that kubectl refuses. */
const STRICTER = new Map([
  ['v: [?a]\n', 'YAML 1.1 only: other readers see a text'],
  ['v: a\rw: b\r', 'a lone CR is a line break for kubectl only'],
  ['v: "a\u2028b"\n', 'U+2028 is a line break for kubectl only'],
  ['v: "a\u0085b"\n', 'U+0085 is a line break for kubectl only'],
  ['v: [-, a]\n', 'YAML forbids a lone "-" inside brackets'],
  ['v: [#c\n a]\n', 'YAML wants a space before a comment'],
])

function readBody(body: string): Json | undefined {
  try {
    const [document] = parseGoYaml(
      `apiVersion: backporch.dev/v1\nkind: Row\nmetadata: {name: row}\n${body}`,
      'row.yaml',
    ).documents
    if (document === undefined || !isJsonObject(document.value)) return undefined
    const rest = emptyObject()
    for (const [key, value] of Object.entries(document.value))
      if (!['apiVersion', 'kind', 'metadata'].includes(key)) setKey(rest, key, value)
    return rest
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'BP1110') return undefined
    throw thrown
  }
}

function failureOf(action: () => unknown): Failure {
  try {
    action()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new assert.AssertionError({ message: 'nothing was thrown' })
}

function refusal(text: string): { readonly code: FailureCode; readonly where: string | undefined } {
  const { code, where } = failureOf(() => parseGoYaml(text, 'a.yaml'))
  return { code, where }
}

function valueIn(text: string): Json | undefined {
  return parseGoYaml(text, 'a.yaml').documents[0]?.value
}

describe('values', () => {
  test('every row of the golden table reads like in kubectl', () => {
    assert.ok(table.rows.length > 900, `${table.rows.length} rows`)
    const wrong = table.rows.flatMap((row) => {
      const got = readBody(row.yaml)
      if (STRICTER.has(row.yaml))
        return got === undefined ? [] : [`${JSON.stringify(row.yaml)}: wanted a refusal`]
      const right =
        row.refused === true ? got === undefined : got !== undefined && isJsonEqual(got, row.value)
      const wanted = row.value === undefined ? 'refused' : formatJson(row.value)
      return right
        ? []
        : [
            `${JSON.stringify(row.yaml)}: kubectl ${wanted}, ours ${got === undefined ? 'refused' : formatJson(got)}`,
          ]
    })
    assert.deepEqual(wrong, [])
  })

  test('an integer beyond 2^53 is a bigint, and one beyond 64 bits has the value that kubectl prints', () => {
    assert.equal((valueIn('v: 9007199254740993') as { v: Json }).v, 9007199254740993n)
    assert.equal((valueIn('v: 18446744073709551615') as { v: Json }).v, 18446744073709552000n)
    assert.equal((valueIn('v: 42') as { v: Json }).v, 42)
    assert.ok(Object.is((valueIn('v: -0.0') as { v: Json }).v, 0))
  })

  test('a key named __proto__ is plain data, also through a merge key', () => {
    const value = valueIn('__proto__: {x: 1}\nv:\n  <<: {__proto__: {y: 2}}\n')
    assert.equal(
      formatJson(value ?? null),
      '{"__proto__":{"x":1},"v":{"__proto__":{"y":2}}}'.replace('"y"', '"true"'),
    )
    assert.equal(({} as { x?: unknown }).x, undefined)
  })

  test('a JSON document may contain escapes, tabs and missing indentation of JSON', () => {
    assert.deepEqual(valueIn('{\n\t"a": {\n"b": "\\/\\ud83d\\ude00"\n}}'), {
      a: { b: '/\u{1F600}' },
    })
  })
})

describe('documents', () => {
  test('are counted like in kpt: empty, null and comment-only ones have no number', () => {
    const text =
      '# licence\n---\nn: a\n---\n# only a comment\n---\n---\nn: b\n--- # why\nnull\n---\nn: c\n...\n---\nn: d\n---\n'
    const { documents } = parseGoYaml(text, 'a.yaml')
    assert.deepEqual(
      documents.map(({ index, value, line, column }) => [index, formatJson(value), line, column]),
      [
        [0, '{"false":"a"}', 3, 1],
        [1, '{"false":"b"}', 8, 1],
        [2, '{"false":"c"}', 12, 1],
        [3, '{"false":"d"}', 15, 1],
      ],
    )
  })

  test('a byte order mark and CRLF affect no value and no index', () => {
    const { documents } = parseGoYaml('\uFEFFa: |\r\n  x\r\n  y\r\n---\r\nb: z\r\n', 'a.yaml')
    assert.deepEqual(
      documents.map(({ value }) => value),
      [{ a: 'x\ny\n' }, { b: 'z' }],
    )
  })

  test('parts and separators together equal the whole text', () => {
    for (const text of [
      '',
      'a: 1',
      '---',
      '---\n',
      'a\n---\nb',
      '---\na\n---\n---\nb\n---',
      '\uFEFFa\n---\n',
    ]) {
      const chunks = splitChunks(text)
      const again = chunks
        .map(({ start, end, separator }) => text.slice(separator, start) + text.slice(start, end))
        .join('')
      assert.equal(again, text.replace(/^\uFEFF/, ''))
    }
  })
})

describe('objects of a document', () => {
  const objects = (text: string): unknown =>
    parseGoYaml(text, 'a.yaml').documents.flatMap((document) =>
      listDocumentObjects(document, text, 'a.yaml').map(({ object, item, line }) => [
        formatJson(object),
        item,
        line,
      ]),
    )

  test('a plain document is one object', () => {
    assert.deepEqual(objects('# c\nkind: A\n'), [['{"kind":"A"}', undefined, 2]])
  })

  test('a list gives its items with their lines, and adds the kind that a typed list implies', () => {
    assert.deepEqual(objects('kind: List\napiVersion: v1\nitems:\n- kind: A\n- kind: B\n'), [
      ['{"kind":"A"}', 0, 4],
      ['{"kind":"B"}', 1, 5],
    ])
    assert.deepEqual(
      objects('kind: ConfigMapList\napiVersion: v1\nitems:\n- metadata: {name: a}\n'),
      [['{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}', 0, 4]],
    )
  })

  test('rejects a list inside a list, with its location', () => {
    const text = 'kind: List\nitems:\n- kind: A\n- kind: List\n  items: []\n'
    const failure = failureOf(() => objects(text))
    assert.deepEqual([failure.code, failure.where], ['BP1112', 'a.yaml:4:3'])
  })
})

describe('rejections', () => {
  const rows: readonly (readonly [string, string, FailureCode, string])[] = [
    ['a NUL', 'a: 1\nb: "\0"\n', 'BP1110', 'a.yaml:2:5'],
    ['a tab as indentation', 'a:\n\tb: 1\n', 'BP1110', 'a.yaml:2:1'],
    ['an unknown tag of a scalar', 'a: 1\nb: !foo x\n', 'BP1110', 'a.yaml:2:9'],
    ['an unknown tag of a map', 'a: !foo {b: 1}\n', 'BP1110', 'a.yaml:1:9'],
    ['a tag of another language', 'a: !!js/function "x"\n', 'BP1110', 'a.yaml:1:18'],
    ['text behind a separator', 'a: 1\n--- b: 1\n', 'BP1110', 'a.yaml:2:1'],
    ['a document that nobody reads', 'a: 1\n...\nb: 1\n', 'BP1110', 'a.yaml:2:1'],
    ['a directive', '# c\n%YAML 1.2\n---\na: 1\n', 'BP1110', 'a.yaml:2:1'],
    ['an error in a later document', 'a: 1\n---\nb: [\n', 'BP1110', 'a.yaml:3:4'],
    ['an open double quote', 'a: 1\nb:\n  c: "d # e\n  f: g\n', 'BP1110', 'a.yaml:3:6'],
    ['an open single quote', "a: it's\nb: 'it''s\nc: 1\n", 'BP1110', 'a.yaml:2:4'],
    ['a quote that an escape keeps open', 'a: 1\nb: "c\\\\\\"', 'BP1110', 'a.yaml:2:4'],
    ['a quote that its double keeps open', "a: 1\nb: 'c''", 'BP1110', 'a.yaml:2:4'],
    ['a quote that ends with the file', 'a: 1\nb: "', 'BP1110', 'a.yaml:2:4'],
    ['an open quote of a key', '"a: 1\nb: 2\n', 'BP1110', 'a.yaml:1:1'],
    ['an open quote inside brackets', 'a: [b, {c: "d}]\ne: f\n', 'BP1110', 'a.yaml:1:12'],
    [
      'an open quote in a later document',
      'a: 1\n---\n# c\nb: "c\n---\nd: e\n',
      'BP1110',
      'a.yaml:4:4',
    ],
    ['an open bracket', 'a: [b]\nc: {d: [e], f: g\nh: i\n', 'BP1110', 'a.yaml:2:4'],
    [
      'flow depth 20,000',
      `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      'BP1111',
      'a.yaml:1:103',
    ],
    [
      'block depth 1,000',
      Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      'BP1111',
      'a.yaml:101:101',
    ],
    [
      'depth 150 through aliases',
      `a0: &a0 [x]\n${chain(150, (n) => `[*a${n}]`)}`,
      'BP1111',
      'a.yaml:100:12',
    ],
    ['a file above 10 MiB', `a: ${'x'.repeat(11 * 1024 * 1024)}`, 'BP1111', 'a.yaml'],
  ]
  for (const [name, text, code, where] of rows)
    test(name, () => assert.deepEqual(refusal(text), { code, where }))

  test('reads a depth of 100', () =>
    assert.ok(valueIn(`a: ${'['.repeat(99)}${']'.repeat(99)}`) !== undefined))

  test('rejects alias and merge-key bombs before expanding them', () => {
    assert.equal(
      refusal(
        `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${chain(9, (n) => `[${Array(9).fill(`*a${n}`).join(',')}]`)}`,
      ).code,
      'BP1111',
    )
    const wide = `a: &a {${Array.from({ length: 3000 }, (_, key) => `k${key}: 1`).join(', ')}}\nb:\n${'  <<: *a\n'.repeat(2000)}`
    assert.equal(refusal(wide).code, 'BP1111')
    assert.deepEqual(valueIn(`a: &a {x: 1}\nb:\n${'  <<: *a\n'.repeat(6000)}`), {
      a: { x: 1 },
      b: { x: 1 },
    })
  })

  test('a duplicate key is a note, or an error on request, with both lines', () => {
    const text = 'a: 1\npipeline: {}\nb: 2\npipeline: {}\n'
    assert.deepEqual(
      parseGoYaml(text, 'Kptfile').notes.map(({ kind, line, message }) => [
        kind,
        line,
        message.includes('line 2'),
      ]),
      [['duplicate-key', 4, true]],
    )
    const failure = failureOf(() => parseGoYaml(text, 'Kptfile', { duplicateKeys: 'error' }))
    assert.deepEqual(
      [failure.code, failure.where, failure.why.includes('line 2')],
      ['BP1110', 'Kptfile:4:1', true],
    )
  })

  test('no rejection or note repeats a value of the file', () => {
    const secret = '0755123'
    for (const text of [
      `a: !foo ${secret}`,
      `a: "${secret}`,
      `${secret}:\n\t- ${secret}`,
      `a: *${secret}`,
      `- ${secret}: [${secret}`,
    ]) {
      assert.ok(!JSON.stringify(failureOf(() => parseGoYaml(text, 'a.yaml'))).includes(secret))
    }
    const { notes } = parseGoYaml(`a: ${secret}\n${secret}: b\n`, 'a.yaml')
    assert.equal(notes.length, 2)
    assert.ok(
      !JSON.stringify(notes).includes(secret) && !JSON.stringify(notes).includes(String(0o755123)),
    )
  })
})

function chain(length: number, body: (below: number) => string): string {
  return Array.from({ length }, (_, at) => `a${at + 1}: &a${at + 1} ${body(at)}`).join('\n')
}

describe('notes', () => {
  test('name values that kubectl reads differently than other readers, with location', () => {
    const { notes } = parseGoYaml(
      'replicas: no\nport: 017\nok: "no"\nplain: 17\nn: 1\nbig: 99999999999999999999\n',
      'a.yaml',
    )
    assert.deepEqual(
      notes.map(({ kind, line, column }) => [kind, line, column]),
      [
        ['value', 1, 11],
        ['value', 2, 7],
        ['key', 5, 1],
        ['precision', 6, 6],
      ],
    )
  })

  test('are one per reason and file, with the first location and a count of others', () => {
    const { notes } = parseGoYaml(
      `a: off\nb: off\n${'k: v\n'.repeat(1_500)}---\nc: off\nd: 017\n`,
      'a.yaml',
    )
    assert.deepEqual(
      notes.map(({ line, message }) => [line, message]),
      [
        [
          1,
          'kubectl reads this as false, other readers do not; write it out, or put it in quotes (and 2 more)',
        ],
        [4, 'the key appears twice; kubectl takes the last one, first at line 3 (and 1,498 more)'],
        [
          1505,
          'kubectl reads this as another number, other readers do not; write it out, or put it in quotes',
        ],
      ],
    )
  })

  test('only strings for every YAML reader count as unambiguous', () => {
    for (const text of [
      'no',
      'y',
      '017',
      '0o17',
      '1_000',
      '12:30',
      '2020-01-01',
      '~',
      '',
      '1e3',
      '.5',
      '0b1',
      '<<',
      '=',
      '.inf',
      '0x1F',
      '1.',
      '190:20:30.15',
    ])
      assert.equal(isTextToAll(text), false, text)
    for (const text of [
      'nginx',
      '1Gi',
      '500m',
      '10.0.0.1',
      'v1.2',
      'nothing',
      'yesterday',
      '1.2.3',
      'a:b',
      'nan-a',
      '--port=80',
    ])
      assert.equal(isTextToAll(text), true, text)
    for (const text of ['true', '17', '1.5', 'x', '', '0x1F', '0o17', '-1'])
      assert.equal(readsAlike(text), true, text)
    for (const text of ['no', '017', '1_000', '0b1']) assert.equal(readsAlike(text), false, text)
  })
})
