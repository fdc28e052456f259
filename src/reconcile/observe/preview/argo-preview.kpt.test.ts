/** Previews of units that Argo CD Applications apply, which an Application of each cluster applies in turn. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInWorld } from '../../../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../../../test/fakes/in-process-renderer.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { TurnWorld, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../../adapters/functions/package-builds.ts'
import type { Preview } from '../../../record/documents/preview.ts'

const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)
const ROOT = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: root, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: argocd}
  source: {repoURL: ssh://git@/deploy, targetRevision: main, path: argocd/prod}
`
const SHOP = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: ssh://git@/deploy
    path: shop/prod
    kustomize:
      images:
      - nginx:1.27
`
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: app, image: "nginx:1.0"}]}}}
`
const KUSTOMIZATION = 'resources: [web.yaml]\n'

class ArgoWorld extends TurnWorld {
  constructor(change: { readonly [path: string]: string }) {
    super('{mode: Propose}', {
      'apps/web/Kptfile': '',
      'apps/web/deployment.yaml': '',
      'apps/web/config.yaml': '',
      'argocd/prod/shop.yaml': SHOP,
      'argocd/dev/shop.yaml': SHOP.replace('shop/prod', 'shop/dev'),
      'shop/prod/web.yaml': WEB,
      'shop/prod/kustomization.yaml': KUSTOMIZATION,
      'shop/dev/web.yaml': WEB,
      'shop/dev/kustomization.yaml': KUSTOMIZATION,
    })
    const gone = ['Kptfile', 'deployment.yaml', 'config.yaml'].map(
      (name) => [`apps/web/${name}`, null] as const,
    )
    this.repository.commitByHand('main', Object.fromEntries(gone))
    this.repository.branches.set('refs/heads/change', this.repository.head('main'))
    this.repository.commitByHand('change', change)
  }

  override sync(): void {
    const web = WEB.replace('{name: web}', '{name: web, namespace: shop}').replace('1.0', '1.27')
    this.cluster.put(appliedBy(this.syncer, yaml(web)))
    // With a field that git does not have.
    for (const object of [ROOT, `${SHOP}  project: default\n`]) this.cluster.put(yaml(object))
  }

  async changes(): Promise<readonly unknown[]> {
    const { stdout, stderr } = await runInWorld(
      this,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer: RENDERER },
    )
    assert.notEqual(stdout, '', stderr)
    const { items } = JSON.parse(stdout) as Preview
    return items
      .filter((unit) => unit.package !== 'argocd/prod')
      .flatMap((unit) =>
        unit.changes.map(({ ref, before, after }) => [unit.package, ref.name, before, after]),
      )
  }
}

describe('a preview of a unit that an Argo CD Application applies', {
  skip: whyNoKubectl(),
}, () => {
  test('shows changes of its own Application, which another Application applies', async () => {
    const world = new ArgoWorld({ 'argocd/prod/shop.yaml': SHOP.replace('1.27', '1.28') })
    assert.deepEqual(await world.changes(), [['shop/prod', 'web', 'nginx:1.27', 'nginx:1.28']])
  })

  test('shows nothing of a changed or new Application of another cluster', async () => {
    const dev = SHOP.replace('shop/prod', 'shop/dev')
    const world = new ArgoWorld({
      'argocd/dev/shop.yaml': dev.replace('1.27', '1.28'),
      'argocd/dev/more.yaml': dev.replace('name: shop', 'name: more'),
    })
    assert.deepEqual(await world.changes(), [])
  })
})
