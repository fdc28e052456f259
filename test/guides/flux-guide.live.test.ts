/** Every command of the guide for Flux, with Flux's own library as the one that applies. */
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { findAppliers } from '../appliers/appliers.ts'
import { ownPlane } from '../e2e/watched-world.ts'
import type { Files } from '../e2e/world.ts'
import { follow, openGuideWorld } from './guide-world.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: example.com/web:1.4
`
const FILES: Files = {
  'apps/base/kustomization.yaml': 'resources:\n- deployment.yaml\n- config.yaml\n',
  'apps/base/deployment.yaml': DEPLOYMENT,
  'apps/base/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: blue}\n',
  'apps/production/kustomization.yaml':
    'resources:\n- ../base\nreplicas:\n- name: web\n  count: 3\n',
}
const found = await findAppliers()
if (found.state === 'unavailable') test('appliers', { skip: found.why }, () => undefined)
else
  test('the guide for Flux', async (t) => {
    const plane = await ownPlane(t)
    await installSyncerKinds(plane, await connect(plane))
    const own = await openGuideWorld(t, plane, FILES)
    const { world } = own
    for (const name of ['shop', 'flux-system']) await world.kubectl('create', 'namespace', name)
    const url = `file://${world.repository}`
    await createSyncer(plane, SYNCER_KINDS.gitRepository, 'flux-system', 'flux-system', {
      url,
      ref: { branch: 'main' },
      interval: '1m',
    })
    const sourceRef = { kind: 'GitRepository', name: 'flux-system' }
    const spec = {
      sourceRef,
      targetNamespace: 'shop',
      interval: '10m',
      prune: true,
      path: './apps/production',
    }
    await createSyncer(plane, SYNCER_KINDS.kustomization, 'flux-system', 'apps', spec)
    const apply = async (): Promise<void> => {
      const overlay = await world.show('main', 'apps/production/kustomization.yaml')
      const deployment = DEPLOYMENT.replace(
        'replicas: 1',
        `replicas: ${/count: (\d+)/.exec(overlay)?.[1]}`,
      )
      const manifests = `${deployment}---\n${FILES['apps/base/config.yaml']}`
      await found.applyWith('flux', {
        kubeconfig: plane.kubeconfig,
        namespace: 'flux-system',
        name: 'apps',
        manifests: manifests.replaceAll('{name: web}', '{name: web, namespace: shop}'),
      })
    }
    await apply()
    await follow('src/sources/flux/README.md', own, {
      after: { 'git push --quiet origin main': apply },
    })
  })
