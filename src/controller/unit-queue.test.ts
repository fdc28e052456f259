import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../test/seeds/fast-check.ts'
import { type UnitName, UnitQueue, type UnitQueueEvent } from './unit-queue.ts'

class Time {
  now = 0
  random = 0
  readonly events: UnitQueueEvent[] = []
  readonly queue = new UnitQueue({
    now: () => this.now,
    random: () => this.random,
    onEvent: (event) => void this.events.push(event),
  })

  /** Short names of what is due. */
  take(most = 100): string[] {
    return this.queue.take(most).map(({ cluster, packagePath }) => `${cluster}/${packagePath}`)
  }
}

function unit(name: string): UnitName {
  const [cluster = '', packagePath = ''] = name.split('/')
  return { cluster, packagePath }
}

test('an observation by another turn resets the back-off of a failed unit', () => {
  let now = 0
  const queue = new UnitQueue({ now: () => now, random: () => 1 })
  const unit = { cluster: 'prod', packagePath: 'apps/web' }
  queue.add(unit, 'changed')
  for (let failures = 0; failures < 4; failures += 1) {
    assert.deepEqual(queue.take(1), [unit])
    queue.markDone(unit, true)
    now += 300_000
  }
  assert.deepEqual(queue.take(1), [unit])
  queue.markDone(unit, true)
  queue.add(unit, 'changed')
  assert.deepEqual(queue.take(1), [], 'it waits out its time')
  queue.markObserved(unit)
  assert.deepEqual(queue.take(1), [unit])
  queue.markDone(unit, true)
  assert.equal(queue.computeNextWait(), 5_000)
})

test('a due change is pending until its unit is taken; background units do not count', () => {
  const time = new Time()
  const { queue } = time
  queue.add(unit('a/web'), 'background')
  queue.add(unit('a/db'), 'changed', 500)
  assert.equal(queue.hasChanged(), false, 'it is not due')
  time.now += 500
  assert.equal(queue.hasChanged(), true)
  time.take()
  assert.equal(queue.hasChanged(), false)
  queue.add(unit('a/web'), 'critical')
  assert.equal(queue.hasChanged(), true)
})

test('a unit is queued once, however often it is added', () => {
  const time = new Time()
  const { queue } = time
  for (let count = 0; count < 5; count += 1) queue.add(unit('a/web'), 'changed')
  assert.equal(queue.depth, 1)
  assert.deepEqual(queue.take(10), [unit('a/web')])
  assert.deepEqual(queue.take(10), [])
  assert.equal(time.events.filter(({ event }) => event === 'added').length, 5)
})

test('a unit added while it is observed is queued again only after that', () => {
  const time = new Time()
  time.queue.add(unit('a/web'), 'changed')
  time.take()
  time.queue.add(unit('a/web'), 'background')
  time.queue.add(unit('a/web'), 'critical')
  assert.deepEqual(time.take(), [])
  time.queue.markDone(unit('a/web'), false)
  time.queue.add(unit('a/api'), 'changed')
  assert.deepEqual(time.take(), ['a/web', 'a/api'])
  time.queue.markDone(unit('a/web'), false)
  assert.deepEqual(time.take(), [])
})

test('a delay is honoured, and a later change does not postpone an earlier one', () => {
  const time = new Time()
  time.queue.add(unit('a/web'), 'changed', 1_000)
  time.now = 500
  time.queue.add(unit('a/web'), 'changed', 1_000)
  time.queue.add(unit('a/api'), 'changed', 5_000)
  time.queue.add(unit('a/api'), 'changed', 100)
  assert.deepEqual(time.take(), [])
  assert.equal(time.queue.computeNextWait(), 100)
  time.now = 600
  assert.deepEqual(time.take(), ['a/api'])
  assert.equal(time.queue.computeNextWait(), 400)
  time.now = 1_000
  assert.deepEqual(time.take(), ['a/web'])
  assert.equal(time.queue.computeNextWait(), undefined)
})

