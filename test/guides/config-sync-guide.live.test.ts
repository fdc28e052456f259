/** Every command of the guide for Config Sync. It cannot run here: kubectl applies under its name what its own program makes of the files. */
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { ownPlane } from '../e2e/watched-world.ts'
import { follow, openGuideWorld } from './guide-world.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: example.com/web:1.4
        env:
        - name: LOG_LEVEL
          value: info # as agreed
`
const DEPTHS = '{eng.tree.hnc.x-k8s.io/depth: "1", shop.tree.hnc.x-k8s.io/depth: "0"}'

test('the guide for Config Sync', async (t) => {
  const plane = await ownPlane(t)
  await installSyncerKinds(plane, await connect(plane))
  const own = await openGuideWorld(t, plane, {
    'config/system/repo.yaml':
      'apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: "1.0.0"}\n',
    'config/namespaces/eng/shop/namespace.yaml':
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
    'config/namespaces/eng/shop/deployment.yaml': DEPLOYMENT,
  })
  const { world } = own
  await world.kubectl('create', 'namespace', 'config-management-system')
  const git = { repo: `file://${world.repository}`, branch: 'main', dir: 'config', auth: 'none' }
  await createSyncer(plane, SYNCER_KINDS.rootSync, 'config-management-system', 'root-sync', { git })
  const apply = async (): Promise<void> => {
    const marks = (id: string): string =>
      `{configmanagement.gke.io/managed: enabled, configsync.gke.io/manager: ":root", configsync.gke.io/resource-id: ${id}}`
    const deployment = (
      await world.show('main', 'config/namespaces/eng/shop/deployment.yaml')
    ).replace(
      '  name: web\n',
      `  name: web\n  namespace: shop\n  annotations: ${marks('apps_deployment_shop_web')}\n`,
    )
    const namespace = `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: ${DEPTHS}, annotations: ${marks('_namespace_shop')}}\n`
    const words = [
      'apply',
      '--server-side',
      '--force-conflicts',
      '--field-manager=configsync.gke.io',
      '--filename=-',
    ]
    await world.pipe(`${namespace}---\n${deployment}`, ...words)
  }
  await apply()
  await follow('src/sources/config-sync/README.md', own, {
    after: { 'git push --quiet origin main': apply },
  })
})
