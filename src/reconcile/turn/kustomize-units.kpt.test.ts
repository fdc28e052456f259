/** Units that `kubectl kustomize` renders, from the first difference to the proposal. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import {
  BASE,
  CPU,
  DEPLOYMENT,
  drifted,
  KustomizeWorld,
  PORT,
  PROD,
  SERVICE,
  WEB,
} from '../../../test/fakes/kustomize-world.ts'
import { appliedBy, removedFrom } from '../../../test/fakes/live-object.ts'
import { KPTFILE, policyText, refused, yaml } from '../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../adapters/functions/package-builds.ts'
import { TurnCache } from '../observe/turn-cache.ts'

const IMAGE = 'spec.template.spec.containers[name=app].image'
/** What the overlay has after an edit of one value that the base has. */
const OVERLAID = {
  'units/prod/configmap-settings-patch.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  size: "6"\n',
  'units/prod/kustomization.yaml': `${PROD}- path: configmap-settings-patch.yaml\n`,
}
const PLAIN = 'namespace: shop\nresources:\n  - ../../bases/web\n'
const STAGING = {
  'units/staging/Kptfile': KPTFILE,
  'units/staging/kustomization.yaml':
    'namespace: shop\nresources: [../../bases/web]\nimages: [{name: nginx, newTag: "1.28"}]\n',
}