test('the wait of a failing unit doubles up to five minutes with half jitter; a success resets it', () => {
  for (const [random, share] of [
    [0, 0.5],
    [0.5, 0.75],
    [1, 1],
  ] as const) {
    const time = new Time()
    time.random = random
    const waits: number[] = []
    time.queue.add(unit('a/web'), 'changed')
    for (let failures = 0; failures < 9; failures += 1) {
      assert.deepEqual(time.take(), ['a/web'])
      time.queue.markDone(unit('a/web'), true)
      const wait = time.queue.computeNextWait() ?? Number.NaN
      waits.push(wait)
      time.now += wait
    }
    assert.deepEqual(
      waits,
      [5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000 * share),
    )
    time.take()
    time.queue.markDone(unit('a/web'), false)
    time.queue.add(unit('a/web'), 'changed')
    time.take()
    time.queue.markDone(unit('a/web'), true)
    assert.equal(time.queue.computeNextWait(), 5_000 * share)
  }
})

test('a change of a failed unit does not shorten its wait', () => {
  const time = new Time()
  time.queue.add(unit('a/web'), 'changed')
  time.take()
  time.queue.markDone(unit('a/web'), true)
  time.queue.add(unit('a/web'), 'critical')
  assert.deepEqual(time.take(), [])
  assert.equal(time.queue.computeNextWait(), 2_500)
})

test('critical units come first, and background units last', () => {
  const time = new Time()
  time.queue.add(unit('a/background'), 'background')
  time.queue.add(unit('a/changed'), 'changed')
  time.queue.add(unit('b/raised'), 'background')
  time.queue.add(unit('b/raised'), 'critical')
  time.queue.add(unit('b/raised'), 'background')
  assert.deepEqual(time.take(2), ['b/raised', 'a/changed'])
  assert.deepEqual(time.take(2), ['a/background'])
})

test('a turn about everything clears units queued before its start, and no later ones', () => {
  const time = new Time()
  time.queue.add(unit('a/early'), 'changed')
  time.queue.add(unit('a/delayed'), 'background', 60_000)
  time.now = 10
  time.queue.add(unit('a/late'), 'changed')
  time.queue.clear(5)
  assert.deepEqual(time.take(), ['a/late'])
  assert.equal(time.queue.depth, 0)
})

test('queue events carry the time that units waited and were observed', () => {
  const time = new Time()
  time.queue.add(unit('a/web'), 'changed')
  time.now = 30
  time.take()
  time.now = 70
  time.queue.markDone(unit('a/web'), true)
  assert.deepEqual(time.events, [
    { event: 'added' },
    { event: 'started', waited: 30 },
    { event: 'finished', worked: 40 },
    { event: 'retried' },
  ])
})

test('a cluster with a thousand units delays no other: a batch has a unit of each cluster', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...Array(10).keys()], { minLength: 10 }),
      fc.nat({ max: 999 }),
      (order, first) => {
        const time = new Time()
        for (let count = 0; count < first; count += 1)
          time.queue.add(unit(`big/${count}`), 'changed')
        for (const each of order.slice(1)) time.queue.add(unit(`small-${each}/web`), 'changed')
        for (let count = first; count < 1_000; count += 1)
          time.queue.add(unit(`big/${count}`), 'changed')
        const batch = time.queue.take(10)
        assert.equal(new Set(batch.map(({ cluster }) => cluster)).size, 10)
      },
    ),
    { numRuns: 25 },
  )
})

test('no unit starves, however often the others come back', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 12 }), (sizes, most) => {
      const time = new Time()
      const all = sizes.flatMap((size, cluster) =>
        Array.from({ length: size }, (_each, at) => `${cluster}/${at}`),
      )
      const seen = new Map<string, number>(all.map((name) => [name, 0]))
      for (const name of all) time.queue.add(unit(name), 'changed')
      // Each cluster has its share of every batch, so its units are through after as many turns of the cluster.
      const rounds = Math.ceil((Math.max(...sizes) * sizes.length) / most) + 1
      for (let round = 1; round <= rounds * 3; round += 1)
        for (const name of time.take(most)) {
          seen.set(name, round)
          time.queue.markDone(unit(name), false)
          time.queue.add(unit(name), 'changed')
        }
      for (const [name, last] of seen)
        assert.ok(last > rounds * 2, `${name} was observed in batch ${last} of ${rounds * 3}`)
    }),
    { numRuns: 100 },
  )
})
