import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { DOCUMENT, MISMATCHED, PRINTED, REFUSED } from '../../../test/golden/json-path.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { printTemplate, TemplateMismatch } from './json-path.ts'
import { parseTemplate } from './json-path-parse.ts'

function print(text: string, document: Json = DOCUMENT): string {
  const parsed = parseTemplate(text)
  if ('problem' in parsed) assert.fail(`${text}: ${parsed.problem}`)
  return printTemplate(parsed.template, document)
}

test('every template of the table prints what kubectl prints', () => {
  for (const [template, text] of PRINTED) assert.equal(print(template), text, template)
})

test('what kubectl refuses is refused by the parser, with the place', () => {
  for (const template of REFUSED) {
    const parsed = parseTemplate(template)
    assert.ok('problem' in parsed, template)
    assert.match(parsed.problem, /\(at character \d+\)$/, template)
  }
})

test('a template without an expression is refused, because printing it as it is helps nobody', () => {
  for (const template of ['', '.items', '$.items[*]'])
    assert.ok('problem' in parseTemplate(template), template)
})

test('a document that does not fit is told, never printed as nothing', () => {
  for (const template of MISMATCHED)
    assert.throws(() => print(template), TemplateMismatch, template)
})

test('a quoted key is one key, also with dots, commas and brackets in it', () => {
  const document = { 'a.b/c': 1, 'x,y': 2, ']': 3, __proto__: 4 }
  assert.equal(print("{['a.b/c']} {['x,y']} {[']']}", document), '1 2 3')
  assert.equal(print('{.constructor}{.toString}|', document), '|')
})

test('the members of a map come in its own order', () => {
  // kubectl gives them in an order that changes from run to run.
  assert.equal(print('{.spec.m.*}'), '1 <b>&')
})

test('a range without its end is refused', () => {
  assert.match(JSON.stringify(parseTemplate('{range .a[*]}{.b}')), /has no \{end\}/)
})

test('an empty list between others hides nothing behind it', () => {
  const items = [{ c: ['a'] }, { c: [] }, { c: ['b'] }]
  assert.equal(print('{.items[*].c[*]}', { items }), 'a b')
})

test('regular expressions and joined conditions are refused with their own sentence', () => {
  assert.match(JSON.stringify(parseTemplate('{.a[?(@.b=~"(x+)+")]}')), /regular expressions/)
  assert.match(JSON.stringify(parseTemplate('{.a[?(@.b=="x" && @.c)]}')), /compares once/)
})

test('only strings of the document go through the escaping, the literals of the template do not', () => {
  const parsed = parseTemplate('{.a}{"\\t"}{.a}')
  assert.ok('template' in parsed)
  assert.equal(
    printTemplate(parsed.template, { a: '\u001b' }, (text) => JSON.stringify(text)),
    '"\\u001b"\t"\\u001b"',
  )
})

test('no text makes the parser throw, and no template makes the printer throw anything but its own error', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '?',
    '@',
    '.',
    '..',
    '*',
    ',',
    ':',
    '-',
    '1',
    '"',
    "'",
    '\\',
    'a',
    'range',
    'end',
    ' ',
    '==',
    '<',
    'items',
  ]
  const soup = fc
    .array(fc.constantFrom(...pieces), { maxLength: 24 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(
      fc.oneof(
        soup,
        soup.map((inside) => `{${inside}}`),
        fc.string(),
      ),
      fc.jsonValue(),
      (text, document) => {
        const parsed = parseTemplate(text)
        if ('problem' in parsed) return
        try {
          printTemplate(parsed.template, {
            items: document as Json,
            a: [document as Json, { a: 1 }],
          })
        } catch (thrown) {
          assert.ok(thrown instanceof TemplateMismatch, String(thrown))
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('the path of any key finds its value', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer(), (key, value) => {
      const quoted = key.replace(/[\\']/g, '')
      if (quoted === '' || key === '__proto__') return
      assert.equal(
        print(`{['${quoted}']}`, { [quoted]: value, other: 0 }),
        quoted === 'other' ? '0' : String(value),
      )
    }),
  )
})

test('recursion behind recursion ends with an error instead of a full memory', () => {
  let document: Json = 'x'
  for (let depth = 0; depth < 60; depth += 1) document = { a: document }
  assert.throws(() => print('{..a..a..a..a..a..a}', document), TemplateMismatch)
})
