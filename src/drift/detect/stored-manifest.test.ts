/** What Helm stores of its releases, as evidence: of fields that git dropped, of who wrote a value, and of what a Release would lose. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { NO_SYNCER_REPORT } from '../../syncers/syncer.ts'
import { setBehindAside } from '../behind/behind.ts'
import { NO_MEMORY, type PackageVersion, type SyncEvidence } from '../behind/sync-evidence.ts'
import type { ObjectVerdict, SyncerManager } from '../compare/drift.ts'
import { LEFT_OVER, type StoredManifest } from '../compare/last-applied.ts'
import { detectDrift } from './detect-drift.ts'
import { createUnexpectedVerdict } from './make-drift.ts'

const HELM: SyncerManager = { manager: 'helm', operation: 'Update', subresource: '' }
const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const LOCATION = { path: 'apps/web/config.yaml', document: 0, item: undefined, line: 1 }
const RELEASE = 'Helm release shop/web revision 1'
const NEXT = `the next upgrade removes it: ${RELEASE} has it`

const manifest = (data: JsonObject, id = ID, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: id.kind,
  metadata: { name: id.name, namespace: 'shop', ...more },
  data,
})

/** Each manager with the keys of `data` that it owns. */
function live(
  data: JsonObject,
  owners: Readonly<Record<string, readonly string[]>>,
  id = ID,
  operation = 'Update',
): JsonObject {
  const managedFields = Object.entries(owners).map(([manager, keys]) => ({
    manager,
    operation: manager === 'helm' ? operation : 'Update',
    apiVersion: 'v1',
    time: '2026-01-02T00:00:00Z',
    fieldsV1: { 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
  }))
  return manifest(data, id, { uid: 'u', managedFields })
}

interface Given {
  /** What git has, and had before, the newest first. */
  readonly git: readonly (JsonObject | undefined)[]
  readonly live: JsonObject | undefined
  readonly predicted?: JsonObject
  /** Undefined: it is not known what Helm stores; null: not this object. */
  readonly stored: StoredManifest | null | undefined
  readonly syncer?: SyncerManager
  readonly id?: typeof ID
}

function judge({
  git,
  live: object,
  predicted,
  stored,
  syncer = HELM,
  id = ID,
}: Given): ObjectVerdict {
  const [desired] = git
  const state: LiveState =
    object === undefined ? { state: 'absent' } : { state: 'present', object, metadataOnly: false }
  const verdict =
    desired === undefined
      ? createUnexpectedVerdict(id, object ?? {}, RELEASE)
      : detectDrift(
          {
            desired: { id, apiVersion: 'v1', object: desired, location: LOCATION },
            live: state,
            schema: UNKNOWN_SCHEMA,
            prediction:
              predicted === undefined ? undefined : { state: 'predicted', object: predicted },
            stored: stored ?? undefined,
          },
          syncer,
        )
  const key = getResourceKey(id)
  const versions: PackageVersion[] = git.map((one, index) => ({
    commit: String(index).repeat(40),
    tree: String(index).repeat(16),
    at: `2026-01-0${git.length - index}T00:00:00Z`,
    objects: new Map(one === undefined ? [] : [[key, one]]),
  }))
  const evidence: SyncEvidence = {
    history: {
      versions,
      locationOf: new Map(versions.map(({ commit }, position) => [commit, position])),
      complete: true,
    },
    syncer,
    report: NO_SYNCER_REPORT,
    refused: new Map(),
    live: new Map([[key, state]]),
    inventory: stored === undefined ? undefined : new Set(stored === null ? [] : [key]),
    stored: stored === undefined ? undefined : new Map(stored === null ? [] : [[key, stored]]),
    waitedBefore: undefined,
    memory: NO_MEMORY,
    stuckAfter: 3_600,
    now: '2026-02-01T00:00:00Z',
    present: '2026-02-01T00:00:00Z',
  }
  const [decided] = setBehindAside([verdict], evidence)
  assert.ok(decided !== undefined)
  return decided
}

function reported({ items, setAside }: ObjectVerdict): unknown {
  return {
    items: items.map(({ change, path, actor, notes }) =>
      [change, path.at(-1), actor.manager, notes[0]].map(nameOf),
    ),
    behind: setAside.map(({ state, commit }) => `${state} ${commit?.[0]}`),
  }
}

function nameOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'name' in part ? part.name : part
}

const stored = (data: JsonObject, more: Partial<StoredManifest> = {}): StoredManifest => ({
  apiVersion: 'v1',
  object: manifest(data),
  storedIn: RELEASE,
  ...more,
})

const BEHIND = { items: [], behind: ['Behind 1'] }
const NOTHING = { items: [], behind: [] }
const LEFT = { items: [['added', 'b', 'helm', LEFT_OVER]], behind: [] }
const both = live({ a: '1', b: '2' }, { helm: ['a', 'b'] })
const [A, AB] = [manifest({ a: '1' }), manifest({ a: '1', b: '2' })]

