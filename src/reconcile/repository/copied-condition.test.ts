import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordOf } from '../../../test/fakes/record-samples.ts'
import { createClosedEpisode } from '../../plan/observation/closed-episode.ts'
import { createCopiedConditionNotes } from './copied-condition.ts'

const KPTFILE = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: new}
status:
  conditions:
    - {type: Drifted, status: "True", reason: DriftDetected, message: drift-c0ffee00}
`

const record = recordOf([], { episode: 'c0ffee00' })
const closed = [createClosedEpisode(record, { outcome: 'Merged', decidedBy: '', at: '' })]
const known = { closed, reports: new Map() }
const files = [
  { path: 'Kptfile', mode: '100644' as const, content: new TextEncoder().encode(KPTFILE) },
]

test('a note reports a copied package that has the condition of the original', () => {
  const [note] = createCopiedConditionNotes('apps/new', files, known)
  assert.equal(note?.cause, 'condition-copied')
  assert.match(
    note.text,
    new RegExp(`drift-c0ffee00 of ${record.spec.unit.package}, and came with a copy`),
  )
})

test("the package's own condition causes no note", () => {
  assert.deepEqual(createCopiedConditionNotes(record.spec.unit.package, files, known), [])
})

test('a condition of an unknown episode causes no note', () => {
  assert.deepEqual(
    createCopiedConditionNotes('apps/new', files, { closed: [], reports: new Map() }),
    [],
  )
})
