/** Random manifests, their values and texts, and styles to print them in, full of what YAML readers disagree about. */
import { emptyObject, type Json, type JsonObject, setKey } from '@backporch/kyaml/json'
import * as fc from '../seeds/fast-check.ts'
import type { PrintStyle } from './random-yaml.ts'

const keys = fc.constantFrom(
  'name',
  'app',
  'a.b/c',
  'spec',
  'x y',
  'on',
  'no',
  '1',
  '017',
  'labels',
  '日本',
  'a: b',
  '#x',
  '-',
  'items',
)
export const texts = fc.oneof(
  fc.constantFrom(
    '',
    'nginx:1.25',
    'no',
    'on',
    '017',
    '1_000',
    '0x1F',
    '12:30',
    '2020-01-01',
    '~',
    'null',
    '1e3',
    'a b',
    ' a',
    'a ',
    "it's",
    '"q"',
  ),
  fc.constantFrom(
    '--port=80',
    '- a',
    'a: b',
    'a #b',
    '#',
    '{a}',
    '[b',
    'a, b',
    '*x',
    '&x',
    '!x',
    '%x',
    '@x',
    '`x',
    '|',
    '>',
    '?',
    ':',
    '---',
    '...',
    '<<',
    '=',
  ),
  fc.constantFrom(
    'one\ntwo',
    'one\ntwo\n',
    'one\n\n  two\n\nthree\n',
    'a\n\n',
    '\n',
    '\na',
    ' a\nb',
    'a\n b\n',
    'a\tb\nc',
    '# x\ny\n',
    '---\nx',
    'a\r\nb',
    '\u0007',
    '\u2028',
    '\u0085',
    '\uFEFF',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      ' ',
      '\n',
      ':',
      '#',
      '-',
      "'",
      '"',
      ',',
      '[',
      '}',
      'é',
      '😀',
      '\\',
      '\t',
    ),
    maxLength: 12,
  }),
)
const scalars: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 2, arbitrary: fc.integer() },
  fc.constantFrom(
    0,
    -1,
    1.5,
    1e21,
    1e-7,
    5e-324,
    true,
    false,
    null,
    9007199254740993n,
    -9223372036854775808n,
  ),
)
export const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    tie('object'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
  object: fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries) => {
    const object = emptyObject()
    for (const [key, value] of entries) setKey(object, key, value)
    return object
  }),
})).value
export const manifests: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(keys, values), { minLength: 1, maxLength: 6 })
  .map((entries) => Object.fromEntries([...entries, ['kind', 'X']]))

export const styles: fc.Arbitrary<PrintStyle> = fc.record({
  seed: fc.nat(),
  step: fc.constantFrom(1, 2, 2, 3, 4),
  dashOffset: fc.constantFrom(0, 0, 2, 4),
  dashWidth: fc.constantFrom(2, 2, 2, 4),
  lineBreak: fc.constantFrom('\n', '\n', '\r\n'),
  finalBreak: fc.boolean(),
  byteOrderMark: fc.boolean(),
  comments: fc.constantFrom(0, 3, 8),
  flow: fc.constantFrom(0, 2, 6),
  before: fc.array(fc.constantFrom('kind: A\nv:\n- 1', '# only a comment', 'kind: B # {'), {
    maxLength: 2,
  }),
  after: fc.array(fc.constantFrom('kind: A\nv:\n- 1', '# only a comment'), { maxLength: 2 }),
})
