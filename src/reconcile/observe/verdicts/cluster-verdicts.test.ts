import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveState, ResourceId } from '@backporch/kyaml/resource'
import { listedVerdicts, VERDICT_KEY } from '../../../../test/fakes/listed-epochs.ts'
import { appliedBy, editedBy, withMetadata } from '../../../../test/fakes/live-object.ts'
import { idOf } from '../../../../test/fakes/memory-cluster.ts'
import { CONFIG, DEPLOYMENT, WEB, WEB_CONFIG, yaml } from '../../../../test/fakes/turn-world.ts'
import { ClusterVerdicts } from './cluster-verdicts.ts'
import { MOST_SCOPES, packState, type RowVerdict, unpackState } from './row-state.ts'
import { decodeVerdicts, encodeVerdicts } from './verdict-snapshot.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')
const HOUR = 3_600_000
const LIVE = appliedBy('flux', yaml(DEPLOYMENT))
const ID = idOf(WEB)
const QUESTION = ['uid-of-the-cluster', 'v1.34.3', 'a hash', 'flux', null, { 'of helm': 1n }]
const UNIT = 'apps/web'
const IN_SYNC = {
  id: ID,
  apiVersion: 'apps/v1',
  state: 'in-sync',
  proof: 'dry-run',
  items: [],
  setAside: [],
} as const

function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

function inSync(
  id: ResourceId,
  apiVersion = 'v1',
): Parameters<ReturnType<ClusterVerdicts['getUnitVerdicts']>['keep']>[1] {
  return { ...IN_SYNC, id, apiVersion }
}

/** A Deployment that was proven to be in sync at `NOW`. */
function proven(): ClusterVerdicts {
  const verdicts = listedVerdicts()
  verdicts.getUnitVerdicts(UNIT).keep(present(LIVE), IN_SYNC, QUESTION, NOW)
  return verdicts
}

function recalls(
  verdicts: ClusterVerdicts,
  live = LIVE,
  question: readonly unknown[] = QUESTION,
  now = NOW,
): boolean {
  return verdicts.getUnitVerdicts(UNIT).recall(ID, live, question, now) !== undefined
}

/** Verdict and mark of the object's row for the unit. */
function rowOf(
  verdicts: ClusterVerdicts,
  id = ID,
): ReturnType<typeof unpackState> & { readonly until: number } {
  const at = verdicts.table.findRow(verdicts.computeHash(id), 0)
  assert.notEqual(at, -1)
  const { state, until } = verdicts.table.getRow(at)
  return { ...unpackState(state), until }
}

test('a proof is recalled while the relevant content is unchanged, with its kind of proof', () => {
  const verdicts = proven()
  assert.deepEqual(verdicts.getUnitVerdicts(UNIT).recall(ID, LIVE, QUESTION, NOW), {
    proof: 'dry-run',
    until: NOW + 24 * HOUR,
  })
  assert.ok(
    recalls(verdicts, {
      ...withMetadata(LIVE, { resourceVersion: '9', generation: 7 }),
      status: { replicas: 1 },
    }),
  )
})

test('a proof is not recalled for another label, value, owner or uid', () => {
  const verdicts = proven()
  for (const other of [
    editedBy('helper', LIVE, 'metadata.labels.team', 'shop'),
    editedBy('flux', LIVE, 'spec.replicas', 4),
    withMetadata(LIVE, { managedFields: [] }),
    withMetadata(LIVE, { uid: 'another' }),
  ])
    assert.equal(recalls(verdicts, other), false, JSON.stringify(other))
  assert.ok(recalls(verdicts))
})

test('a proof is not recalled when any part of the question differs', () => {
  const verdicts = proven()
  for (const at of QUESTION.keys())
    assert.equal(recalls(verdicts, LIVE, QUESTION.with(at, 'another')), false, String(at))
  assert.equal(recalls(verdicts, LIVE, [...QUESTION, null]), false)
})

test('a proof is not recalled for another unit or object', () => {
  const verdicts = proven()
  assert.equal(verdicts.getUnitVerdicts('apps/api').recall(ID, LIVE, QUESTION, NOW), undefined)
  assert.equal(
    verdicts.getUnitVerdicts(UNIT).recall({ ...ID, name: 'api' }, LIVE, QUESTION, NOW),
    undefined,
  )
})

