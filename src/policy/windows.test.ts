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
    'its first second',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-20T17:00:00Z',
    '2026-11-23T07:00:00Z',
  ],
  [
    'its last second',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-11-23T06:59:59Z',
    '2026-11-23T07:00:00Z',
  ],
  [
    'the second after it',
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
    'over the night in which clocks go back: 62 hours all the same',
    window('0 18 * * FRI', 62, 'Europe/Berlin'),
    '2026-10-25T12:00:00Z',
    '2026-10-26T06:00:00Z',
  ],
  [
    'a time that does not exist is the end of the gap',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-03-29T01:00:00Z',
    '2026-03-29T02:00:00Z',
  ],
  ['before that', window('30 2 * * *', 1, 'Europe/Berlin'), '2026-03-29T00:59:59Z', undefined],
  [
    'a time that is there twice is the first',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
  ],
  [
    'and not the second',
    window('30 2 * * *', 1, 'Europe/Berlin'),
    '2026-10-25T01:30:00Z',
    undefined,
  ],
  [
    'half an hour off',
    window('0 9 * * *', 1, 'Asia/Kolkata'),
    '2026-01-01T03:30:00Z',
    '2026-01-01T04:30:00Z',
  ],
  [
    'a day of the month or of the week',
    window('0 0 13 * FRI', 1),
    '2026-11-20T00:30:00Z',
    '2026-11-20T01:00:00Z',
  ],
  ['the 29th of February, years ago', window('0 0 29 2 *', 1), '2026-02-28T00:30:00Z', undefined],
  ['Sunday is 0 and 7', window('0 0 * * 7', 24), '2026-11-22T12:00:00Z', '2026-11-23T00:00:00Z'],
  [
    'a window that begins again before it ends',
    window('0 * * * *', 3),
    '2026-11-22T12:30:00Z',
    '2026-11-22T15:00:00Z',
  ],
  ['no time at all', window('0 * * * *', 3), 'yesterday', undefined],
]

for (const [name, requested, at, end] of OPEN)
  test(`window: ${name}`, () => assert.equal(findWindowEnd(requested, at), end))

for (const text of [
  '0 18 * * FRI',
  '*/5 8-17 1,15 * MON-FRI',
  '0 0 29 2 *',
  '  0  0  *  *  *  ',
  '0 0 1 jan sun',
]) {
  test(`a schedule: ${text}`, () => assert.equal(scheduleProblem(text), undefined))
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
  test(`no schedule: ${JSON.stringify(text)}`, () =>
    assert.notEqual(scheduleProblem(text), undefined))

test('timezones are those that the process knows', () => {
  assert.equal(findTimezoneProblem('America/St_Johns'), undefined)
  assert.match(findTimezoneProblem('Mars/Base') ?? '', /Europe\/Berlin/)
  assert.notEqual(findTimezoneProblem(''), undefined)
})

test('the next time of a schedule is after the time itself, in UTC', () => {
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-23T07:59:59Z'), '2026-11-23T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-23T08:00:00Z'), '2026-11-30T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', '2026-11-21T10:00:00Z'), '2026-11-23T08:00:00Z')
  assert.equal(findNextScheduledTime('0 8 * * MON', 'yesterday'), undefined)
})