test('a field that git dropped and the release still has is Behind', () => {
  assert.deepEqual(
    reported(judge({ git: [A, AB], live: both, stored: stored({ a: '1', b: '2' }) })),
    BEHIND,
  )
})

test('a release rolled back after the commit is not waiting for an upgrade', () => {
  const rolledBack = (at: string) =>
    judge({
      git: [A, AB],
      live: both,
      stored: stored({ a: '1', b: '2' }, { rollback: { to: 1, at } }),
    })
  const note = `${RELEASE} is a rollback to revision 1 at 2026-01-02T00:00:00Z, when git had 0000000 already`
  const after = rolledBack('2026-01-02T00:00:00Z')
  assert.deepEqual(
    [reported(after), after.items[0]?.notes.at(-1)],
    [{ items: [['added', 'b', 'helm', NEXT]], behind: [] }, note],
  )
  assert.deepEqual(reported(rolledBack('2026-01-01T23:59:59Z')), BEHIND)
})

test('a field in the release but no commit is drift by Helm, noted as removed by the next upgrade', () => {
  const verdict = judge({ git: [A], live: both, stored: stored({ a: '1', b: '2' }) })
  assert.deepEqual(reported(verdict), { items: [['added', 'b', 'helm', NEXT]], behind: [] })
  assert.equal(verdict.items[0]?.lostWhenReleased, true)
})

test('a Helm-written key that neither git nor the release has is left over', () => {
  assert.deepEqual(reported(judge({ git: [A, AB], live: both, stored: stored({ a: '1' }) })), LEFT)
})

test('another version of the kind, and an unknown release, prove nothing about fields', () => {
  assert.deepEqual(
    reported(
      judge({
        git: [A, AB],
        live: both,
        stored: stored({ a: '1', b: '2' }, { apiVersion: 'v1beta1' }),
      }),
    ),
    NOTHING,
  )
  assert.deepEqual(reported(judge({ git: [A, AB], live: both, stored: undefined })), NOTHING)
})

test('the stored manifest takes precedence over the annotation of another tool', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(AB) }
  const object = { ...both, metadata: { ...(both['metadata'] as JsonObject), annotations } }
  assert.deepEqual(
    reported(judge({ git: [A, AB], live: object, stored: stored({ a: '1' }) })),
    LEFT,
  )
})

test('notes that the next upgrade overwrites a manual value of a release field', () => {
  const object = live({ a: '1', b: '9' }, { helm: ['a'], 'kubectl-edit': ['b'] })
  assert.deepEqual(
    reported(judge({ git: [A, AB], live: object, stored: stored({ a: '1', b: '2' }) })),
    {
      items: [['added', 'b', 'kubectl-edit', NEXT]],
      behind: [],
    },
  )
  const retained = judge({ git: [A, AB], live: object, stored: stored({ a: '1' }) })
  assert.match(retained.items[0]?.notes[0] ?? '', /^no apply removes it/)
})

test('a missing live field is Behind while the release lacks it, and removed once the release has it', () => {
  const object = live({ a: '1' }, { helm: ['a'] })
  const given = {
    git: [AB, A],
    live: object,
    predicted: live({ a: '1', b: '2' }, { helm: ['a', 'b'] }),
  }
  assert.deepEqual(reported(judge({ ...given, stored: stored({ a: '1' }) })), BEHIND)
  assert.deepEqual(reported(judge({ ...given, stored: stored({ a: '1', b: '2' }) })), {
    items: [['removed', 'b', 'unknown', undefined]],
    behind: [],
  })
})

test('a value of an earlier commit is not Behind when the release has the value of git', () => {
  const given = {
    git: [manifest({ a: '2' }), A],
    live: live({ a: '1' }, { helm: ['a'] }),
    predicted: live({ a: '2' }, { helm: ['a'] }),
  }
  assert.deepEqual(reported(judge({ ...given, stored: stored({ a: '1' }) })), BEHIND)
  const note = `${RELEASE} has the value of git, so the live one was written later, under the syncer's own name`
  assert.deepEqual(reported(judge({ ...given, stored: stored({ a: '2' }) })), {
    items: [['modified', 'a', 'helm', note]],
    behind: [],
  })
})

test('a released field is lost when the release has it, and stays otherwise', () => {
  const given = {
    git: [manifest({ a: '1' })],
    live: live({ a: '5' }, { 'kubectl-edit': ['a'] }),
    predicted: live({ a: '1' }, { helm: ['a'] }),
  }
  assert.equal(judge({ ...given, stored: stored({ a: '1' }) }).items[0]?.lostWhenReleased, true)
  assert.equal(
    judge({ ...given, stored: stored({ b: '1' }) }).items[0]?.lostWhenReleased,
    undefined,
  )
})

