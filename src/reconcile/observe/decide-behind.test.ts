import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import { MemoryCluster } from '../../../test/fakes/memory-cluster.ts'
import { gitOf, observationOf } from '../../../test/fakes/observation-builder.ts'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import { detectDrift } from '../../drift/detect/detect-drift.ts'
import { decideBehind } from './decide-behind.ts'
import { OwnResources } from './own-resources.ts'

const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const COMMIT = 'a'.repeat(40)
const CONFIG: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop' },
  data: { theme: 'light' },
}
const OWN = {
  group: 'kustomize.toolkit.fluxcd.io',
  kind: 'Kustomization',
  namespace: 'flux-system',
  name: 'web',
}
const NEVER = new AbortController().signal
const NOW = '2026-11-21T10:00:00Z'

/** Of an object that was not there when the unit was read, with what the cluster has now. */
async function decide(status: JsonObject, ...now: readonly JsonObject[]): Promise<ObjectVerdict> {
  const cluster = new MemoryCluster('prod')
  const { namespace, name } = OWN
  cluster.put({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace },
    status,
  })
  for (const object of now) cluster.put(object)
  const location = { path: 'apps/web/config.yaml', document: 0, item: undefined, line: 1 }
  const desired = { id: ID, apiVersion: 'v1', object: CONFIG, location }
  const verdict = detectDrift(
    { desired, live: { state: 'absent' }, schema: UNKNOWN_SCHEMA, prediction: undefined },
    undefined,
  )
  const version = {
    commit: COMMIT,
    tree: 'a'.repeat(16),
    at: '2025-06-01T00:00:00Z',
    objects: new Map([[getResourceKey(ID), CONFIG]]),
  }
  const [decided] = await decideBehind(
    [verdict],
    {
      // No object is there that names the syncer: the unit was found by its resource.
      read: { live: new Map([[getResourceKey(ID), { state: 'absent' }]]), claims: [] },
      syncer: undefined,
      inventory: undefined,
      refused: new Map(),
      stored: undefined,
      now: NOW,
      stuckAfter: undefined,
    },
    {
      unit: observationOf().unit,
      git: gitOf(),
      history: async () => ({
        versions: [version],
        locationOf: new Map([[COMMIT, 0]]),
        complete: true,
      }),
      own: new OwnResources(cluster),
      claims: [
        {
          tool: 'flux-kustomization',
          ...OWN,
          wanted: [{ id: OWN, apiVersion: '' }],
          objects: new Set(),
        },
      ],
      key: createRedactionKey(new Uint8Array(32)),
      present: NOW,
      audit: undefined,
      onNote: () => undefined,
    },
    NEVER,
  )
  assert.ok(decided !== undefined)
  return decided
}

const stateOf = ({ items, setAside }: ObjectVerdict): unknown => [
  items.map(({ change }) => change),
  setAside.map(({ state }) => state),
]
const APPLIED = { lastAppliedRevision: `main@sha1:${COMMIT}` }

test('the report of the resource that applies the unit counts even if no object names it', async () => {
  const failed = {
    conditions: [{ type: 'Ready', status: 'False', reason: 'ReconciliationFailed' }],
  }
  assert.deepEqual(stateOf(await decide(failed)), [[], ['SyncFailed']])
  assert.deepEqual(stateOf(await decide(APPLIED)), [['missing'], []])
})

test('an object that was applied between the two requests is not missing', async () => {
  const verdict = await decide(APPLIED, CONFIG)
  assert.deepEqual(stateOf(verdict), [[], ['Reconciling']])
  assert.equal(verdict.state, 'in-sync')
  assert.equal(
    verdict.setAside[0]?.why,
    'Flux Kustomization flux-system/web applied it while it was compared',
  )
})
