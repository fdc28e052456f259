/** Helm releases of Flux HelmReleases that Kustomizations apply, with a chart that is in no repository. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { DeployedRelease } from '@backporch/cluster/cluster'
import { formatJson, isJsonObject, type JsonObject, objectsIn, partOf } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { runInWorld } from '../../../../test/fakes/cli-world.ts'
import { appliedBy, editedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import {
  ADOPTIONS,
  APPS,
  FILES as DECLARED,
  RELEASE as OF_REPOSITORY,
  VALUES,
} from '../../../../test/helm/declared-release-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'
import type { Preview } from '../../../record/documents/preview.ts'

const { helm3, helm4 } = await helmOrThrow()
const WEB = 'apps/Deployment/shop/shop-web'
const UNIT = 'apps/production/web'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1m
  ref: {branch: main}
  url: ssh://git@/deploy
`
/** The chart is in no repository. */
const RELEASE = OF_REPOSITORY.replace('./charts/web', 'web\n      version: 1.x').replace(
  '{kind: GitRepository, name: flux-system, namespace: flux-system}',
  '{kind: HelmRepository, name: charts}',
)
const FILES = {
  ...Object.fromEntries(Object.entries(DECLARED).filter(([path]) => !path.startsWith('charts/'))),
  ...{
    'clusters/prod/sync.yaml': SYNC,
    'clusters/prod/apps.yaml': APPS,
    'apps/base/release.yaml': RELEASE,
    'apps/base/values.yaml': VALUES,
  },
  'apps/production/release.yaml': DECLARED['apps/production/release.yaml'],
}
const CHART = {
  'Chart.yaml': formatJson({ apiVersion: 'v2', name: 'web', version: '1.2.3' }),
  'values.yaml': formatJson({
    replicas: 1,
    image: { repository: 'example.com/web', tag: '1.0' },
    color: 'red',
    podAnnotations: {},
  }),
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    metadata:
      annotations:
        {{- toYaml (merge .Values.podAnnotations (dict "chart" .Chart.Name)) | nindent 8 }}
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
`,
}
const GIVEN: JsonObject = { color: 'blue', replicas: 3, image: { tag: 1.27 } }

/** What Helm stores of a release with these values. @param postRenderer kustomization that the output goes through */
function deployed(helm: string, values: JsonObject, postRenderer?: JsonObject): DeployedRelease {
  const root = mkdtempSync(join(tmpdir(), 'backporch-chart-'))
  try {
    for (const [path, text] of Object.entries({ ...CHART, '../values.yaml': formatJson(values) })) {
      mkdirSync(dirname(join(root, 'chart', path)), { recursive: true })
      writeFileSync(join(root, 'chart', path), text)
    }
    const args = [
      'template',
      'shop',
      join(root, 'chart'),
      '--namespace',
      'shop',
      '--values',
      join(root, 'values.yaml'),
      '--no-hooks',
    ]
    const output = execFileSync(helm, args, { encoding: 'utf8' })
    const manifest =
      postRenderer === undefined ? output : throughKustomize(root, output, postRenderer)
    const chart = Object.entries(CHART).map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    return {
      namespace: 'shop',
      name: 'shop',
      revision: 1,
      status: 'deployed',
      chartTitle: 'web 1.2.3',
      chart,
      values,
      manifest: labelled(manifest),
    }
  } finally {
    rmSync(root, { recursive: true })
  }
}

function throughKustomize(root: string, output: string, fields: JsonObject): string {
  const folder = join(root, 'post-renderer')
  mkdirSync(folder)
  writeFileSync(join(folder, 'output.yaml'), output)
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    formatJson({ ...fields, resources: ['output.yaml'] }),
  )
  return execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
}

/** helm-controller adds labels, and writes the manifest anew. */
function labelled(manifest: string): string {
  const objects = parseGoYaml(manifest, 'the chart').documents.map(({ value }) => {
    assert.ok(isJsonObject(value) && isJsonObject(value['metadata']))
    const labels = {
      'helm.toolkit.fluxcd.io/name': 'web',
      'helm.toolkit.fluxcd.io/namespace': 'shop',
    }
    return { ...value, metadata: { ...value['metadata'], labels } }
  })
  return objects.map((object) => formatJson(object)).join('\n---\n')
}

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

class ReleaseWorld extends SyncedWorld {
  private readonly helm: string
  private readonly postRenderer: JsonObject | undefined

  constructor(helm: string, base = RELEASE) {
    super({ ...FILES, 'apps/base/release.yaml': base }, ['kubectl', helm])
    this.helm = helm
    const [renderer] = objectsIn(partOf(yaml(base), 'spec', 'postRenderers'))
    const kustomization = partOf(renderer, 'kustomize')
    this.postRenderer = isJsonObject(kustomization) ? kustomization : undefined
    this.cluster.put(appliedBy('kustomize-controller', yaml(SYNC)))
    this.cluster.put(appliedBy('kustomize-controller', yaml(APPS)))
    this.cluster.put(appliedBy('kustomize-controller', yaml(VALUES)))
    const labels =
      '{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}'
    const own = base
      .replace('replicas: 1', 'replicas: 3')
      .replace('${tag}', '1.27')
      .replace('name: web\n', `name: web\n  labels: ${labels}\n`)
    this.cluster.put(appliedBy('kustomize-controller', yaml(own)))
    this.release(GIVEN)
  }

  async previewed(files: { readonly [path: string]: string }): Promise<Preview> {
    this.repository.branches.set('refs/heads/change', this.repository.head('main'))
    this.repository.commitByHand('change', files)
    const { renderer } = this.request()
    const { stdout, stderr } = await runInWorld(
      this,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer },
    )
    assert.notEqual(stdout, '', stderr)
    return JSON.parse(stdout) as Preview
  }

  release(values: JsonObject): void {
    const release = deployed(this.helm, values, this.postRenderer)
    const applied = parseGoYaml(release.manifest, 'the manifest').documents.flatMap(({ value }) => {
      const read = isJsonObject(value) ? readResource(value) : { problem: '' }
      return 'problem' in read ? [] : [{ ...read, id: { ...read.id, namespace: 'shop' } }]
    })
    for (const { object } of applied) {
      const { metadata } = object
      assert.ok(isJsonObject(metadata))
      this.cluster.put(
        appliedBy('helm-controller', { ...object, metadata: { ...metadata, namespace: 'shop' } }),
      )
    }
    this.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: applied.map(({ id }) => id),
      applied,
      release,
    })
  }
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a Flux HelmRelease whose chart is in no repository, with ${version}`, () => {
    test('is a unit below the folder of its Kustomization, in sync where live is what Helm stored', async () => {
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
      test(`has ${what} adopted where it is authored, byte for byte the rest`, async () => {
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

    test('a field that no value leads to is refused with the line of the template', async () => {
      await assert.rejects(new ReleaseWorld(helm).adopted(AT, 'spec.minReadySeconds', 9), {
        code: 'BP2001',
        where: 'templates/deployment.yaml:7',
        why: 'no value of the chart leads to the field: templates/deployment.yaml:7 sets it',
      })
    })

    test('what Helm applied last is compared, also while the next release waits', async () => {
      const world = new ReleaseWorld(helm)
      world.cluster.change('helm.toolkit.fluxcd.io/HelmRelease/shop/web', (live) =>
        editedBy('kustomize-controller', live, 'spec.values.replicas', 4),
      )
      assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
    })

    test('a preview shows what other values make of the release, and names no unit that stays', async () => {
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

      test('is in sync where live is what Helm stored after them', async () => {
        assert.equal(
          (await new ReleaseWorld(helm, RENDERED).states())[UNIT],
          'Flux HelmRelease shop/web: InSync',
        )
      })

      for (const [what, field, value, changed] of [
        [
          'an image of theirs',
          IMAGE,
          'mirror.example.com/web:1.28.0',
          inBase('"1.27.1" #', '"1.28.0" #'),
        ],
        [
          'a field of a patch of theirs',
          'spec.template.spec.priorityClassName',
          'low',
          inBase('value: high #', 'value: low #'),
        ],
        [
          'a value of the chart below them',
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
        test(`has ${what} adopted where it is authored`, async () => {
          assert.deepEqual(
            await new ReleaseWorld(helm, RENDERED).adopted(AT, field, value),
            changed,
          )
        })

      test('a field that neither a value nor a post-renderer writes is refused with the line of the template', async () => {
        await assert.rejects(
          new ReleaseWorld(helm, RENDERED).adopted(AT, 'spec.minReadySeconds', 9),
          {
            code: 'BP2001',
            where: 'templates/deployment.yaml:7',
          },
        )
      })

      test('a preview shows what another post-renderer makes of the release', async () => {
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

    test('a release that is not there, and one that cannot be read, are failures of this unit alone', async () => {
      const world = new ReleaseWorld(helm)
      world.cluster.releases.clear()
      const states = await world.states()
      assert.match(states[UNIT] ?? '', /^BP1210 the Helm release shop\/shop is not there yet/)
      assert.equal(states['apps/production'], 'Flux Kustomization flux-system/apps: InSync')
    })
  })
