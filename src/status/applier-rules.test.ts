import { test } from 'node:test'
import {
  drift,
  FORBIDDEN,
  HELM_RELEASE,
  KUSTOMIZATION,
  PROFILE,
  ROOT_SYNC,
} from '../../test/fakes/applier-world.ts'
import { assertRestored, KUBECTL, type RestoreCase } from '../../test/fakes/restored-after.ts'

const CASES: readonly RestoreCase[] = [
  [
    'a Kustomization applies at its interval',
    {
      by: ['kustomization'],
      own: { [KUSTOMIZATION]: { spec: { interval: '10m0s', prune: true } } },
    },
    {
      restores: 'at-interval',
      reverts: 'yes',
      sentence: /^Flux Kustomization apps\/web applies .* every 10m0s/,
      command: 'flux reconcile kustomization web -n apps --with-source',
    },
  ],
  [
    'a suspended Kustomization does nothing until it is resumed',
    {
      by: ['kustomization'],
      own: { [KUSTOMIZATION]: { spec: { interval: '10m', suspend: true } } },
    },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /apps\/web is suspended/,
      command: 'flux resume kustomization web -n apps',
    },
  ],
  [
    'a Kustomization that may not be read is unknown, with the rule to add',
    {
      by: ['kustomization'],
      own: { [KUSTOMIZATION]: { state: 'unreadable', failure: FORBIDDEN } },
    },
    {
      restores: 'unknown',
      reverts: 'unknown',
      sentence: /could not be read \(BP3003: .*403/,
      warning: /bind user "eve" to a Role in namespace apps/,
    },
  ],
  [
    'a Kustomization that is not there applies nothing, unless it lies in another cluster',
    { by: ['kustomization'] },
    {
      restores: 'unknown',
      reverts: 'unknown',
      sentence: /is not in this cluster: unless Flux runs in another/,
      command: KUBECTL('kustomize-controller'),
    },
  ],
  [
    'a Kustomization that is not ready is told',
    {
      by: ['kustomization'],
      own: {
        [KUSTOMIZATION]: {
          spec: { interval: '1m' },
          status: { conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed' }] },
        },
      },
    },
    {
      restores: 'at-interval',
      reverts: 'yes',
      sentence: /every 1m/,
      command: 'flux reconcile kustomization web -n apps --with-source',
      warning: /not ready now \(BuildFailed\)/,
    },
  ],
  [
    'a Kustomization without prune leaves what git no longer has',
    {
      by: ['kustomization'],
      own: { [KUSTOMIZATION]: { spec: { interval: '1m', prune: false } } },
      drifts: [drift('', 'unexpected', 'kubectl', 'old')],
    },
    {
      restores: 'at-interval',
      reverts: 'yes',
      sentence: /every 1m/,
      command: 'flux reconcile kustomization web -n apps --with-source',
      warning: /does not prune/,
    },
  ],
  [
    'an object that Flux was told to leave alone is never restored',
    {
      by: ['kustomization'],
      own: { [KUSTOMIZATION]: { spec: { interval: '1m' } } },
      annotations: { 'kustomize.toolkit.fluxcd.io/reconcile': 'disabled' },
    },
    {
      restores: 'never',
      reverts: 'no',
      sentence:
        /leaves unchanged, even after a merge: Deployment shop\/web spec\.replicas \(.*reconcile: disabled\)/,
    },
  ],
  [
    'a HelmRelease corrects only with drift detection enabled',
    {
      by: ['helmrelease'],
      own: { [HELM_RELEASE]: { spec: { interval: '30m', driftDetection: { mode: 'enabled' } } } },
    },
    {
      restores: 'at-interval',
      reverts: 'yes',
      sentence: /^Flux HelmRelease apps\/web puts live back every 30m/,
    },
  ],
  ...(['warn', undefined] as const).map(
    (mode) =>
      [
        `a HelmRelease with drift detection ${mode ?? 'left out'} does not correct`,
        {
          by: ['helmrelease'],
          own: {
            [HELM_RELEASE]: {
              spec: {
                interval: '30m',
                ...(mode === undefined ? {} : { driftDetection: { mode } }),
              },
            },
          },
        },
        {
          restores: 'when-told',
          reverts: 'no',
          sentence: new RegExp(`its drift detection is ${mode ?? 'disabled'}`),
          command: 'flux reconcile helmrelease web -n apps --force',
          warning: /set spec\.driftDetection\.mode/,
        },
      ] as const,
  ),
  [
    'a HelmRelease that ignores the field never restores it',
    {
      by: ['helmrelease'],
      own: {
        [HELM_RELEASE]: {
          spec: {
            driftDetection: {
              mode: 'enabled',
              ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deploy.*' } }],
            },
          },
        },
      },
    },
    { restores: 'never', reverts: 'no', sentence: /ignored by spec\.driftDetection\.ignore/ },
  ],
  [
    'a HelmRelease that ignores one field of two restores the other',
    {
      by: ['helmrelease'],
      own: {
        [HELM_RELEASE]: {
          spec: {
            interval: '5m',
            driftDetection: { mode: 'enabled', ignore: [{ paths: ['/spec/replicas'] }] },
          },
        },
      },
      drifts: [drift('spec.replicas'), drift('spec.template.spec.containers[name=app].image')],
    },
    {
      restores: 'at-interval',
      reverts: 'yes',
      sentence: /every 5m/,
      warning: /leaves unchanged, even after a merge: Deployment shop\/web spec\.replicas \(/,
    },
  ],
  [
    'a suspended HelmRelease without drift detection has to be resumed and forced',
    { by: ['helmrelease'], own: { [HELM_RELEASE]: { spec: { suspend: true } } } },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /is suspended/,
      command:
        'flux resume helmrelease web -n apps && flux reconcile helmrelease web -n apps --force',
    },
  ],
  [
    'Config Sync puts everything back at once',
    { by: ['rootSync'], own: { [ROOT_SYNC]: { spec: {} } } },
    {
      restores: 'at-once',
      reverts: 'yes',
      sentence: /^Config Sync RootSync config-management-system\/root-sync watches the objects/,
    },
  ],
  [
    'Config Sync leaves alone what is marked mutation: ignore',
    {
      by: ['rootSync'],
      own: { [ROOT_SYNC]: { spec: {} } },
      annotations: { 'client.lifecycle.config.k8s.io/mutation': 'ignore' },
    },
    { restores: 'never', reverts: 'no', sentence: /mutation: ignore/ },
  ],
  [
    'a RootSync that is stalled is told',
    {
      by: ['rootSync'],
      own: {
        [ROOT_SYNC]: {
          status: {
            conditions: [{ type: 'Stalled', status: 'True', reason: 'Validation' }],
            sync: { errorSummary: { totalCount: 2 } },
          },
        },
      },
    },
    {
      restores: 'at-once',
      reverts: 'yes',
      sentence: /watches/,
      warning: /is stalled \(Validation\); .* has 2 sync errors/,
    },
  ],
  [
    'a RootSync that is not there applies nothing',
    { by: ['rootSync'] },
    {
      restores: 'never',
      reverts: 'no',
      sentence: /is not in this cluster: no syncer applies the package/,
      command: KUBECTL('configsync.gke.io'),
    },
  ],
  [
    'kpt live is run by somebody',
    { by: ['kptLive'] },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /^kpt live \(inventory 4f2b9c-web\) applied/,
      command: 'kpt live apply apps/web',
    },
  ],
  [
    'Sveltos with drift detection',
    { by: ['sveltos'], own: { [PROFILE]: { spec: { syncMode: 'ContinuousWithDriftDetection' } } } },
    { restores: 'at-once', reverts: 'yes', sentence: /^Sveltos ClusterProfile web watches/ },
  ],
  [
    'Sveltos that deploys once',
    { by: ['sveltos'], own: { [PROFILE]: { spec: { syncMode: 'OneTime' } } } },
    {
      restores: 'never',
      reverts: 'no',
      sentence: /syncMode OneTime/,
      command: KUBECTL('application/apply-patch'),
    },
  ],
  [
    'Sveltos from elsewhere',
    { by: ['sveltos'] },
    {
      restores: 'unknown',
      reverts: 'unknown',
      sentence: /unless Sveltos runs in a management cluster/,
      command: KUBECTL('application/apply-patch'),
    },
  ],
  [
    'Fleet, which only the management cluster shows',
    { by: ['fleet'] },
    {
      restores: 'unknown',
      reverts: 'unknown',
      sentence: /^Rancher Fleet bundle default-web applies/,
    },
  ],
  [
    'kapp',
    { by: ['kapp'] },
    { restores: 'unknown', reverts: 'unknown', sentence: /^kapp app 1605806842 applied/ },
  ],
  [
    'Helm by hand',
    { by: ['helm'] },
    { restores: 'when-told', reverts: 'no', sentence: /^Helm release shop\/web was installed/ },
  ],
  [
    'a CI',
    { by: ['ci'] },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence:
        /^the package was applied with kubectl apply as ci, and no syncer in the cluster applies it/,
      command: KUBECTL('ci'),
    },
  ],
]

for (const [name, world, expected] of CASES)
  test(`after a Restore: ${name}`, () => {
    assertRestored(world, expected)
  })
