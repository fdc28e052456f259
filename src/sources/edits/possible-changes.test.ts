/** How many attempts it takes to find the possible ones among many changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import type { Drift } from '../../drift/compare/drift.ts'
import { findPossible } from './possible-changes.ts'
import { Refusal } from './resolution-edits.ts'

const DETAIL = { code: 'BP2001', what: 'it is refused', why: 'as a whole', remedy: 'y' } as const
const WHY = new Failure(DETAIL)
const byName = (drift: Drift): Failure => new Refusal(drift, DETAIL)
const byNone = (): Failure => WHY

/** The numbers of the changes that are refused and not tried, and the attempts. */
function search(
  count: number,
  isImpossible: (at: number) => boolean,
  refuse: (drift: Drift) => Failure,
) {
  const all = Array.from({ length: count }, (_none, at) => ({ drift: driftOf(`spec.f${at}`) }))
  const impossible = all.filter((_each, at) => isImpossible(at))
  let attempts = 0
  const found = findPossible(all, WHY, (some) => {
    attempts += 1
    const [first] = impossible.filter((each) => some.includes(each))
    return first === undefined ? undefined : refuse(first.drift)
  })
  const { possible, refused, untried } = found
  assert.equal(possible.length + refused.size + untried.length, count)
  assert.ok(possible.every((each) => !impossible.includes(each)))
  return { attempts, refused: [...refused.keys()].map((each) => all.indexOf(each)), untried }
}

test('a change named by the failure costs one attempt, and an unnamed one a few', () => {
  const three = [7, 30, 59]
  const [named, halved] = [byName, byNone].map((refuse) =>
    search(60, (at) => three.includes(at), refuse),
  )
  assert.deepEqual([named?.refused, halved?.refused], [three, three])
  assert.deepEqual([named?.untried, halved?.untried], [[], []])
  // Three more, where all but one of the three are tried together.
  assert.ok((named?.attempts ?? 0) <= 8 + 3, String(named?.attempts))
  assert.ok((halved?.attempts ?? 0) <= 3 * 2 * 6, String(halved?.attempts))
})

test('gives up the other changes after forty attempts', () => {
  for (const [refuse, least] of [
    [byName, 38],
    [byNone, 15],
  ] as const) {
    const { attempts, refused, untried } = search(200, () => true, refuse)
    assert.deepEqual([attempts, refused.length >= least], [40, true], String(refused.length))
    assert.equal(untried.length, 200 - refused.length)
  }
})
