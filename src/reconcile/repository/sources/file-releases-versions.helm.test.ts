/** Each supported version of Helm renders a Flux HelmRelease that a Kustomization of the repository builds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KUSTOMIZATION, release, UNIT, WEB } from '../../../../test/fakes/declared-release.ts'
import {
  ADOPTIONS,
  DEPLOYMENT,
  DeclaredReleaseWorld,
  FILES,
  STORED,
} from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'

const COLOR = 'spec.template.spec.containers[name=app].env[name=COLOR].value'

const { helm3, helm4 } = await helmOrThrow()
for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a HelmRelease that files declare, with its chart in the repository, with ${version}`, () => {
    test("is a unit below its Kustomization, with the build's overlay, variables and ConfigMap", async () => {
      assert.deepEqual(await new DeclaredReleaseWorld(helm).states(), {
        ...KUSTOMIZATION,
        [UNIT]: 'Flux HelmRelease shop/web: InSync',
      })
    })

    test('shows drift at the template line', async () => {
      const world = new DeclaredReleaseWorld(helm)
      world.edit(WEB, 'spec.replicas', 5)
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 3, 5, 'charts/web/templates/deployment.yaml:1']],
      )
    })

    for (const [what, field, value, path, before, after] of ADOPTIONS)
      test(`adopts ${what} where it is written, keeping every other byte`, async () => {
        const changed = await new DeclaredReleaseWorld(helm).adopted(
          { key: WEB, unit: UNIT },
          field,
          value,
        )
        assert.deepEqual(changed, { [path]: FILES[path].replace(before, after) })
      })

    test('adopts values of a base that staging shares in the overlay', async () => {
      const files = { 'apps/staging/kustomization.yaml': 'resources:\n- ../base\n' }
      const path = 'apps/production/release.yaml'
      const world = new DeclaredReleaseWorld(helm, files)
      assert.deepEqual(await world.adopted({ key: WEB, unit: UNIT }, COLOR, 'green'), {
        [path]: `${FILES[path]}    color: green\n`,
      })
      const plain = new DeclaredReleaseWorld(helm, {
        ...files,
        'apps/production/kustomization.yaml': 'resources:\n- ../base\n',
        'apps/base/release.yaml': FILES['apps/base/release.yaml'].replace(
          'replicas: 1',
          'replicas: 3',
        ),
      })
      const changed = await plain.adopted({ key: WEB, unit: UNIT }, 'spec.replicas', 4)
      assert.deepEqual(changed, {
        'apps/production/kustomization.yaml':
          'resources:\n- ../base\npatches:\n- path: helmrelease-web-patch.yaml\n',
        'apps/production/helmrelease-web-patch.yaml':
          'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  values:\n    replicas: 4\n',
      })
    })

    test('adopts a chart file that a template prints in that file', async () => {
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

    test('rejects a field that no value sets, with the line of the template', async () => {
      await assert.rejects(
        new DeclaredReleaseWorld(helm).adopted({ key: WEB, unit: UNIT }, 'spec.minReadySeconds', 9),
        {
          code: 'BP2001',
          where: 'charts/web/templates/deployment.yaml:7',
        },
      )
    })

    test('runs its post-renderers, and edits them when they write the field', async () => {
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

    test('is compared with the stored Helm release if that exists', async () => {
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
