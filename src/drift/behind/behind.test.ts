import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  BEHIND_ONE,
  C0,
  C1,
  C2,
  config,
  evidenceOf,
  ID,
  judge,
  live,
  MOVED,
  reported,
  T0,
  T1,
  T2,
  version,
} from '../../../test/fakes/behind-samples.ts'
import { NO_SYNCER_REPORT } from '../../syncers/syncer.ts'
import { createUnexpectedVerdict } from '../detect/make-drift.ts'
import { setBehindAside } from './behind.ts'
import type { SyncEvidence } from './sync-evidence.ts'

test('a syncer-owned value from an earlier commit is Behind, and names the live commit', () => {
  assert.deepEqual(
    reported(
      judge({
        versions: MOVED,
        live: live({ a: '2' }, ['a'], T1),
        predicted: live({ a: '3' }, ['a'], T1),
      }),
    ),
    BEHIND_ONE,
  )
  const old = judge({
    versions: MOVED,
    live: live({ a: '1' }, ['a'], T2),
    predicted: live({ a: '3' }, ['a'], T2),
  })
  assert.deepEqual(
    [old.setAside[0]?.commit, old.setAside[0]?.stuckSince],
    [C2, '2026-01-02T01:00:00Z'],
  )
  assert.equal(
    old.setAside[0]?.why,
    'live is what ccccccc rendered, git has aaaaaaa since 2026-01-03T00:00:00Z, and the syncer did not apply bbbbbbb within 1h',
  )
})

test('Behind names the commit that changed the field, not a later unrelated one', () => {
  const [kptfileOnly, changed] = [config({ a: '3', b: 'new' }), config({ a: '3' })]
  const versions = [
    version(C0, T0, kptfileOnly),
    version(C1, T1, changed),
    version(C2, T2, config({ a: '1' })),
  ]
  const one = judge({
    versions,
    live: live({ a: '1', b: 'new' }, ['a', 'b'], T2),
    predicted: live({ a: '3', b: 'new' }, ['a', 'b'], T2),
  })
  assert.match(
    one.setAside[0]?.why ?? '',
    /^live is what ccccccc rendered, git has bbbbbbb since 2026-01-02T00:00:00Z, /,
  )
  const dropped = [version(C0, T0), version(C1, T1), version(C2, T2, config({ a: '1' }))]
  const verdict = createUnexpectedVerdict(
    ID,
    live({ a: '1' }, ['a'], T2),
    'ResourceGroup shop/inventory',
  )
  const [gone] = setBehindAside(
    [verdict],
    evidenceOf(dropped, new Map(), { now: '2026-01-02T00:10:00Z' }),
  )
  assert.match(gone?.setAside[0]?.why ?? '', /git has bbbbbbb since 2026-01-02T00:00:00Z/)
})

test("a value never rendered by any commit is drift, even under the syncer's field manager", () => {
  const verdict = judge({
    versions: MOVED,
    live: live({ a: '9' }, ['a'], T0),
    predicted: live({ a: '3' }, ['a'], T0),
  })
  assert.deepEqual(reported(verdict), { state: 'drifted', items: ['modified'], aside: [] })
  assert.equal(verdict.items[0]?.actor.manager, 'ci')
  assert.match(
    verdict.items[0]?.notes.join() ?? '',
    /no version of the package in git has the live value/,
  )
})

test('a note says how many versions were read when the history is incomplete', () => {
  const history = { versions: MOVED, locationOf: new Map<string, number>(), complete: false }
  const verdict = judge({
    versions: MOVED,
    live: live({ a: '9' }, ['a'], T0),
    predicted: live({ a: '3' }, ['a'], T0),
    evidence: { history },
  })
  assert.match(verdict.items[0]?.notes.join() ?? '', /none of the last 3 versions/)
})

