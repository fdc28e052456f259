import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildClock, duration } from './build-progress.ts'

test('estimates the remaining time from the pace so far', () => {
  let now = 100
  const missing = [
    { name: 'helm3', expectedSeconds: 100 },
    { name: 'helm4', expectedSeconds: 20 },
    { name: 'sops', expectedSeconds: 60 },
  ] as const
  const clock = buildClock(missing, () => now)
  assert.equal(clock.progress(), undefined)
  clock.begin(0)
  now += 30
  assert.deepEqual(clock.progress(), {
    ...{
      name: 'helm3',
      place: 1,
      of: 3,
      elapsedSeconds: 30,
      expectedSeconds: 100,
      remainingSeconds: 150,
    },
    text: 'Helm 3 (1 of 3): 30 s of about 2 min, about 3 min left for all',
  })
  // It takes twice as long as was expected.
  now += 170
  assert.equal(clock.progress()?.remainingSeconds, 160)
  clock.begin(1)
  assert.equal(clock.progress()?.remainingSeconds, 160)
  now += 50
  assert.equal(Math.round(clock.progress()?.remainingSeconds ?? 0), 125)
  clock.begin(2)
  now += 1_000
  assert.equal(clock.progress()?.text, 'SOPS (3 of 3): 17 min of about 60 s')
  clock.end()
  assert.equal(clock.progress(), undefined)
})

test('shows a time in seconds, or in minutes when long', () => {
  assert.deepEqual([0, 35.4, 99, 100, 232].map(duration), ['0 s', '35 s', '99 s', '2 min', '4 min'])
})
