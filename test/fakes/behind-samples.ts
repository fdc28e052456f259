/** Verdicts about one ConfigMap whose content in git moved on, with the evidence about its syncer. */
import assert from 'node:assert/strict'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { setBehindAside } from '../../src/drift/behind/behind.ts'
import {
  NO_MEMORY,
  type PackageVersion,
  type SyncEvidence,
} from '../../src/drift/behind/sync-evidence.ts'
import type { ObjectVerdict } from '../../src/drift/compare/drift.ts'
import { detectDrift } from '../../src/drift/detect/detect-drift.ts'
import { NO_SYNCER_REPORT } from '../../src/syncers/syncer.ts'

const SYNCER = { manager: 'ci', operation: 'Apply', subresource: '' } as const
export const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
export const OTHER = { ...ID, name: 'other' }
const LOCATION = { path: 'apps/web/config.yaml', document: 0, item: undefined, line: 1 }
export const [C0, C1, C2] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)]
export const [T0, T1, T2] = ['2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z']

export function config(data: JsonObject, name = 'web'): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data }
}

/** Live as the syncer wrote it at `time`; `owned` are the keys that it owns. */
export function live(
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

export function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

export function version(
  commit: string,
  at: string,
  ...objects: readonly JsonObject[]
): PackageVersion {
  const keyOf = (object: JsonObject): string =>
    getResourceKey({ ...ID, name: String((object['metadata'] as JsonObject)['name']) })
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

export function judge({ versions, live: object, predicted, evidence = {} }: Given): ObjectVerdict {
  const desired = versions[0]?.objects.get(getResourceKey(ID)) ?? {}
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
    evidenceOf(versions, new Map([[getResourceKey(ID), state]]), evidence),
  )
  assert.ok(decided !== undefined)
  return decided
}

export function evidenceOf(
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

export function reported({ items, setAside, state }: ObjectVerdict): unknown {
  return {
    state,
    items: items.map(({ change }) => change),
    aside: setAside.map((one) => [one.state, one.commit]),
  }
}

export const BEHIND_ONE = { state: 'in-sync', items: [], aside: [['Behind', C1]] }

export const MOVED = [
  version(C0, T0, config({ a: '3' })),
  version(C1, T1, config({ a: '2' })),
  version(C2, T2, config({ a: '1' })),
]
