/** Units that Flux Kustomizations apply, in a repository without a Kptfile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  APPS,
  BASE,
  FluxWorld,
  LIVE,
  OVERLAY,
  SYNC,
  WEB,
} from '../../../../test/fakes/flux-world.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { policyText, refused, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { readRepository } from '../repository-view.ts'
import { listSourceNotes } from './discover-sources.ts'

const IMAGE = 'spec.template.spec.containers[name=app].image'

describe('a unit that a Flux Kustomization applies', { skip: whyNoKubectl() }, () => {
  test("is found by its cluster resource, and in sync when live equals Flux's output", async () => {
    const { report } = await new FluxWorld().plan()
    assert.deepEqual(
      [report.spec.unit.package, report.status.state, report.spec.changes],
      ['apps/production', 'InSync', []],
    )
    assert.equal(report.spec.unit.appliedBy, 'Flux Kustomization flux-system/apps')
  })

  test('is in sync even where kustomize would reject a number as a tag', async () => {
    const kustomization = `${OVERLAY}images:\n- {name: other, newTag: 1.27}\nunknown: field\n`
    const { report } = await new FluxWorld({
      'apps/production/kustomization.yaml': kustomization,
    }).plan()
    assert.equal(report.status.state, 'InSync')
  })

  test('with an invalid kustomization fails with the line', async () => {
    const world = new FluxWorld({
      'apps/production/kustomization.yaml': 'resources: [a\nb: c: d\n',
    })
    await assert.rejects(world.plan(), {
      code: 'BP1110',
      where: 'apps/production/kustomization.yaml:1:12',
    })
  })

  test('is adopted even if the kustomization of another unit is invalid', async () => {
    const world = new FluxWorld({ 'other/kustomization.yaml': 'resources: [a\nb: c: d\n' })
    world.cluster.put(
      yaml(APPS.replace('name: apps', 'name: other').replace('./apps/production', './other')),
    )
    const changed = await world.adopted(IMAGE, 'nginx:1.28')
    assert.equal(changed['clusters/prod/apps.yaml'], APPS.replace('"1.27"', '"1.28"'))
  })

  test('shows drift at the line that declares the object, and is restored without an edit', async () => {
    const world = new FluxWorld()
    world.edit(WEB, 'spec.replicas', 5)
    const { report, branch } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
      [['spec.replicas', 3, 5, 'apps/base/deployment.yaml:1']],
    )
    assert.deepEqual(world.changed(branch), {})
  })

  for (const [what, field, value, file, before, after] of [
    ['an image in spec.images', IMAGE, 'nginx:1.28', 'clusters/prod/apps.yaml', '"1.27"', '"1.28"'],
    [
      'a field in spec.patches',
      'spec.minReadySeconds',
      20,
      'clusters/prod/apps.yaml',
      'value: 10 #',
      'value: 20 #',
    ],
    [
      'a variable in postBuild.substitute',
      'spec.replicas',
      4,
      'clusters/prod/apps.yaml',
      'replicas: "3"',
      'replicas: "4"',
    ],
    [
      'a label in commonMetadata',
      'metadata.labels.tier',
      'back',
      'clusters/prod/apps.yaml',
      'tier: front',
      'tier: back',
    ],
  ] as const)
    test(`adopts ${what}, keeping every other byte`, async () => {
      const world = new FluxWorld()
      if (what.includes('label')) world.edit('/ConfigMap/shop/prod-web', field, value)
      assert.deepEqual(await world.adopted(field, value), { [file]: APPS.replace(before, after) })
    })

  test('edits the place that changes nothing else when a variable is used elsewhere too', async () => {
    const adopted = await new FluxWorld().adopted(
      'spec.template.spec.containers[name=app].env[name=COLOR].value',
      'green',
    )
    assert.deepEqual(adopted, {
      'apps/base/deployment.yaml': BASE['apps/base/deployment.yaml'].replace('${color}', 'green'),
    })
  })

  describe('with the folder in the files of a second cluster', () => {
    const dev = { 'clusters/dev/apps.yaml': APPS.replace('in production', 'for tests') }
    const adopted = async (
      world: FluxWorld,
      via?: string,
    ): Promise<{ readonly [path: string]: string | undefined }> => {
      world.edit('/ConfigMap/shop/prod-web', 'data.size', '6')
      const { branch } = await world.plan({
        packages: ['apps/production'],
        resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined, via },
      })
      return world.changed(branch)
    }
    const bootstrapped = (): FluxWorld => {
      const world = new FluxWorld(dev)
      const own = APPS.replace('name: apps', 'name: flux-system').replace(
        /path:[\s\S]*/,
        'path: ./clusters/prod\n',
      )
      world.cluster.put(yaml(own))
      return world
    }

    test('adopts a value in the patches of its own Kustomization', async () => {
      assert.deepEqual(await adopted(bootstrapped()), {
        'clusters/prod/apps.yaml': APPS.replace(
          '    target: {kind: Deployment}\n',
          `    target: {kind: Deployment}
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: web
      data:
        size: "6"
`,
        ),
      })
    })

    test('adopts the value in the base on request', async () => {
      assert.deepEqual(await adopted(bootstrapped(), 'everywhere'), {
        'apps/base/config.yaml': BASE['apps/base/config.yaml'].replace('"5"', '"6"'),
      })
    })

    test('rejects the Adopt with the other file when ownership is ambiguous', async () => {
      const { why } = await refused(adopted(new FluxWorld(dev)), 'BP2001')
      assert.match(
        why,
        /which apps\/production \(Flux Kustomization flux-system\/apps of clusters\/(prod|dev)\/apps\.yaml\) is built from too: .*change data\.size of ConfigMap shop\/prod-web there/,
      )
    })
  })

  test('is not found for a kpt package, another repository or another branch', async () => {
    const world = new FluxWorld()
    world.cluster.put(yaml(SYNC.replace('/deploy', '/other')))
    await assert.rejects(world.plan(), /there is no package in the repository/)
    world.cluster.put(yaml(SYNC.replace('branch: main', 'branch: next')))
    await assert.rejects(world.plan(), /there is no package in the repository/)
  })

  describe('once it is recorded', () => {
    const KIND = 'kustomize.toolkit.fluxcd.io/Kustomization'
    const STAGING = APPS.replace('name: apps', 'name: staging').replace('prod-', 'staging-')

    const PLACEMENT = {
      '.drift/placement.yaml':
        'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: other}\nspec: {clusters: [prod], packages: [other]}\n',
    }

    async function recorded(files = {}): Promise<FluxWorld> {
      const world = new FluxWorld(files)
      assert.equal((await world.plan()).report.status.state, 'InSync')
      return world
    }

    test('fails when Flux cannot be read, and compares neither bare files nor file Kustomizations', async () => {
      for (const group of [KIND, 'source.toolkit.fluxcd.io/GitRepository']) {
        const world = await recorded({ 'clusters/staging/apps.yaml': STAGING })
        world.cluster.unreadable.add(group)
        const { units, view } = await world.scan()
        assert.deepEqual(
          units.map((unit) =>
            unit.state === 'failed' ? [unit.packagePath, unit.failures[0].code] : unit.plan,
          ),
          [['apps/production', 'BP1210']],
        )
        assert.match(
          listSourceNotes(view)[0]?.text ?? '',
          /cannot tell what it applies from this repository: the account cannot read the resources of Flux/,
        )
      }
    })

    test('fails likewise beside a placement', async () => {
      const world = await recorded()
      world.repository.commitByHand('main', PLACEMENT)
      assert.equal((await world.plan()).report.status.state, 'InSync')
      world.cluster.unreadable.add(KIND)
      await refused(world.plan(), 'BP1210')
    })

    test('is known without the cluster, also beside a placement', async () => {
      const world = await recorded()
      world.repository.commitByHand('main', PLACEMENT)
      const { packages } = await readRepository(
        world.repository,
        undefined,
        new AbortController().signal,
      )
      assert.deepEqual(
        packages.map(({ path }) => path),
        ['apps/production'],
      )
    })

    test('is no longer a unit when the cluster has no such resource', async () => {
      const world = await recorded()
      world.cluster.objects.delete(`${KIND}/flux-system/apps`)
      await assert.rejects(world.plan(), /there is no package in the repository/)
    })
  })

  test('is found by the address that a clone was cloned from', async () => {
    const world = new FluxWorld()
    const [remote] = [world.repository.remote]
    Object.assign(world.repository, { remote: '/home/ann/deploy' })
    await assert.rejects(world.plan(), /there is no package in the repository/)
    Object.assign(world.repository, { listCloneOrigins: async () => [remote] })
    assert.equal((await world.plan()).report.spec.unit.package, 'apps/production')
  })

  test('comes from files only for a recording without Flux resources, never for a cluster', async () => {
    const world = new FluxWorld()
    for (const key of [...world.cluster.objects.keys()])
      if (key.includes('fluxcd.io')) world.cluster.objects.delete(key)
    await assert.rejects(world.plan(), /there is no package in the repository/)
    const identify = world.cluster.identify.bind(world.cluster)
    world.cluster.identify = async () => ({ ...(await identify()), recorded: true })
    assert.equal((await world.plan()).report.spec.unit.package, 'apps/production')
  })

  test('uses the renderer that a policy names for the folder', async () => {
    const world = new FluxWorld({
      '.drift/render.yaml': policyText(
        '{priority: 9, match: {packages: [apps/production]}, render: {tool: kustomize}}',
      ).replace('test', 'render'),
    })
    const { report } = await world.plan()
    assert.notEqual(report.status.state, 'InSync')
  })

  describe('with substituteFrom', () => {
    const FROM = `${APPS.replace('    substitute:\n      color: blue # of the day\n', '    substitute:\n')}    substituteFrom:
    - {kind: ConfigMap, name: settings}
    - {kind: Secret, name: credentials}
    - {kind: Secret, name: more, optional: true}
`
    const TOKEN = 'canary-token-of-the-secret'
    const CONFIG_WITH = BASE['apps/base/config.yaml'].replace(
      '  size: "5"',
      '  size: "5"\n  motto: we like ${token} best',
    )

    function begin(): FluxWorld {
      const world = new FluxWorld({
        'clusters/prod/apps.yaml': FROM,
        'apps/base/config.yaml': CONFIG_WITH,
      })
      const live = LIVE.config.replace('size: "5"', `size: "5", motto: "we like ${TOKEN} best"`)
      world.cluster.put(appliedBy(world.syncer, yaml(live)))
      world.cluster.put(yaml(FROM))
      world.cluster.put(
        yaml(
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {color: "blue\\n"}\n',
        ),
      )
      const encoded = Buffer.from(TOKEN).toString('base64')
      world.cluster.put(
        yaml(
          `apiVersion: v1\nkind: Secret\nmetadata: {name: credentials, namespace: flux-system}\ndata: {token: ${encoded}}\n`,
        ),
      )
      return world
    }

    test('is in sync with the values of the cluster; an optional Secret may be absent', async () => {
      const { report } = await begin().plan()
      assert.deepEqual([report.status.state, report.spec.changes], ['InSync', []])
    })

    test('never writes or adopts a value that contains part of a Secret', async () => {
      const world = begin()
      world.edit('/ConfigMap/shop/prod-web', 'data.motto', 'we like another-canary best')
      const { report, branch } = await world.plan()
      assert.deepEqual(
        report.spec.changes.map(({ path }) => path),
        ['data.motto'],
      )
      const written = world.repository
        .names()
        .flatMap((name) =>
          world.repository.paths(name).map((path) => world.repository.text(name, path) ?? ''),
        )
      for (const secret of [TOKEN, 'another-canary']) {
        const found = [JSON.stringify(report), ...written].filter(
          (text) => text.includes(secret) && !text.includes('${token}'),
        )
        assert.deepEqual(found, [], secret)
      }
      assert.ok(branch)
      await refused(world.adopted('spec.replicas', 3), 'BP2002')
    })

    test('is warned of a Secret in git only if a value is its own, not from the cluster', async () => {
      const world = begin()
      const secret =
        'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {token: "${token}"}\n'
      world.repository.commitByHand('main', {
        'apps/base/secret.yaml': secret,
        'apps/base/kustomization.yaml': 'resources: [deployment.yaml, config.yaml, secret.yaml]\n',
      })
      const inGit = async (): Promise<readonly string[]> =>
        (await world.scan()).units.flatMap((unit) =>
          unit.state === 'planned'
            ? unit.notes.filter(({ cause }) => cause === 'secret-in-git').map(({ text }) => text)
            : [],
        )
      assert.deepEqual(await inGit(), [])
      world.repository.commitByHand('main', {
        'apps/base/secret.yaml': secret.replace('"}', '", user: canary-user}'),
      })
      assert.deepEqual(await inGit(), [
        'Secret shop/prod-web has its values in git in plain text: stringData.user',
      ])
    })

    test('fails naming a ConfigMap or Secret that is missing or unreadable', async () => {
      for (const [key, why] of [
        [
          '/ConfigMap/flux-system/settings',
          /names the ConfigMap flux-system\/settings, which does not exist/,
        ],
        [
          '/Secret/flux-system/credentials',
          /names the Secret flux-system\/credentials, which does not exist/,
        ],
      ] as const) {
        const world = begin()
        world.cluster.objects.delete(key)
        assert.match((await refused(world.plan(), 'BP1210')).why, why)
      }
      const world = begin()
      world.cluster.unreadable.add('/Secret/flux-system/credentials')
      assert.match((await refused(world.plan(), 'BP1210')).why, /which cannot be read/)
    })
  })
})
