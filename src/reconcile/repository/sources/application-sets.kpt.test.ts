/** Applications that an ApplicationSet of the repository creates in the cluster: Adopt edits the set. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInWorld } from '../../../../test/fakes/cli-world.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import type { Preview } from '../../../record/documents/preview.ts'

const SET = 'argocd/shops.yaml'
const FLAT = `# the shops
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
spec:
  generators:
  - list:
      elements:
      - env: eu
        tag: "1.27" # as released
        values: {count: "3"}
      - env: us
        tag: "1.26"
        values: {count: "3"}
  template:
    metadata:
      name: shop-{{env}}
    spec:
      project: default
      destination: {server: https://kubernetes.default.svc, namespace: "shop-{{env}}"}
      source:
        repoURL: ssh://git@/deploy
        path: shops/{{env}}
        kustomize:
          images:
          - nginx=example.com/nginx:{{tag}}
          commonAnnotations:
            team: shop # of both
            size: "{{values.count}} of {{env}}"
`
/** The same with Go templates, and numbers in place of texts. */
const GO = FLAT.replace('spec:\n', 'spec:\n  goTemplate: true\n')
  .replaceAll(/\{\{(\w)/g, '{{.$1')
  .replaceAll('{count: "3"}', '{count: 3}')
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
`
const IMAGE = 'spec.template.spec.containers[name=app].image'

function application(env: string, tag: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop-${env}
  namespace: argocd
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: shops, uid: "1", controller: true}]
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop-${env}}
  source:
    repoURL: ssh://git@/deploy
    path: shops/${env}
    kustomize:
      images: ["nginx=example.com/nginx:${tag}"]
      commonAnnotations: {team: shop, size: "3 of ${env}"}
`
}

function deployed(env: string, tag: string): string {
  const annotations = `{team: shop, size: "3 of ${env}", "argocd.argoproj.io/tracking-id": "shop-${env}:apps/Deployment:shop-${env}/web"}`
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop-${env}, annotations: ${annotations}}
spec:
  replicas: 1
  template:
    metadata: {annotations: {team: shop, size: "3 of ${env}"}}
    spec: {containers: [{name: app, image: "example.com/nginx:${tag}"}]}
`
}

/** The values of each Application are in a file of its own. */
const OF_FILES = FLAT.replace(
  / {2}- list:\n[\s\S]*?(?= {2}template:)/,
  '  - git: {repoURL: "ssh://git@/deploy", files: [{path: "fleet/*/config.json"}]}\n',
)
const CONFIGS = {
  'fleet/eu/config.json': '{\n  "env": "eu",\n  "tag": "1.27",\n  "values": { "count": 3 }\n}\n',
  'fleet/us/config.json': '{ "env": "us", "tag": "1.26", "values": { "count": 3 } }\n',
}

class SetWorld extends SyncedWorld {
  constructor(set: string, files: { readonly [path: string]: string } = {}) {
    const resources = { 'kustomization.yaml': 'resources:\n- ../../base\n' }
    super(
      {
        ...files,
        [SET]: set,
        'base/kustomization.yaml': 'resources:\n- deployment.yaml\n',
        'base/deployment.yaml': DEPLOYMENT,
        'shops/eu/kustomization.yaml': resources['kustomization.yaml'],
        'shops/us/kustomization.yaml': resources['kustomization.yaml'],
      },
      ['kubectl'],
    )
    for (const [env, tag] of [
      ['eu', '1.27'],
      ['us', '1.26'],
    ] as const)
      for (const text of [application(env, tag), deployed(env, tag)])
        this.cluster.put(appliedBy('argocd-controller', yaml(text)))
  }
}

const EU = { key: 'apps/Deployment/shop-eu/web', unit: 'shops/eu' }

describe('Applications of an ApplicationSet', { skip: whyNoKubectl() }, () => {
  for (const [form, set] of [
    ['flat values', FLAT],
    ['Go templates', GO],
  ] as const)
    describe(`with ${form}`, () => {
      test('are units, InSync without edits', async () => {
        assert.deepEqual(await new SetWorld(set).states(), {
          'shops/eu': 'Argo CD Application argocd/shop-eu: InSync',
          'shops/us': 'Argo CD Application argocd/shop-us: InSync',
        })
      })

      test('have a value adopted in the list element that fills the template', async () => {
        const changed = await new SetWorld(set).adopted(EU, IMAGE, 'example.com/nginx:1.28')
        assert.deepEqual(changed, { [SET]: set.replace('"1.27" #', '"1.28" #') })
      })

      test('have the part of a text adopted that comes from the element', async () => {
        const world = new SetWorld(set)
        world.edit(EU.key, 'spec.template.metadata.annotations.size', '5 of eu')
        const changed = await world.adopted(EU, 'metadata.annotations.size', '5 of eu')
        assert.deepEqual(changed, { [SET]: set.replace(/count: ("?)3/, 'count: $15') })
      })

      test('reject adopting template text that another Application shares', async () => {
        const world = new SetWorld(set)
        world.edit(EU.key, 'spec.template.metadata.annotations.team', 'others')
        await assert.rejects(world.adopted(EU, 'metadata.annotations.team', 'others'), {
          code: 'BP2001',
          why: /shops\/us is built from too/,
        })
      })
    })

  test('have template text adopted if only one Application uses it', async () => {
    const alone = FLAT.replace(/ {6}- env: us\n.*\n.*\n/, '')
    const world = new SetWorld(alone)
    world.edit(EU.key, 'spec.template.metadata.annotations.team', 'others')
    assert.deepEqual(await world.adopted(EU, 'metadata.annotations.team', 'others'), {
      [SET]: alone.replace('team: shop #', 'team: others #'),
    })
  })

  describe('with values from files', () => {
    test('are units, InSync without edits', async () => {
      assert.deepEqual(Object.keys(await new SetWorld(OF_FILES, CONFIGS).states()), [
        'shops/eu',
        'shops/us',
      ])
    })

    test('have a value adopted in the file, keeping every other byte', async () => {
      const path = 'fleet/eu/config.json'
      assert.deepEqual(
        await new SetWorld(OF_FILES, CONFIGS).adopted(EU, IMAGE, 'example.com/nginx:1.28'),
        {
          [path]: CONFIGS[path].replace('1.27', '1.28'),
        },
      )
      const world = new SetWorld(OF_FILES, CONFIGS)
      world.edit(EU.key, 'spec.template.metadata.annotations.size', '5 of eu')
      assert.deepEqual(await world.adopted(EU, 'metadata.annotations.size', '5 of eu'), {
        [path]: CONFIGS[path].replace('"count": 3', '"count": 5'),
      })
    })

    test('show in a preview that an edited file changes one of them', async () => {
      const world = new SetWorld(OF_FILES, CONFIGS)
      world.repository.branches.set('refs/heads/change', world.repository.head('main'))
      const path = 'fleet/eu/config.json'
      world.repository.commitByHand('change', { [path]: CONFIGS[path].replace('1.27', '1.28') })
      const { renderer } = world.request()
      const { stdout, stderr } = await runInWorld(
        world,
        ['preview', '--head', 'change', '-o', 'json'],
        { renderer },
      )
      assert.notEqual(stdout, '', stderr)
      const { items } = JSON.parse(stdout) as Preview
      assert.deepEqual(
        items.flatMap((unit) =>
          unit.changes.map(({ path: field, before, after }) => [
            unit.package,
            field,
            before,
            after,
          ]),
        ),
        [['shops/eu', IMAGE, 'example.com/nginx:1.27', 'example.com/nginx:1.28']],
      )
    })
  })

  test('have the template line as the place of a value', async () => {
    const world = new SetWorld(FLAT)
    world.edit(EU.key, IMAGE, 'example.com/nginx:1.28')
    const { renderer } = world.request()
    const { stdout, stderr } = await runInWorld(world, ['explain', 'shops/eu'], { renderer })
    assert.match(stdout, /written by images of argocd\/shops\.yaml:26:13, which decides/, stderr)
  })

  test('are not edited when the set generates something else than the cluster has', async () => {
    const other = FLAT.replace('team: shop #', 'team: later #')
    await assert.rejects(new SetWorld(other).adopted(EU, IMAGE, 'example.com/nginx:1.28'), {
      code: 'BP2001',
      why: /base\/deployment\.yaml:11/,
    })
  })
})
