import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldManager } from '@backporch/kyaml/field'
import { bind, connect, create, wanted } from '../../../test/apiserver/live-cluster.ts'
import {
  createSyncer,
  installSyncerKinds,
  SYNCER_KINDS,
} from '../../../test/apiserver/syncer-kinds.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { observeApplier } from '../../reconcile/observe/observe-applier.ts'
import { OwnResources } from '../../reconcile/observe/own-resources.ts'
import type { Applier } from '../../status/applier.ts'
import { listClaims } from '../../syncers/claims.ts'
import type { ConnectedCluster } from '../client/connect-cluster.ts'

const signal = new AbortController().signal
const CI: FieldManager = { manager: 'ci', operation: 'Apply', subresource: '' }

await controlPlaneSuite('who applies, on a real API server', {}, (plane) => {
  async function configMap(
    namespace: string,
    metadata: { readonly labels?: object; readonly annotations?: object },
  ): Promise<void> {
    await create(plane, `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'web', namespace, ...metadata },
      data: { a: '1' },
    })
  }

  async function applier({ reader }: ConnectedCluster, namespace: string): Promise<Applier> {
    const live = await reader.readLive([wanted('v1', 'ConfigMap', namespace, 'web')], signal)
    assert.equal([...live.values()][0]?.state, 'present')
    const side = { live, claims: listClaims(live), verdicts: [], syncer: CI }
    return observeApplier(
      new OwnResources(reader),
      side,
      { packagePath: 'apps/web', pipeline: false },
      signal,
    )
  }

  /** May read the objects of the package, and nothing of any syncer. */
  async function onlyObjects(namespace: string): Promise<ConnectedCluster> {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await create(plane, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
      metadata: { name: 'objects' },
      rules,
    })
    await bind(plane, namespace, 'objects', 'eve')
    return connect(plane, 'eve')
  }

  test('reports a Kustomization as absent, applied at its interval, suspended, or forbidden with the missing RBAC rule', async () => {
    const cluster = await connect(plane)
    await installSyncerKinds(plane, cluster)
    const namespace = await plane.namespace('flux')
    const labels = {
      'kustomize.toolkit.fluxcd.io/name': 'web',
      'kustomize.toolkit.fluxcd.io/namespace': namespace,
    }
    await configMap(namespace, { labels })
    const absent = await applier(cluster, namespace)
    assert.equal(absent.restores, 'unknown')
    assert.match(absent.sentence, /is not in this cluster: unless Flux runs in another cluster/)

    await createSyncer(plane, SYNCER_KINDS.kustomization, namespace, 'web', {
      interval: '7m0s',
      prune: true,
    })
    const running = await applier(cluster, namespace)
    assert.equal(running.restores, 'at-interval')
    assert.match(running.sentence, /every 7m0s/)

    const path = `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations/web`
    const patch = { contentType: 'application/merge-patch+json', body: { spec: { suspend: true } } }
    assert.equal((await plane.request('PATCH', path, patch)).status, 200)
    const suspended = await applier(cluster, namespace)
    assert.deepEqual(
      [suspended.restores, suspended.command],
      ['when-told', `flux resume kustomization web -n ${namespace}`],
    )

    const eve = await onlyObjects(namespace)
    const forbidden = await applier(eve, namespace)
    assert.equal(forbidden.restores, 'unknown')
    assert.match(
      forbidden.sentence,
      /could not be read \(BP3003: the account may not list it \(403\)\)/,
    )
    const rule =
      'apiGroups: ["kustomize.toolkit.fluxcd.io"], resources: ["kustomizations"], verbs: ["list"]'
    assert.equal(
      forbidden.warning,
      `to know what it does: bind user "eve" to a Role in namespace ${namespace} with ${rule}`,
    )

    const rules = [
      {
        apiGroups: ['kustomize.toolkit.fluxcd.io'],
        resources: ['kustomizations'],
        verbs: ['list'],
      },
    ]
    await create(plane, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
      metadata: { name: 'flux' },
      rules,
    })
    await bind(plane, namespace, 'flux', 'eve')
    assert.equal((await applier(await connect(plane, 'eve'), namespace)).restores, 'when-told')
  })

  test('a HelmRelease corrects drift only with drift detection enabled', async () => {
    const cluster = await connect(plane)
    await installSyncerKinds(plane, cluster)
    const namespace = await plane.namespace('helm')
    await configMap(namespace, {
      labels: {
        'helm.toolkit.fluxcd.io/name': 'web',
        'helm.toolkit.fluxcd.io/namespace': namespace,
      },
    })
    await createSyncer(plane, SYNCER_KINDS.helmRelease, namespace, 'web', { interval: '30m' })
    const plain = await applier(cluster, namespace)
    assert.deepEqual(
      [plain.restores, plain.command],
      ['when-told', `flux reconcile helmrelease web -n ${namespace} --force`],
    )
  })

  test('reports the command to sync a manual Application, and an Application in an unknown namespace as unknown', async () => {
    const cluster = await connect(plane)
    await installSyncerKinds(plane, cluster)
    const namespace = await plane.namespace('argo')
    await configMap(namespace, {
      annotations: {
        'argocd.argoproj.io/tracking-id': `${namespace}_web:/ConfigMap:${namespace}/web`,
      },
    })
    await createSyncer(plane, SYNCER_KINDS.application, namespace, 'web', {
      syncPolicy: { automated: { enabled: false } },
    })
    const byHand = await applier(cluster, namespace)
    assert.deepEqual(
      [byHand.restores, byHand.command],
      ['when-told', `argocd app sync ${namespace}/web`],
    )

    const elsewhere = await plane.namespace('argo')
    await configMap(elsewhere, {
      annotations: {
        'argocd.argoproj.io/tracking-id': `not-here-${elsewhere}:/ConfigMap:${elsewhere}/web`,
      },
    })
    const unknown = await applier(cluster, elsewhere)
    assert.equal(unknown.restores, 'unknown')
    assert.match(unknown.warning ?? '', /looked for it in argocd and openshift-gitops/)
  })

  test('a RootSync restores at once, and an absent one never', async () => {
    const cluster = await connect(plane)
    await installSyncerKinds(plane, cluster)
    const namespace = await plane.namespace('sync')
    const [root, manager] = [`r-${namespace}`, `:root_r-${namespace}`]
    const resourceId = `_configmap_${namespace}_web`
    const annotations = {
      'configmanagement.gke.io/managed': 'enabled',
      'configsync.gke.io/manager': manager,
      'configsync.gke.io/resource-id': resourceId,
    }
    await configMap(namespace, { annotations })
    assert.equal((await applier(cluster, namespace)).restores, 'never')
    const system = 'config-management-system'
    const created = await plane.request('POST', '/api/v1/namespaces', {
      body: { metadata: { name: system } },
    })
    assert.ok(created.status === 201 || created.status === 409)
    await createSyncer(plane, SYNCER_KINDS.rootSync, system, root, { sourceFormat: 'unstructured' })
    const found = await applier(cluster, namespace)
    assert.deepEqual(
      [found.name, found.restores],
      [`Config Sync RootSync ${system}/${root}`, 'at-once'],
    )
  })

  test('reports the applier of an unserved kind as unknown instead of absent', async () => {
    const cluster = await connect(plane)
    const namespace = await plane.namespace('sveltos')
    await configMap(namespace, {
      annotations: {
        'projectsveltos.io/owner-kind': 'ClusterProfile',
        'projectsveltos.io/owner-name': 'web',
      },
    })
    const unserved = await applier(cluster, namespace)
    assert.equal(unserved.restores, 'unknown')
    assert.match(unserved.sentence, /could not be read \(BP3009: /)
  })
})
