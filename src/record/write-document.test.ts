import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { parse, stringify } from 'yaml'
import { changeOf, HOSTILE_TEXTS, recordOf } from '../../test/fakes/record-samples.ts'
import { randomJson } from '../../test/property/random-krm.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { driftRecordSchema } from './documents/drift-record.ts'
import { knownTexts } from './known-texts.ts'
import {
  deferText,
  formatDocument,
  formatInertDocument,
  isWrittenAs,
  parseDocument,
} from './write-document.ts'

test('a record with any values reads back unchanged and writes the same bytes again', () => {
  const values = fc.oneof(
    randomJson,
    fc.constantFrom<Json>(...HOSTILE_TEXTS.filter((text) => text.isWellFormed())),
  )
  fc.assert(
    fc.property(values, values, (git, live) => {
      const record = recordOf([changeOf({ git, live })])
      const text = formatInertDocument(record)
      const read = parseDocument(text, driftRecordSchema, 'record.yaml')
      assert.ok(isJsonEqual(read as unknown as Json, record as unknown as Json))
      assert.equal(formatInertDocument(read), text)
    }),
  )
})

test('YAML 1.1 and YAML 1.2 readers read the same values', () => {
  const texts = [
    'no',
    'on',
    'y',
    '~',
    'null',
    '1e3',
    '0x1f',
    '017',
    '0o17',
    '12:30:45',
    '1_000',
    '2026-11-21',
    '.inf',
    '=',
    '<<',
    '- a',
    '? a',
    '!!str a',
    '&a',
    '*a',
    '@a',
    '`a',
    '%a',
    'a: b',
    'a #b',
    ' a',
    'a ',
    'a\tb',
    '',
    '\u2028',
    '\u0085',
    '\ufeff',
  ]
  for (const text of texts) {
    const document = formatDocument({ [text]: text })
    for (const version of ['1.1', '1.2'] as const)
      assert.deepEqual(parse(document, { version }), { [text]: text }, document)
    assert.ok(
      isJsonEqual(parseGoYaml(document, 'x').documents[0]?.value, { [text]: text }),
      document,
    )
  }
})

test('quotes texts that the YAML library leaves plain and kubectl reads as numbers', () => {
  for (const text of ['+_1', '-_7', '0o_1', '0b-1', '0_x1', '0e1_']) {
    assert.equal(stringify(text, { compat: 'yaml-1.1' }), `${text}\n`)
    assert.equal(formatDocument({ a: text }), `a: "${text}"\n`)
    assert.deepEqual(parseGoYaml(formatDocument({ a: text }), 'x').documents[0]?.value, { a: text })
  }
})

test('a record in a package is inert: Argo CD skips its first line, others its annotation', () => {
  const text = formatInertDocument(recordOf([changeOf()]))
  assert.ok(text.startsWith('# +argocd:skip-file-rendering\n'))
  assert.match(text, /config\.kubernetes\.io\/local-config: ['"]true['"]/)
})

const BROKEN: readonly (readonly [name: string, text: string, code: string])[] = [
  ['invalid YAML', 'a: [1', 'BP1110'],
  ['an empty text', '', 'BP1112'],
  ['another kind', formatDocument({ ...recordOf([]), kind: 'ConfigMap' }), 'BP1112'],
  [
    'a field of another type',
    formatDocument({ ...recordOf([]), spec: { ...recordOf([]).spec, changes: 'x' } }),
    'BP1112',
  ],
]

for (const [name, text, code] of BROKEN) {
  test(`rejects as a record: ${name}`, () => {
    assert.throws(
      () => parseDocument(text, driftRecordSchema, '.drift/records/a.yaml'),
      (thrown) =>
        thrown instanceof Failure &&
        thrown.code === code &&
        (thrown.where ?? '').includes('.drift/records/a.yaml'),
    )
  })
}

test('a document just written parses to the same value as in a new process', () => {
  const values = fc.oneof(
    randomJson,
    fc.constantFrom<Json>(...HOSTILE_TEXTS.filter((text) => text.isWellFormed())),
  )
  fc.assert(
    fc.property(values, (live) => {
      const record = recordOf([changeOf({ live })])
      const text = deferText(record, formatInertDocument)()
      assert.equal(parseDocument(text, driftRecordSchema, 'record.yaml'), record)
      knownTexts.forget()
      const anew = parseDocument(text, driftRecordSchema, 'record.yaml')
      assert.ok(anew !== record && isJsonEqual(anew as unknown as Json, record as unknown as Json))
      assert.equal(parseDocument(text, driftRecordSchema, 'record.yaml'), anew, 'read once')
    }),
  )
})

test('a deferred text is created on first use, once', () => {
  let created = 0
  const text = deferText({ a: 1 }, (document) => {
    created += 1
    return formatDocument(document)
  })
  assert.equal(created, 0)
  assert.deepEqual([text(), text(), created], ['a: 1\n', 'a: 1\n', 1])
})

test('detects a document whose text differs from what Backporch would write now', () => {
  const record = recordOf([changeOf({})])
  const text = formatDocument(record)
  assert.ok(isWrittenAs(parseDocument(text, driftRecordSchema, 'x'), text))
  const other = `# by hand\n${text}`
  const read = parseDocument(other, driftRecordSchema, 'x')
  assert.deepEqual([isWrittenAs(read, other), isWrittenAs(read, text)], [false, true])
  assert.ok(!isWrittenAs(record, formatDocument(recordOf([]))))
})
