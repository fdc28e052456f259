import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findNextScheduledTime,
  findTimezoneProblem,
  findWindowEnd,
  type ScheduledWindow,
  scheduleProblem,
} from './windows.ts'

function window(schedule: string, hours: number, timezone = 'UTC'): ScheduledWindow {
  return {
    name: 'w',
    kind: 'hold',
    where: 'p:1',
    schedule,
    duration: hours * 3_600,
    timezone,
    except: [],
  }
}

const OPEN: readonly (readonly [
  name: string,
  window: ScheduledWindow,
  at: string,
  end: string | undefined,
])[] = [
  [
    'before a weekend',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-20T16:59:59Z',
    undefined,
  ],
  [
    'first second',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-20T17:00:00Z',
    '2026-11-23T07:00:00Z',
  ],
  [
    'last second',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-23T06:59:59Z',
    '2026-11-23T07:00:00Z',
  ],
  [
    'the second after its end',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-23T07:00:00Z',
    undefined,
  ],
  [
    'an hour earlier in UTC while clocks are forward',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-08-21T16:00:00Z',
    '2026-08-24T06:00:00Z',
  ],
  [
    '62 hours even over the night when clocks go back',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-10-25T12:00:00Z',
    '2026-10-26T06:00:00Z',
  ],
  [
    'a nonexistent local time means the end of the gap',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-03-29T01:00:00Z',
    '2026-03-29T02:00:00Z',
  ],
  [
    'before the end of the gap',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-03-29T00:59:59Z',
    undefined,
  ],
  [
    'an ambiguous local time means the first one',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
  ],
  [
    'an ambiguous local time does not mean the second one',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-10-25T01:30:00Z',
    undefined,
  ],
  [
    'a timezone with a half-hour offset',
    window('0 9 * * *', 1, 'Asia/Kolkata'),
    '2026-01-01T03:30:00Z',
    '2026-01-01T04:30:00Z',
  ],
  [
    'a day of the month or a day of the week',
    window('0 0 13 * FRI', 1),
    '2026-11-20T00:30:00Z',
    '2026-11-20T01:00:00Z',
  ],
  ['29 February of an earlier year', window('0 0 29 2 *', 1), '2026-02-28T00:30:00Z', undefined],
  ['Sunday as day 7', window('0 0 * * 7', 24), '2026-11-22T12:00:00Z', '2026-11-23T00:00:00Z'],
  [
    'a window that starts again before it ends',
    window('0 * * * *', 3),
    '2026-11-22T12:30:00Z',
    '2026-11-22T15:00:00Z',
  ],
  ['an invalid time', window('0 * * * *', 3), 'yesterday', undefined],
]

for (const [name, requested, at, end] of OPEN)
  test(`end of a window: ${name}`, () => assert.equal(findWindowEnd(requested, at), end))

for (const text of [
  '0 18 * * FRI',
  '*/5 8-17 1,15 * MON-FRI',
  '0 0 29 2 *',
  '  0  0  *  *  *  ',
  '0 0 1 jan sun',
]) {
  test(`valid schedule: ${text}`, () => assert.equal(scheduleProblem(text), undefined))
}

const BAD = [
  '',
  '* * * *',
  '0 0 * * * *',
  '@daily',
  '60 * * * *',
  '0 0 31 2 *',
  '0 0 L * *',
  '0 0 1W * *',
  '0 0 * * FRI#2',
  '? * * * *',
  '2026-01-01T00:00:00',
  '0 0 * * NOPE',
  '\u0000',
]
for (const text of BAD)
  test(`invalid schedule: ${JSON.stringify(text)}`, () =>
    assert.notEqual(scheduleProblem(text), undefined))

test('a timezone is valid when the runtime knows it', () => {
  assert.equal(findTimezoneProblem('America/St_Johns'), undefined)
  assert.match(findTimezoneProblem('Mars/Base') ?? '', /Europe\/Berlin/)
  assert.notEqual(findTimezoneProblem(''), undefined)
})

test('the next scheduled time is strictly after the given time, in UTC', () => {
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-23T07:59:59Z'), '2026-11-23T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-23T08:00:00Z'), '2026-11-30T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-21T10:00:00Z'), '2026-11-23T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', 'yesterday'), undefined)
})