test('field owners decide removal for a release that Helm applies server-side', () => {
  const syncer: SyncerManager = { ...HELM, operation: 'Apply' }
  const object = live({ a: '1', b: '2' }, { helm: ['a'], 'kubectl-edit': ['b'] }, ID, 'Apply')
  const verdict = judge({ git: [A, AB], live: object, stored: stored({ a: '1', b: '2' }), syncer })
  assert.match(verdict.items[0]?.notes[0] ?? '', /^no apply removes it/)
  assert.equal(verdict.items[0]?.lostWhenReleased, undefined)
})

test('compares a Secret where the server stores it, and reveals no value of the release', () => {
  const id = { ...ID, kind: 'Secret' }
  const object = live({ a: 'MQ==', b: 'bGl2ZQ==' }, { helm: ['a', 'b'] }, id)
  const written = {
    ...manifest({}, id),
    data: {},
    stringData: { a: '1', b: 'canary-of-the-release' },
  }
  const verdict = judge({
    git: [manifest({ a: 'MQ==' }, id)],
    live: object,
    stored: stored({}, { object: written }),
    id,
  })
  assert.deepEqual(reported(verdict), LEFT)
  assert.doesNotMatch(JSON.stringify([verdict.items, verdict.notes]), /canary|Y2FuYXJ5/)
})

test('an object in the release awaits the next upgrade, however long ago git dropped it', () => {
  assert.deepEqual(
    reported(
      judge({ git: [undefined, A], live: live({ a: '1' }, {}), stored: stored({ a: '1' }) }),
    ),
    BEHIND,
  )
  const unknown = judge({ git: [undefined, A], live: live({ a: '1' }, {}), stored: undefined })
  assert.deepEqual(
    unknown.items.map(({ change }) => change),
    ['unexpected'],
  )
})

test('an object in git but not in the release was never applied; hooks are in no release', () => {
  assert.deepEqual(reported(judge({ git: [A, undefined], live: undefined, stored: null })), BEHIND)
  const missing = (given: Omit<Given, 'live'>): unknown =>
    judge({ ...given, live: undefined }).items.map(({ change }) => change)
  assert.deepEqual(missing({ git: [A, undefined], stored: undefined }), ['missing'])
  assert.deepEqual(missing({ git: [A, undefined], stored: stored({ a: '1' }) }), ['missing'])
  const hook = manifest({}, ID, { annotations: { 'helm.sh/hook': 'pre-install' } })
  assert.deepEqual(missing({ git: [hook, undefined], stored: null }), ['missing'])
})

test('a stringData key that git dropped awaits the releasing apply, and is left over afterwards', () => {
  const id = { ...ID, kind: 'Secret' }
  const git = [manifest({ a: 'MQ==' }, id), manifest({ a: 'MQ==', b: 'Mg==' }, id)]
  const object = live({ a: 'MQ==', b: 'Mg==' }, { helm: ['a', 'b'] }, id)
  const before = judge({
    git,
    live: object,
    stored: stored({}, { object: { ...manifest({ a: 'MQ==' }, id), stringData: { b: '2' } } }),
    id,
  })
  assert.deepEqual(reported(before), BEHIND)
  assert.deepEqual(
    [before.setAside[0]?.drift.notes, before.setAside[0]?.drift.lostWhenReleased],
    [[LEFT_OVER], undefined],
  )
  const after = judge({
    git,
    live: object,
    stored: stored({}, { object: manifest({ a: 'MQ==' }, id) }),
    id,
  })
  assert.deepEqual(reported(after), LEFT)
  assert.deepEqual(reported(judge({ git, live: object, stored: undefined, id })), NOTHING)
})

test('a dropped stringData key behaves the same under server-side apply, which leaves it without owner', () => {
  const id = { ...ID, kind: 'Secret' }
  const syncer: SyncerManager = { ...HELM, operation: 'Apply' }
  const git = [manifest({ a: 'MQ==' }, id), manifest({ a: 'MQ==', b: 'Mg==' }, id)]
  const owned = (names: JsonObject): JsonObject => ({
    ...manifest({ a: 'MQ==', b: 'Mg==' }, id, {
      uid: 'u',
      managedFields: [
        {
          manager: 'helm',
          operation: 'Apply',
          apiVersion: 'v1',
          fieldsV1: { 'f:data': { 'f:a': {} }, ...names },
        },
      ],
    }),
  })
  assert.deepEqual(
    reported(
      judge({ git, live: owned({ 'f:stringData': { 'f:b': {} } }), stored: undefined, syncer, id }),
    ),
    BEHIND,
  )
  const left = { items: [['added', 'b', 'unknown', LEFT_OVER]], behind: [] }
  assert.deepEqual(reported(judge({ git, live: owned({}), stored: undefined, syncer, id })), left)
})
