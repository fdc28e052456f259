import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangesMeanwhile } from './changes-meanwhile.ts'

class Turn {
  now = 0
  changed = true
  readonly meanwhile = new ChangesMeanwhile({ hasChanged: () => this.changed }, () => this.now)

  /** @param recorded milliseconds until the first proposal @returns milliseconds for which proposals are written */
  run(recorded: number): number {
    this.meanwhile.begin()
    this.now += recorded
    const first = this.now
    while (!this.meanwhile.shouldGiveWay()) {
      this.now += 100
      if (this.now - first > 60_000) return Number.POSITIVE_INFINITY
    }
    return this.now - first
  }
}

test('proposals give way after as long as recording took, with a minimum time', () => {
  const turn = new Turn()
  assert.equal(turn.run(4_000), 4_000)
  assert.equal(turn.run(200), 1_500)
  assert.equal(turn.run(9_000), 9_000, 'each turn counts by itself')
})

test('proposals do not give way without a change, and give way at once when one arrives later', () => {
  const turn = new Turn()
  turn.changed = false
  assert.equal(turn.run(1_000), Number.POSITIVE_INFINITY)
  assert.equal(turn.meanwhile.hasChanged(), false)
  turn.changed = true
  assert.equal(turn.meanwhile.shouldGiveWay(), true)
})