test("a person's value is drift even when an earlier commit rendered the same value", () => {
  const person = {
    manager: 'kubectl-edit',
    operation: 'Update',
    apiVersion: 'v1',
    time: T0,
    fieldsV1: { 'f:data': { 'f:a': {} } },
  }
  const object = live({ a: '2', b: 'x' }, ['b'], T1, [person])
  const verdict = judge({
    versions: MOVED,
    live: object,
    predicted: live({ a: '3', b: 'x' }, ['a', 'b'], T1),
  })
  assert.deepEqual(reported(verdict), { state: 'drifted', items: ['modified'], aside: [] })
  assert.equal(verdict.items[0]?.actor.manager, 'kubectl-edit')
})

test("a person's value in the only key of a map is drift, even when a client-side apply owns the map", () => {
  const person = {
    manager: 'kubectl-label',
    operation: 'Update',
    apiVersion: 'v1',
    time: T0,
    fieldsV1: { 'f:data': { 'f:a': {} } },
  }
  const verdict = judge({
    versions: MOVED,
    live: live({ a: '2' }, [], T1, [person]),
    predicted: live({ a: '3' }, ['a'], T1),
  })
  assert.deepEqual(reported(verdict), { state: 'drifted', items: ['modified'], aside: [] })
  assert.equal(verdict.items[0]?.actor.manager, 'kubectl-label')
  assert.deepEqual(verdict.items[0]?.notes, [])
})

const GREW = [version(C0, T0, config({ a: '1', b: '2' })), version(C1, T1, config({ a: '1' }))]

test("a field added to git after the syncer's last write is Behind; one added before it was removed", () => {
  const predicted = live({ a: '1', b: '2' }, ['a', 'b'], T0)
  assert.deepEqual(
    reported(judge({ versions: GREW, live: live({ a: '1' }, ['a'], T1), predicted })),
    BEHIND_ONE,
  )
  const removed = { state: 'drifted', items: ['removed'], aside: [] }
  assert.deepEqual(
    reported(judge({ versions: GREW, live: live({ a: '1' }, ['a'], T0), predicted })),
    removed,
  )
})

test('a field as old as its object was applied with it, so a missing one was removed', () => {
  const versions = [version(C0, T0, config({ a: '1', b: '2' })), version(C1, T1)]
  const verdict = judge({
    versions,
    live: live({ a: '1' }, ['a'], T2),
    predicted: live({ a: '1', b: '2' }, ['a', 'b'], T0),
  })
  assert.deepEqual(reported(verdict), { state: 'drifted', items: ['removed'], aside: [] })
})

test('a field seen in sync with the same content was removed, whatever the clocks say', () => {
  const given = {
    versions: GREW,
    live: live({ a: '1' }, ['a'], T1),
    predicted: live({ a: '1', b: '2' }, ['a', 'b'], T0),
  }
  assert.equal(judge({ ...given, evidence: { waitedBefore: () => false } }).state, 'drifted')
  assert.deepEqual(
    reported(judge({ ...given, evidence: { waitedBefore: () => true } })),
    BEHIND_ONE,
  )
})

test('the commit that the syncer reports as applied decides', () => {
  const report = (applied: string): Partial<SyncEvidence> => ({
    report: { ...NO_SYNCER_REPORT, applied },
  })
  const given = {
    versions: GREW,
    live: live({ a: '1' }, ['a'], T1),
    predicted: live({ a: '1', b: '2' }, ['a', 'b'], T0),
  }
  assert.equal(judge({ ...given, evidence: report(C0) }).state, 'drifted')
  assert.deepEqual(reported(judge({ ...given, evidence: report(C1) })), BEHIND_ONE)
  // A commit of another repository says nothing.
  assert.deepEqual(reported(judge({ ...given, evidence: report('d'.repeat(40)) })), BEHIND_ONE)
})

test('a missing field in the last-applied annotation of a client-side apply was removed in the cluster', () => {
  const remembered = (data: JsonObject): JsonObject => {
    const object = live({ a: '1' }, ['a'], T1)
    const metadata = object['metadata'] as JsonObject
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(config(data)),
    }
    return { ...object, metadata: { ...metadata, annotations } }
  }
  const predicted = live({ a: '1', b: '2' }, ['a', 'b'], T0)
  const removed = (data: JsonObject): boolean =>
    judge({ versions: GREW, live: remembered(data), predicted }).items.some(
      ({ change }) => change === 'removed',
    )
  assert.equal(removed({ a: '1', b: '2' }), true)
  assert.equal(removed({ a: '1' }), false)
})

