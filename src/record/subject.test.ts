import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf, HOSTILE_TEXTS, recordOf } from '../../test/fakes/record-samples.ts'
import { formatProposalMessage } from './commit-message.ts'
import type { Change } from './documents/change.ts'
import type { DriftRecord } from './documents/drift-record.ts'
import { formatSubject } from './subject.ts'

const planned = (change: Partial<Change>): DriftRecord =>
  recordOf([changeOf(change)], { plan: change.resolution ?? 'Restore' })
const subject = (change: Partial<Change>): string => formatSubject(planned(change), 'Proposed')

test('the subject names the action, the target and, where it fits, the other side', () => {
  assert.equal(subject({}), 'chore(drift): restore Deployment/web replicas to 3 in prod (live 5)')
  assert.equal(
    subject({ resolution: 'Adopt' }),
    'fix(drift): adopt Deployment/web replicas 5 in prod (git 3)',
  )
  assert.equal(
    subject({ resolution: 'Release' }),
    'fix(drift): release Deployment/web replicas in prod (live 5)',
  )
  assert.equal(
    subject({ ref: { ...changeOf().ref, name: 'checkout-backend' } }),
    'chore(drift): restore Deployment/checkout-backend replicas to 3 in prod',
  )
})

test('a field that is missing on one side is described as absent', () => {
  const added = {
    change: 'added',
    git: undefined,
    path: 'metadata.annotations["example.com/owner"]',
  } as const
  assert.equal(
    subject(added),
    'chore(drift): restore Deployment/web without annotations["example.com/owner"] in prod',
  )
  assert.equal(
    subject({ change: 'removed', live: undefined, resolution: 'Adopt' }),
    'fix(drift): adopt Deployment/web without replicas in prod',
  )
  assert.equal(
    subject({ change: 'missing', path: undefined }),
    'chore(drift): restore missing Deployment/web in prod',
  )
})

test('a hidden, long or structured value is not in the subject', () => {
  for (const value of ['hmac-sha256:0123456789abcdef (8 bytes)', 'x'.repeat(60), { a: 1 }, ['a']])
    assert.equal(
      subject({ git: value, live: value }),
      'chore(drift): restore Deployment/web replicas in prod',
    )
})

test('the mark [CRITICAL] ends the subject, even when the rest is truncated', () => {
  assert.equal(
    subject({ risk: 'critical' }),
    'chore(drift): restore Deployment/web replicas to 3 in prod [CRITICAL]',
  )
  const long = subject({ risk: 'critical', ref: { ...changeOf().ref, name: 'x'.repeat(300) } })
  assert.match(long, /… \[CRITICAL\]$/)
  assert.equal(Array.from(long).length, 100)
})

test('commit and pull request have the same title of at most 100 characters, with any names', () => {
  for (const text of HOSTILE_TEXTS) {
    for (const record of [
      planned({
        git: text,
        ref: { group: text, kind: text, namespace: text, name: text },
        path: text,
      }),
      planned({ resolution: 'Adopt', live: text }),
    ]) {
      const title = formatSubject(record, 'Proposed')
      assert.equal(
        formatProposalMessage(
          { record, slug: 's', packageName: 'p', sourceRevision: '' },
          'Proposed',
        ).split('\n')[0],
        title,
      )
      assert.ok(Array.from(title).length <= 100, title)
      assert.match(title, /^(fix|chore)\(drift\): (restore|adopt) /)
    }
  }
})
