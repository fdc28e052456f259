import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { verdictOf } from '../../../test/fakes/observation-builder.ts'
import type { SetAsideState } from '../../drift/compare/drift.ts'
import { findStuckSince, getWaitingState } from './waiting-state.ts'

function waiting(states: readonly SetAsideState[], since?: string) {
  const setAside = states.map((state) => ({
    drift: driftOf('spec.replicas'),
    state,
    why: 'x',
    ...(since === undefined ? {} : { stuckSince: since }),
  }))
  return [verdictOf([], { setAside })]
}

test('a unit shows the waiting state that most needs a person; a late syncer counts as not applied', () => {
  assert.equal(getWaitingState(waiting([])), 'InSync')
  assert.equal(getWaitingState(waiting(['Ignored', 'Released'])), 'InSync')
  assert.equal(getWaitingState(waiting(['Reconciling', 'Behind'])), 'Behind')
  assert.equal(getWaitingState(waiting(['Reconciling', 'Suspended', 'Behind'])), 'Suspended')
  assert.equal(
    getWaitingState(waiting(['Reconciling', 'Suspended'], '2026-11-21T09:00:00Z')),
    'Behind',
  )
  assert.equal(findStuckSince(waiting(['Behind'], '2026-11-21T09:00:00Z')), '2026-11-21T09:00:00Z')
})
