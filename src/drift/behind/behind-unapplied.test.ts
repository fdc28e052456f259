/** Objects that the syncer has not applied or deleted yet, and what keeps it from that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getResourceKey } from '@backporch/kyaml/resource'
import {
  C0,
  C1,
  config,
  evidenceOf,
  ID,
  judge,
  live,
  MOVED,
  OTHER,
  present,
  reported,
  T0,
  T1,
  version,
} from '../../../test/fakes/behind-samples.ts'
import { NO_SYNCER_REPORT } from '../../syncers/syncer.ts'
import type { ObjectVerdict } from '../compare/drift.ts'
import { createUnexpectedVerdict } from '../detect/make-drift.ts'
import { setBehindAside } from './behind.ts'
import type { PackageVersion, SyncEvidence } from './sync-evidence.ts'

const NEW = [version(C0, T0, config({ a: '1' })), version(C1, T1)]
const MISSING = { state: 'drifted', items: ['missing'], aside: [] }

test('an object added by a commit of the last hour is pending, and missing afterwards', () => {
  assert.deepEqual(reported(judge({ versions: NEW, live: undefined })), {
    state: 'in-sync',
    items: [],
    aside: [['Behind', C1]],
  })
  const late = judge({ versions: NEW, live: undefined, evidence: { now: '2026-01-03T01:00:01Z' } })
  assert.deepEqual(reported(late), MISSING)
})

test('an object in every version, in the inventory or seen before is missing, not pending', () => {
  const always = [version(C0, T0, config({ a: '1' })), version(C1, T1, config({ a: '1' }))]
  assert.deepEqual(reported(judge({ versions: always, live: undefined })), MISSING)
  assert.deepEqual(
    reported(
      judge({
        versions: NEW,
        live: undefined,
        evidence: { inventory: new Set([getResourceKey(ID)]) },
      }),
    ),
    MISSING,
  )
  assert.deepEqual(
    reported(judge({ versions: NEW, live: undefined, evidence: { waitedBefore: () => false } })),
    MISSING,
  )
  assert.deepEqual(
    reported(
      judge({
        versions: NEW,
        live: undefined,
        evidence: { report: { ...NO_SYNCER_REPORT, applied: C0 } },
      }),
    ),
    MISSING,
  )
})

test('another object at the same commit proves that the missing one was applied too', () => {
  const versions = [
    version(C0, T0, config({ a: '1' }), config({ x: '2' }, 'other')),
    version(C1, T1, config({ x: '1' }, 'other')),
  ]
  const [verdict] = [
    judge({
      versions,
      live: undefined,
      evidence: { live: new Map([[getResourceKey(OTHER), present(live({ x: '2' }, ['x'], T0))]]) },
    }),
  ]
  assert.deepEqual(reported(verdict), MISSING)
  const stale = judge({
    versions,
    live: undefined,
    evidence: { live: new Map([[getResourceKey(OTHER), present(live({ x: '1' }, ['x'], T1))]]) },
  })
  assert.equal(stale.setAside[0]?.state, 'Behind')
})

test('an object that git dropped in the last hour awaits deletion; one never in git is unexpected', () => {
  const given = (versions: readonly PackageVersion[]): ObjectVerdict => {
    const object = live({ a: '1' }, ['a'], T1)
    const verdict = createUnexpectedVerdict(ID, object, 'ResourceGroup shop/inventory')
    const [decided] = setBehindAside([verdict], evidenceOf(versions, new Map(), {}))
    assert.ok(decided !== undefined)
    return decided
  }
  assert.equal(
    given([version(C0, T0), version(C1, T1, config({ a: '1' }))]).setAside[0]?.state,
    'Behind',
  )
  assert.deepEqual(reported(given([version(C0, T0), version(C1, T1)])), {
    state: 'drifted',
    items: ['unexpected'],
    aside: [],
  })
})

test('a pending object is Suspended under a suspended syncer, and Reconciling under an active one', () => {
  const given = {
    versions: MOVED,
    live: live({ a: '2' }, ['a'], T1),
    predicted: live({ a: '3' }, ['a'], T1),
  }
  const suspended = judge({
    ...given,
    evidence: {
      report: { ...NO_SYNCER_REPORT, suspended: 'Flux Kustomization apps/web is suspended' },
    },
  })
  assert.equal(suspended.setAside[0]?.state, 'Suspended')
  assert.match(
    suspended.setAside[0]?.why ?? '',
    /nothing applies it: Flux Kustomization apps\/web is suspended$/,
  )
  const working = judge({
    ...given,
    evidence: { report: { ...NO_SYNCER_REPORT, atWork: 'Flux Kustomization apps/web is at work' } },
  })
  assert.equal(working.setAside[0]?.state, 'Reconciling')
})

/** Made a minute before the observation, long after the commits. */
const UNAPPLIED = {
  ...NO_SYNCER_REPORT,
  title: 'Flux Kustomization apps/web',
  unappliedSince: '2026-01-03T00:09:00Z',
}
const WAITS = 'Flux Kustomization apps/web says Ready is False: DependencyNotReady'
const FAILED = 'Flux Kustomization apps/web says Ready is False: ReconciliationFailed'
const ALWAYS = [version(C0, '2025-06-01T00:00:00Z', config({ a: '1' }))]
const REFUSED = new Map([
  [getResourceKey(ID), 'ResourceGroup shop/inventory says that its apply failed'],
])
const STORED = new Map([
  [
    getResourceKey(ID),
    {
      apiVersion: 'v1',
      object: config({ a: '1' }),
      storedIn: 'Helm release shop/web',
      rollback: undefined,
    },
  ],
])

