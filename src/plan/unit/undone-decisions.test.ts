import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { gitOf, observationOf } from '../../../test/fakes/observation-builder.ts'
import { changeOf, recordOf } from '../../../test/fakes/record-samples.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { createClosedEpisode } from '../observation/closed-episode.ts'
import type { Observation } from '../observation/observation.ts'
import { amendEpisodes, createUndoneNotes, listUndoneAdoptions } from './undone-decisions.ts'

function adopted(episode: string, git: number, live: number): ClosedEpisode {
  const record = recordOf([changeOf({ git, live, resolution: 'Adopt' })], {
    episode,
    plan: 'Adopt',
  })
  return createClosedEpisode(record, {
    outcome: 'Merged',
    decidedBy: 'Ada',
    at: '2026-11-21T10:00:00Z',
    revision: 'v2',
  })
}

/** What differs now: git declares `git`, and 7 is live. */
function observed(
  git: number,
  closed: readonly ClosedEpisode[],
  more: Partial<Observation['git']> = {},
): Observation {
  const ledger = { head: null, report: undefined, closed, texts: new Map() }
  return observationOf([driftOf('spec.replicas', { git, live: 7 })], {
    git: gitOf({ ledger, ...more }),
  })
}

test('an adoption is undone when git declares the earlier value again', () => {
  const episode = adopted('c0ffee01', 3, 5)
  const [undone, ...more] = listUndoneAdoptions(observed(3, [episode]))
  assert.equal(undone?.episode, episode)
  assert.deepEqual(more, [])
  assert.deepEqual(listUndoneAdoptions(observed(5, [episode])), [], 'git has the adopted value')
})

test('a field with a later decision is not undone', () => {
  assert.deepEqual(
    listUndoneAdoptions(observed(3, [adopted('c0ffee01', 3, 5), adopted('c0ffee02', 5, 3)])),
    [],
  )
})

test('an undone decision that the ledger knows is not reported again', () => {
  const episode = adopted('c0ffee01', 3, 5)
  const undone = [
    { episode: 'c0ffee01', how: 'AdoptionUndone', commit: 'b'.repeat(40), by: 'admin <admin>' },
  ] as const
  const [note] = createUndoneNotes(observed(3, [episode], { undone }))
  assert.match(
    note?.text ?? '',
    /^AdoptionUndone: drift-c0ffee01 \(v2\) adopted spec\.replicas .* bbbbbbb by admin removed it from git again$/,
  )
  const [amended] = amendEpisodes(observed(3, [episode], { undone }))
  assert.deepEqual(amended?.status.undone, {
    how: 'AdoptionUndone',
    commit: 'b'.repeat(40),
    by: 'admin <admin>',
  })
  assert.deepEqual(createUndoneNotes(observed(3, [amended], { undone })), [])
  assert.deepEqual(amendEpisodes(observed(3, [amended], { undone })), [])
})

test('the commit of a decision is inserted in the field order of the ledger', () => {
  const decidedCommits = new Map([['c0ffee01', 'c'.repeat(40) as never]])
  const [amended] = amendEpisodes(observed(5, [adopted('c0ffee01', 3, 5)], { decidedCommits }))
  assert.deepEqual(Object.keys(amended?.status ?? {}), [
    'outcome',
    'decidedBy',
    'at',
    'commit',
    'revision',
  ])
})
