// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from 're2js'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  containsAnySetter,
  expandPattern,
  extractSetterValues,
  findOnlySetter,
  findSetterPattern,
  invertPattern,
  parseSetterPattern,
  type SetterPattern,
} from './setter-pattern.ts'

const values = (entries: { readonly [name: string]: string }) => new Map(Object.entries(entries))

test('only a comment that begins with "# kpt-set: " is a pattern', () => {
  assert.deepEqual(findSetterPattern('# kpt-set:  ${host}:${port}  '), {
    text: '${host}:${port}',
    setters: ['host', 'port'],
    literals: ['', ':', ''],
  })
  for (const comment of [
    '',
    '# kpt-set:${a}',
    '#kpt-set: ${a}',
    '# see kpt-set: ${a}',
    '# kpt-set:  ',
  ]) {
    assert.equal(findSetterPattern(comment), undefined, comment)
  }
})

test('a reference extends from its brace to the next closing brace', () => {
  assert.deepEqual(parseSetterPattern('a${b${c}d}$e${f').setters, ['b${c'])
  assert.deepEqual(parseSetterPattern('${}').setters, [''])
  assert.equal(findOnlySetter(parseSetterPattern('${env}')), 'env')
  for (const text of ['x${env}', '${env}x', '${a}${b}', 'env'])
    assert.equal(findOnlySetter(parseSetterPattern(text)), undefined, text)
  assert.ok(containsAnySetter(parseSetterPattern('${a}-${b}'), ['c', 'b']))
  assert.ok(!containsAnySetter(parseSetterPattern('${a}-${b}'), ['ab', 'a}']))
})

test('setters are replaced one after the other, and remaining references are unresolved', () => {
  const pattern = parseSetterPattern('${a}-${b}-${a}')
  assert.deepEqual(expandPattern(pattern, values({ a: '1', b: '$&' })), {
    is: 'text',
    text: '1-$&-1',
  })
  assert.deepEqual(expandPattern(pattern, values({ b: '2' })), {
    is: 'unresolved',
    references: ['${a}', '${a}'],
  })
  // A value may name a setter that is replaced after it, and not one that was replaced before.
  assert.deepEqual(expandPattern(pattern, values({ a: '${b}', b: '2' })), {
    is: 'text',
    text: '2-2-2',
  })
  assert.deepEqual(expandPattern(pattern, values({ b: '${b}', a: '1' })), {
    is: 'unresolved',
    references: ['${b}'],
  })
  assert.deepEqual(expandPattern(pattern, values({ a: '1' }), values({ a: 'no', b: '2' })), {
    is: 'text',
    text: '1-2-1',
  })
})

test('setters that refer to each other do not grow without end', () => {
  const chain = values(
    Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`s${index}`, `\${s${index + 1}}`.repeat(8)]),
    ),
  )
  assert.deepEqual(expandPattern(parseSetterPattern('${s0}'), chain), { is: 'too-long' })
})

const EXTRACTED: readonly (readonly [
  pattern: string,
  text: string,
  found: { readonly [name: string]: string },
])[] = [
  ['shop-${stage}-${region}-db', 'shop-test-eu-west-1-db', { stage: 'test-eu-west', region: '1' }],
  [
    '${registry}/${name}:${tag}',
    'reg.example:5000/team/web:2.1',
    { registry: 'reg.example:5000/team', name: 'web', tag: '2.1' },
  ],
  ['${name}:${tag}', 'web', {}],
  ['${name}${tag}', 'web:1', {}],
  ['${name}:', 'web:1', { name: 'web' }],
  ['web:${tag}', 'my-web:1', { tag: '1' }],
  ['${a}.${b}', 'one\ntwo.three', { a: 'two', b: 'three' }],
  ['${a}-${a}', 'x-y', { a: 'y' }],
  // The two literals may not share a sign, so that the first line is none.
  ['-${a}-', '-\n-x-', { a: 'x' }],
  ['no setter', 'no setter', {}],
]

test('current values come from a greedy match', () => {
  for (const [pattern, text, found] of EXTRACTED) {
    assert.deepEqual(
      extractSetterValues(parseSetterPattern(pattern), text),
      values(found),
      `${pattern} in ${text}`,
    )
  }
})

const sign = fc.constantFrom('a', 'b', '-', ':', '.', '\n')
const shortText = fc.array(sign, { maxLength: 8 }).map((signs) => signs.join(''))
const pattern = fc
  .array(fc.oneof(fc.constantFrom('a', '-', ':', '.'), fc.constantFrom('${x}', '${y}', '${z}')), {
    minLength: 1,
    maxLength: 7,
  })
  .map((parts) => parseSetterPattern(parts.join('')))

test('extraction uses the regular expression of the original', () => {
  fc.assert(
    fc.property(pattern, shortText, (each, text) => {
      const expression = each.literals.map((literal) => RE2JS.quote(literal)).join('(.*)')
      const matcher = RE2JS.compile(expression).matcher(text)
      const groups = matcher.find()
        ? each.setters.map((_, index) => matcher.group(index + 1) ?? '')
        : []
      const wanted = groups.includes('')
        ? []
        : groups.map((value, index) => [each.setters[index] ?? '', value] as const)
      assert.deepEqual(extractSetterValues(each, text), new Map(wanted))
    }),
    { numRuns: 3000 },
  )
})

test('extracted values expand to the same text', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
      fc.array(shortText),
      (names, literals) => {
        const each = parseSetterPattern(
          names.map((name, index) => `${literals[index] ?? ''}\${${name}}`).join(''),
        )
        const text = names.map((name, index) => `${literals[index] ?? ''}${name}${index}`).join('')
        const found = extractSetterValues(each, text)
        if (found.size > 0 && !text.includes('\n'))
          assert.deepEqual(expandPattern(each, found), { is: 'text', text })
      },
    ),
  )
})

