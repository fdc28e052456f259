import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf, recordOf } from '../../test/fakes/record-samples.ts'
import type { Change } from './documents/change.ts'
import type { ObjectCopy } from './documents/drift-record.ts'
import { restoreLosses } from './restore-losses.ts'

const config = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'old' }
const secret = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }
const space = { group: '', kind: 'Namespace', namespace: '', name: 'old' }

function wholeOf(ref: Change['ref'], more: Partial<Change> = {}): Change {
  const { path: _path, git: _git, live: _live, ...rest } = changeOf()
  return { ...rest, ref, change: 'unexpected', ...more }
}

const lossesOf = (
  changes: readonly Change[],
  copies: ObjectCopy[],
  settle: 'syncer' | 'backporch' = 'backporch',
) => restoreLosses(recordOf(changes, { copies, settle }))

test('restoring a field loses nothing that the record does not have', () => {
  assert.deepEqual(lossesOf([changeOf(), changeOf({ change: 'added', git: undefined })], []), [])
})

test('names deleted objects that the record keeps, and Secrets that it keeps without credentials', () => {
  assert.deepEqual(
    lossesOf(
      [wholeOf(config), wholeOf(secret)],
      [
        { ref: config, manifest: 'a' },
        { ref: secret, manifest: 'b', lost: ['data.password'] },
      ],
    ),
    [
      'The record keeps a copy of ConfigMap shop/old, which can be applied again.',
      'The record keeps a copy of Secret shop/db without credentials.',
      'A Restore loses the live value of data.password of Secret shop/db: git never keeps credentials.',
    ],
  )
})

test('names a changed object that only a deletion and a new apply can restore', () => {
  const ref = { group: '', kind: 'Service', namespace: 'shop', name: 'web' }
  assert.deepEqual(lossesOf([changeOf({ ref, path: 'spec.ports' })], [{ ref, manifest: 'a' }]), [
    'A plain apply of git cannot restore Service shop/web: if it has to be deleted and recreated, the record has a copy of the live state.',
  ])
})

test('an overwritten live credential is lost; a missing one that is put back is not', () => {
  const hidden = {
    ref: secret,
    path: 'data.password',
    redacted: true,
    git: 'hmac-sha256:0 (1 bytes)',
    live: 'hmac-sha256:1 (1 bytes)',
  }
  assert.deepEqual(lossesOf([changeOf(hidden)], []), [
    'A Restore loses the live value of data.password of Secret shop/db: git never keeps credentials.',
  ])
  assert.deepEqual(lossesOf([changeOf({ ...hidden, change: 'removed', live: undefined })], []), [])
})

test('only restored changes are listed as lost', () => {
  const copies = [{ ref: secret, manifest: 'b', lost: ['data.password'] }]
  assert.deepEqual(lossesOf([wholeOf(secret, { resolution: 'Release' }), changeOf()], copies), [])
})

test('backporch deletes no object without a copy; for a syncer the text states the loss', () => {
  const copies = [
    { ref: space, manifest: 'a', takesAlong: 'everything in the namespace is deleted with it' },
  ]
  assert.deepEqual(
    lossesOf([wholeOf(space)], copies).at(-1),
    [
      'backporch does not delete Namespace old: everything in the namespace is deleted with it. Delete it by hand.',
    ][0],
  )
  assert.deepEqual(
    lossesOf([wholeOf(space)], copies, 'syncer').at(-1),
    'If Namespace old is deleted, everything in the namespace is deleted with it.',
  )
  const large = [{ ref: config, notKept: 'its manifest is large' }]
  assert.deepEqual(lossesOf([wholeOf(config)], large), [
    'backporch does not delete ConfigMap shop/old: its manifest is large. Delete it by hand.',
  ])
  assert.deepEqual(lossesOf([wholeOf(config)], large, 'syncer'), [
    'There is no copy of ConfigMap shop/old: its manifest is large.',
  ])
})

test('names beyond the first five are counted', () => {
  const refs = Array.from({ length: 8 }, (_, index) => ({ ...config, name: `c${index}` }))
  const [copies] = lossesOf(
    refs.map((ref) => wholeOf(ref)),
    refs.map((ref) => ({ ref, manifest: 'a' })),
  )
  assert.match(
    copies ?? '',
    /^The record keeps a copy of ConfigMap shop\/c0, .*c4 and 3 more, which can be applied again\.$/,
  )
})

test('a thousand objects without a copy are a few lines', () => {
  const refs = Array.from({ length: 1_000 }, (_, index) => ({ ...config, name: `c${index}` }))
  const losses = lossesOf(
    refs.map((ref) => wholeOf(ref)),
    refs.map((ref) => ({ ref, notKept: 'its manifest is large' })),
  )
  assert.equal(losses.length, 6)
  assert.match(losses[5] ?? '', /^The same applies to 995 more objects/)
})
