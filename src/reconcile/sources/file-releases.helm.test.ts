/** Flux HelmReleases that a Kustomization of the repository builds, where the recording has no resource of Flux. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../test/fakes/synced-world.ts'
import { yaml } from '../../../test/fakes/turn-world.ts'
import { helmOrThrow } from '../../../test/helm/find-helm.ts'
import type { DeployedRelease } from '../../ports/cluster.ts'

const { helm3, helm4 } = await helmOrThrow()
const WEB = 'apps/Deployment/shop/shop-web'
const UNIT = 'apps/production/web'
/** The HelmRelease itself is not recorded. */
const KUSTOMIZATION = { 'apps/production': 'Flux Kustomization flux-system/apps: Unknown' }

const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  postBuild:
    substitute:
      tag: "1.27" # as released
`
const RELEASE = `# the shop
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: web
  namespace: shop
spec:
  interval: 1h
  releaseName: shop
  chart:
    spec:
      chart: ./charts/web
      sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  valuesFrom:
  - kind: ConfigMap
    name: web-values
  values:
    replicas: 1
    image:
      tag: \${tag}
`
const VALUES = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web-values
  namespace: shop
data:
  values.yaml: |
    color: blue # as agreed
`
const FILES = {
  'clusters/prod/apps.yaml': APPS,
  'apps/base/kustomization.yaml': 'resources:\n- release.yaml\n- values.yaml\n',
  'apps/base/release.yaml': RELEASE,
  'apps/base/values.yaml': VALUES,
  'apps/production/kustomization.yaml': 'resources:\n- ../base\npatches:\n- path: release.yaml\n',
  'apps/production/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  values:
    replicas: 3 # in production
`,
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.2.3\n',
  'charts/web/values.yaml': 'replicas: 1\ncolor: red\nimage:\n  repository: example.com/web # everywhere\n  tag: "1.0"\n',
  'charts/web/files/motto.txt': 'first of all\nlast of all\n',
  'charts/web/crds/crd.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.com}\nspec: {group: example.com}\n',
  'charts/web/templates/hook.yaml':
    'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations: {"helm.sh/hook": pre-upgrade}\nspec: {}\n',
  'charts/web/templates/motto.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-motto\ndata:\n  motto: |\n    {{- .Files.Get "files/motto.txt" | nindent 4 }}\n',
  'charts/web/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
`,
}
const ORIGIN = 'labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: shop}'
const MOTTO = `apiVersion: v1
kind: ConfigMap
metadata: {name: shop-motto, namespace: shop, ${ORIGIN}}
data: {motto: "first of all\\nlast of all\\n"}
`
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-web, namespace: shop, ${ORIGIN}}
spec:
  replicas: 3
  minReadySeconds: 5
  template:
    spec:
      containers:
      - {name: app, image: "example.com/web:1.27", env: [{name: COLOR, value: blue}]}
