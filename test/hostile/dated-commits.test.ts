/** The time of a commit is what its committer says; a package that was seen live once is not new. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeArrivals } from '../../src/drift/behind/arrivals.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { RolloutWorld } from './rollout-world.ts'

const V1 = { a: { color: 'blue' }, b: { x: '1' } }
const MORE = { ...V1, b: { x: '1', y: '2' } }
const NONE = {}
const YEAR_2037 = Date.parse('2037-01-01T00:00:00Z') / 1000
const YEAR_1970 = 0
const NOW = Date.parse('2026-11-21T10:00:00Z') / 1000

test('reports an object as missing that was wiped within an hour of its commit after it was live', async () => {
  const world = new RolloutWorld(V1, NOW - 600)
  world.apply(V1)
  assert.equal((await world.observed()).state, 'InSync')
  world.apply(NONE)
  assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
  // Also when git moves on in this hour.
  world.commit(MORE)
  assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
})

test('a package that was never live is new for its first hour, and missing afterwards', async () => {
  const world = new RolloutWorld(V1, NOW)
  assert.deepEqual((await world.observed()).waits, ['Behind a', 'Behind b'])
  world.pass(61)
  assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
})

test('once one object of the package was live, the others are missing instead of new', async () => {
  const world = new RolloutWorld(V1, NOW)
  world.apply(V1, { only: 'a' })
  await world.observed()
  world.apply(NONE)
  assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
})

for (const [year, at] of [
  ['2037', YEAR_2037],
  ['9999 and more', 1e15],
] as const) {
  test(`a package with a commit dated ${year} is never new`, async () => {
    const world = new RolloutWorld(V1, at)
    assert.equal((await runInWorld(world, ['diff', 'apps/web'])).code, 1)
    assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
    world.pass(30)
    assert.deepEqual((await world.observed()).changes, ['a missing', 'b missing'])
  })

  test(`a commit dated ${year} on a package in sync is behind for an hour after it was first seen, then stuck`, async () => {
    const world = new RolloutWorld(V1, NOW - 86_400)
    world.apply(V1)
    await world.observed()
    world.commit(MORE, at)
    assert.equal((await runInWorld(world, ['diff', 'apps/web'])).code, 0)
    assert.deepEqual((await world.observed()).waits, ['Behind b data.y'])
    world.pass(30)
    assert.equal((await world.observed()).report.status.stuckSince, undefined)
    world.pass(31)
    assert.notEqual((await world.observed()).report.status.stuckSince, undefined)
  })

  test(`a new object in a commit dated ${year} is awaited for an hour, and missing afterwards`, async () => {
    const world = new RolloutWorld({ a: V1.a }, NOW - 86_400)
    world.apply({ a: V1.a })
    await world.observed()
    world.commit(V1, at)
    assert.deepEqual((await world.observed()).waits, ['Behind b'])
    world.pass(61)
    assert.deepEqual((await world.observed()).changes, ['b missing'])
  })

  test(`without a ledger, behind a commit dated ${year} is stuck at once, because its age is unknown`, async () => {
    const world = new RolloutWorld(V1, NOW - 86_400)
    world.apply(V1)
    world.commit({ ...V1, a: { color: 'red' } }, at)
    const diff = await runInWorld(world, ['diff', 'apps/web'])
    assert.equal(diff.code, 1)
    assert.match(diff.stdout, /^Behind \(stuck since /m)
  })
}

test('a commit dated 1970 on a package in sync is behind after it appears, and stuck after an hour', async () => {
  const world = new RolloutWorld(V1, NOW - 86_400)
  world.apply(V1)
  await world.observed()
  world.commit(MORE, YEAR_1970)
  const { waits, changes } = await world.observed()
  assert.deepEqual({ waits, changes }, { waits: ['Behind b data.y'], changes: [] })
  world.pass(61)
  assert.notEqual((await world.observed()).report.status.stuckSince, undefined)
})

test('a history that begins in 1970 does not affect later commits', async () => {
  const world = new RolloutWorld(V1, YEAR_1970)
  world.apply(V1)
  world.commit({ ...V1, a: { color: 'red' } })
  assert.equal((await runInWorld(world, ['diff', 'apps/web'])).code, 0)
})

test('accepts a committer clock that is a few minutes ahead', async () => {
  const world = new RolloutWorld(V1, NOW - 86_400)
  world.apply(V1)
  world.commit({ ...V1, a: { color: 'red' } }, NOW + 200)
  const diff = await runInWorld(world, ['diff', 'apps/web'])
  assert.equal(diff.code, 0)
  assert.match(diff.stdout, /^Behind: live is what /m)
})

const AT = (hour: number): string => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`
const version = (at: string, commit = at) => ({ commit, tree: commit, at })
const none = (): undefined => undefined

test('a version is not older than its parent, and one with a future date lies between its neighbours', () => {
  const both = (at: string): object => ({ earliest: at, latest: at })
  assert.deepEqual(computeArrivals([version(AT(3)), version(AT(2)), version(AT(1))], none, AT(9)), [
    both(AT(3)),
    both(AT(2)),
    both(AT(1)),
  ])
  assert.deepEqual(computeArrivals([version(AT(0)), version(AT(2))], none, AT(9)), [
    both(AT(2)),
    both(AT(2)),
  ])
  assert.deepEqual(
    computeArrivals([version('2037-01-01T00:00:00Z'), version(AT(2))], none, AT(9)),
    [{ earliest: AT(2), latest: AT(9) }, both(AT(2))],
  )
  assert.deepEqual(
    computeArrivals([version(AT(5)), version('2037-01-01T00:00:00Z'), version(AT(2))], none, AT(9)),
    [both(AT(5)), { earliest: AT(2), latest: AT(5) }, both(AT(2))],
  )
})

test('trusts the commit date between two observations, and otherwise uses the observation that found it', () => {
  const observed = { commit: 'x', tree: 'x', after: AT(4), firstSeen: AT(6) }
  const arrival = (at: string): string =>
    computeArrivals(
      [version(at, 'x'), version(AT(1))],
      (index) => (index === 0 ? observed : undefined),
      AT(9),
    )[0]?.earliest ?? ''
  assert.deepEqual(
    [arrival(AT(5)), arrival(AT(3)), arrival(AT(8)), arrival('2037-01-01T00:00:00Z')],
    [AT(5), AT(6), AT(6), AT(6)],
  )
})

test('an object that was never live is missing once another object of its first commit was live', async () => {
  const world = new RolloutWorld({ a: { color: 'blue' }, b: { x: '1' } })
  world.apply({ a: { color: 'blue' }, b: { x: '1' } }, { only: 'a' })
  await world.observed()
  // Another content, so that what waited before says nothing; and nothing is live that shows what was applied.
  world.commit({ a: { color: 'red' }, b: { x: '1' } })
  world.apply({})
  const { changes, waits } = await world.observed()
  assert.deepEqual({ changes, waits }, { changes: ['a missing', 'b missing'], waits: [] })
})
