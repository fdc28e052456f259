import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../test/fakes/virtual-clock.ts'
import { SLICE, TurnPlaces } from './turn-places.ts'

const NEVER = new AbortController().signal

/** A turn that waits for its place, and notes that it began or became slow. */
function begin(places: TurnPlaces, noted: string[], name: string, isSlow = false) {
  const entered = places.enter(NEVER, isSlow, () => noted.push(`${name} is slow`))
  void entered.then(() => noted.push(name))
  return async (): Promise<void> => (await entered)()
}

test('hanging turns hold up other repositories for only one slice, and their own next turns', async () => {
  const clock = new VirtualClock()
  const places = new TurnPlaces(2, (milliseconds, signal) => clock.sleep(milliseconds, signal))
  const noted: string[] = []
  const [endA, endB, endC] = ['a', 'b', 'c'].map((name) => begin(places, noted, name))
  await clock.pass(SLICE - 1)
  assert.deepEqual([noted, places.waiting], [['a', 'b'], 1])
  await clock.pass(1)
  assert.deepEqual([noted, places.waiting], [['a', 'b', 'a is slow', 'c', 'b is slow'], 0])
  await endC?.()
  // The next turns of the two, and of one that was quick.
  noted.splice(0)
  const next = [
    begin(places, noted, 'a', true),
    begin(places, noted, 'd', true),
    begin(places, noted, 'c'),
  ]
  await clock.pass(1)
  assert.deepEqual([noted, places.waiting], [['c'], 2])
  await endA?.()
  await clock.pass(1)
  assert.deepEqual([noted, places.waiting], [['c', 'a'], 1])
  await endB?.()
  await clock.pass(1)
  assert.deepEqual([noted, places.waiting], [['c', 'a', 'd'], 0])
  for (const end of next) await end()
})

test('at most one slow turn runs per place, and each place is released once', async () => {
  const clock = new VirtualClock()
  const places = new TurnPlaces(1, (milliseconds, signal) => clock.sleep(milliseconds, signal))
  const noted: string[] = []
  const ends = ['a', 'b', 'c'].map((name) => begin(places, noted, name))
  await clock.pass(3 * SLICE)
  assert.deepEqual([noted, places.waiting], [['a', 'a is slow', 'b', 'b is slow'], 1])
  // It ends while it waits for a slow place, and gives back the one that it has.
  await ends[1]?.()
  await clock.pass(1)
  assert.deepEqual(noted.slice(4), ['c'])
  for (const end of ends) await end()
  noted.splice(0)
  const more = [
    begin(places, noted, 'd'),
    begin(places, noted, 'e'),
    begin(places, noted, 'f', true),
    begin(places, noted, 'g', true),
  ]
  await clock.pass(1)
  assert.deepEqual([noted, places.waiting], [['d', 'f'], 2])
  for (const end of more) await end()
})

test('a turn whose wait is aborted takes no place', async () => {
  const clock = new VirtualClock()
  const places = new TurnPlaces(1, (milliseconds, signal) => clock.sleep(milliseconds, signal))
  const leave = await places.enter(NEVER, false, () => assert.fail('it is not slow'))
  const stop = new AbortController()
  const waiting = places.enter(stop.signal, false, () => assert.fail('it never began'))
  stop.abort(new Error('removed'))
  await assert.rejects(waiting, /removed/)
  assert.equal(places.waiting, 0)
  leave()
  await clock.pass(2 * SLICE)
  ;(await places.enter(NEVER, false, () => undefined))()
})
