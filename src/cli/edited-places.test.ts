import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlannedCommit } from '../plan/action.ts'
import { NO_WRITES } from '../plan/action.ts'
import type { Observation } from '../plan/observation.ts'
import { editedPlaces } from './edited-places.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const BEFORE = {
  Kptfile: 'kind: Kptfile\npipeline:\n  newTag: "1"\n',
  'web.yaml': 'a: 1\nb: 2\nc: 3\n',
  'old.yaml': 'a: 1\n',
}

function placesOf(after: { readonly [path: string]: string | null }): readonly string[] {
  const files = Object.entries(BEFORE).map(([path, text]) => ({ path, mode: '100644' as const, content: bytes(text) }))
  const changes = Object.entries(after).map(([path, text]) => ({ path, content: text === null ? null : bytes(text) }))
  const seen = { unit: { packagePath: 'apps/web' }, git: { files } } as unknown as Pick<Observation, 'unit' | 'git'>
  const commits = [{ changes } as unknown as PlannedCommit]
  return editedPlaces(seen, { writes: { ...NO_WRITES, commits } })
}

test('the first line of each file that changes, and neither records nor the condition in the Kptfile', () => {
  const condition = 'status:\n  conditions:\n  - type: Drifted\n'
  assert.deepEqual(placesOf({ 'apps/web/Kptfile': BEFORE.Kptfile + condition, '.drift/records/x.yaml': 'a' }), [])
  assert.deepEqual(
    placesOf({
      'apps/web/web.yaml': 'a: 1\nb: 9\nc: 9\n',
      'apps/web/Kptfile': BEFORE.Kptfile.replace('"1"', '"2"') + condition,
      'apps/web/old.yaml': null,
    }),
    ['apps/web/Kptfile:3', 'apps/web/old.yaml (deleted)', 'apps/web/web.yaml:2'],
  )
  assert.deepEqual(placesOf({ 'apps/web/web.yaml': 'a: 1\nb: 2\n' }), ['apps/web/web.yaml:3'])
})
