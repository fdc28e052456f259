/** A base with three overlays for two clusters, under each syncer: a value that is adopted for one overlay moves no other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { policyText, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'

const OVERLAY = 'namespace: shop\nresources:\n- ../../base\n'
const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  size: "5"\n'
const FILES = {
  'base/kustomization.yaml': 'resources:\n- deployment.yaml\n- config.yaml\n',
  'base/deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: app\n        image: nginx:1.0\n        args: [-a, -b]\n      - name: log\n        image: nginx:1.0\n',
  'base/config.yaml': CONFIG,
  'overlays/prod/kustomization.yaml': OVERLAY,
  'overlays/staging/kustomization.yaml': OVERLAY.replace('shop', 'shop-staging'),
  'overlays/dev/kustomization.yaml': OVERLAY.replace('shop', 'shop-dev'),
}
const OTHERS = ['staging', 'dev']

const flux = (env: string): string => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web-${env}, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./overlays/${env}
`
const GIT = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/deploy"}
`
const argo = (env: string): string => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-${env}, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: shop}
  source: {repoURL: "ssh://git@/deploy", path: overlays/${env}}
`
const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: web, namespace: argocd}
spec:
  generators:
  - list: {elements: [{env: prod}, {env: staging}, {env: dev}]}
  template:
    metadata: {name: "web-{{env}}"}
    spec:
      project: default
      destination: {server: "https://kubernetes.default.svc", namespace: shop}
      source: {repoURL: "ssh://git@/deploy", path: "overlays/{{env}}"}
`
const rootSync = (env: string): string => `apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {name: root-sync, namespace: config-management-system}
spec:
  sourceFormat: unstructured
  git: {repo: "ssh://git@/deploy", branch: main, dir: /overlays/${env}, auth: none}
`

interface Layout {
  readonly files: { readonly [path: string]: string }
  /** Of the cluster with the overlay prod. */
  readonly resources: readonly string[]
  readonly manager: string
  /** What the syncer writes into each object, by its lower kind. */
  readonly marks: (kind: string) => string
}

const perCluster = (of: (env: string) => string): Layout['files'] => ({
  'clusters/eu/web.yaml': of('prod'),
  'clusters/us/staging.yaml': of('staging'),
  'clusters/us/dev.yaml': of('dev'),
})
const LAYOUTS: { readonly [name: string]: Layout } = {
  'plain kustomize': {
    files: {
      '.drift/overlays.yaml': policyText(
        '{priority: 9, match: {packages: ["overlays/**"]}, mode: Propose, render: {tool: kustomize}}',
      ).replace('name: test', 'name: overlays'),
      'overlays/prod/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: prod}\n',
    },
    resources: [],
    manager: 'kubectl',
    marks: () => '',
  },
  Flux: {
    files: { 'clusters/eu/git.yaml': GIT, 'clusters/us/git.yaml': GIT, ...perCluster(flux) },
    resources: [GIT, flux('prod')],
    manager: 'kustomize-controller',
    marks: () => '',
  },
  'Argo CD Applications': {
    files: perCluster(argo),
    resources: [argo('prod'), ...OTHERS.map(argo)],
    manager: 'argocd-controller',
    marks: (kind) =>
      `, annotations: {"argocd.argoproj.io/tracking-id": "web-prod:${kind === 'Deployment' ? 'apps' : ''}/${kind}:shop/web"}`,
  },
  'an ApplicationSet': {
    files: { 'argocd/web.yaml': SET },
    resources: ['prod', ...OTHERS].map(argo),
    manager: 'argocd-controller',
    marks: (kind) =>
      `, annotations: {"argocd.argoproj.io/tracking-id": "web-prod:${kind === 'Deployment' ? 'apps' : ''}/${kind}:shop/web"}`,
  },
  'Config Sync': {
    files: perCluster(rootSync),
    resources: [rootSync('prod')],
    manager: 'configsync.gke.io',
    marks: (kind) =>
      `, annotations: {configmanagement.gke.io/managed: enabled, configsync.gke.io/manager: ":root", configsync.gke.io/resource-id: ${kind === 'Deployment' ? 'apps' : ''}_${kind.toLowerCase()}_shop_web}`,
  },
}

function worldOf({ files, resources, manager, marks }: Layout): SyncedWorld {
  const world = new SyncedWorld({ ...FILES, ...files }, ['kubectl'])
  const config = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop${marks('ConfigMap')}}\ndata: {size: "5"}\n`
  const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop${marks('Deployment')}}
spec:
  replicas: 1
  template: {spec: {containers: [{name: app, image: "nginx:1.0", args: [-a, -b]}, {name: log, image: "nginx:1.0"}]}}
`
  for (const text of [config, web]) world.cluster.put(appliedBy(manager, yaml(text)))
  for (const text of resources) world.cluster.put(yaml(text))
  return world
}

/** Without the condition of the proposal, which a Kptfile has. */
async function adopted(
  world: SyncedWorld,
  ...change: Parameters<SyncedWorld['adopted']>
): ReturnType<SyncedWorld['adopted']> {
  const { 'overlays/prod/Kptfile': _, ...changed } = await world.adopted(...change)
  return changed
}

const WEB = { key: 'apps/Deployment/shop/web', unit: 'overlays/prod' }
const SETTINGS = { key: '/ConfigMap/shop/web', unit: 'overlays/prod' }
const KUSTOMIZATION = 'overlays/prod/kustomization.yaml'
const APP = 'spec.template.spec.containers[name=app]'

