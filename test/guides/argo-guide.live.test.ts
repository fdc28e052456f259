/** Every command of the guide for Argo CD, with Argo CD's own library as the one that applies. */
import { test } from 'node:test'
import { connect } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { findAppliers } from '../appliers/appliers.ts'
import { ownPlane } from '../e2e/watched-world.ts'
import { follow, openGuideWorld } from './guide-world.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: example.com/web:1.4
`
const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: REPOSITORY
    path: shop/production
    kustomize:
      replicas:
      - name: web
        count: 3
`
const found = await findAppliers()
if (found.state === 'unavailable') test('appliers', { skip: found.why }, () => undefined)
else
  test('the guide for Argo CD', async (t) => {
    const plane = await ownPlane(t)
    await installSyncerKinds(plane, await connect(plane))
    const own = await openGuideWorld(t, plane, {
      'shop/base/kustomization.yaml': 'resources:\n- deployment.yaml\n',
      'shop/base/deployment.yaml': DEPLOYMENT.replace(', namespace: shop', '').replace(
        'replicas: 3',
        'replicas: 1',
      ),
      'shop/production/kustomization.yaml': 'resources:\n- ../base\n',
    })
    const { world } = own
    const repoURL = `file://${world.repository}`
    await world.commit(
      { 'applications/shop.yaml': APPLICATION.replace('REPOSITORY', repoURL) },
      'the application',
    )
    for (const name of ['shop', 'argocd']) await world.kubectl('create', 'namespace', name)
    const application = (count: number) => ({
      destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
      source: {
        repoURL,
        path: 'shop/production',
        kustomize: { replicas: [{ name: 'web', count }] },
      },
    })
    await createSyncer(plane, SYNCER_KINDS.application, 'argocd', 'shop', application(3))
    const sync = async (): Promise<void> => {
      const count = Number(
        /count: (\d+)/.exec(await world.show('main', 'applications/shop.yaml'))?.[1],
      )
      await world.kubectl(
        'patch',
        'application/shop',
        '-n',
        'argocd',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: application(count) }),
      )
      const manifests = DEPLOYMENT.replace('replicas: 3', `replicas: ${count}`)
      await found.applyWith('argo-server-side', {
        kubeconfig: plane.kubeconfig,
        namespace: 'shop',
        name: 'shop',
        manifests,
      })
    }
    await sync()
    await follow('src/sources/argo-cd/README.md', own, {
      after: { 'git push --quiet origin main': sync },
    })
  })