const UNAPPLIED_OBJECTS: readonly (readonly [
  name: string,
  evidence: Partial<SyncEvidence>,
  state: string,
  why: RegExp,
  stuck?: string,
])[] = [
  [
    'the syncer waits',
    { report: { ...UNAPPLIED, says: WAITS } },
    'Behind',
    /^no part of it was applied yet, .*, and .* DependencyNotReady$/,
  ],
  [
    'the syncer reports nothing',
    { report: UNAPPLIED },
    'Behind',
    /and the syncer has not applied it yet$/,
  ],
  [
    'the syncer failed',
    { report: { ...UNAPPLIED, says: FAILED, failed: FAILED } },
    'SyncFailed',
    /ReconciliationFailed$/,
    '',
  ],
  [
    'the syncer is suspended',
    { report: { ...UNAPPLIED, suspended: 'it is suspended' } },
    'Suspended',
    /it is suspended$/,
  ],
  [
    'the syncer waits longer than the policy allows',
    { report: { ...UNAPPLIED, says: WAITS }, now: '2026-01-03T03:00:00Z' },
    'Behind',
    /did not apply aaaaaaa within 1h$/,
    '2026-01-03T01:09:00Z',
  ],
  [
    'the inventory lists the object that failed to apply',
    { refused: REFUSED, inventory: new Set([getResourceKey(ID)]) },
    'SyncFailed',
    /its apply failed$/,
    '',
  ],
  [
    'no inventory lists the object',
    { refused: REFUSED, inventory: new Set() },
    'SyncFailed',
    /its apply failed$/,
    '',
  ],
]

for (const [name, evidence, state, why, stuck] of UNAPPLIED_OBJECTS) {
  test(`does not report a never applied object as missing: ${name}`, () => {
    const { items, setAside } = judge({ versions: ALWAYS, live: undefined, evidence })
    assert.deepEqual(
      [items, setAside.map((one) => [one.state, one.stuckSince])],
      [[], [[state, stuck]]],
    )
    assert.match(setAside[0]?.why ?? '', why)
  })
}

test('reports an object as missing that was applied before a failure', () => {
  const failed = { report: { ...NO_SYNCER_REPORT, applied: C0, says: FAILED, failed: FAILED } }
  assert.deepEqual(
    reported(judge({ versions: ALWAYS, live: undefined, evidence: failed })),
    MISSING,
  )
  const release = { refused: REFUSED, inventory: new Set([getResourceKey(ID)]), stored: STORED }
  assert.deepEqual(
    reported(judge({ versions: ALWAYS, live: undefined, evidence: release })),
    MISSING,
  )
})

test('a value of an earlier commit is SyncFailed at once when the apply of a later one failed', () => {
  const given = {
    versions: MOVED,
    live: live({ a: '2' }, ['a'], T1),
    predicted: live({ a: '3' }, ['a'], T1),
  }
  for (const evidence of [
    { report: { ...NO_SYNCER_REPORT, failed: FAILED } },
    { refused: REFUSED },
  ])
    assert.equal(judge({ ...given, evidence }).setAside[0]?.state, 'SyncFailed')
  assert.deepEqual(
    judge({ ...given, live: live({ a: '9' }, ['a'], T1), evidence: { refused: REFUSED } }).items
      .length,
    1,
    'a person wrote',
  )
})
