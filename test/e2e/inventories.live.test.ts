/** What inventories of several tools list beyond git, what is rightly gone, and what nobody manages, on a real API server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { connect, create } from '../apiserver/live-cluster.ts'
import { installSyncerKinds } from '../apiserver/syncer-kinds.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld, SYNCER } from './world.ts'

await controlPlaneSuite('inventories', { controllerManager: true }, (plane) => {
  test('reads what git dropped from each inventory, skips finished Jobs, and separates unmanaged objects', async (t) => {
    await installSyncerKinds(plane, await connect(plane))
    const namespace = await plane.namespace('inventories')
    const syncers = await plane.namespace('syncers')
    const config = (name: string, marks = '{}') =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, ${marks.slice(1, -1)}}\ndata: {a: b}\n`
    const flux = `{labels: {kustomize.toolkit.fluxcd.io/name: flux, kustomize.toolkit.fluxcd.io/namespace: ${syncers}}}`
    const helm = `{labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: ${namespace}}}`
    const owned = '{annotations: {config.k8s.io/owning-inventory: inventory-1}}'
    const job = `apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, namespace: ${namespace}}\nspec:\n  ttlSecondsAfterFinished: 60\n  template: {spec: {restartPolicy: Never, containers: [{name: a, image: "example.com/a:1"}]}}\n`
    const world = await openWorld(t, plane, {
      'apps/flux/Kptfile': kptfile('flux'),
      'apps/flux/a.yaml': config('flux', flux),
      'apps/helm/Kptfile': kptfile('helm'),
      'apps/helm/a.yaml': config('helm', helm),
      'apps/owned/Kptfile': kptfile('owned'),
      'apps/owned/a.yaml': config('owned', owned),
      'apps/jobs/Kptfile': kptfile('jobs'),
      'apps/jobs/a.yaml': `${config('jobs')}---\n${job}`,
    })
    for (const name of ['flux', 'helm', 'owned', 'jobs']) await world.sync(`apps/${name}`)
    await world.kubectl('delete', 'job/migrate', '-n', namespace)
    // A copy of the marks that somebody else wrote claims nothing.
    const left = [
      config('flux-old'),
      config('helm-old', helm),
      config('owned-copy', owned),
      config('copy', '{annotations: {a: b}}'),
    ]
    await world.pipe(left.join('---\n'), 'create', '--filename=-')
    await world.pipe(
      config('owned-old', owned),
      'apply',
      '--server-side',
      `--field-manager=${SYNCER}`,
      '--filename=-',
    )
    await create(
      plane,
      `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${syncers}/kustomizations`,
      {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: { name: 'flux', namespace: syncers },
        spec: { path: './apps/flux' },
        status: {
          inventory: {
            entries: ['flux', 'flux-old', 'gone'].map((name) => ({
              id: `${namespace}_${name}__ConfigMap`,
              v: 'v1',
            })),
          },
        },
      },
    )
    const release = gzipSync(
      JSON.stringify({
        name: 'web',
        version: 2,
        manifest: `${config('helm')}---\n${config('helm-old')}`,
      }),
    )
    await create(plane, `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: {
        name: 'sh.helm.release.v1.web.v2',
        labels: { owner: 'helm', name: 'web', status: 'deployed', version: '2' },
      },
      type: 'helm.sh/release.v1',
      stringData: { release: release.toString('base64') },
    })

    const run = assertExit(await world.backporch('diff', '--unmanaged', '-o', 'json'), 1)
    const list: DriftReportList = JSON.parse(run.stdout)
    assert.deepEqual(list.incomplete, [])
    assert.deepEqual(
      list.items.flatMap(({ spec }) =>
        spec.changes.map(({ change, ref, notes }) => `${change} ${ref.name} ${notes?.[0]}`),
      ),
      [
        `unexpected flux-old listed by Flux Kustomization ${syncers}/flux`,
        `unexpected helm-old listed by Helm release ${namespace}/web revision 2`,
        'unexpected owned-old listed by the objects that are marked as of kpt live (inventory inventory-1)',
      ],
    )
    const jobs = list.items.find(({ spec }) => spec.unit.package === 'apps/jobs')
    assert.deepEqual(
      jobs?.status.setAside?.map(({ state, ref }) => `${state} ${ref.kind}/${ref.name}`),
      ['Ignored Job/migrate'],
    )
    // Neither what every namespace has, nor Helm's storage, nor what a package or an inventory has.
    assert.deepEqual(
      list.unmanaged?.map(({ objects, unread }) => [
        objects.map(({ ref, manager }) => `${ref.kind}/${ref.name} ${manager}`),
        unread,
      ]),
      [[['ConfigMap/copy kubectl-create'], []]],
    )
    const text = assertExit(
      await world.backporch('diff', 'apps/jobs', '--unmanaged', '--show-ignored'),
      0,
    )
    assert.match(
      text.stdout,
      /Ignored: Job .*\/migrate missing: the cluster removes this Job 60 seconds after it finished/,
    )
    assert.match(text.stdout, /^\d+ unmanaged in namespace .* \(no drift, and not recorded\):$/m)
    const explained = assertExit(await world.backporch('explain', 'apps/jobs'), 0)
    assert.match(explained.stdout, /spec\.ttlSecondsAfterFinished\) \(built-in:finished-job\)/)
  })
})
