import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { type GovernorMemory, RequestGovernor } from './request-governor.ts'

const START = Date.UTC(2026, 8, 1, 12)
const SIGNAL = new AbortController().signal

class HandClock implements Clock {
  at = START
  now(): Date {
    return new Date(this.at)
  }
  async sleep(milliseconds: number): Promise<void> {
    this.at += milliseconds
  }
}

function make(longestWait: number, memory?: GovernorMemory) {
  const clock = new HandClock()
  const limits = { writesPerMinute: 80, writesPerHour: 500 }
  const governor = new RequestGovernor({
    forge: 'GitHub',
    clock,
    longestWait,
    ...limits,
    ...(memory === undefined ? {} : { memory }),
  })
  return { clock, governor }
}

async function refused(work: Promise<void>): Promise<Failure> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof Failure, 'a Failure was expected')
  assert.equal(thrown.code, 'BP5004')
  return thrown
}

describe('RequestGovernor', () => {
  it('does not prolong a block when the clock is set back by an hour', async () => {
    const { clock, governor } = make(120_000)
    for (let index = 0; index < 80; index += 1) await governor.admit('write', SIGNAL)
    clock.at -= 3_600_000
    const start = clock.at
    await governor.admit('write', SIGNAL)
    assert.ok(
      clock.at - start >= 60_000 && clock.at - start <= 62_000,
      `${clock.at - start} ms for a place`,
    )
    governor.throttleRequests(undefined)
    clock.at -= 3_600_000
    const blocked = clock.at
    await governor.admit('read', SIGNAL)
    assert.equal(clock.at - blocked, 60_000)
  })

  it('never exceeds the write limits per minute and per hour, in any interval', async () => {
    const { clock, governor } = make(3_600_000)
    const sent: number[] = []
    for (let index = 0; index < 1_200; index += 1) {
      await governor.admit('write', SIGNAL)
      sent.push(clock.at)
    }
    for (const [index, at] of sent.entries()) {
      assert.ok(
        (sent[index + 80] ?? Number.POSITIVE_INFINITY) - at >= 60_000,
        `${index}: 80 in a minute`,
      )
      assert.ok(
        (sent[index + 500] ?? Number.POSITIVE_INFINITY) - at >= 3_600_000,
        `${index}: 500 in an hour`,
      )
    }
    assert.ok(
      clock.at - START <= 2 * 3_600_000 + 3 * 60_000,
      'nor does it wait for longer than it has to',
    )
  })

  it('counts concurrent callers', async () => {
    const { clock, governor } = make(0)
    const all = await Promise.allSettled(
      Array.from({ length: 100 }, () => governor.admit('write', SIGNAL)),
    )
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 80)
    assert.equal(clock.at, START)
  })

  it('reports the end of a block instead of waiting longer than the caller allows', async () => {
    const { clock, governor } = make(59_999)
    for (let index = 0; index < 80; index += 1) await governor.admit('write', SIGNAL)
    const failure = await refused(governor.admit('write', SIGNAL))
    assert.match(
      failure.why,
      /80 writes were sent within a minute; nothing is sent before 2026-09-01T12:01:01Z/,
    )
    assert.equal(failure.retry, 'backoff')
    assert.equal(clock.at, START, 'without waiting')
    await governor.admit('read', SIGNAL)
  })

  it('keeps a reserve of the budget for reads until the budget resets', async () => {
    const { clock, governor } = make(0)
    governor.learn('core', { limit: 5000, remaining: 101, resetAt: START + 600_000 })
    await governor.admit('write', SIGNAL)
    assert.match(
      (await refused(governor.admit('write', SIGNAL))).why,
      /100 of 5000 requests are left, and the last 100 are kept for reading/,
    )
    for (let index = 0; index < 100; index += 1) await governor.admit('read', SIGNAL)
    await refused(governor.admit('read', SIGNAL))
    await governor.admit('read', SIGNAL, 'graphql')
    clock.at += 600_000
    await governor.admit('write', SIGNAL)
  })

  it('keeps only a twentieth of a small budget', async () => {
    const { governor } = make(0)
    governor.learn('core', { limit: 60, remaining: 5, resetAt: START + 600_000 })
    await governor.admit('write', SIGNAL)
    await governor.admit('write', SIGNAL)
    await refused(governor.admit('write', SIGNAL))
  })

  it('blocks all requests when the forge asks for it, longer each time it gives no duration', async () => {
    const { clock, governor } = make(0)
    assert.equal(governor.throttleRequests(START + 30_000).code, 'BP5004')
    await refused(governor.admit('read', SIGNAL))
    clock.at += 30_000
    await governor.admit('read', SIGNAL)
    const waits: number[] = []
    for (let round = 0; round < 7; round += 1) {
      governor.throttleRequests(undefined)
      waits.push((governor.getMemory().blockedUntil - clock.at) / 60_000)
      clock.at = governor.getMemory().blockedUntil
    }
    assert.deepEqual(waits, [2, 4, 8, 16, 16, 16, 16])
    governor.recordSuccess()
    governor.throttleRequests(undefined)
    assert.equal(governor.getMemory().blockedUntil - clock.at, 60_000)
  })

  it('does not shorten an earlier block', () => {
    const { governor } = make(0)
    governor.throttleRequests(START + 600_000)
    governor.throttleRequests(START + 1_000)
    assert.equal(governor.getMemory().blockedUntil, START + 600_000)
  })

  it('continues with the limits of an earlier process', async () => {
    const first = make(0)
    for (let index = 0; index < 80; index += 1) await first.governor.admit('write', SIGNAL)
    first.governor.learn('core', { limit: 100, remaining: 0, resetAt: START + 5_000 })
    const next = make(0, JSON.parse(JSON.stringify(first.governor.getMemory())))
    await refused(next.governor.admit('read', SIGNAL))
    next.clock.at += 5_000
    await next.governor.admit('read', SIGNAL)
    await refused(next.governor.admit('write', SIGNAL))
  })

  it('remembers at most an hour, plus a second for late requests', async () => {
    const { clock, governor } = make(3_600_000)
    for (let index = 0; index < 700; index += 1) await governor.admit('write', SIGNAL)
    clock.at += 3_601_001
    assert.deepEqual(governor.getMemory().writes, [])
  })

  it('ends a wait with the reason of the signal', async () => {
    const { governor } = make(0)
    await assert.rejects(
      governor.admit('read', AbortSignal.abort(new Error('shutdown'))),
      /shutdown/,
    )
  })
})