`
const STORED: DeployedRelease = {
  ...{ namespace: 'shop', name: 'shop', revision: 1, status: 'deployed', chartTitle: 'web 1.2.3', chart: undefined },
  values: { color: 'blue', replicas: 3, image: { tag: 1.27 } },
  manifest: DEPLOYMENT,
}

class FilesWorld extends SyncedWorld {
  constructor(helm: string, files: { readonly [path: string]: string } = {}) {
    super({ ...FILES, ...files }, ['kubectl', helm])
    const identify = this.cluster.identify.bind(this.cluster)
    this.cluster.identify = async () => ({ ...(await identify()), recorded: true })
    // The recording has nothing of Flux.
    this.cluster.unreadable.add('helm.toolkit.fluxcd.io/HelmRelease/shop/web')
    this.cluster.put(appliedBy('kustomize-controller', yaml(VALUES)))
    for (const text of [DEPLOYMENT, MOTTO]) this.cluster.put(appliedBy('helm-controller', yaml(text)))
  }

  async notes(): Promise<readonly string[]> {
    const { view } = await this.scan()
    return view.problems.filter(({ cause }) => cause === 'source-not-compared').map(({ subject, text }) => `${subject}: ${text}`)
  }
}

function release(...changes: readonly (readonly [string, string])[]): { readonly [path: string]: string } {
  return { 'apps/base/release.yaml': changes.reduce((text, [before, after]) => text.replace(before, after), RELEASE) }
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a HelmRelease that files declare, with its chart in the repository, with ${version}`, () => {
    test('is a unit below the folder of its Kustomization, with the overlay, the variables and the ConfigMap of the build', async () => {
      assert.deepEqual(await new FilesWorld(helm).states(), { ...KUSTOMIZATION, [UNIT]: 'Flux HelmRelease shop/web: InSync' })
    })

    test('shows drift at the line of the template', async () => {
      const world = new FilesWorld(helm)
      world.edit(WEB, 'spec.replicas', 5)
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 3, 5, 'charts/web/templates/deployment.yaml:1']],
      )
    })

    for (const [what, field, value, path, before, after] of [
      ['a value of the overlay', 'spec.replicas', 4, 'apps/production/release.yaml', 'replicas: 3 #', 'replicas: 4 #'],
      [
        'a variable',
        'spec.template.spec.containers[name=app].image',
        'example.com/web:1.28',
        'clusters/prod/apps.yaml',
        '"1.27" #',
        '"1.28" #',
      ],
      [
        'a value of a ConfigMap',
        'spec.template.spec.containers[name=app].env[name=COLOR].value',
        'green',
        'apps/base/values.yaml',
        'color: blue #',
        'color: green #',
      ],
    ] as const)
      test(`has ${what} adopted where it is authored, byte for byte the rest`, async () => {
        const changed = await new FilesWorld(helm).adopted({ key: WEB, unit: UNIT }, field, value)
        assert.deepEqual(changed, { [path]: FILES[path].replace(before, after) })
      })

    test('a file of the chart that a template prints is edited itself', async () => {
      const path = 'charts/web/files/motto.txt'
      const at = { key: '/ConfigMap/shop/shop-motto', unit: UNIT }
      assert.deepEqual(await new FilesWorld(helm).adopted(at, 'data.motto', 'first of all\nlast but one\n'), {
        [path]: 'first of all\nlast but one\n',
      })
    })

    test('a field that no value leads to is refused with the line of the template', async () => {
      await assert.rejects(new FilesWorld(helm).adopted({ key: WEB, unit: UNIT }, 'spec.minReadySeconds', 9), {
        code: 'BP2001',
        where: 'charts/web/templates/deployment.yaml:7',
      })
    })

    test('what is stored of the release is compared where it is there', async () => {
      const world = new FilesWorld(helm)
      const stored = { ...STORED, manifest: DEPLOYMENT.replace('replicas: 3', 'replicas: 5') }
      world.cluster.releases.set('shop/shop', { source: 'the Helm release shop/shop', resources: [], applied: [], release: stored })
      const { report } = await world.plan({ packages: [UNIT] })
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
        [['spec.replicas', 5, 3, 'apps/base/release.yaml:2']],
      )
    })
  })

