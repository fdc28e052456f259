/** Previews of units that Flux Kustomizations apply. */
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
const CANARY = 'canary-of-the-token'
const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  ref: {branch: main}
  url: ssh://git@/deploy
`
const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  targetNamespace: shop
  images:
  - name: nginx
    newTag: "1.27"
  postBuild:
    substituteFrom:
    - {kind: Secret, name: token}
`
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: app, image: "nginx:1.0"}]}}}
`
const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {size: "5"}\n'
const FILES = {
  'clusters/prod/sync.yaml': SYNC,
  'clusters/prod/apps.yaml': APPS,
  'apps/production/web.yaml': WEB,
  'apps/production/config.yaml': CONFIG,
}

/** The configuration is in a base that three overlays read: of production, of another cluster, and of nobody. */
const BASE = {
  'apps/production/config.yaml': null,
  'apps/production/kustomization.yaml': 'resources: [web.yaml, ../base]\n',
  'apps/base/kustomization.yaml': 'resources: [config.yaml]\n',
  'apps/base/config.yaml': CONFIG,
  'apps/staging/kustomization.yaml': 'resources: [../base]\n',
  'apps/dev/kustomization.yaml': 'resources: [../base]\n',
  'apps/other/kustomization.yaml': 'resources: [config.yaml]\n',
  'apps/other/config.yaml': CONFIG,
  'clusters/staging/apps.yaml': APPS.replace('production', 'staging'),
}

const SETTINGS =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {size: "5"}\n'
/** With a variable of the ConfigMap. */
const VARIABLE_APPS = APPS.replace(
  '    - {kind: S',
  '    - {kind: ConfigMap, name: settings}\n    - {kind: S',
)
/** Each cluster has a folder, which its own Kustomization applies, with resources of the same names. */
const TWO_CLUSTERS = {
  'clusters/prod/apps.yaml': VARIABLE_APPS,
  'clusters/prod/settings.yaml': SETTINGS,
  'clusters/dev/apps.yaml': VARIABLE_APPS.replace('production', 'dev'),
  'clusters/dev/settings.yaml': SETTINGS,
  'apps/production/config.yaml': CONFIG.replace('"5"', '"a${size}"'),
  'apps/dev/config.yaml': CONFIG,
}

class FluxWorld extends TurnWorld {
  constructor(
    change: { readonly [path: string]: string | null },
    files: { readonly [path: string]: string | null } = {},
  ) {
    super('{mode: Propose}', {
      ...{ 'apps/web/Kptfile': '', 'apps/web/deployment.yaml': '', 'apps/web/config.yaml': '' },
      ...FILES,
    })
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
      ...files,
    })
    this.repository.branches.set('refs/heads/change', this.repository.head('main'))
    this.repository.commitByHand('change', change)
  }

  override sync(): void {
    const live = [WEB.replace('1.0', '1.27'), CONFIG].map((text) =>
      text.replace('{name: web}', '{name: web, namespace: shop}'),
    )
    for (const object of live) this.cluster.put(appliedBy(this.syncer, yaml(object)))
    const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: flux-system}\ndata: {token: ${Buffer.from(CANARY).toString('base64')}}\n`
    for (const object of [SYNC, APPS, secret]) this.cluster.put(yaml(object))
  }

  async previewed(): Promise<Preview> {
    const { stdout, stderr } = await runInWorld(
      this,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer: RENDERER },
    )
    assert.notEqual(stdout, '', stderr)
    return JSON.parse(stdout) as Preview
  }
}

function valuesIn({ items }: Preview): readonly unknown[] {
  return items.flatMap((unit) =>
    unit.changes.map(({ ref, path, before, after, live }) => [
      unit.package,
      ref.name,
      path,
      before,
      after,
      live,
    ]),
  )
}

