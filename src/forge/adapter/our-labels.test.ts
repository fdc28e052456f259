import assert from 'node:assert/strict'
import { it } from 'node:test'
import { labelChanges, labelStyle } from './our-labels.ts'

it('adds missing labels and removes only its own', () => {
  const there = [
    'bug',
    'Drift',
    'drift-plan/restore',
    'drift-free',
    'drifting',
    'drift-risk/low',
    'adrift',
  ]
  assert.deepEqual(labelChanges(there, ['drift', 'drift-plan/adopt', 'drift-risk/low']), {
    add: ['drift-plan/adopt'],
    remove: ['drift-plan/restore'],
  })
})

it('changes nothing for the same labels in another order or case', () => {
  assert.deepEqual(
    labelChanges(['drift-risk/LOW', 'drift'], ['drift', 'drift-risk/low', 'drift']),
    { add: [], remove: [] },
  )
})

it('gives each label a valid color and description', () => {
  for (const name of [
    'drift',
    'drift-plan/adopt',
    'drift-risk/critical',
    'drift-state/edited',
    'drift-topic/dashboard',
    'constructor',
  ]) {
    assert.match(labelStyle(name).color, /^[0-9a-f]{6}$/)
    assert.ok(labelStyle(name).description.length > 0 && labelStyle(name).description.length <= 100)
  }
  assert.notEqual(labelStyle('drift-risk/critical').color, labelStyle('drift-risk/low').color)
})
