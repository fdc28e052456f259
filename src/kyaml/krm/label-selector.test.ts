import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { matchesLabels, parseLabelSelector } from './label-selector.ts'

const SETS = [
  {},
  { app: 'web' },
  { app: 'db', tier: 'a' },
  { n: '7' },
  { app: '', 'a.io/b': 'x' },
  { in: 'in', notin: 'b' },
].map((labels) => new Map<string, string>(Object.entries(labels)))

// Which of the six sets above each text selects (x), from labels.Parse and Matches of k8s.io/apimachinery v0.34.3; '' where it refuses.
const GOLDEN: readonly (readonly [text: string, selects: string])[] = [
  ['app=web', '.x....'],
  ['app==web', '.x....'],
  ['app!=web', 'x.xxxx'],
  ['app', '.xx.x.'],
  ['!app', 'x..x.x'],
  ['! app', 'x..x.x'],
  ['app in (web,db)', '.xx...'],
  ['app notin (web)', 'x.xxxx'],
  ['app in ()', '....x.'],
  ['app in (,)', '....x.'],
  ['app in (a,)', '....x.'],
  ['app in (web,,b)', '.x..x.'],
  ['app=', '....x.'],
  ['app!=', 'xxxx.x'],
  ['app=,n>3', '......'],
  ['n>3', '...x..'],
  ['n<8', '...x..'],
  ['n>007', '......'],
  ['in in (in)', '.....x'],
  ['notin notin (b)', 'xxxxx.'],
  ['in', '.....x'],
  [' ', 'xxxxxx'],
  ['', 'xxxxxx'],
  ['app =  web', '.x....'],
  ['app=db,tier', '..x...'],
  ['app,tier!=a', '.x..x.'],
  ['a.io/b=x', '....x.'],
  ['n>x', ''],
  ['n>+3', ''],
  ['n>99999999999999999999', ''],
  ['app in web', ''],
  ['app in (a b)', ''],
  ['app in (a', ''],
  ['app web', ''],
  ['!app=web', ''],
  ['!!app', ''],
  ['app,', ''],
  [',app', ''],
  ['app=web,', ''],
  ['x>=3', ''],
  ['app=(web)', ''],
  ['app(web)', ''],
  ['/b', ''],
  ['a/', ''],
  ['a/b/c', ''],
  ['A.io/b', ''],
  ['-app', ''],
  ['app=web-', ''],
  ['app=wéb', ''],
  ['app\u00a0=web', ''],
  [`app=${'x'.repeat(64)}`, ''],
  ['x'.repeat(64), ''],
]

for (const [text, selects] of GOLDEN) {
  test(`the selector ${JSON.stringify(text)} ${selects === '' ? 'is rejected' : 'selects the same as in kubectl'}`, () => {
    const parsed = parseLabelSelector(text)
    const got =
      'selector' in parsed
        ? SETS.map((labels) => (matchesLabels(parsed.selector, labels) ? 'x' : '.')).join('')
        : ''
    assert.equal(got, selects)
  })
}

const PROBLEMS: readonly (readonly [text: string, problem: string])[] = [
  ['app in web', 'found "web" where "(" is wanted'],
  ['app,', 'found the end where a label or "!" is wanted'],
  ['app web', 'found "web" where in, notin, =, ==, !=, > or < is wanted'],
  ['app=web tier', 'found "tier" where a comma or the end is wanted'],
  ['a/b/c', '"a/b/c" is not a label name: it has more than one "/"'],
  ['n>x', '> and < compare whole numbers, and "x" is not one'],
]

for (const [text, problem] of PROBLEMS) {
  test(`reports the problem of ${JSON.stringify(text)}`, () =>
    assert.deepEqual(parseLabelSelector(text), { problem }))
}

test('any text is a selector or has a problem', () => {
  const pieces = fc.array(
    fc.constantFrom('app', 'in', 'notin', '=', '!', '(', ')', ',', ' ', '>', '<', 'a/b', '7', '\0'),
    {
      maxLength: 12,
    },
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((parts) => parts.join('')),
      ),
      (text) => {
        const parsed = parseLabelSelector(text)
        if ('selector' in parsed)
          for (const labels of SETS)
            assert.equal(typeof matchesLabels(parsed.selector, labels), 'boolean')
        else assert.notEqual(parsed.problem, '')
      },
    ),
  )
})

test('every label set matches either = or !=, never both', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SETS),
      fc.constantFrom('app', 'tier', 'n'),
      fc.constantFrom('', 'web', '7'),
      (labels, key, value) => {
        const holds = (sign: string): boolean => {
          const parsed = parseLabelSelector(`${key}${sign}${value}`)
          return 'selector' in parsed && matchesLabels(parsed.selector, labels)
        }
        assert.notEqual(holds('='), holds('!='))
      },
    ),
  )
})
