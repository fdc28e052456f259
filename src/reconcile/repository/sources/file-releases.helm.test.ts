/** Flux HelmReleases that a Kustomization of the repository builds, where the recording has no resource of Flux. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openRecordedCluster } from '@backporch/cluster/recording'
import type { Failure } from '@backporch/kyaml/failure'
import { formatJson } from '@backporch/kyaml/json'
import { runInWorld } from '../../../../test/fakes/cli-world.ts'
import { appliedBy, editedBy } from '../../../../test/fakes/live-object.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import {
  ADOPTIONS,
  APPS,
  DEPLOYMENT,
  DeclaredReleaseWorld,
  FILES,
  MOTTO,
  RELEASE,
  STORED,
} from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'
import type { Preview } from '../../../record/documents/preview.ts'
import {
  type Build,
  type BuildAnswer,
  buildKey,
} from '../../../sources/programs/package-builder.ts'

const { helm3, helm4 } = await helmOrThrow()
const WEB = 'apps/Deployment/shop/shop-web'
const UNIT = 'apps/production/web'
/** The HelmRelease itself is not recorded. */
const KUSTOMIZATION = { 'apps/production': 'Flux Kustomization flux-system/apps: Unknown' }

function release(...changes: readonly (readonly [string, string])[]): {
  readonly [path: string]: string
} {
  return {
    'apps/base/release.yaml': changes.reduce(
      (text, [before, after]) => text.replace(before, after),
      RELEASE,
    ),
  }
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a HelmRelease that files declare, with its chart in the repository, with ${version}`, () => {
    test('is a unit below the folder of its Kustomization, with the overlay, the variables and the ConfigMap of the build', async () => {
      assert.deepEqual(await new DeclaredReleaseWorld(helm).states(), {
        ...KUSTOMIZATION,
        [UNIT]: 'Flux HelmRelease shop/web: InSync',
      })
    })

    test('shows drift at the line of the template', async () => {
      const world = new DeclaredReleaseWorld(helm)
      world.edit(WEB, 'spec.replicas', 5)
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 3, 5, 'charts/web/templates/deployment.yaml:1']],
      )
    })

    for (const [what, field, value, path, before, after] of ADOPTIONS)
      test(`has ${what} adopted where it is authored, byte for byte the rest`, async () => {
        const changed = await new DeclaredReleaseWorld(helm).adopted(
          { key: WEB, unit: UNIT },
          field,
          value,
        )
        assert.deepEqual(changed, { [path]: FILES[path].replace(before, after) })
      })

    test('a file of the chart that a template prints is edited itself', async () => {
      const path = 'charts/web/files/motto.txt'
      const at = { key: '/ConfigMap/shop/shop-motto', unit: UNIT }
      assert.deepEqual(
        await new DeclaredReleaseWorld(helm).adopted(
          at,
          'data.motto',
          'first of all\nlast but one\n',
        ),
        {
          [path]: 'first of all\nlast but one\n',
        },
      )
    })

    test('a field that no value leads to is refused with the line of the template', async () => {
      await assert.rejects(
        new DeclaredReleaseWorld(helm).adopted({ key: WEB, unit: UNIT }, 'spec.minReadySeconds', 9),
        {
          code: 'BP2001',
          where: 'charts/web/templates/deployment.yaml:7',
        },
      )
    })

    test('its post-renderers are run, and edited where they write the field', async () => {
      const kustomize = '{images: [{name: example.com/web, newTag: "1.27.1"}]}'
      const rendered = release([
        '  interval: 1h',
        `  interval: 1h\n  postRenderers:\n  - kustomize: ${kustomize} # pinned`,
      ])
      const world = new DeclaredReleaseWorld(helm, rendered)
      const field = 'spec.template.spec.containers[name=app].image'
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live }) => [path, git, live]),
        [[field, 'example.com/web:1.27.1', 'example.com/web:1.27']],
      )
      const changed = await world.adopted({ key: WEB, unit: UNIT }, field, 'example.com/web:1.27.2')
      const [[path, text] = ['', '']] = Object.entries(rendered)
      assert.deepEqual(changed, { [path]: text.replace('1.27.1', '1.27.2') })
    })

    test('what is stored of the release is compared where it is there', async () => {
      const world = new DeclaredReleaseWorld(helm)
      const stored = { ...STORED, manifest: DEPLOYMENT.replace('replicas: 3', 'replicas: 5') }
      world.cluster.releases.set('shop/shop', {
        source: 'the Helm release shop/shop',
        resources: [],
        applied: [],
        release: stored,
      })
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 5, 3, 'apps/base/release.yaml:2']],
      )
    })
  })

