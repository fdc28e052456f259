import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from './backoff.ts'

const waits = (backoff: Backoff, count: number): number[] =>
  Array.from({ length: count }, () => backoff.computeWait())

test('each delay is twice the previous one, up to the maximum, without end', () => {
  const backoff = new Backoff({ firstWait: 500, longestWait: 30_000, random: () => 1 })
  assert.deepEqual(waits(backoff, 8), [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  assert.deepEqual(new Set(waits(backoff, 2000)), new Set([30_000]))
})

test('the jitter is half of the delay', () => {
  const backoff = new Backoff({ firstWait: 500, longestWait: 30_000, random: () => 0 })
  assert.deepEqual(waits(backoff, 3), [250, 500, 1000])
})

test('the delays restart after a success', () => {
  const backoff = new Backoff({ firstWait: 500, longestWait: 30_000, random: () => 1 })
  waits(backoff, 5)
  backoff.reset()
  assert.equal(backoff.computeWait(), 500)
})

test('honors the delay of the server, spread over a quarter more, never below the own delay', () => {
  const asked = (random: number, requested: number) =>
    new Backoff({ firstWait: 500, longestWait: 30_000, random: () => random }).computeWait(
      requested,
    )
  assert.equal(asked(0, 7000), 7000)
  assert.equal(asked(1, 8000), 10_000)
  assert.equal(asked(1, 100), 500)
  assert.equal(asked(0, 86_400_000), 300_000)
})