test('a proof is recalled only while the epoch of its kind is known and the same', () => {
  const verdicts = proven()
  const watched = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    namespace: '',
    metadataOnly: false,
  }
  const webhook = { metadata: { name: 'inject', uid: '1' }, webhooks: [] }
  verdicts.epochs.handleChange(watched, webhook)
  assert.equal(recalls(verdicts), false)
  verdicts.epochs.handleDeletion(watched, webhook)
  assert.ok(recalls(verdicts))
  verdicts.epochs.beginList(watched)
  assert.equal(recalls(verdicts), false)
  verdicts.epochs.finishList(watched)
  assert.ok(recalls(verdicts))
})

test('a proof is valid for a random 18 to 24 hours and no longer', () => {
  for (const [random, hours] of [
    [0, 24],
    [0.5, 21],
    [1, 18],
  ] as const) {
    const verdicts = listedVerdicts(random)
    assert.equal(verdicts.end(NOW), NOW + hours * HOUR)
    assert.equal(
      verdicts.getUnitVerdicts(UNIT).keep(present(LIVE), IN_SYNC, QUESTION, NOW),
      NOW + hours * HOUR,
    )
    assert.ok(recalls(verdicts, LIVE, QUESTION, NOW + hours * HOUR - 1))
    assert.equal(recalls(verdicts, LIVE, QUESTION, NOW + hours * HOUR), false)
  }
})

test('a unit is due from the moment its proof expires', () => {
  const verdicts = proven()
  verdicts
    .getUnitVerdicts('apps/api')
    .keep(present(appliedBy('flux', yaml(CONFIG))), inSync(idOf(WEB_CONFIG)), QUESTION, NOW + HOUR)
  verdicts
    .getUnitVerdicts('apps/db')
    .keep({ state: 'absent' }, inSync({ ...ID, name: 'db' }), QUESTION, NOW)
  assert.deepEqual([...verdicts.listDueUnits(NOW + 24 * HOUR - 1)], [])
  assert.deepEqual([...verdicts.listDueUnits(NOW + 24 * HOUR)], [UNIT])
  assert.deepEqual([...verdicts.listDueUnits(NOW + 25 * HOUR)].sort(), ['apps/api', UNIT])
})

test('a verdict with more than its proof is stored as a state that saves no comparison', () => {
  const failure = new Failure({
    code: 'BP3005',
    what: 'cannot get',
    why: 'the server is down',
    remedy: 'try again',
  })
  for (const more of [
    { state: 'drifted' },
    { items: [{}] },
    { setAside: [{}] },
    { notes: [{ cause: 'yaml-value', subject: '', text: '' }] },
    { failure },
    { reapplyFails: failure },
    { mayBeBehind: true },
    { notSettled: true },
    { visibilityOf: 'x' },
  ]) {
    const verdicts = listedVerdicts()
    const judged = { ...IN_SYNC, ...more } as unknown as typeof IN_SYNC
    assert.equal(
      verdicts.getUnitVerdicts(UNIT).keep(present(LIVE), judged, QUESTION, NOW),
      0,
      JSON.stringify(more),
    )
    assert.equal(recalls(verdicts), false)
    assert.deepEqual([rowOf(verdicts).marked, rowOf(verdicts).until], [true, 0])
  }
})

test('a stored state says whether the object was present, readable and complete', () => {
  const failure = new Failure({
    code: 'BP3005',
    what: 'cannot get',
    why: 'the server is down',
    remedy: 'try again',
  })
  const stateOf = (live: LiveState, state: string): unknown => {
    const verdicts = listedVerdicts()
    assert.equal(
      verdicts
        .getUnitVerdicts(UNIT)
        .keep(live, { ...IN_SYNC, state } as typeof IN_SYNC, QUESTION, NOW),
      live.state === 'present' && !live.metadataOnly && state === 'in-sync' ? NOW + 24 * HOUR : 0,
    )
    const { verdict, marked, status } = rowOf(verdicts)
    return [verdict, marked, status]
  }
  assert.deepEqual(stateOf(present(LIVE), 'in-sync'), ['in-sync', true, 'InProgress'])
  assert.deepEqual(stateOf(present(LIVE), 'drifted'), ['drifted', true, 'InProgress'])
  assert.deepEqual(stateOf(present(LIVE), 'outside'), ['other', true, 'InProgress'])
  assert.deepEqual(stateOf({ state: 'present', object: LIVE, metadataOnly: true }, 'in-sync'), [
    'in-sync',
    true,
    undefined,
  ])
  assert.deepEqual(stateOf({ state: 'absent' }, 'drifted'), ['absent', true, undefined])
  assert.deepEqual(stateOf({ state: 'unreadable', failure }, 'unreadable'), [
    'unreadable',
    false,
    undefined,
  ])
})