describe('a HelmRelease that files declare', () => {
  const isNotRecorded =
    'Flux HelmRelease shop/web: nothing is recorded of what Helm stores of its release, and'
  const WAY = ': record the Secret of the release (type helm.sh/release.v1), or ask the cluster'

  for (const [what, files, why] of [
    [
      'of a HelmRepository',
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
      'its chart is of the HelmRepository charts, from which nothing is fetched',
    ],
    [
      'that is not there',
      release(['./charts/web', './charts/other']),
      'this repository has no chart at ./charts/other',
    ],
    [
      'whose version Flux changes with each commit',
      release(['chart: ./charts/web', 'chart: ./charts/web\n      reconcileStrategy: Revision']),
      'Flux adds the commit to the version of its chart (spec.chart.spec.reconcileStrategy)',
    ],
    [
      'whose version Flux changes with other defaults',
      release([
        'chart: ./charts/web',
        'chart: ./charts/web\n      valuesFiles: [./charts/web/values.yaml]',
      ]),
      'Flux adds a number to the version of its chart (spec.chart.spec.valuesFiles)',
    ],
    [
      'of another repository',
      {
        'clusters/prod/source.yaml': gitRepository('ssh://git@/other', 'main'),
        ...release(['flux-system, namespace', 'charts, namespace']),
      },
      'its chart is of the GitRepository flux-system/charts, which is another repository',
    ],
    [
      'of another branch',
      {
        'clusters/prod/source.yaml': gitRepository('ssh://git@/deploy', 'next'),
        ...release(['flux-system, namespace', 'charts, namespace']),
      },
      'its chart is of the GitRepository flux-system/charts, which does not follow main',
    ],
  ] as const)
    test(`with a chart ${what} is a note with what to do, and the other units go on`, async () => {
      const world = new DeclaredReleaseWorld(helm3, files)
      assert.deepEqual(await world.notes(), [`${isNotRecorded} ${why}${WAY}`])
      assert.deepEqual(await world.states(), KUSTOMIZATION)
    })

  test('with a chart elsewhere is compared with what is stored of the release', async () => {
    const world = new DeclaredReleaseWorld(
      helm3,
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
    )
    world.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: [],
      applied: [],
      release: STORED,
    })
    assert.deepEqual(await world.states(), {
      ...KUSTOMIZATION,
      [UNIT]: 'Flux HelmRelease shop/web: InSync',
    })
    assert.deepEqual(await world.notes(), [])
  })

  test('stays the unit that it was where its release is recorded no more', async () => {
    const world = new DeclaredReleaseWorld(
      helm3,
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
    )
    world.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: [],
      applied: [],
      release: STORED,
    })
    await world.scan()
    world.cluster.releases.clear()
    assert.match(
      (await world.states())[UNIT] ?? '',
      /^BP1210 nothing is recorded of what Helm stores of its release/,
    )
  })

  test('is a note where Flux applies it elsewhere, not at all, or with a value of a Secret', async () => {
    const notes = async (files: { readonly [path: string]: string }) => {
      const world = new DeclaredReleaseWorld(helm3, files)
      world.cluster.put(
        yaml(
          'apiVersion: v1\nkind: Secret\nmetadata: {name: more, namespace: flux-system}\ndata: {color: cmVk}\n',
        ),
      )
      return world.notes()
    }
    const title = 'Flux HelmRelease shop/web'
    assert.deepEqual(
      await notes(
        release(['  interval: 1h', '  interval: 1h\n  kubeConfig: {secretRef: {name: other}}']),
      ),
      [`${title}: it applies to another cluster (spec.kubeConfig)`],
    )
    const nameless = {
      ...release(['  namespace: shop\n', '']),
      'apps/production/release.yaml': FILES['apps/production/release.yaml'].replace(
        ', namespace: shop',
        '',
      ),
    }
    assert.deepEqual(await notes(nameless), [
      'Flux HelmRelease web: it has no namespace, and Flux applies no such resource',
    ])
    const secret = {
      'clusters/prod/apps.yaml': `${APPS}    substituteFrom: [{kind: Secret, name: more}]\n`,
      ...release(['replicas: 1', 'replicas: 1\n    color: ${color}']),
    }
    assert.deepEqual(await notes(secret), [
      `${title}: a variable of its Kustomization puts a value of a Secret into it`,
    ])
  })

  test('is behind, and not drifted, while a commit that changes its chart or its values is not applied', async () => {
    for (const [path, before, after] of [
      ['charts/web/templates/deployment.yaml', 'minReadySeconds: 5', 'minReadySeconds: 6'],
      ['apps/production/release.yaml', 'replicas: 3', 'replicas: 4'],
    ] as const) {
      const world = new DeclaredReleaseWorld(helm3)
      await world.scan()
      world.repository.commitByHand('main', { [path]: FILES[path].replace(before, after) })
      assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: Behind', path)
    }
  })

  test('is behind where the commit that adds it is not applied', async () => {
    const first = {
      'apps/base/kustomization.yaml': 'resources:\n- values.yaml\n',
      'apps/production/kustomization.yaml': 'resources:\n- ../base\n',
    }
    const world = new DeclaredReleaseWorld(helm3, first)
    for (const key of [WEB, '/ConfigMap/shop/shop-motto']) world.cluster.objects.delete(key)
    const added = Object.fromEntries(
      Object.keys(first).map((path) => [path, FILES[path as keyof typeof FILES]]),
    )
    world.repository.commitByHand('main', added, { at: Date.parse('2026-11-21T09:50:00Z') / 1_000 })
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: Behind')
  })

  test('a preview shows what another template and other values make of the release', async () => {
    const world = new DeclaredReleaseWorld(helm3)
    const { renderer } = world.request()
    const files = {
      'charts/web/templates/deployment.yaml': FILES['charts/web/templates/deployment.yaml'].replace(
        'Seconds: 5',
        'Seconds: 6',
      ),
      'apps/production/release.yaml': FILES['apps/production/release.yaml'].replace(
        'replicas: 3',
        'replicas: 4',
      ),
    }
    world.repository.branches.set('refs/heads/change', world.repository.head('main'))
    world.repository.commitByHand('change', files)
    const { stdout, stderr } = await runInWorld(
      world,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer },
    )
    assert.notEqual(stdout, '', stderr)
    const { items } = JSON.parse(stdout) as Preview
    const changes = items.flatMap((unit) =>
      unit.changes.map(({ ref, path, before, after }) => [
        unit.package,
        ref.kind,
        path,
        before,
        after,
      ]),
    )
    assert.deepEqual(changes, [
      ['apps/production', 'HelmRelease', 'spec.values.replicas', 3, 4],
      [UNIT, 'Deployment', 'spec.minReadySeconds', 5, 6],
      [UNIT, 'Deployment', 'spec.replicas', 3, 4],
    ])
  })

  test('a default of the chart is not edited where the HelmRelease can say it, and two releases are kept apart', async () => {
    const EU = 'apps/europe/release.yaml'
    const europe = {
      'clusters/prod/europe.yaml': APPS.replace('name: apps', 'name: europe').replace(
        'apps/production',
        'apps/europe',
      ),
      'apps/europe/kustomization.yaml': 'resources:\n- release.yaml\n',
      [EU]: RELEASE.replaceAll('namespace: shop', 'namespace: eu').replace(
        / {2}valuesFrom:\n.*\n.*\n/,
        '',
      ),
    }
    const image = 'spec.template.spec.containers[name=app].image'
    const changed = await new DeclaredReleaseWorld(helm3, europe).adopted(
      { key: WEB, unit: UNIT },
      image,
      'example.com/mirror/web:1.27',
    )
    assert.deepEqual(Object.keys(changed), ['apps/base/release.yaml'])
    assert.match(
      Object.values(changed)[0] ?? '',
      /image:\n\s+tag: \$\{tag\}\n\s+repository: example.com\/mirror\/web/,
    )
    const motto = { key: '/ConfigMap/shop/shop-motto', unit: UNIT }
    await assert.rejects(
      new DeclaredReleaseWorld(helm3, europe).adopted(
        motto,
        'data.motto',
        'first of all\nlast but one\n',
      ),
      (thrown: Failure) =>
        /the file charts\/web\/files\/motto.txt.*apps\/europe\/web/.test(thrown.why),
    )
  })

  test('has the name and the namespace of its release by default from its own', async () => {
    const renamed = (text: string): string =>
      text
        .replace(/shop-(web|motto)/, 'store-web-$1')
        .replace('namespace: shop,', 'namespace: store,')
    const template = 'charts/web/templates/motto.yaml'
    const world = new DeclaredReleaseWorld(helm3, {
      ...release(['  releaseName: shop\n', '  targetNamespace: store\n']),
      [template]: FILES[template].replace(/motto: [\s\S]*$/, 'motto: {{ .Release.Namespace }}\n'),
    })
    const motto = MOTTO.replace(/"first.*"/, 'store')
    for (const text of [DEPLOYMENT, motto])
      world.cluster.put(appliedBy('helm-controller', yaml(renamed(text))))
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
  })

  test('has the values of the build where the recording does not say whether it has them', async () => {
    const world = new DeclaredReleaseWorld(helm3)
    world.cluster.unreadable.add('/ConfigMap/shop/web-values')
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
  })

  test('is compared with a real recording that has nothing of the release, or the metadata of its Secret only', async () => {
    const secret = `apiVersion: v1
kind: Secret
metadata: {name: sh.helm.release.v1.shop.v1, namespace: shop, labels: {owner: helm, name: shop, status: deployed, version: "1"}}
`
    const hand = editedBy(
      'kubectl-edit',
      appliedBy('helm-controller', yaml(DEPLOYMENT)),
      'spec.replicas',
      5,
    )
    for (const objects of [[hand], [hand, yaml(secret)]]) {
      const folder = mkdtempSync(join(tmpdir(), 'backporch-recording-'))
      try {
        objects.forEach(
          (object, at) => void writeFileSync(join(folder, `${at}.json`), formatJson(object)),
        )
        const world = new DeclaredReleaseWorld(helm3)
        world.recording = openRecordedCluster({
          path: folder,
          name: 'prod',
          observedAt: world.cluster.now,
        })
        const { report } = await world.plan({ packages: [UNIT] })
        assert.deepEqual(
          report.spec.changes.map(({ path, git, live }) => [path, git, live]),
          [['spec.replicas', 3, 5]],
        )
      } finally {
        rmSync(folder, { recursive: true })
      }
    }
  })

  test('has the values of the recording where no file has them, and fails alone where nobody has', async () => {
    const world = new DeclaredReleaseWorld(helm3, {
      'apps/base/kustomization.yaml': 'resources:\n- release.yaml\n',
    })
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
    world.cluster.unreadable.add('/ConfigMap/shop/web-values')
    const states = await world.states()
    assert.match(
      states[UNIT] ?? '',
      /^BP1210 valuesFrom names the ConfigMap shop\/web-values, which cannot be read/,
    )
    assert.equal(states['apps/production'], KUSTOMIZATION['apps/production'])
  })

  test('costs no other build of its Kustomization', async () => {
    const world = new DeclaredReleaseWorld(helm3)
    const { renderer } = world.request()
    const { builder } = renderer
    assert.ok(builder)
    const runs = new Set<string>()
    const build = (one: Build, signal: AbortSignal): Promise<BuildAnswer> => {
      if (one.tool === 'kustomize') runs.add(buildKey(one))
      return builder.build(one, signal)
    }
    await world.scan({ renderer: { ...renderer, builder: { library: builder.library, build } } })
    assert.equal(runs.size, 1)
  })

  test('is not looked for in the bare files, and not where the cluster has resources of Flux', async () => {
    const world = new DeclaredReleaseWorld(helm3, {
      'apps/base/kustomization.yaml': 'resources:\n- values.yaml\n',
      'apps/production/kustomization.yaml': 'resources:\n- ../base\n',
    })
    assert.deepEqual(await world.states(), {
      'apps/production': 'Flux Kustomization flux-system/apps: InSync',
    })
    const live = new DeclaredReleaseWorld(helm3)
    live.cluster.put(
      yaml(gitRepository('ssh://git@/deploy', 'main').replace('name: charts', 'name: flux-system')),
    )
    live.cluster.put(yaml(APPS))
    assert.deepEqual(await live.states(), KUSTOMIZATION)
  })

  test('is unknown where its Kustomization cannot be built, and keeps what was recorded of it', async () => {
    const world = new DeclaredReleaseWorld(helm3)
    await world.scan()
    world.repository.commitByHand('main', {
      'apps/production/kustomization.yaml': 'resources:\n- ../base\n- gone.yaml\n',
    })
    const states = await world.states()
    assert.match(states['apps/production'] ?? '', /^BP1\d+ .*gone.yaml/)
    assert.match(
      states[UNIT] ?? '',
      /^BP1210 Flux Kustomization flux-system\/apps cannot be built: .*gone.yaml/,
    )
  })
})

function gitRepository(url: string, branch: string): string {
  return `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {url: "${url}", ref: {branch: ${branch}}}\n`
}