test('finds the one setter that explains a text', () => {
  const each = parseSetterPattern('${a}-${b}')
  const now = values({ a: 'x', b: 'y' })
  const changes = (wanted: string) => {
    const found = invertPattern(each, now, wanted)
    return found.is === 'one' ? Object.fromEntries(found.changes) : found.is
  }
  assert.deepEqual(changes('x-y'), {})
  assert.deepEqual(changes('x-z'), { b: 'z' })
  assert.deepEqual(changes('z-y'), { a: 'z' })
  // Keeping b cannot give it, so that only b can have changed.
  assert.deepEqual(changes('x-y-z'), { b: 'y-z' })
  assert.deepEqual(changes('p-q'), { a: 'p', b: 'q' })
  assert.equal(changes('p-q-r'), 'several')
  assert.equal(changes('xy'), 'none')
})

test('returns all solutions that change equally few setters', () => {
  const found = invertPattern(parseSetterPattern('${a}-${b}'), values({ a: 'x', b: 'y' }), 'p-q-r')
  assert.deepEqual(found, {
    is: 'several',
    ways: [values({ a: 'p', b: 'q-r' }), values({ a: 'p-q', b: 'r' })],
    complete: true,
  })
  const side = invertPattern(parseSetterPattern('${a}${b}'), values({ a: 'x', b: 'x' }), 'xyx')
  assert.deepEqual(side, {
    is: 'several',
    ways: [values({ b: 'yx' }), values({ a: 'xy' })],
    complete: true,
  })
})

test('a repeated setter has one value', () => {
  const each = parseSetterPattern('${a}/${a}-${b}')
  assert.deepEqual(invertPattern(each, values({ a: 'x', b: 'y' }), 'p/p-y'), {
    is: 'one',
    changes: values({ a: 'p' }),
  })
  assert.deepEqual(invertPattern(each, values({ a: 'x', b: 'y' }), 'p/q-y'), { is: 'none' })
})

test('the solution sets a setter that has no current value', () => {
  assert.deepEqual(invertPattern(parseSetterPattern('${a}:${b}'), values({ a: 'x' }), 'x:y'), {
    is: 'one',
    changes: values({ b: 'y' }),
  })
})

test('never returns a value that would be read as a reference', () => {
  assert.deepEqual(invertPattern(parseSetterPattern('v${a}'), values({ a: 'x' }), 'v${b}'), {
    is: 'none',
  })
})

test('gives up an endless search without a solution', () => {
  const many = parseSetterPattern(
    Array.from({ length: 24 }, (_, index) => `\${s${index}}`).join(''),
  )
  const found = invertPattern(many, new Map(), 'x'.repeat(400))
  assert.ok(found.is === 'too-hard' || (found.is === 'several' && !found.complete), found.is)
  assert.equal(
    invertPattern(parseSetterPattern('${a}'), new Map(), 'x'.repeat(100_000)).is,
    'too-hard',
  )
  assert.equal(invertPattern(parseSetterPattern('${a}'.repeat(300)), new Map(), 'x').is, 'too-hard')
})

test('an inversion returns every smallest solution, and each is verified', () => {
  const small = fc
    .array(fc.constantFrom('a', 'b', '-'), { maxLength: 5 })
    .map((signs) => signs.join(''))
  fc.assert(
    fc.property(
      pattern,
      fc.dictionary(fc.constantFrom('x', 'y', 'z'), small),
      small,
      (each, given, wanted) => {
        const current = values(given)
        const found = invertPattern(each, current, wanted)
        const ways = found.is === 'one' ? [found.changes] : found.is === 'several' ? found.ways : []
        for (const changes of ways) {
          assert.deepEqual(expandPattern(each, new Map([...current, ...changes])), {
            is: 'text',
            text: wanted,
          })
        }
        if (found.is === 'several' && !found.complete) return
        assert.notEqual(found.is, 'too-hard')
        assert.deepEqual(
          new Set(ways.map(sorted)),
          new Set(smallestWays(each, current, wanted).map(sorted)),
        )
      },
    ),
    { numRuns: 400 },
  )
})

const sorted = (changes: ReadonlyMap<string, string>) => JSON.stringify([...changes].sort())

/** Every assignment of parts of the text, tried. */
function smallestWays(
  each: SetterPattern,
  current: ReadonlyMap<string, string>,
  wanted: string,
): ReadonlyMap<string, string>[] {
  const parts = new Set([''])
  for (let start = 0; start < wanted.length; start += 1)
    for (let end = start + 1; end <= wanted.length; end += 1) parts.add(wanted.slice(start, end))
  let ways: ReadonlyMap<string, string>[] = [new Map()]
  for (const name of new Set(each.setters)) {
    const retained = current.get(name)
    const choices = new Set([...parts, ...(retained === undefined ? [] : [retained])])
    ways = ways.flatMap((way) => [...choices].map((value) => new Map(way).set(name, value)))
  }
  const changed = ways
    .filter((way) => expandsTo(each, way, wanted))
    .map((way) => new Map([...way].filter(([name, value]) => current.get(name) !== value)))
  const fewest = Math.min(...changed.map((way) => way.size))
  return changed.filter((way) => way.size === fewest)
}

function expandsTo(each: SetterPattern, way: ReadonlyMap<string, string>, wanted: string): boolean {
  const expanded = expandPattern(each, way)
  return expanded.is === 'text' && expanded.text === wanted
}