describe('a unit that kustomize renders', { skip: whyNoKubectl() }, () => {
  test('remembers over turns which files outside the package it is rendered from', async () => {
    const world = await new KustomizeWorld().apply()
    const between = new TurnCache()
    await world.plan({ between })
    assert.deepEqual(
      [...(between.outside.get('units/prod') ?? [])].sort(),
      Object.keys(BASE).sort(),
    )
  })

  test("is in sync when live equals the overlay's output", async () => {
    const { report } = await (await new KustomizeWorld().apply()).plan()
    assert.deepEqual([report.status.state, report.spec.changes], ['InSync', []])
  })

  test('shows drift at the file and line that declare the object, and is restored without an edit', async () => {
    const world = await drifted('spec.replicas', 5)
    const { report, outcome, branch } = await world.plan()
    assert.equal(outcome, 'created')
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
      [['spec.replicas', 3, 5, 'bases/web/deployment.yaml:2']],
    )
    assert.deepEqual(world.sourcesOf(branch), {})
  })

  test('adopts an image in images, keeping every other byte', async () => {
    const world = await drifted(IMAGE, 'nginx:1.28')
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': PROD.replace('"1.27"', '"1.28"'),
    })
  })

  test('adopts a replica count in replicas', async () => {
    const world = await drifted('spec.replicas', 5)
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': PROD.replace('count: 3', 'count: 5'),
    })
  })

  test('adopts a patched field in the patch file', async () => {
    const world = await drifted(
      'spec.template.spec.containers[name=app].resources.limits.cpu',
      '300m',
    )
    assert.deepEqual(await world.adopted(), { 'units/prod/cpu.yaml': CPU.replace('200m', '300m') })
  })

  test('adopts a field in a JSON patch inside the kustomization', async () => {
    const world = await drifted('spec.minReadySeconds', 20)
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': PROD.replace('value: 10', 'value: 20'),
    })
  })

  test('adopts a Service port, the key of its item, in a JSON patch without its node port', async () => {
    const files = {
      'units/prod/kustomization.yaml': PORT,
      'bases/web/kustomization.yaml': `${BASE['bases/web/kustomization.yaml']}- service.yaml\n`,
      'bases/web/service.yaml': SERVICE,
    }
    const world = await new KustomizeWorld({ files }).apply()
    world.cluster.put(
      appliedBy(
        world.syncer,
        yaml(SERVICE.replace('name: web', 'name: web, namespace: shop').replace('8000', '80')),
      ),
    )
    world.cluster.change('/Service/shop/web', (live) =>
      removedFrom(live, 'spec.ports[port=80,protocol=TCP]'),
    )
    world.edit('/Service/shop/web', 'spec.ports[port=81,protocol=TCP]', {
      name: 'http',
      port: 81,
      protocol: 'TCP',
      targetPort: 8080,
      nodePort: 30080,
    })
    const { report } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path, change }) => [path, change]),
      [
        ['spec.ports[port=80,protocol=TCP]', 'removed'],
        ['spec.ports[port=81,protocol=TCP]', 'added'],
      ],
    )
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': PORT.replace('value: 80', 'value: 81'),
    })
  })

  test('adopts several fields at once, each at its place', async () => {
    const world = await drifted('spec.minReadySeconds', 20)
    world.edit(WEB, 'spec.replicas', 5)
    world.edit(WEB, IMAGE, 'nginx:1.28')
    const edited = PROD.replace('value: 10', 'value: 20')
      .replace('count: 3', 'count: 5')
      .replace('"1.27"', '"1.28"')
    assert.deepEqual(await world.adopted(), { 'units/prod/kustomization.yaml': edited })
  })

  test('releases a replica count in both places that set it', async () => {
    const world = await drifted('spec.replicas', 5)
    const { branch } = await world.resolutionRequest('Release')
    assert.deepEqual(world.sourcesOf(branch), {
      'bases/web/deployment.yaml': DEPLOYMENT.replace('  replicas: 1\n', ''),
      'units/prod/kustomization.yaml': PROD.replace(
        'replicas:\n- {name: web, count: 3}\n',
        'replicas: []\n',
      ),
    })
  })

  test('is in sync after approve merged the adopted change', async () => {
    const world = await drifted(IMAGE, 'nginx:1.28')
    await world.adopted()
    await world.approve()
    assert.equal(
      world.repository.text('main', 'units/prod/kustomization.yaml'),
      PROD.replace('"1.27"', '"1.28"'),
    )
    assert.equal((await world.plan()).report.status.state, 'InSync')
  })

  test('adopts a value of the base there when nothing else is built from it', async () => {
    const world = await new KustomizeWorld().apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    assert.deepEqual(await world.adopted(), {
      'bases/web/config.yaml': BASE['bases/web/config.yaml'].replace('"5"', '"6"'),
    })
  })

  test('adopts a value of a shared base in its own overlay, with a note about the other unit', async () => {
    const world = await new KustomizeWorld({ files: STAGING }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    assert.deepEqual(await world.adopted(), OVERLAID)
    assert.deepEqual(world.told, [
      'shared-source: data.size comes from the manifest (bases/web/config.yaml:5), which units/staging is built from too: a new patch (units/prod/kustomization.yaml) changes it here only',
    ])
  })

  test('adopts a second value of one object in the patch of the first', async () => {
    const world = await new KustomizeWorld({ files: STAGING }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    world.edit('/ConfigMap/shop/settings', 'data.color', 'red')
    assert.deepEqual(await world.adopted(), {
      ...OVERLAID,
      'units/prod/configmap-settings-patch.yaml': `${OVERLAID['units/prod/configmap-settings-patch.yaml']}  color: red\n`,
    })
  })

  test('adopts an image and a count of a shared base in images and replicas', async () => {
    const files = { ...STAGING, 'units/prod/kustomization.yaml': PLAIN }
    const world = await new KustomizeWorld({ files }).apply()
    world.edit(WEB, 'spec.replicas', 5)
    world.edit(WEB, IMAGE, 'example.com/nginx:1.9')
    world.edit(WEB, 'spec.minReadySeconds', 5)
    world.edit(WEB, 'spec.template.spec.containers[name=app].resources.limits.cpu', '100m')
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': `${PLAIN}replicas:
  - name: web
    count: 5
images:
  - name: nginx
    newName: example.com/nginx
    newTag: "1.9"
`,
    })
  })

  test('removes a missing object with a delete patch when the base is shared', async () => {
    const world = await new KustomizeWorld({ files: STAGING }).apply()
    world.pass(120)
    world.cluster.objects.delete('/ConfigMap/shop/settings')
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': OVERLAID['units/prod/kustomization.yaml'],
      'units/prod/configmap-settings-patch.yaml':
        '$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n',
    })
  })

  test('adopts its own value even if a kustomization includes the unit or a broken one reads the base', async () => {
    const files = {
      'kustomization.yaml': 'resources: [units/prod]\n',
      'broken/kustomization.yaml': 'resources: [../bases/web, ../nowhere]\n',
    }
    const world = await new KustomizeWorld({ files }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    assert.deepEqual(await world.adopted(), {
      'bases/web/config.yaml': BASE['bases/web/config.yaml'].replace('"5"', '"6"'),
    })
  })

  test('says beforehand which changes cannot be adopted, and why', async () => {
    const files = {
      'units/prod/kustomization.yaml': `${PROD}labels:\n- pairs: {tier: shop}\n`,
    }
    const world = await new KustomizeWorld({ files }).apply()
    world.edit('/ConfigMap/shop/settings', 'metadata.labels', { tier: 'shop' })
    world.edit(WEB, 'metadata.labels', { tier: 'front' })
    world.edit(WEB, 'spec.replicas', 5)
    const [unit] = (await world.scan()).units
    assert.ok(unit?.state === 'planned')
    const why = unit.plan.report.spec.changes.map(({ path, fingerprint }) => [
      path,
      unit.notAdoptable.get(fingerprint),
    ])
    assert.deepEqual(why.map(([path, reason]) => [path, reason !== undefined]).sort(), [
      ['metadata.labels.tier', true],
      ['spec.replicas', false],
    ])
    assert.match(
      String(why.find(([path]) => path === 'metadata.labels.tier')?.[1]),
      /comes from the label tier .*, and an edit there would also change metadata\.labels\.tier of ConfigMap shop\/settings/,
    )
  })

  test('adopts a value in the shared base when the other unit overrides it', async () => {
    const own = {
      ...STAGING,
      'units/prod/kustomization.yaml': PROD.replace(
        'images: # as released\n- name: nginx\n  newTag: "1.27" # ours\n',
        '',
      ),
    }
    const world = await drifted(IMAGE, 'nginx:1.3', { files: own })
    assert.deepEqual(await world.adopted(), {
      'bases/web/deployment.yaml': DEPLOYMENT.replace('nginx:1.0', 'nginx:1.3'),
    })
  })

  test('does not edit a base that is another package', async () => {
    const world = await new KustomizeWorld({ files: { 'bases/web/Kptfile': KPTFILE } }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    assert.deepEqual(await world.adopted(), OVERLAID)
    assert.match(String(world.told), /which bases\/web is built from too/)
  })

  test("is rendered per cluster as the policy says, with overlays that share the package's base", async () => {
    const overlays = {
      'units/prod/overlays/prod/kustomization.yaml': 'namespace: shop\nresources: [../../app]\n',
      'units/prod/overlays/test/kustomization.yaml':
        'namespace: shop\nresources: [../../app]\nnamePrefix: test-\n',
      'units/prod/app/kustomization.yaml': 'resources: [web.yaml]\n',
      'units/prod/app/web.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {size: "5"}\n',
      '.drift/test.yaml': policyText(
        '{match: {clusters: [test], packages: ["units/**"]}, render: {tool: kustomize, path: overlays/test}}',
      ).replace('name: test', 'name: in-test'),
    }
    const policy = '{mode: Propose, render: {tool: kustomize, path: overlays/prod}}'
    const world = await new KustomizeWorld({ files: overlays, policy }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    const { report } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path, source }) => [path, source]),
      [['data.size', 'units/prod/app/web.yaml:1']],
    )
    assert.deepEqual(await world.adopted(), {
      'units/prod/overlays/prod/kustomization.yaml':
        'namespace: shop\nresources: [../../app]\npatches:\n- path: configmap-settings-patch.yaml\n',
      'units/prod/overlays/prod/configmap-settings-patch.yaml':
        OVERLAID['units/prod/configmap-settings-patch.yaml'],
    })
    assert.match(
      String(world.told),
      /which units\/prod \(kustomize overlays\/test\) is built from too/,
    )
  })

  test('adopts a literal if the generated name has no hash, and rejects it otherwise', async () => {
    const generator = `configMapGenerator:\n- name: settings\n  behavior: merge\n  literals:\n  - size=5 # of ten\n`
    const plain = `${PROD}${generator}  options: {disableNameSuffixHash: true}\n`
    const base =
      'resources: [deployment.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [size=4]\n  options: {disableNameSuffixHash: true}\n'
    const world = await new KustomizeWorld({
      files: { 'units/prod/kustomization.yaml': plain, 'bases/web/kustomization.yaml': base },
    }).apply()
    world.edit('/ConfigMap/shop/settings', 'data.size', '6')
    assert.deepEqual(await world.adopted(), {
      'units/prod/kustomization.yaml': plain.replace('size=5', 'size=6'),
    })

    const own = `namespace: shop\nconfigMapGenerator:\n- name: settings\n  literals: [size=5]\n`
    const other = new KustomizeWorld({ files: { 'units/prod/kustomization.yaml': own } })
    other.pass(120)
    const name =
      (await other.plan()).report.spec.changes.find(({ change }) => change === 'missing')?.ref
        .name ?? ''
    assert.match(name, /^settings-\w+$/)
    const live = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {size: "5"}\n`
    other.cluster.put(appliedBy(other.syncer, yaml(live)))
    other.edit(`/ConfigMap/shop/${name}`, 'data.size', '6')
    const { why, where } = await refused(other.adopted(), 'BP2001')
    assert.match(why, /ends with a hash of its content/)
    assert.equal(where, 'units/prod/kustomization.yaml:3')
  })

  test('removes a missing object together with its file', async () => {
    const world = await new KustomizeWorld().apply()
    world.pass(120)
    world.cluster.objects.delete('/ConfigMap/shop/settings')
    assert.deepEqual(await world.adopted(), {
      'bases/web/config.yaml': undefined,
      'bases/web/kustomization.yaml': 'resources:\n- deployment.yaml\n',
    })
  })

  test('is Behind when its base changed in git', async () => {
    const world = await new KustomizeWorld().apply()
    world.repository.commitByHand('main', {
      'bases/web/config.yaml': BASE['bases/web/config.yaml'].replace('"5"', '"6"'),
    })
    const { report } = await world.plan()
    assert.deepEqual([report.status.state, report.spec.changes], ['Behind', []])
  })

  test('has its proposal rebuilt when its base changed in git', async () => {
    const world = await drifted('spec.replicas', 5)
    await world.plan()
    assert.equal((await world.plan()).outcome, 'unchanged')
    world.repository.commitByHand('main', {
      'bases/web/config.yaml': BASE['bases/web/config.yaml'].replace('{name', '{ name'),
    })
    assert.equal((await world.plan()).outcome, 'updated')
  })

  test('fails with the message of kustomize, without local paths', async () => {
    const world = new KustomizeWorld({
      files: { 'units/prod/cpu.yaml': CPU.replace('web', 'wob') },
    })
    const { why, where } = await refused(world.plan(), 'BP1209')
    assert.match(why, /^exit code 1: .*wob/)
    assert.doesNotMatch(why, /backporch-build|\/tmp/)
    assert.equal(where, 'units/prod')
  })

  test('is not rendered without permission of the operator', async () => {
    const renderer = addPackageBuilds(
      new InProcessRenderer(),
      new PackageBuilds({ allowed: ['helm'], environment: process.env }),
    )
    const { remedy } = await refused(new KustomizeWorld({ renderer }).plan(), 'BP1208')
    assert.match(remedy, /--allow-render='kubectl'/)
  })
})

test('a remote base is rejected with its line before anything runs', async () => {
  const world = new KustomizeWorld({
    files: {
      'units/prod/kustomization.yaml':
        'resources:\n- ../../bases/web\n- https://example.com/base.yaml\n',
    },
    renderer: new InProcessRenderer(),
  })
  const { where, why } = await refused(world.plan(), 'BP1210')
  assert.equal(where, 'units/prod/kustomization.yaml:3')
  assert.match(why, /is elsewhere/)
})
