import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { type LiveState, resourceKey } from '@backporch/kyaml/resource'
import { NO_SYNCER_REPORT } from '../../syncers/syncer.ts'
import type { ObjectVerdict } from '../compare/drift.ts'
import { detectDrift } from '../detect/detect-drift.ts'
import { unexpectedObject } from '../detect/make-drift.ts'
import { setBehindAside } from './behind.ts'
import { NO_MEMORY, type PackageVersion, type SyncEvidence } from './sync-evidence.ts'

const SYNCER = { manager: 'ci', operation: 'Apply', subresource: '' } as const
const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const OTHER = { ...ID, name: 'other' }
const LOCATION = { path: 'apps/web/config.yaml', document: 0, item: undefined, line: 1 }
const [C0, C1, C2] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)]
const [T0, T1, T2] = ['2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z']

function config(data: JsonObject, name = 'web'): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data }
}

/** Live as the syncer wrote it at `time`; `owned` are the keys that it owns. */
function live(
  data: JsonObject,
  owned: readonly string[],
  time: string,
  more: readonly JsonObject[] = [],
): JsonObject {
  const entry = {
    manager: 'ci',
    operation: 'Apply',
    apiVersion: 'v1',
    time,
    fieldsV1: { 'f:data': Object.fromEntries(owned.map((key) => [`f:${key}`, {}])) },
  }
  return {
    ...config(data),
    metadata: { name: 'web', namespace: 'shop', uid: 'u', managedFields: [entry, ...more] },
  }
}

function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

function version(commit: string, at: string, ...objects: readonly JsonObject[]): PackageVersion {
  const keyOf = (object: JsonObject): string =>
    resourceKey({ ...ID, name: String((object['metadata'] as JsonObject)['name']) })
  return {
    commit,
    tree: commit.slice(0, 16),
    at,
    objects: new Map(objects.map((object) => [keyOf(object), object])),
  }
}

interface Given {
  readonly versions: readonly PackageVersion[]
  readonly live: JsonObject | undefined
  /** The answer of the dry run. */
  readonly predicted?: JsonObject
  readonly evidence?: Partial<SyncEvidence>
}

function judge({ versions, live: object, predicted, evidence = {} }: Given): ObjectVerdict {
  const desired = versions[0]?.objects.get(resourceKey(ID)) ?? {}
  const state: LiveState = object === undefined ? { state: 'absent' } : present(object)
  const verdict = detectDrift(
    {
      desired: { id: ID, apiVersion: 'v1', object: desired, location: LOCATION },
      live: state,
      schema: UNKNOWN_SCHEMA,
      prediction: predicted === undefined ? undefined : { state: 'predicted', object: predicted },
    },
    SYNCER,
  )
  const [decided] = setBehindAside(
    [verdict],
    evidenceOf(versions, new Map([[resourceKey(ID), state]]), evidence),
  )
  assert.ok(decided !== undefined)
  return decided
}

function evidenceOf(
  versions: readonly PackageVersion[],
  view: SyncEvidence['live'],
  more: Partial<SyncEvidence>,
): SyncEvidence {
  return {
    history: {
      versions,
      locationOf: new Map(versions.map(({ commit }, index) => [commit, index])),
      complete: true,
    },
    syncer: SYNCER,
    report: NO_SYNCER_REPORT,
    refused: new Map(),
    live: view,
    inventory: undefined,
    stored: undefined,
    waitedBefore: undefined,
    memory: NO_MEMORY,
    stuckAfter: 3_600,
    now: '2026-01-03T00:10:00Z',
    present: '2026-01-03T00:10:00Z',
    ...more,
  }
}

function reported({ items, setAside, state }: ObjectVerdict): unknown {
  return {
    state,
    items: items.map(({ change }) => change),
    aside: setAside.map((one) => [one.state, one.commit]),
  }
}

const BEHIND_ONE = { state: 'in-sync', items: [], aside: [['Behind', C1]] }

const MOVED = [
  version(C0, T0, config({ a: '3' })),
  version(C1, T1, config({ a: '2' })),
  version(C2, T2, config({ a: '1' })),
]

