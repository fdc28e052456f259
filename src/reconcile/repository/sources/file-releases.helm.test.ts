/** Flux HelmReleases that a Kustomization of the repository builds, where the recording has no resource of Flux. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../../../test/fakes/cli-world.ts'
import { KUSTOMIZATION, release, UNIT, WEB } from '../../../../test/fakes/declared-release.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import {
  APPS,
  DEPLOYMENT,
  DeclaredReleaseWorld,
  FILES,
  MOTTO,
  RELEASE,
} from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'
import type { Preview } from '../../../record/documents/preview.ts'
import {
  type Build,
  type BuildAnswer,
  buildKey,
} from '../../../sources/programs/package-builder.ts'

const { helm3 } = await helmOrThrow()
describe('a HelmRelease declared in files', () => {
  const isNotRecorded = 'Flux HelmRelease shop/web: no stored Helm release is recorded for it, and'
  const WAY = ': record the Secret of the release (type helm.sh/release.v1), or ask the cluster'

  for (const [what, files, why] of [
    [
      'from a HelmRepository',
      release([
        'GitRepository, name: flux-system, namespace: flux-system',
        'HelmRepository, name: charts',
      ]),
      'its chart comes from the HelmRepository charts, which is not fetched',
    ],
    [
      'that does not exist',
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
      'from another repository',
      {
        'clusters/prod/source.yaml': gitRepository('ssh://git@/other', 'main'),
        ...release(['flux-system, namespace', 'charts, namespace']),
      },
      'its chart comes from the GitRepository flux-system/charts, which is another repository',
    ],
    [
      'from another branch',
      {
        'clusters/prod/source.yaml': gitRepository('ssh://git@/deploy', 'next'),
        ...release(['flux-system, namespace', 'charts, namespace']),
      },
      'its chart comes from the GitRepository flux-system/charts, which does not follow main',
    ],
  ] as const)
    test(`with a chart ${what} causes a note with a remedy, while other units continue`, async () => {
      const world = new DeclaredReleaseWorld(helm3, files)
      assert.deepEqual(await world.notes(), [`${isNotRecorded} ${why}${WAY}`])
      assert.deepEqual(await world.states(), KUSTOMIZATION)
    })

  test('causes a note if Flux applies it elsewhere, not at all, or with a Secret value', async () => {
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

  test('is Behind, not drifted, while a commit to its chart or values is not applied', async () => {
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

  test('is Behind while the commit that adds it is not applied', async () => {
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

  test('shows in a preview how another template and other values change the release', async () => {
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

  test('overrides a chart default in the HelmRelease, and separates two releases', async () => {
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

  test('derives the name and namespace of its release from its own by default', async () => {
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

  test('causes no additional build of its Kustomization', async () => {
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

  test('is not searched in bare files, nor when the cluster has Flux resources', async () => {
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

  test('is unknown if its Kustomization cannot be built, and keeps its record', async () => {
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