test('an open Adopt proposal causes no additional builds in diff', {
  skip: whyNoKubectl(),
}, async () => {
  const world = worldOf(LAYOUTS['Flux'] as Layout)
  const look = async (): Promise<number> => {
    const before = world.builds
    const { report } = await world.plan({ packages: ['overlays/prod'], dryRun: true })
    assert.equal(report.spec.changes.length, 1)
    return world.builds - before
  }
  world.edit(SETTINGS.key, 'data.size', '6')
  const without = await look()
  await world.adoptedIn('overlays/prod')
  assert.deepEqual([without > 0, await look()], [true, without])
})

test('adopting a base value takes as many builds with ten other overlays as with two', {
  skip: whyNoKubectl(),
}, async () => {
  const names = Array.from({ length: 8 }, (_, index) => `test-${index}`)
  const layout = LAYOUTS['Flux'] as Layout
  const more = names.flatMap((name) => [
    [`overlays/${name}/kustomization.yaml`, OVERLAY.replace('shop', `shop-${name}`)],
    [`clusters/us/${name}.yaml`, flux(name)],
  ])
  const counted = async (files: Layout['files']): Promise<readonly [number, string]> => {
    const world = worldOf({ ...layout, files: { ...layout.files, ...files } })
    await adopted(world, SETTINGS, 'data.size', '6')
    return [world.builds, String(world.told)]
  }
  const [few] = await counted({})
  const [many, told] = await counted(Object.fromEntries(more))
  assert.equal(many, few)
  assert.match(told, /which overlays\/.* and [78] more are built from too/)
})

for (const [name, layout] of Object.entries(LAYOUTS))
  describe(`an overlay that ${name} applies`, { skip: whyNoKubectl() }, () => {
    test('is in sync', async () => {
      const states = await worldOf(layout).states()
      assert.match(states['overlays/prod'] ?? '', /InSync$/)
    })

    test('adopts a value of the base in a patch of its own', async () => {
      const world = worldOf(layout)
      assert.deepEqual(await adopted(world, SETTINGS, 'data.size', '6'), {
        [KUSTOMIZATION]: `${OVERLAY}patches:\n- path: configmap-web-patch.yaml\n`,
        'overlays/prod/configmap-web-patch.yaml': CONFIG.replace('"5"', '"6"'),
      })
      assert.match(
        String(world.told),
        /shared-source: data\.size comes from the manifest \(base\/config\.yaml:6\), which overlays\/(dev|staging)\b.* and overlays\/(dev|staging)\b.* are built from too: a new patch \(overlays\/prod\/kustomization\.yaml\)/,
      )
    })

    test("adopts the base's replica count in replicas", async () => {
      assert.deepEqual(await adopted(worldOf(layout), WEB, 'spec.replicas', 4), {
        [KUSTOMIZATION]: `${OVERLAY}replicas:\n- name: web\n  count: 4\n`,
      })
    })

    test('adopts the image of one of two containers in a patch, since images would change both', async () => {
      assert.deepEqual(await adopted(worldOf(layout), WEB, `${APP}.image`, 'nginx:1.1'), {
        [KUSTOMIZATION]: `${OVERLAY}patches:\n- path: deployment-web-patch.yaml\n`,
        'overlays/prod/deployment-web-patch.yaml':
          'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: nginx:1.1\n',
      })
    })

    test('adopts a value in the base on request, and names what else changes', async () => {
      const world = worldOf(layout)
      assert.deepEqual(await adopted(world, SETTINGS, 'data.size', '6', 'everywhere'), {
        'base/config.yaml': CONFIG.replace('"5"', '"6"'),
      })
      assert.equal((await world.plan({ packages: ['overlays/prod'] })).outcome, 'unchanged')
      for (const env of OTHERS)
        assert.match(
          String(world.told),
          new RegExp(`data\\.size of ConfigMap shop-${env}/web in overlays/${env}\\b`),
        )
    })
  })

describe('an overlay with several readers', { skip: whyNoKubectl() }, () => {
  const named = (name: string): Layout => LAYOUTS[name] as Layout

  test('adopts a value in the patches of its own Application when two apply it', async () => {
    const layout = named('Argo CD Applications')
    const [own, other] = [argo('prod'), argo('prod').replace('web-prod', 'web-us')]
    const world = worldOf({ ...layout, files: { ...layout.files, 'clusters/us/prod.yaml': other } })
    assert.deepEqual(await adopted(world, SETTINGS, 'data.size', '6'), {
      'clusters/eu/web.yaml': own.replace(
        'path: overlays/prod}',
        'path: overlays/prod, kustomize: {patches: [{patch: "apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: web\\ndata:\\n  size: \\"6\\"\\n"}]}}',
      ),
    })
    assert.match(
      String(world.told),
      /which overlays\/dev, overlays\/staging and 1 more are built from too: a new patch \(clusters\/eu\/web\.yaml\)/,
    )
  })

  test("adopts a value in its own patch when a RootSync applies the file's folder unchanged", async () => {
    const layout = named('Flux')
    const plain = {
      'plain/config.yaml': CONFIG,
      'overlays/prod/kustomization.yaml': `${OVERLAY.replace('- ../../base', '- ../../base/deployment.yaml')}- ../../plain/config.yaml\n`,
      'clusters/us/plain.yaml': rootSync('prod').replace('/overlays/prod', '/plain'),
    }
    const world = worldOf({ ...layout, files: { ...layout.files, ...plain } })
    assert.deepEqual(Object.keys(await adopted(world, SETTINGS, 'data.size', '6')), [
      'overlays/prod/configmap-web-patch.yaml',
      'overlays/prod/kustomization.yaml',
    ])
    assert.match(
      String(world.told),
      /which plain \(Config Sync RootSync config-management-system\/root-sync\) is built from too/,
    )
  })
})
