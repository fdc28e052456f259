import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { withMetadata } from '../../test/fakes/live-object.ts'
import { deploymentOf, type MarkedBy } from '../../test/fakes/syncer-marks.ts'
import { listClaims } from './claims.ts'

const WEB = 'apps/Deployment/shop/web'

function claimed(...objects: readonly JsonObject[]): string[] {
  const live = new Map(
    objects.map((object, index): [string, LiveState] => [
      `${WEB}${index}`,
      { state: 'present', object, metadataOnly: false },
    ]),
  )
  return listClaims(live).map(({ tool, wanted }) =>
    [tool, ...wanted.map(({ id }) => getResourceKey(id))].join(' '),
  )
}

const FOUND: Readonly<Record<MarkedBy, readonly string[]>> = {
  kustomization: ['flux-kustomization kustomize.toolkit.fluxcd.io/Kustomization/apps/web'],
  helmrelease: ['flux-helmrelease helm.toolkit.fluxcd.io/HelmRelease/apps/web'],
  argo: [
    'argo-application argoproj.io/Application/argocd/web argoproj.io/Application/openshift-gitops/web',
  ],
  argoElsewhere: ['argo-application argoproj.io/Application/team/web'],
  argoLabel: [
    'argo-application argoproj.io/Application/argocd/web argoproj.io/Application/openshift-gitops/web',
  ],
  rootSync: ['config-sync configsync.gke.io/RootSync/config-management-system/root-sync'],
  rootSyncNamed: ['config-sync configsync.gke.io/RootSync/config-management-system/fleet'],
  repoSync: ['config-sync configsync.gke.io/RepoSync/shop/repo-sync'],
  repoSyncNamed: ['config-sync configsync.gke.io/RepoSync/shop/front'],
  kptLive: ['kpt-live'],
  sveltos: ['sveltos config.projectsveltos.io/ClusterProfile//web'],
  fleet: ['fleet fleet.cattle.io/Bundle/fleet-local/web'],
  kapp: ['kapp'],
  kluctl: ['kluctl'],
  helm: ['helm'],
  ci: [],
}

for (const by of Object.keys(FOUND) as MarkedBy[]) {
  const claims = FOUND[by]
  test(`an object marked by ${by} is claimed by ${claims[0] ?? 'nobody'}`, () =>
    assert.deepEqual(claimed(deploymentOf([by])), claims))
}

test('marks copied from another object, or shared with other tools, claim nothing', () => {
  const copies: readonly JsonObject[] = [
    withMetadata(deploymentOf(['argo']), { name: 'copy' }),
    withMetadata(deploymentOf(['argo']), { namespace: 'other' }),
    withMetadata(deploymentOf(['rootSync']), {
      name: 'copy',
      annotations: without(deploymentOf(['rootSync']), 'config.k8s.io/owning-inventory'),
    }),
    withMetadata(deploymentOf(['kapp']), { name: 'copy' }),
    deploymentOf(['ci'], { labels: { 'app.kubernetes.io/instance': 'web' } }),
    deploymentOf(['ci'], { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
    deploymentOf(['ci'], {
      annotations: {
        'objectset.rio.cattle.io/id': 'addon',
        'objectset.rio.cattle.io/owner-gvk': 'k3s.cattle.io/v1, Kind=Addon',
      },
    }),
  ]
  for (const copy of copies) assert.deepEqual(claimed(copy), [])
})

test('the tracking id of a cluster-scoped object names the destination of the Application', () => {
  const role: JsonObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: 'shop:reader',
      annotations: {
        'argocd.argoproj.io/tracking-id':
          'team_web:rbac.authorization.k8s.io/ClusterRole:shop/shop:reader',
      },
    },
  }
  assert.deepEqual(claimed(role), ['argo-application argoproj.io/Application/team/web'])
})

test('a mark that is no valid resource name claims nothing', () => {
  const names = [
    '',
    '../secrets',
    'We b',
    'a/b',
    '\u202eweb',
    `${'a'.repeat(254)}`,
    '-rf',
    'web$(id)',
    'a_b_c',
  ]
  for (const name of names) {
    assert.deepEqual(
      claimed(
        deploymentOf(['kustomization'], { labels: { 'kustomize.toolkit.fluxcd.io/name': name } }),
      ),
      [],
    )
    assert.deepEqual(
      claimed(
        deploymentOf(['helmrelease'], {
          labels: { 'helm.toolkit.fluxcd.io/namespace': name },
          annotations: { 'meta.helm.sh/release-name': name },
        }),
      ),
      [],
    )
    assert.deepEqual(
      claimed(
        deploymentOf(['argo'], {
          annotations: { 'argocd.argoproj.io/tracking-id': `${name}:apps/Deployment:shop/web` },
        }),
      ),
      [],
    )
    assert.deepEqual(
      claimed(deploymentOf(['sveltos'], { annotations: { 'projectsveltos.io/owner-name': name } })),
      [],
    )
    if (name !== '') {
      const annotations = {
        'configsync.gke.io/manager': name,
        'config.k8s.io/owning-inventory': 'x',
      }
      assert.deepEqual(
        claimed(deploymentOf(['rootSync'], { annotations })).filter((one) => one !== 'kpt-live'),
        [],
      )
    }
  }
})

test('the claim on most objects comes first, in any order of the objects', () => {
  const list = [
    deploymentOf(['kustomization']),
    deploymentOf(['argoElsewhere']),
    deploymentOf(['kustomization']),
  ]
  const claims = [
    'flux-kustomization kustomize.toolkit.fluxcd.io/Kustomization/apps/web',
    'argo-application argoproj.io/Application/team/web',
  ]
  assert.deepEqual(claimed(...list), claims)
  assert.deepEqual(claimed(...list.toReversed()), claims)
})

function without(object: JsonObject, key: string): JsonObject {
  const { annotations } = object['metadata'] as { annotations: JsonObject }
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== key))
}
