import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import type { Claim } from '../syncers/syncer.ts'
import { NO_SYNCER_REPORT } from '../syncers/syncer.ts'
import { createSyncerReport } from './syncer-report.ts'

const COMMIT = '0123456789'.repeat(4)

function claim(tool: string, kind: string, name = 'web'): Claim {
  const id = { group: 'example.com', kind, namespace: 'flux-system', name }
  return {
    tool,
    kind,
    namespace: 'flux-system',
    name,
    wanted: [{ id, apiVersion: '' }],
    objects: new Set(),
  }
}

function answers(
  ...pairs: readonly (readonly [Claim, JsonObject])[]
): ReadonlyMap<string, LiveState> {
  return new Map(
    pairs.flatMap(([{ wanted }, object]) =>
      wanted.map(({ id }): [string, LiveState] => [
        getResourceKey(id),
        { state: 'present', object, metadataOnly: false },
      ]),
    ),
  )
}

const KUSTOMIZATION = claim('flux-kustomization', 'Kustomization')
const NOTHING = NO_SYNCER_REPORT

function failing(text: string, more: object = {}): object {
  return { says: text, failed: text, ...more }
}

const SAYS: readonly (readonly [name: string, claim: Claim, object: JsonObject, says: object])[] = [
  [
    'Flux: a revision with its branch',
    KUSTOMIZATION,
    { status: { lastAppliedRevision: `main@sha1:${COMMIT}` } },
    { applied: COMMIT },
  ],
  [
    'Flux: a revision of older versions',
    KUSTOMIZATION,
    { status: { lastAppliedRevision: `main/${COMMIT}` } },
    { applied: COMMIT },
  ],
  [
    'Flux: a revision of a chart',
    claim('flux-helmrelease', 'HelmRelease'),
    { status: { lastAppliedRevision: '1.2.3' } },
    {},
  ],
  [
    'Flux: suspended',
    KUSTOMIZATION,
    { spec: { suspend: true } },
    { unappliedSince: '', suspended: 'Flux Kustomization flux-system/web is suspended' },
  ],
  [
    'Flux: at work',
    KUSTOMIZATION,
    { status: { conditions: [{ type: 'Reconciling', status: 'True' }] } },
    { unappliedSince: '', atWork: 'Flux Kustomization flux-system/web is at work' },
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
    {
      unappliedSince: '',
      suspended: 'Argo CD Application flux-system/web is marked skip-reconcile',
    },
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
    {
      spec: { interval: '1h10m30.5s' },
      status: {
        conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed', message: 'x' }],
      },
    },
    failing('Flux Kustomization flux-system/web says Ready is False: BuildFailed', {
      unappliedSince: '',
      interval: 4_230,
    }),
  ],
  [
    'Flux: stalled, with a reason that is none',
    KUSTOMIZATION,
    {
      spec: { interval: 'often' },
      status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'a b' }] },
    },
    failing('Flux Kustomization flux-system/web says Stalled is True: no reason', {
      unappliedSince: '',
    }),
  ],
  [
    'Argo CD: a sync that failed',
    claim('argo-application', 'Application'),
    { status: { operationState: { phase: 'Failed' } } },
    failing('Argo CD Application flux-system/web says its last sync is Failed'),
  ],
  [
    'Config Sync: how often it looks',
    claim('config-sync', 'RootSync'),
    { spec: { git: { period: '15s' } } },
    { unappliedSince: '', interval: 15 },
  ],
  ...['DependencyNotReady', 'ArtifactFailed', 'SourceNotReady'].map(
    (reason) =>
      [
        `Flux: it waits (${reason}), which is no failure`,
        KUSTOMIZATION,
        { status: { conditions: [{ type: 'Ready', status: 'False', reason }] } },
        {
          unappliedSince: '',
          says: `Flux Kustomization flux-system/web says Ready is False: ${reason}`,
        },
      ] as const,
  ),
  [
    'Flux: a release whose upgrade failed was applied before',
    claim('flux-helmrelease', 'HelmRelease'),
    {
      status: {
        history: [{ status: 'failed' }],
        conditions: [{ type: 'Ready', status: 'False', reason: 'UpgradeFailed' }],
      },
    },
    failing('Flux HelmRelease flux-system/web says Ready is False: UpgradeFailed'),
  ],
  [
    'Flux: its history has only what it could not apply',
    KUSTOMIZATION,
    { status: { history: [{ lastReconciledStatus: 'ReconciliationFailed' }] } },
    { unappliedSince: '' },
  ],
  [
    'Argo CD: never synced',
    claim('argo-application', 'Application'),
    { status: { sync: { status: 'OutOfSync' } } },
    { unappliedSince: '' },
  ],
  [
    'Argo CD: a condition that keeps it from a sync',
    claim('argo-application', 'Application'),
    {
      status: {
        history: [{ revision: COMMIT }],
        conditions: [{ type: 'OrphanedResourceWarning' }, { type: 'ComparisonError' }],
      },
    },
    failing('Argo CD Application flux-system/web says it has the condition ComparisonError', {
      applied: COMMIT,
    }),
  ],
  ...['source', 'rendering', 'sync'].map(
    (stage) =>
      [
        `Config Sync: errors (${stage})`,
        claim('config-sync', 'RootSync'),
        { status: { lastSyncedCommit: COMMIT, [stage]: { errorSummary: { totalCount: 2 } } } },
        failing(`Config Sync RootSync flux-system/web has 2 ${stage} errors`, { applied: COMMIT }),
      ] as const,
  ),
  [
    'nothing said',
    KUSTOMIZATION,
    { status: { conditions: [{ type: 'Ready', status: 'True' }, 'x'], history: 'x' } },
    { unappliedSince: '' },
  ],
]

function titleOf({ tool, kind }: Claim): string {
  return `${tool.startsWith('flux') ? 'Flux' : tool === 'config-sync' ? 'Config Sync' : 'Argo CD'} ${kind} flux-system/web`
}

for (const [name, one, object, says] of SAYS) {
  test(name, () =>
    assert.deepEqual(createSyncerReport([one], answers([one, object])), {
      ...NOTHING,
      title: titleOf(one),
      ...says,
    }),
  )
}

test('an unreadable or absent syncer reports nothing', () => {
  const key = getResourceKey(
    KUSTOMIZATION.wanted[0]?.id ?? { group: '', kind: '', namespace: '', name: '' },
  )
  assert.deepEqual(
    createSyncerReport([KUSTOMIZATION], new Map([[key, { state: 'absent' } as const]])),
    NOTHING,
  )
  assert.deepEqual(createSyncerReport([KUSTOMIZATION], new Map()), NOTHING)
  assert.deepEqual(createSyncerReport([], new Map()), NOTHING)
})

test('a commit counts when both of two syncers applied it, and both must be suspended to report a suspension', () => {
  const other = claim('flux-kustomization', 'Kustomization', 'other')
  const both = (left: JsonObject, right: JsonObject) =>
    createSyncerReport([KUSTOMIZATION, other], answers([KUSTOMIZATION, left], [other, right]))
  const applied = (commit: string): JsonObject => ({ status: { lastAppliedRevision: commit } })
  assert.equal(both(applied(COMMIT), applied(COMMIT)).applied, COMMIT)
  assert.equal(both(applied(COMMIT), applied('f'.repeat(40))).applied, undefined)
  assert.equal(both({ spec: { suspend: true } }, {}).suspended, undefined)
  assert.match(
    both({ spec: { suspend: true } }, { spec: { suspend: true } }).suspended ?? '',
    /is suspended$/,
  )
})