test('a list item that git dropped is Behind despite server defaults in it', () => {
  const versions = [
    version(C0, T0, config({ a: '1' })),
    version(C1, T1, config({ a: '1', p: [{ port: 80 }] })),
  ]
  const object = live({ a: '1', p: [{ port: 80, protocol: 'TCP' }] }, ['a', 'p'], T1)
  assert.deepEqual(
    reported(judge({ versions, live: object, predicted: live({ a: '1' }, ['a'], T1) })),
    BEHIND_ONE,
  )
})

test('without managed fields, a rendered value is Behind, another is drift, and a new field waits an hour', () => {
  const bare = (data: JsonObject): JsonObject => ({
    ...config(data),
    metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  })
  const versions = [
    version(C0, T0, config({ a: '2', b: '1' })),
    version(C1, T1, config({ a: '1', b: '1' })),
  ]
  const late = { now: '2026-01-03T05:00:00Z' }
  assert.deepEqual(
    judge({ versions, live: bare({ a: '1', b: '1' }), evidence: late }).setAside.map(
      ({ state }) => state,
    ),
    ['Behind'],
  )
  const [edited, ...more] = judge({
    versions,
    live: bare({ a: '3', b: '1' }),
    evidence: late,
  }).items
  assert.deepEqual([edited?.change, edited?.notes, more], ['modified', [], []])
  const grown = [version(C0, T0, config({ a: '1', b: '1' })), version(C1, T1, config({ a: '1' }))]
  const soon = judge({
    versions: grown,
    live: bare({ a: '1' }),
    evidence: { now: '2026-01-03T00:30:00Z' },
  })
  assert.deepEqual([soon.items, soon.setAside.map(({ state }) => state)], [[], ['Behind']])
  assert.deepEqual(
    judge({ versions: grown, live: bare({ a: '1' }), evidence: late }).items.map(
      ({ change }) => change,
    ),
    ['removed'],
  )
})

test('in a shallow clone, an unknown value may be older than the history: neither drift nor Behind', () => {
  const cut = new Failure({
    code: 'BP4011',
    what: 'cannot read an older commit',
    why: 'the clone is shallow',
    remedy: 'fetch it',
  })
  const versions = [version(C0, T0, config({ a: '3', b: 'x' }))]
  const history = { versions, locationOf: new Map([[C0, 0]]), complete: false, cut }
  const modified = judge({
    versions,
    live: live({ a: '2', b: 'x' }, ['a', 'b'], T1),
    predicted: live({ a: '3', b: 'x' }, ['a', 'b'], T1),
    evidence: { history },
  })
  assert.deepEqual(reported(modified), { state: 'unverified', items: [], aside: [] })
  assert.equal(
    modified.failure?.why,
    'data.a may be drift, or wait for the syncer: the clone is shallow',
  )
  // The syncer's entry is older than the oldest commit that is here, so that commit may have brought the field.
  const removed = (time: string) =>
    judge({
      versions,
      live: live({ a: '3' }, ['a'], time),
      predicted: live({ a: '3', b: 'x' }, ['a', 'b'], T0),
      evidence: { history },
    })
  assert.deepEqual(reported(removed(T1)), { state: 'unverified', items: [], aside: [] })
  assert.deepEqual(reported(removed(T0)), { state: 'drifted', items: ['removed'], aside: [] })
  // The object is on its way for an hour; it is missing then, however much older its commit is.
  const missing = (now: string) => judge({ versions, live: undefined, evidence: { history, now } })
  assert.deepEqual(reported(missing('2026-01-03T00:10:00Z')), {
    state: 'unverified',
    items: [],
    aside: [],
  })
  assert.deepEqual(reported(missing('2026-01-03T02:00:00Z')), {
    state: 'drifted',
    items: ['missing'],
    aside: [],
  })
})
