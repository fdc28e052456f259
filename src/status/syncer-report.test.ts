import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveState } from '../krm/live-view.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { Claim } from '../syncers/syncer.ts'
import { NO_SYNCER_REPORT } from '../syncers/syncer.ts'
import type { JsonObject } from '../text/json.ts'
import { syncerReportOf } from './syncer-report.ts'

const COMMIT = '0123456789'.repeat(4)

function claim(tool: string, kind: string, name = 'web'): Claim {
  const id = { group: 'example.com', kind, namespace: 'flux-system', name }
  return { tool, kind, namespace: 'flux-system', name, wanted: [{ id, apiVersion: '' }], objects: new Set() }
}

function answers(...pairs: readonly (readonly [Claim, JsonObject])[]): ReadonlyMap<string, LiveState> {
  return new Map(
    pairs.flatMap(([{ wanted }, object]) =>
      wanted.map(({ id }): [string, LiveState] => [resourceKey(id), { state: 'present', object, metadataOnly: false }]),
    ),
  )
}

const KUSTOMIZATION = claim('flux-kustomization', 'Kustomization')
const NOTHING = NO_SYNCER_REPORT

const SAYS: readonly (readonly [name: string, claim: Claim, object: JsonObject, says: object])[] = [
  ['Flux: a revision with its branch', KUSTOMIZATION, { status: { lastAppliedRevision: `main@sha1:${COMMIT}` } }, { applied: COMMIT }],
  ['Flux: a revision of older versions', KUSTOMIZATION, { status: { lastAppliedRevision: `main/${COMMIT}` } }, { applied: COMMIT }],
  ['Flux: a revision of a chart', claim('flux-helmrelease', 'HelmRelease'), { status: { lastAppliedRevision: '1.2.3' } }, {}],
  ['Flux: suspended', KUSTOMIZATION, { spec: { suspend: true } }, { suspended: 'Flux Kustomization flux-system/web is suspended' }],
  [
    'Flux: at work',
    KUSTOMIZATION,
    { status: { conditions: [{ type: 'Reconciling', status: 'True' }] } },
    { atWork: 'Flux Kustomization flux-system/web is at work' },
  ],
  [
    'Argo CD: the last whole sync',
    claim('argo-application', 'Application'),
    { status: { history: [{ revision: 'f'.repeat(40) }, { revision: COMMIT }] } },
    { applied: COMMIT },
  ],
  [
    'Argo CD: the last whole sync of several sources',
    claim('argo-application', 'Application'),
    { status: { history: [{ revision: 'f'.repeat(40) }, { revisions: [COMMIT, COMMIT] }] } },
    { applied: COMMIT },
  ],
  [
    'Argo CD: several sources of several repositories',
    claim('argo-application', 'Application'),
    { status: { history: [{ revisions: [COMMIT, 'f'.repeat(40)] }] } },
    {},
  ],
  [
    'Argo CD: at work',
    claim('argo-application', 'Application'),
    { status: { operationState: { phase: 'Running' } } },
    { atWork: 'Argo CD Application flux-system/web is at work' },
  ],
  [
    'Argo CD: told to skip',
    claim('argo-application', 'Application'),
    { metadata: { annotations: { 'argocd.argoproj.io/skip-reconcile': 'true' } } },
    { suspended: 'Argo CD Application flux-system/web is marked skip-reconcile' },
  ],
  [
    'Config Sync: the last synced commit, and at work',
    claim('config-sync', 'RootSync'),
    { status: { lastSyncedCommit: COMMIT, conditions: [{ type: 'Syncing', status: 'True' }] } },
    { applied: COMMIT, atWork: 'Config Sync RootSync flux-system/web is at work' },
  ],
  [
    'Flux: not ready, by type and reason, and how often it comes',
    KUSTOMIZATION,
    { spec: { interval: '1h10m30.5s' }, status: { conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed', message: 'x' }] } },
    { says: 'Flux Kustomization flux-system/web says Ready is False: BuildFailed', interval: 4_230 },
  ],
  [
    'Flux: stalled, with a reason that is none',
    KUSTOMIZATION,
    { spec: { interval: 'often' }, status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'a b' }] } },
    { says: 'Flux Kustomization flux-system/web says Stalled is True: no reason' },
  ],
  [
    'Argo CD: a sync that failed',
    claim('argo-application', 'Application'),
    { status: { operationState: { phase: 'Failed' } } },
    { says: 'Argo CD Application flux-system/web says its last sync is Failed' },
  ],
  ['Config Sync: how often it looks', claim('config-sync', 'RootSync'), { spec: { git: { period: '15s' } } }, { interval: 15 }],
  ['nothing said', KUSTOMIZATION, { status: { conditions: [{ type: 'Ready', status: 'True' }, 'x'], history: 'x' } }, {}],
]

function titleOf({ tool, kind }: Claim): string {
  return `${tool.startsWith('flux') ? 'Flux' : tool === 'config-sync' ? 'Config Sync' : 'Argo CD'} ${kind} flux-system/web`
}

for (const [name, one, object, says] of SAYS) {
  test(name, () => assert.deepEqual(syncerReportOf([one], answers([one, object])), { ...NOTHING, title: titleOf(one), ...says }))
}

test('what could not be read, or is not there, says nothing', () => {
  const key = resourceKey(KUSTOMIZATION.wanted[0]?.id ?? { group: '', kind: '', namespace: '', name: '' })
  assert.deepEqual(syncerReportOf([KUSTOMIZATION], new Map([[key, { state: 'absent' } as const]])), NOTHING)
  assert.deepEqual(syncerReportOf([KUSTOMIZATION], new Map()), NOTHING)
  assert.deepEqual(syncerReportOf([], new Map()), NOTHING)
})

test('of two syncers a commit counts when both applied it, and they are suspended when both are', () => {
  const other = claim('flux-kustomization', 'Kustomization', 'other')
  const both = (left: JsonObject, right: JsonObject) =>
    syncerReportOf([KUSTOMIZATION, other], answers([KUSTOMIZATION, left], [other, right]))
  const applied = (commit: string): JsonObject => ({ status: { lastAppliedRevision: commit } })
  assert.equal(both(applied(COMMIT), applied(COMMIT)).applied, COMMIT)
  assert.equal(both(applied(COMMIT), applied('f'.repeat(40))).applied, undefined)
  assert.equal(both({ spec: { suspend: true } }, {}).suspended, undefined)
  assert.match(both({ spec: { suspend: true } }, { spec: { suspend: true } }).suspended ?? '', /is suspended$/)
})
