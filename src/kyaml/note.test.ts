import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatNoteSentence, groupNotes, groupSentence, type Note } from './note.ts'

const tag = (subject: string): Note => ({
  cause: 'porch-tag-not-number',
  subject,
  text: 'the tag is no number',
})
const secret = (subject: string, key: string): Note => ({
  cause: 'secret-in-git',
  subject,
  text: `${key} stands in git`,
})
const reported = (...notes: readonly Note[]): string[] => groupNotes(notes).map(groupSentence)

test('notes of one cause become one sentence with count and example, in the order of the causes', () => {
  assert.deepEqual(
    reported(
      tag('v1'),
      secret('a.yaml:1', 'password'),
      tag('v2'),
      secret('b.yaml:1', 'token'),
      tag('v3'),
    ),
    [
      'the tag is no number: v1 and 2 more',
      'a.yaml:1: password stands in git; and 1 more of this kind',
    ],
  )
})

test('a single note keeps its sentence, and the same note twice is one', () => {
  assert.deepEqual(reported(tag('v1')), [formatNoteSentence(tag('v1'))])
  assert.deepEqual(reported(tag('v1'), tag('v1')), ['v1: the tag is no number'])
})

test('groups by cause, not by text: equal texts of two causes stay separate', () => {
  const other: Note = { ...tag('v1'), cause: 'porch-name-not-label' }
  assert.equal(groupNotes([tag('v1'), other]).length, 2)
})

test('lists each decision on its own', () => {
  const decision = (text: string): Note => ({ cause: 'decision', subject: '', text })
  assert.deepEqual(reported(decision('drift-1 was merged'), decision('drift-2 was closed')), [
    'drift-1 was merged',
    'drift-2 was closed',
  ])
})

test('a group keeps its first notes as examples', () => {
  const [group] = groupNotes([tag('v1'), tag('v2'), tag('v3'), tag('v4')])
  assert.deepEqual(
    [group?.count, group?.examples.map(({ subject }) => subject)],
    [4, ['v1', 'v2', 'v3']],
  )
})
