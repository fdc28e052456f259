/** Random JSON values and field paths, hostile names included. */
import type { FieldPath, PathStep } from '@backporch/kyaml/field'
import { emptyObject, type Json, type JsonObject, setKey } from '@backporch/kyaml/json'
import * as fc from '../seeds/fast-check.ts'

const HOSTILE = [
  '',
  '__proto__',
  'constructor',
  'a.b/c',
  'x y',
  '"',
  '\\',
  ']',
  '[',
  '=',
  ',',
  '.',
  '-5',
  '5',
  'true',
  'null',
  '\n',
  '\u202e',
  '日本',
  '🎌',
]

/** Names and values as clusters have them, and some that only an attacker would choose. */
export const randomText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'name',
    'app',
    'spec',
    'replicas',
    'nginx:1.27',
    '/data',
    '--port=80',
    ...HOSTILE,
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => text.isWellFormed()),
)

// Integers are those of a server: above int64 it holds doubles.
const randomNumber: fc.Arbitrary<number | bigint> = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -5, 0.5, -0.25, 1e21, 1e-7, Number.MAX_SAFE_INTEGER),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
)

export const randomScalar: fc.Arbitrary<Json> = fc.oneof(
  randomText,
  randomNumber,
  fc.boolean(),
  fc.constant(null),
)

function objectOf(entries: readonly (readonly [string, Json])[]): JsonObject {
  const object = emptyObject()
  for (const [key, value] of entries) setKey(object, key, value)
  return object
}

/** Keys: V8 confuses those of one control character with others (docs/facts/v8-json-one-character-keys.md). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are confused
const randomKey = randomText.filter((text) => !/^[\\\u0000-\u001f]$/.test(text))

export const randomJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    randomScalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(randomKey, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value

const randomStep: fc.Arbitrary<PathStep> = fc.oneof(
  randomText.map((name) => ({ kind: 'field', name }) as const),
  fc
    .array(fc.tuple(randomKey, randomScalar), { minLength: 1, maxLength: 3 })
    .map((keys) => ({ kind: 'item', keys: objectOf(keys) }) as const),
  randomJson.map((value) => ({ kind: 'member', value }) as const),
  fc.nat({ max: 99 }).map((index) => ({ kind: 'index', index }) as const),
)

/** Never empty: the empty path names the whole object and is not written. */
export const randomPath: fc.Arbitrary<FieldPath> = fc.array(randomStep, {
  minLength: 1,
  maxLength: 6,
})
