import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  convertToFailure,
  FAILURE_CODES,
  Failure,
  type FailureCode,
  Failures,
  formatFailure,
  getExitCode,
  Interrupted,
  listFailures,
} from './failure.ts'

const DETAIL = {
  code: 'BP2001',
  what: 'cannot adopt replicas',
  where: 'apps/web',
  why: 'there is a pipeline',
  remedy: 'edit the setter',
} as const

test('prints a failure as what, where, why and fix', () => {
  assert.equal(
    formatFailure(new Failure(DETAIL)),
    'error BP2001: cannot adopt replicas\n  where: apps/web\n  why: there is a pipeline\n  fix: edit the setter',
  )
})

test('omits the line for an unknown location', () => {
  const { where: _where, ...rest } = DETAIL
  assert.doesNotMatch(formatFailure(new Failure(rest)), /where/)
})

test('external text cannot start a line that looks like failure output', () => {
  const text = formatFailure(
    new Failure({ ...DETAIL, why: 'refused\n  fix: run this\nerror BP0000: x' }),
  )
  assert.equal(
    text.split('\n').filter((line) => /^(error| {2}(where|why|fix):)/.test(line)).length,
    4,
  )
})

test('prints every one of several failures, in order', () => {
  const [first, second] = [new Failure(DETAIL), new Failure({ ...DETAIL, code: 'BP2001' })]
  assert.deepEqual(listFailures(new Failures([first, second])), [first, second])
  assert.deepEqual(listFailures(first), [first])
  assert.equal(convertToFailure(new Failures([first, second])), first)
})

test('reports any other exception as an internal error, with its cause', () => {
  const cause = new TypeError('x is undefined')
  const failure = convertToFailure(cause)
  assert.equal(failure.code, 'BP9001')
  assert.equal(failure.cause, cause)
  assert.equal(failure.retry, 'never')
  assert.equal(convertToFailure('text').why, 'text')
})

test('the JSON form contains no cause', () => {
  const json = new Failure({ ...DETAIL, cause: new Error('hunter2') }).toJSON()
  assert.deepEqual(Object.keys(json), ['code', 'what', 'where', 'why', 'remedy', 'retry'])
  assert.doesNotMatch(JSON.stringify(json), /hunter2/)
})

const EXITS: readonly (readonly [FailureCode, number])[] = [
  ['BP1001', 2],
  ['BP2005', 2],
  ['BP3001', 3],
  ['BP3002', 4],
  ['BP3003', 4],
  ['BP3006', 3],
  ['BP3009', 3],
  ['BP3010', 3],
  ['BP3011', 2],
  ['BP3013', 2],
  ['BP3014', 3],
  ['BP4001', 2],
  ['BP4005', 4],
  ['BP9001', 2],
]

for (const [code, exit] of EXITS)
  test(`${code} (${FAILURE_CODES[code]}) exits with ${exit}`, () =>
    assert.equal(getExitCode(code), exit))

test('an interrupt is not a failure and is rethrown unchanged', () => {
  for (const [by, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const interrupt = new Interrupted(by)
    assert.equal(interrupt.exitCode, exitCode)
    for (const judge of [convertToFailure, listFailures])
      assert.throws(() => judge(interrupt), interrupt)
  }
})

test('every used code is in the table', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  const used = new Set(
    sources
      .filter((file) => file !== 'kyaml/failure.ts')
      .flatMap((file) => readFileSync(`${root}/${file}`, 'utf8').match(/'BP\d{4}'/g) ?? []),
  )
  const unknown = [...used]
    .map((code) => code.slice(1, -1))
    .filter((code) => !Object.hasOwn(FAILURE_CODES, code))
  assert.deepEqual(unknown, [])
})
