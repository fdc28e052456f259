import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  HELM_MARKS,
  InventoryWorld,
  KUSTOMIZE_MARKS,
  kustomization,
} from '../../../test/fakes/inventory-world.ts'
import { idOf } from '../../../test/fakes/memory-cluster.ts'
import { KPTFILE, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

const OWN = ['shop_web_apps_Deployment', 'shop_web__ConfigMap']
const config = (name: string) => `shop_${name}__ConfigMap`
const manifest = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {a: b}\n`

function flux(
  path: string,
  entries: readonly string[],
  files: { readonly [path: string]: string } = {},
  spec = {},
): InventoryWorld {
  const world = new InventoryWorld(files).mark(KUSTOMIZE_MARKS)
  world.packages = ['apps/web']
  world.cluster.put(kustomization(path, [...OWN, ...entries], spec))
  return world
}

test('an object that a Kustomization applied and git dropped is unexpected', async () => {
  const world = flux('./apps/web', [config('old'), config('gone')]).leave('old')
  assert.deepEqual(await world.reported(), {
    changes: ['unexpected ConfigMap/old'],
    aside: [],
    incomplete: [],
    notes: [],
    state: 'Drifted',
  })
})

test('a Kustomization is read once for all packages and not again for the applier', async () => {
  const world = flux('./apps', [config('api')], {
    'apps/api/Kptfile': KPTFILE,
    'apps/api/a.yaml': manifest('api'),
  })
  world.mark(KUSTOMIZE_MARKS, ['/ConfigMap/shop/api'])
  world.packages = []
  const { units } = await world.scan({ dryRun: true })
  assert.deepEqual(
    units.map((unit) => unit.state === 'planned' && [unit.plan.report.status.state, unit.notes]),
    [
      ['InSync', []],
      ['InSync', []],
    ],
  )
  assert.equal(world.read.filter((key) => key.includes('/Kustomization/')).length, 1)
  assert.deepEqual(world.questions, [])
})

test('in a shared Kustomization, objects of other packages are theirs and undeclared ones are only noted', async () => {
  const files = { 'apps/api/Kptfile': KPTFILE, 'apps/api/a.yaml': manifest('api') }
  const world = flux('./apps', [config('api'), config('old')], files).leave('old')
  const { changes, incomplete, notes, state } = await world.reported()
  assert.deepEqual([changes, incomplete, state], [[], [], 'InSync'])
  assert.equal(notes.length, 1)
  assert.match(
    notes[0] ?? '',
    /^ConfigMap shop\/old is in Flux Kustomization flux-system\/web and in no package of this repository; cannot tell whether it belongs/,
  )
  assert.match(notes[0] ?? '', /applies apps, which is more than the package$/)
})

test("a package outside the Kustomization's folder declares none of its inventory", async () => {
  const world = flux('./apps/web', [config('old')], {
    'infra/a/Kptfile': KPTFILE,
    'infra/a/a.yaml': manifest('old'),
  }).leave('old')
  assert.deepEqual((await world.reported()).changes, ['unexpected ConfigMap/old'])
})

test('an unreadable package may declare the remaining objects', async () => {
  const world = flux('./apps', [config('old')], {
    'apps/bad/Kptfile': KPTFILE,
    'apps/bad/a.yaml': 'a: [1',
  }).leave('old')
  const { changes, incomplete, state } = await world.reported()
  assert.deepEqual([changes, state], [[], 'Unknown'])
  assert.match(
    incomplete.join(),
    /^BP3012 1 objects of the inventory may be declared in packages that cannot be read: apps\/bad$/,
  )
})

test('objects that a kustomization generates or renames are not unexpected', async () => {
  const generator = {
    'apps/web/Kustomization': 'resources: [config.yaml]\nconfigMapGenerator:\n- name: made\n',
  }
  for (const world of [
    flux('./apps/web', [config('made-x5k')], generator),
    flux('./apps/web', [config('made-x5k')], {}, { namePrefix: 'x' }),
  ]) {
    const { changes, notes } = await world.leave('made-x5k').reported()
    assert.deepEqual(changes, [])
    assert.match(notes.join(), /so its objects may have other names there/)
  }
})

test('an object excluded from pruning is set aside by name', async () => {
  const world = flux('./apps/web', [config('old')]).leave('old', {
    annotations: { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' },
  })
  const { changes, aside, state } = await world.reported()
  assert.deepEqual(
    [changes, aside, state],
    [[], ['unexpected old built-in:flux-no-prune'], 'InSync'],
  )
})

test('a dropped object that is being deleted needs no decision', async () => {
  const world = flux('./apps/web', [config('old')]).leave('old')
  world.cluster.change('/ConfigMap/shop/old', (live) => ({
    ...live,
    metadata: { ...(live['metadata'] as object), deletionTimestamp: '2026-11-21T08:00:00Z' },
  }))
  const { changes, aside, state } = await world.reported()
  assert.deepEqual([changes, aside, state], [[], [], 'InSync'])
})

test('without a readable Kustomization, labelled objects count, except those that controllers made', async () => {
  const world = new InventoryWorld()
    .mark(KUSTOMIZE_MARKS)
    .leave('old', KUSTOMIZE_MARKS)
    .leave('other')
    .leave('made', KUSTOMIZE_MARKS)
  world.cluster.change('/ConfigMap/shop/made', (live) => ({
    ...live,
    metadata: {
      ...(live['metadata'] as object),
      ownerReferences: [{ kind: 'Thing', name: 'x', uid: 'u' }],
    },
  }))
  assert.deepEqual((await world.reported()).changes, ['unexpected ConfigMap/old'])
  assert.deepEqual(world.questions, [
    {
      listing: [
        { group: '', kind: 'ConfigMap', namespace: 'shop' },
        { group: 'apps', kind: 'Deployment', namespace: 'shop' },
      ],
      labelSelector:
        'kustomize.toolkit.fluxcd.io/name=web,kustomize.toolkit.fluxcd.io/namespace=flux-system',
    },
  ])
})

const tracking = (kind: string, name: string) => ({
  annotations: { 'argocd.argoproj.io/tracking-id': `web:${kind}:shop/${name}` },
})

function argo(): InventoryWorld {
  return new InventoryWorld()
    .mark(tracking('apps/Deployment', 'web'), [WEB])
    .mark(tracking('/ConfigMap', 'web'), [WEB_CONFIG])
}

test('for an Application only objects that its status marks for pruning are unexpected, hooks excluded', async () => {
  const entry = (kind: string, name: string, more = {}) => ({
    group: kind === 'Deployment' ? 'apps' : '',
    kind,
    namespace: 'shop',
    name,
    ...more,
  })
  const world = argo().leave('old').leave('not-yet').leave('copy')
  world.cluster.put({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'web', namespace: 'argocd' },
    spec: { source: { path: 'apps/web' } },
    status: {
      resources: [
        entry('Deployment', 'web'),
        entry('ConfigMap', 'web'),
        entry('ConfigMap', 'old', { requiresPruning: true }),
        entry('ConfigMap', 'not-yet'),
        entry('Job', 'hook', { hook: true, requiresPruning: true }),
      ],
    },
  })
  assert.deepEqual((await world.reported()).changes, ['unexpected ConfigMap/old'])
})

test('with a remote Argo CD, only an object with its own tracking id counts', async () => {
  const world = argo()
    .leave('old', tracking('/ConfigMap', 'old'))
    .leave('copy', tracking('/ConfigMap', 'web'))
  const { changes, notes } = await world.reported()
  assert.deepEqual([changes, notes], [['unexpected ConfigMap/old'], []])
})

test('a Helm release lists its objects; without Secrets its marks do; kept objects are set aside', async () => {
  const world = new InventoryWorld().mark(HELM_MARKS).leave('old')
  world.cluster.releases.set('shop/web', {
    source: 'Helm release shop/web revision 3',
    resources: [WEB, WEB_CONFIG, '/ConfigMap/shop/old'].map(idOf),
  })
  assert.deepEqual((await world.reported()).changes, ['unexpected ConfigMap/old'])
  world.cluster.releases.clear()
  world.leave('marked', HELM_MARKS).leave('second', HELM_MARKS)
  world.leave('kept', {
    ...HELM_MARKS,
    annotations: { ...HELM_MARKS.annotations, 'helm.sh/resource-policy': 'keep' },
  })
  // Three that git lacks beside two of the package: too many to call the release the package's.
  const { changes, aside, notes } = await world.reported()
  assert.deepEqual([changes, aside], [[], []])
  assert.match(notes.join(), /lists more objects that git lacks than objects of the package/)
  world.cluster.objects.delete('/ConfigMap/shop/second')
  const fewer = await world.reported()
  assert.deepEqual(
    [fewer.changes, fewer.aside],
    [['unexpected ConfigMap/marked'], ['unexpected kept built-in:helm-keep']],
  )
})

test('the kpt live mark finds objects that the ResourceGroup lost', async () => {
  const own = { annotations: { 'config.k8s.io/owning-inventory': 'inventory-1' } }
  const world = new InventoryWorld()
    .mark(own)
    .leave('old', own)
    .leave('other', { annotations: { 'config.k8s.io/owning-inventory': 'inventory-2' } })
  assert.deepEqual((await world.reported()).changes, ['unexpected ConfigMap/old'])
  assert.deepEqual(world.questions[0], {
    namespace: 'shop',
    name: undefined,
    id: 'inventory-1',
  })
})

test('for Config Sync, the source path of an object says which package it belongs to', async () => {
  const synced = (kind: string, name: string, path: string) => ({
    annotations: {
      'configmanagement.gke.io/managed': 'enabled',
      'configmanagement.gke.io/source-path': path,
      'configsync.gke.io/manager': ':root',
      'config.k8s.io/owning-inventory': 'config-management-system_root-sync',
      'configsync.gke.io/resource-id': `${kind}_shop_${name}`,
    },
  })
  const world = new InventoryWorld()
    .mark(synced('apps_deployment', 'web', 'apps/web/deployment.yaml'), [WEB])
    .mark(synced('_configmap', 'web', 'apps/web/config.yaml'), [WEB_CONFIG])
    .leave('old', synced('_configmap', 'old', 'apps/web/old.yaml'))
    .leave('theirs', synced('_configmap', 'theirs', 'apps/other/old.yaml'))
  world.cluster.put({
    apiVersion: 'configsync.gke.io/v1beta1',
    kind: 'RootSync',
    metadata: { name: 'root-sync', namespace: 'config-management-system' },
    spec: { git: { dir: '' } },
  })
  world.cluster.inventory = {
    source: 'ResourceGroup config-management-system/root-sync',
    resources: [WEB, WEB_CONFIG, '/ConfigMap/shop/old', '/ConfigMap/shop/theirs'].map(idOf),
  }
  const { changes, notes } = await world.reported()
  assert.deepEqual([changes, notes], [['unexpected ConfigMap/old'], []])
})

test('a hook that was deleted as intended leaves the package in sync without health', async () => {
  const job =
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, namespace: shop}\nspec: {ttlSecondsAfterFinished: 60}\n'
  const world = new InventoryWorld({ 'apps/web/job.yaml': job })
  world.cluster.objects.delete('batch/Job/shop/migrate')
  const { changes, aside, state } = await world.reported()
  assert.deepEqual(
    [changes, aside, state],
    [[], ['missing migrate built-in:finished-job'], 'InSync'],
  )
  const { units } = await world.scan({ dryRun: true })
  assert.equal(
    units[0]?.state === 'planned' &&
      units[0].observation.health.some(({ id }) => id.kind === 'Job'),
    false,
  )
})