test('a value that an earlier commit rendered and the syncer owns is Behind, and names the commit that is live', () => {
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

test('what is Behind names the commit that changed it, not a later one that changed something else', () => {
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
  const verdict = unexpectedObject(ID, live({ a: '1' }, ['a'], T2), 'ResourceGroup shop/inventory')
  const [gone] = setBehindAside(
    [verdict],
    evidenceOf(dropped, new Map(), { now: '2026-01-02T00:10:00Z' }),
  )
  assert.match(gone?.setAside[0]?.why ?? '', /git has bbbbbbb since 2026-01-02T00:00:00Z/)
})

test('a value that no commit ever rendered is drift, although the field manager is the syncer: a hand apply beside CI', () => {
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

test('where only the latest versions were read, the note says how many', () => {
  const history = { versions: MOVED, locationOf: new Map<string, number>(), complete: false }
  const verdict = judge({
    versions: MOVED,
    live: live({ a: '9' }, ['a'], T0),
    predicted: live({ a: '3' }, ['a'], T0),
    evidence: { history },
  })
  assert.match(verdict.items[0]?.notes.join() ?? '', /none of the last 3 versions/)
})

test("a person's value is drift although an earlier commit rendered the same one", () => {
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

test("a person's value in the only key of a map is drift too, where a client-side apply keeps the map itself", () => {
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

test('a field that git has only since a later commit than the syncer last wrote is Behind; one that it wrote after is removed', () => {
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

test('a field that is as old as its object was applied with it: gone means removed', () => {
  const versions = [version(C0, T0, config({ a: '1', b: '2' })), version(C1, T1)]
  const verdict = judge({
    versions,
    live: live({ a: '1' }, ['a'], T2),
    predicted: live({ a: '1', b: '2' }, ['a', 'b'], T0),
  })
  assert.deepEqual(reported(verdict), { state: 'drifted', items: ['removed'], aside: [] })
})

test('a field that was seen in sync with the very same content is removed, whatever the clocks say', () => {
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

test('the commit that the syncer names as applied decides', () => {
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

test('a client-side apply remembers what it applied: a remembered field that is gone was removed by somebody', () => {
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

const NEW = [version(C0, T0, config({ a: '1' })), version(C1, T1)]
const MISSING = { state: 'drifted', items: ['missing'], aside: [] }

test('an object that a commit of the last hour brought is on its way; afterwards it is missing', () => {
  assert.deepEqual(reported(judge({ versions: NEW, live: undefined })), {
    state: 'in-sync',
    items: [],
    aside: [['Behind', C1]],
  })
  const late = judge({ versions: NEW, live: undefined, evidence: { now: '2026-01-03T01:00:01Z' } })
  assert.deepEqual(reported(late), MISSING)
})

test('an object is missing, and not on its way, when it is in every version, in the inventory, or was seen before', () => {
  const always = [version(C0, T0, config({ a: '1' })), version(C1, T1, config({ a: '1' }))]
  assert.deepEqual(reported(judge({ versions: always, live: undefined })), MISSING)
  assert.deepEqual(
    reported(
      judge({
        versions: NEW,
        live: undefined,
        evidence: { inventory: new Set([resourceKey(ID)]) },
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

test('another object that shows the same commit as applied proves that the missing one was applied too', () => {
  const versions = [
    version(C0, T0, config({ a: '1' }), config({ x: '2' }, 'other')),
    version(C1, T1, config({ x: '1' }, 'other')),
  ]
  const [verdict] = [
    judge({
      versions,
      live: undefined,
      evidence: { live: new Map([[resourceKey(OTHER), present(live({ x: '2' }, ['x'], T0))]]) },
    }),
  ]
  assert.deepEqual(reported(verdict), MISSING)
  const stale = judge({
    versions,
    live: undefined,
    evidence: { live: new Map([[resourceKey(OTHER), present(live({ x: '1' }, ['x'], T1))]]) },
  })
  assert.equal(stale.setAside[0]?.state, 'Behind')
})

test('an object that git dropped in the last hour waits to be deleted; one that git never had is unexpected', () => {
  const given = (versions: readonly PackageVersion[]): ObjectVerdict => {
    const object = live({ a: '1' }, ['a'], T1)
    const verdict = unexpectedObject(ID, object, 'ResourceGroup shop/inventory')
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

test('what waits is Suspended while the syncer is told to do nothing, and Reconciling while it is at work', () => {
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
  [resourceKey(ID), 'ResourceGroup shop/inventory says that its apply failed'],
])
const STORED = new Map([
  [
    resourceKey(ID),
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
    'it waits',
    { report: { ...UNAPPLIED, says: WAITS } },
    'Behind',
    /^nothing of it was applied yet, .*, and .* DependencyNotReady$/,
  ],
  ['it says nothing', { report: UNAPPLIED }, 'Behind', /and the syncer has not applied it yet$/],
  [
    'it failed',
    { report: { ...UNAPPLIED, says: FAILED, failed: FAILED } },
    'SyncFailed',
    /ReconciliationFailed$/,
    '',
  ],
  [
    'it is suspended',
    { report: { ...UNAPPLIED, suspended: 'it is suspended' } },
    'Suspended',
    /it is suspended$/,
  ],
  [
    'it waits for longer than the policy allows',
    { report: { ...UNAPPLIED, says: WAITS }, now: '2026-01-03T03:00:00Z' },
    'Behind',
    /did not apply aaaaaaa within 1h$/,
    '2026-01-03T01:09:00Z',
  ],
  [
    'the inventory lists what could not be applied',
    { refused: REFUSED, inventory: new Set([resourceKey(ID)]) },
    'SyncFailed',
    /its apply failed$/,
    '',
  ],
  [
    'no inventory lists it',
    { refused: REFUSED, inventory: new Set() },
    'SyncFailed',
    /its apply failed$/,
    '',
  ],
]

for (const [name, evidence, state, why, stuck] of UNAPPLIED_OBJECTS) {
  test(`what a syncer never applied is not missing: ${name}`, () => {
    const { items, setAside } = judge({ versions: ALWAYS, live: undefined, evidence })
    assert.deepEqual(
      [items, setAside.map((one) => [one.state, one.stuckSince])],
      [[], [[state, stuck]]],
    )
    assert.match(setAside[0]?.why ?? '', why)
  })
}

test('an object that was applied before a failure is missing', () => {
  const failed = { report: { ...NO_SYNCER_REPORT, applied: C0, says: FAILED, failed: FAILED } }
  assert.deepEqual(
    reported(judge({ versions: ALWAYS, live: undefined, evidence: failed })),
    MISSING,
  )
  const release = { refused: REFUSED, inventory: new Set([resourceKey(ID)]), stored: STORED }
  assert.deepEqual(
    reported(judge({ versions: ALWAYS, live: undefined, evidence: release })),
    MISSING,
  )
})

test('what an earlier commit rendered is SyncFailed at once where the apply of a later one failed', () => {
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

test('a list item that git dropped is Behind although the server put defaults into it', () => {
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

test('of an object without managers a value that a commit rendered is Behind, another one is somebody’s, and a new field waits for an hour', () => {
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

test('in a shallow clone a value that no version has may be older than it: neither drift nor Behind', () => {
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