test('a followed object keeps its row until an observation of its unit lacks it', () => {
  const verdicts = proven()
  const more = { ...ID, name: 'more' }
  verdicts
    .getUnitVerdicts('apps/api')
    .follow({ id: more, apiVersion: 'apps/v1' }, 'other', undefined)
  const first = verdicts.getUnitVerdicts(UNIT)
  first.recall(ID, LIVE, QUESTION, NOW)
  first.follow({ id: more, apiVersion: 'apps/v1' }, 'report', undefined)
  first.retainTouched()
  assert.equal(verdicts.table.size, 3)
  assert.deepEqual([rowOf(verdicts, more).verdict, rowOf(verdicts, more).marked], ['report', false])
  const second = verdicts.getUnitVerdicts(UNIT)
  second.recall(ID, LIVE, QUESTION, NOW)
  second.retainTouched()
  assert.deepEqual([verdicts.table.count(0), verdicts.table.count(1)], [1, 1])
  assert.ok(recalls(verdicts))
})

test('following an object keeps the stored state of its row', () => {
  const verdicts = proven()
  verdicts.getUnitVerdicts(UNIT).follow({ id: ID, apiVersion: 'apps/v1' }, 'other', undefined)
  assert.ok(recalls(verdicts))
})

test('a confirmed verdict stays a proof only while the row has the same state', () => {
  const verdicts = proven()
  verdicts.getUnitVerdicts(UNIT).confirm(present(LIVE), IN_SYNC, NOW + HOUR)
  assert.equal(rowOf(verdicts).until, (NOW + 24 * HOUR) / 1_000)
  const edited = editedBy('kubectl', LIVE, 'spec.replicas', 5)
  verdicts
    .getUnitVerdicts(UNIT)
    .confirm(present(edited), { ...IN_SYNC, state: 'drifted' }, NOW + HOUR)
  assert.deepEqual([rowOf(verdicts).verdict, rowOf(verdicts).until], ['drifted', 0])
  assert.deepEqual(
    [...verdicts.table.getRow(verdicts.table.findRow(verdicts.computeHash(ID), 0)).mark],
    [...verdicts.createMark(edited)],
  )
  assert.equal(recalls(verdicts), false)
})

test('verdicts of removed units are dropped', () => {
  const verdicts = proven()
  verdicts.getUnitVerdicts('apps/api').follow({ id: ID, apiVersion: 'apps/v1' }, 'other', undefined)
  verdicts.retainUnits(new Set(['apps/api']))
  assert.equal(verdicts.findVerdict(UNIT, LIVE), undefined)
  assert.equal(verdicts.findVerdict('apps/api', LIVE), 'other')
})

test('the next process recalls a proof only with the same key', () => {
  const bytes = encodeVerdicts(proven().stored, 'prod', VERDICT_KEY)
  const stored = decodeVerdicts(bytes, 'prod', VERDICT_KEY)
  assert.ok('table' in stored)
  assert.equal(
    recalls(new ClusterVerdicts(VERDICT_KEY, () => 0, stored)),
    false,
    'before its epoch is known',
  )
  assert.ok(recalls(listedVerdicts(0, stored)))
  assert.deepEqual(listedVerdicts(0, stored).listScopes(), [
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop' },
  ])
})

test('the state of a row is packed into 31 bits without loss', () => {
  const verdicts: readonly RowVerdict[] = [
    'in-sync',
    'drifted',
    'absent',
    'unreadable',
    'other',
    'report',
  ]
  for (const verdict of verdicts)
    for (const proof of ['none', 'ownership', 'creation', 'dry-run'] as const)
      for (const status of [
        undefined,
        'Current',
        'InProgress',
        'Failed',
        'Terminating',
        'NotFound',
        'Unknown',
      ])
        for (const marked of [false, true])
          for (const scope of [0, 1, MOST_SCOPES - 1]) {
            const packed = packState({ verdict, proof, status, marked, scope })
            assert.ok(packed >= 0 && packed < 2 ** 31)
            assert.deepEqual(unpackState(packed), { verdict, proof, status, marked, scope })
          }
})