describe('a HelmRelease that files declare', () => {
  const isNotRecorded = 'Flux HelmRelease shop/web: nothing is recorded of what Helm stores of its release, and'
  const WAY = ': record the Secret of the release (type helm.sh/release.v1), or ask the cluster'

  for (const [what, files, why] of [
    [
      'of a HelmRepository',
      release(['GitRepository, name: flux-system, namespace: flux-system', 'HelmRepository, name: charts']),
      'its chart is of the HelmRepository charts, from which nothing is fetched',
    ],
    ['that is not there', release(['./charts/web', './charts/other']), 'this repository has no chart at ./charts/other'],
    [
      'whose version Flux changes with each commit',
      release(['chart: ./charts/web', 'chart: ./charts/web\n      reconcileStrategy: Revision']),
      'Flux adds the commit to the version of its chart (spec.chart.spec.reconcileStrategy)',
    ],
    [
      'whose version Flux changes with other defaults',
      release(['chart: ./charts/web', 'chart: ./charts/web\n      valuesFiles: [./charts/web/values.yaml]']),
      'Flux adds a number to the version of its chart (spec.chart.spec.valuesFiles)',
    ],
    [
      'behind post-renderers',
      release(['  interval: 1h', '  interval: 1h\n  postRenderers: [{kustomize: {images: [{name: a, newTag: b}]}}]']),
      'its post-renderers are run by Flux only',
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
      const world = new FilesWorld(helm3, files)
      assert.deepEqual(await world.notes(), [`${isNotRecorded} ${why}${WAY}`])
      assert.deepEqual(await world.states(), KUSTOMIZATION)
    })

  test('with a chart elsewhere is compared with what is stored of the release', async () => {
    const world = new FilesWorld(
      helm3,
      release(['GitRepository, name: flux-system, namespace: flux-system', 'HelmRepository, name: charts']),
    )
    world.cluster.releases.set('shop/shop', { source: 'the Helm release shop/shop', resources: [], applied: [], release: STORED })
    assert.deepEqual(await world.states(), { ...KUSTOMIZATION, [UNIT]: 'Flux HelmRelease shop/web: InSync' })
    assert.deepEqual(await world.notes(), [])
  })

  test('stays the unit that it was where its release is recorded no more', async () => {
    const world = new FilesWorld(
      helm3,
      release(['GitRepository, name: flux-system, namespace: flux-system', 'HelmRepository, name: charts']),
    )
    world.cluster.releases.set('shop/shop', { source: 'the Helm release shop/shop', resources: [], applied: [], release: STORED })
    await world.scan()
    world.cluster.releases.clear()
    assert.match((await world.states())[UNIT] ?? '', /^BP1210 nothing is recorded of what Helm stores of its release/)
  })

  test('is a note where Flux applies it elsewhere, not at all, or with a value of a Secret', async () => {
    const notes = async (files: { readonly [path: string]: string }) => {
      const world = new FilesWorld(helm3, files)
      world.cluster.put(yaml('apiVersion: v1\nkind: Secret\nmetadata: {name: more, namespace: flux-system}\ndata: {color: cmVk}\n'))
      return world.notes()
    }
    const title = 'Flux HelmRelease shop/web'
    assert.deepEqual(await notes(release(['  interval: 1h', '  interval: 1h\n  kubeConfig: {secretRef: {name: other}}'])), [
      `${title}: it applies to another cluster (spec.kubeConfig)`,
    ])
    const nameless = {
      ...release(['  namespace: shop\n', '']),
      'apps/production/release.yaml': FILES['apps/production/release.yaml'].replace(', namespace: shop', ''),
    }
    assert.deepEqual(await notes(nameless), ['Flux HelmRelease web: it has no namespace, and Flux applies no such resource'])
    const secret = {
      'clusters/prod/apps.yaml': `${APPS}    substituteFrom: [{kind: Secret, name: more}]\n`,
      ...release(['replicas: 1', 'replicas: 1\n    color: ${color}']),
    }
    assert.deepEqual(await notes(secret), [`${title}: a variable of its Kustomization puts a value of a Secret into it`])
  })

  test('has the name and the namespace of its release by default from its own', async () => {
    const renamed = (text: string): string => text.replace('shop-web', 'store-web-web').replace('namespace: shop,', 'namespace: store,')
    const world = new FilesWorld(helm3, release(['  releaseName: shop\n', '  targetNamespace: store\n']))
    const motto = MOTTO.replace('shop-motto', 'store-web-motto').replace('namespace: shop,', 'namespace: store,')
    for (const text of [renamed(DEPLOYMENT), motto]) world.cluster.put(appliedBy('helm-controller', yaml(text)))
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
  })

  test('has the values of the recording where no file has them, and fails alone where nobody has', async () => {
    const world = new FilesWorld(helm3, { 'apps/base/kustomization.yaml': 'resources:\n- release.yaml\n' })
    assert.equal((await world.states())[UNIT], 'Flux HelmRelease shop/web: InSync')
    world.cluster.unreadable.add('/ConfigMap/shop/web-values')
    const states = await world.states()
    assert.match(states[UNIT] ?? '', /^BP1210 valuesFrom names the ConfigMap shop\/web-values, which cannot be read/)
    assert.equal(states['apps/production'], KUSTOMIZATION['apps/production'])
  })

  test('is not looked for in the bare files, and not where the cluster has resources of Flux', async () => {
    const world = new FilesWorld(helm3, {
      'apps/base/kustomization.yaml': 'resources:\n- values.yaml\n',
      'apps/production/kustomization.yaml': 'resources:\n- ../base\n',
    })
    assert.deepEqual(await world.states(), { 'apps/production': 'Flux Kustomization flux-system/apps: InSync' })
    const live = new FilesWorld(helm3)
    live.cluster.put(yaml(gitRepository('ssh://git@/deploy', 'main').replace('name: charts', 'name: flux-system')))
    live.cluster.put(yaml(APPS))
    assert.deepEqual(await live.states(), KUSTOMIZATION)
  })

  test('is unknown where its Kustomization cannot be built, and keeps what was recorded of it', async () => {
    const world = new FilesWorld(helm3)
    await world.scan()
    world.repository.commitByHand('main', { 'apps/production/kustomization.yaml': 'resources:\n- ../base\n- gone.yaml\n' })
    const states = await world.states()
    assert.match(states['apps/production'] ?? '', /^BP1\d+ .*gone.yaml/)
    assert.match(states[UNIT] ?? '', /^BP1210 Flux Kustomization flux-system\/apps cannot be built: .*gone.yaml/)
  })
})

function gitRepository(url: string, branch: string): string {
  return `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {url: "${url}", ref: {branch: ${branch}}}\n`
}
