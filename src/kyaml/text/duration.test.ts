import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertDurationToSeconds, DURATION, WAIT } from './duration.ts'

const DURATIONS: readonly (readonly [text: string, seconds: number])[] = [
  ['1s', 1],
  ['30s', 30],
  ['90m', 5_400],
  ['24h', 86_400],
  ['30d', 2_592_000],
  ['1h30m', 5_400],
  ['23h59m', 86_340],
  ['1h0m30s', 3_630],
  ['1d12h', 129_600],
  ['1d30s', 86_430],
  ['2w', 1_209_600],
  ['1w2d3h4m5s', 788_645],
  ['99999d', 8_639_913_600],
]

for (const [text, seconds] of DURATIONS) {
  test(`${text} are ${seconds} s`, () => {
    assert.match(text, DURATION)
    assert.match(text, WAIT)
    assert.equal(convertDurationToSeconds(text), seconds)
  })
}

for (const text of [
  '',
  '5',
  'h',
  '-5m',
  '1.5h',
  '5 m',
  '1h 30m',
  '30m1h',
  '1h1h',
  '0h30m',
  '007m',
  '1d1w',
  '1y',
  '1H',
  '100000d',
  '1hm',
  '1h30',
]) {
  test(`rejects the duration ${JSON.stringify(text)}`, () => {
    assert.doesNotMatch(text, DURATION)
    assert.doesNotMatch(text, WAIT)
  })
}

test('a wait may be zero', () => {
  assert.match('0s', WAIT)
  assert.doesNotMatch('0s', DURATION)
  assert.equal(convertDurationToSeconds('0s'), 0)
})
