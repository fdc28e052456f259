/** Helm releases of Flux HelmReleases that Kustomizations apply, with a chart that is in no repository. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { editedBy } from '../../../../test/fakes/live-object.ts'
import { ADOPTIONS } from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'
import { FILES, RELEASE, ReleaseWorld } from '../../../../test/helm/stored-release-world.ts'
import type { Preview } from '../../../record/documents/preview.ts'

const { helm3, helm4 } = await helmOrThrow()
const WEB = 'apps/Deployment/shop/shop-web'
const UNIT = 'apps/production/web'
const AT = { key: WEB, unit: UNIT }

const POST_RENDERERS = `  postRenderers:
  - kustomize:
      patches:
      - target: {kind: Deployment}
        patch: |
          - op: add
            path: /spec/template/spec/priorityClassName
            value: high # for the shop
      images:
      - name: example.com/web
        newName: mirror.example.com/web
        newTag: "1.27.1" # pinned
`
const RENDERED = RELEASE.replace('  valuesFrom:', `${POST_RENDERERS}  valuesFrom:`)

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a Flux HelmRelease whose chart is in no repository, with ${version}`, () => {
    test('is a unit below its Kustomization, in sync when live equals the stored release', async () => {
      assert.deepEqual(await new ReleaseWorld(helm).states(), {
        'apps/production': 'Flux Kustomization flux-system/apps: InSync',
        [UNIT]: 'Flux HelmRelease shop/web: InSync',
      })
    })

    test('shows drift at the file that declares the HelmRelease', async () => {
      const world = new ReleaseWorld(helm)
      world.edit(WEB, 'spec.replicas', 5)
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 3, 5, 'apps/base/release.yaml:2']],
      )
    })

    for (const [what, field, value, path, before, after] of ADOPTIONS)
      test(`adopts ${what} where it is written, keeping every other byte`, async () => {
        assert.deepEqual(await new ReleaseWorld(helm).adopted(AT, field, value), {
          [path]: FILES[path].replace(before, after),
        })
      })

    test('a key that only the chart has is added to the values', async () => {
      const changed = await new ReleaseWorld(helm).adopted(
        AT,
        'spec.template.metadata.annotations.team',
        'shop',
      )
      assert.deepEqual(Object.keys(changed), ['apps/base/release.yaml'])
      assert.match(Object.values(changed)[0] ?? '', /podAnnotations:\n\s+team: shop/)
    })

    test('rejects a field that no value sets, with the line of the template', async () => {
      await assert.rejects(new ReleaseWorld(helm).adopted(AT, 'spec.minReadySeconds', 9), {
        code: 'BP2001',
        where: 'templates/deployment.yaml:7',
        why: 'no value of the chart leads to the field: templates/deployment.yaml:7 sets it',
        remedy:
          'add a value to the chart, or a patch to the HelmRelease (spec.postRenderers), or choose restore',
      })
    })

    test('is compared with the last applied release, even while the next one waits', async () => {
      const world = new ReleaseWorld(helm)
      world.cluster.change('helm.toolkit.fluxcd.io/HelmRelease/shop/web', (live) =>
        editedBy('kustomize-controller', live, 'spec.values.replicas', 4),
      )
      assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
    })

    test('shows in a preview how other values change the release, without unchanged units', async () => {
      const world = new ReleaseWorld(helm)
      const valuesOf = ({ items }: Preview) =>
        items.flatMap((unit) =>
          unit.changes.map(({ ref, path, before, after }) => [
            unit.package,
            ref.kind,
            path,
            before,
            after,
          ]),
        )
      const path = 'apps/production/release.yaml'
      assert.deepEqual(
        valuesOf(
          await world.previewed({ [path]: FILES[path].replace('replicas: 3', 'replicas: 4') }),
        ),
        [
          ['apps/production', 'HelmRelease', 'spec.values.replicas', 3, 4],
          [UNIT, 'Deployment', 'spec.replicas', 3, 4],
        ],
      )
      const moved = await world.previewed({ [path]: `# In production.\n${FILES[path]}` })
      assert.deepEqual(
        moved.items.map(({ package: unit, state }) => [unit, state]),
        [
          ['apps/production', 'same'],
          [UNIT, 'same'],
        ],
      )
    })

    describe('with post-renderers', () => {
      const IMAGE = 'spec.template.spec.containers[name=app].image'
      const inBase = (before: string, after: string) => ({
        'apps/base/release.yaml': RENDERED.replace(before, after),
      })

      test('is in sync when live equals the release after post-rendering', async () => {
        assert.equal(
          (await new ReleaseWorld(helm, RENDERED).states())[UNIT],
          'Flux HelmRelease shop/web: InSync',
        )
      })

      for (const [what, field, value, changed] of [
        [
          'a post-renderer image',
          IMAGE,
          'mirror.example.com/web:1.28.0',
          inBase('"1.27.1" #', '"1.28.0" #'),
        ],
        [
          'a field in a post-renderer patch',
          'spec.template.spec.priorityClassName',
          'low',
          inBase('value: high #', 'value: low #'),
        ],
        [
          'a chart value below the post-renderers',
          'spec.replicas',
          4,
          {
            'apps/production/release.yaml': FILES['apps/production/release.yaml'].replace(
              'replicas: 3',
              'replicas: 4',
            ),
          },
        ],
      ] as const)
        test(`adopts ${what} where it is written`, async () => {
          assert.deepEqual(
            await new ReleaseWorld(helm, RENDERED).adopted(AT, field, value),
            changed,
          )
        })

      test('rejects a field that neither value nor post-renderer sets, with the template line', async () => {
        await assert.rejects(
          new ReleaseWorld(helm, RENDERED).adopted(AT, 'spec.minReadySeconds', 9),
          {
            code: 'BP2001',
            where: 'templates/deployment.yaml:7',
          },
        )
      })

      test('shows in a preview how another post-renderer changes the release', async () => {
        const world = new ReleaseWorld(helm, RENDERED)
        const { items } = await world.previewed(inBase('1.27.1', '1.27.2'))
        const changed = items
          .filter((unit) => unit.package === UNIT)
          .flatMap(({ changes }) => changes)
        assert.deepEqual(
          changed.map(({ path, before, after }) => [path, before, after]),
          [[IMAGE, 'mirror.example.com/web:1.27.1', 'mirror.example.com/web:1.27.2']],
        )
      })
    })

    test('fails alone when its release is missing or unreadable', async () => {
      const world = new ReleaseWorld(helm)
      world.cluster.releases.clear()
      const states = await world.states()
      assert.match(states[UNIT] ?? '', /^BP1210 the Helm release shop\/shop does not exist yet/)
      assert.equal(states['apps/production'], 'Flux Kustomization flux-system/apps: InSync')
    })
  })