describe('a preview of a unit that a Flux Kustomization applies', { skip: whyNoKubectl() }, () => {
  test('shows changes of its files as Flux builds them', async () => {
    const found = await new FluxWorld({
      'apps/production/config.yaml': CONFIG.replace('"5"', '"6"'),
    }).previewed()
    assert.deepEqual(valuesIn(found), [['apps/production', 'web', 'data.size', '5', '6', 'before']])
    assert.equal(found.items[0]?.appliedBy, 'Flux Kustomization flux-system/apps')
  })

  test('shows changes caused by its own resource', async () => {
    const found = await new FluxWorld({
      'clusters/prod/apps.yaml': APPS.replace('"1.27"', '"1.28"'),
    }).previewed()
    const image = 'spec.template.spec.containers[name=app].image'
    assert.deepEqual(valuesIn(found), [
      ['apps/production', 'web', image, 'nginx:1.27', 'nginx:1.28', 'before'],
    ])
  })

  describe('with one Kustomization per cluster', () => {
    /** The cluster as the syncers of `clusters/prod` made it, with defaults of the server. */
    const previewed = async (
      change: { readonly [path: string]: string },
      files: { readonly [path: string]: string } = TWO_CLUSTERS,
      apps = VARIABLE_APPS,
    ): Promise<Preview> => {
      const world = new FluxWorld(change, files)
      const system = APPS.replace('name: apps', 'name: flux-system')
        .replace('apps/production', 'clusters/prod')
        .replace(/ {2}targetNamespace.*/s, '')
      const config = CONFIG.replace('{name: web}', '{name: web, namespace: shop}')
      for (const object of [SETTINGS, `${apps}  force: false\n`, system])
        world.cluster.put(yaml(object))
      world.cluster.put(appliedBy(world.syncer, yaml(config.replace('"5"', '"a5"'))))
      return world.previewed()
    }
    const ofApps = (found: Preview): readonly unknown[] =>
      valuesIn(found).filter((values) => (values as readonly unknown[])[0] !== 'clusters/prod')
    const image = 'spec.template.spec.containers[name=app].image'

    test('shows changes caused by its ConfigMap with variables', async () => {
      const six = SETTINGS.replace('"5"', '"6"')
      const found = await previewed({ 'clusters/prod/settings.yaml': six })
      assert.deepEqual(ofApps(found), [
        ['apps/production', 'web', 'data.size', 'a5', 'a6', 'before'],
      ])
    })

    test('shows changes of its resource that has server defaults', async () => {
      const found = await previewed({
        'clusters/prod/apps.yaml': VARIABLE_APPS.replace('"1.27"', '"1.28"'),
      })
      assert.deepEqual(ofApps(found), [
        ['apps/production', 'web', image, 'nginx:1.27', 'nginx:1.28', 'before'],
      ])
    })

    test('shows the change of an overlay patch on its resource', async () => {
      const overlay = (tag: string): string =>
        `resources: [../base]\npatches:\n- patch: |-\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {name: apps, namespace: flux-system}\n    spec: {images: [{name: nginx, newTag: "${tag}"}]}\n`
      const found = await previewed(
        { 'clusters/prod/kustomization.yaml': overlay('1.28') },
        {
          'clusters/prod/kustomization.yaml': overlay('1.27'),
          'clusters/base/kustomization.yaml': 'resources: [apps.yaml]\n',
          'clusters/base/apps.yaml': APPS.replace('"1.27"', '"1.0"'),
        },
        APPS,
      )
      assert.deepEqual(ofApps(found), [
        ['apps/production', 'web', image, 'nginx:1.27', 'nginx:1.28', 'before'],
      ])
    })

    test('shows nothing of the other cluster', async () => {
      const found = await previewed({
        'clusters/dev/settings.yaml': SETTINGS.replace('"5"', '"6"'),
        'clusters/dev/apps.yaml': VARIABLE_APPS.replace('"1.27"', '"1.28"'),
        'clusters/dev/more.yaml': APPS.replace('name: apps', 'name: more').replace(
          'production',
          'more',
        ),
        'apps/more/config.yaml': CONFIG.replace('name: web', 'name: more'),
      })
      assert.deepEqual(valuesIn(found), [])
    })

    test('shows a new Kustomization, and a ConfigMap added together with its reader', async () => {
      const found = await previewed({
        'clusters/prod/more.yaml': VARIABLE_APPS.replace('name: apps', 'name: more')
          .replace('production', 'more')
          .replace('name: settings', 'name: sizes'),
        'clusters/prod/sizes.yaml': SETTINGS.replace('name: settings', 'name: sizes').replace(
          '5',
          '7',
        ),
        'apps/more/config.yaml': CONFIG.replace('name: web', 'name: more').replace('5', 'b${size}'),
      })
      const more = found.items.find((unit) => unit.package === 'apps/more')
      assert.equal(more?.presence, 'new')
      assert.deepEqual(more.failures, [])
      assert.deepEqual(
        more.changes.map(({ ref, change }) => [ref.name, change]),
        [['more', 'added']],
      )
    })
  })

  test('names other readers of an edited file: an overlay of another cluster and a kustomization', async () => {
    const size = { 'apps/base/config.yaml': CONFIG.replace('"5"', '"6"') }
    const world = new FluxWorld(size, BASE)
    const found = await world.previewed()
    assert.deepEqual(valuesIn(found), [['apps/production', 'web', 'data.size', '5', '6', 'before']])
    const files = ['apps/base/config.yaml']
    assert.deepEqual(found.elsewhere, [
      {
        name: 'apps/staging (Flux Kustomization flux-system/apps of clusters/staging/apps.yaml)',
        files,
      },
      { name: 'apps/dev', files },
    ])
    const { stdout } = await runInWorld(world, ['preview', '--head', 'change'], {
      renderer: RENDERER,
    })
    assert.match(
      stdout,
      /\n. apps\/dev +reads apps\/base\/config\.yaml, and is in none of these clusters\n/,
    )
    const comment = await runInWorld(world, ['preview', '--head', 'change', '-o', 'markdown'], {
      renderer: RENDERER,
    })
    assert.match(
      comment.stdout,
      /\*\*Not compared:\*\* `apps\/staging \(Flux Kustomization flux-system\/apps of clusters\/staging\/apps\.yaml\)` and `apps\/dev` read edited files too, and are in none of these clusters\./,
    )
  })

  test('names no other reader when only the unit reads the edited file', async () => {
    const web = {
      'apps/production/web.yaml': WEB.replace('{spec:', '{metadata: {labels: {a: b}}, spec:'),
    }
    assert.deepEqual((await new FluxWorld(web, BASE).previewed()).elsewhere, [])
  })

  test('hides a Secret value that the head puts into a ConfigMap with variables', async () => {
    const world = new FluxWorld(
      { 'clusters/prod/settings.yaml': SETTINGS.replace('"5"', '"x${token}y"') },
      TWO_CLUSTERS,
    )
    const system = APPS.replace('name: apps', 'name: flux-system')
      .replace('apps/production', 'clusters/prod')
      .replace(/ {2}targetNamespace.*(?= {2}postBuild)/s, '')
    for (const object of [SETTINGS, VARIABLE_APPS, system]) world.cluster.put(yaml(object))
    const { stdout, stderr } = await runInWorld(
      world,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer: RENDERER },
    )
    assert.ok(stdout.includes('"clusters/prod"'), stderr)
    assert.ok(!`${stdout}${stderr}`.includes(CANARY), stdout)
  })

  test('hides a value that the head takes from a Secret of the cluster', async () => {
    const world = new FluxWorld({
      'apps/production/config.yaml': CONFIG.replace('"5"', '"x $' + '{token} y"'),
    })
    const found = await world.previewed()
    assert.deepEqual(
      found.items.map((unit) => unit.changes.map(({ redacted }) => redacted)),
      [[true]],
    )
    for (const output of ['table', 'json', 'markdown']) {
      const { stdout, stderr } = await runInWorld(
        world,
        ['preview', '--head', 'change', '-o', output],
        { renderer: RENDERER },
      )
      assert.ok(!`${stdout}${stderr}`.includes(CANARY), output)
    }
  })
})
