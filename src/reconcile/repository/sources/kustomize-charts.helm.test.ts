/** Kustomizations that render charts of the repository with Helm (`helmCharts`), as Config Sync and policies build them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'

const { helm3 } = await helmOrThrow()
const KEY = 'apps/Deployment/shop/prod-web'
const AT = { key: KEY, unit: 'shop' }

const ROOT = `apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {name: root-sync, namespace: config-management-system}
spec:
  sourceFormat: unstructured
  git: {repo: ssh://git@/deploy, branch: main, dir: shop, auth: none}
`
const KUSTOMIZATION = `namespace: shop
namePrefix: prod-
helmGlobals: {chartHome: ../charts}
helmCharts:
- name: web
  releaseName: web
  valuesFile: values.yaml
  valuesInline:
    color: blue # as agreed
images:
- name: example.com/web
  newTag: "1.27" # as released
`
const FILES = {
  'shop/kustomization.yaml': KUSTOMIZATION,
  'shop/values.yaml': 'replicas: 3 # in production\n',
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'charts/web/values.yaml': 'replicas: 1\ncolor: red\nresources: {}\n',
  'charts/web/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}}
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    spec:
      containers:
      - name: app
        image: example.com/web:1.0
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
        resources:
          {{- toYaml .Values.resources | nindent 10 }}
`,
}
const LIVE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: prod-web
  namespace: shop
  labels: {helm.sh/chart: web-1.0.0}
  annotations: {configmanagement.gke.io/managed: enabled, configsync.gke.io/resource-id: apps_deployment_shop_prod-web, configsync.gke.io/manager: ":root"}
spec:
  replicas: 3
  minReadySeconds: 5
  template:
    spec:
      containers: [{name: app, image: "example.com/web:1.27", env: [{name: COLOR, value: blue}], resources: {}}]
`

const FLUX = [
  `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: deploy, namespace: flux-system}
spec: {url: ssh://git@/deploy, ref: {branch: main}}
`,
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {path: ./shop, sourceRef: {kind: GitRepository, name: deploy}}
`,
]

class ChartWorld extends SyncedWorld {
  constructor(
    files: { readonly [path: string]: string } = {},
    programs: readonly string[] = ['kubectl', helm3],
    syncs = [ROOT],
  ) {
    super({ ...FILES, ...files }, programs)
    for (const object of [LIVE, ...syncs])
      this.cluster.put(appliedBy('configsync.gke.io', yaml(object)))
  }
}

describe('a chart that a kustomization renders with Helm', () => {
  test('is in sync when live equals the output of kustomize and Helm', async () => {
    assert.deepEqual(await new ChartWorld().states(), {
      shop: 'Config Sync RootSync config-management-system/root-sync: InSync',
    })
  })

  test('shows drift at its entry of the kustomization', async () => {
    const world = new ChartWorld()
    world.edit(KEY, 'spec.replicas', 5)
    const { report } = await world.plan({ packages: ['shop'] })
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live: is, source }) => [path, git, is, source]),
      [['spec.replicas', 3, 5, 'shop/kustomization.yaml:5']],
    )
  })

  for (const [what, field, value, path, before, after] of [
    [
      'a value in the values file',
      'spec.replicas',
      4,
      'shop/values.yaml',
      'replicas: 3 #',
      'replicas: 4 #',
    ],
    [
      'a value in the kustomization',
      'spec.template.spec.containers[name=app].env[name=COLOR].value',
      'green',
      'shop/kustomization.yaml',
      'color: blue #',
      'color: green #',
    ],
    [
      'an image in the kustomization',
      'spec.template.spec.containers[name=app].image',
      'example.com/web:1.28',
      'shop/kustomization.yaml',
      '"1.27" #',
      '"1.28" #',
    ],
  ] as const)
    test(`adopts ${what} where it is written, keeping every other byte`, async () => {
      assert.deepEqual(await new ChartWorld().adopted(AT, field, value), {
        [path]: FILES[path].replace(before, after),
      })
    })

  test('rejects a field that no value sets, with the line of the template', async () => {
    await assert.rejects(new ChartWorld().adopted(AT, 'spec.minReadySeconds', 9), {
      code: 'BP2001',
      where: 'charts/web/templates/deployment.yaml:8',
      why: 'no value of the chart leads to the field: charts/web/templates/deployment.yaml:8 sets it',
      remedy: 'add a value to the chart, or a patch to the kustomization, or choose restore',
    })
  })

  test('is rejected when Flux applies it, since Flux renders no charts in a kustomization', async () => {
    assert.match(
      (await new ChartWorld({}, ['kubectl', helm3], FLUX).states())['shop'] ?? '',
      /^BP1210 a kustomization has helmCharts, which this syncer does not render/,
    )
  })

  test('needs the permission to run Helm too, and fetches nothing', async () => {
    assert.match((await new ChartWorld({}, ['kubectl']).states())['shop'] ?? '', /^BP1208 /)
    const elsewhere = KUSTOMIZATION.replace(
      '- name: web',
      '- name: nginx\n  repo: https://charts.example.com\n  version: 1.2.3',
    )
    assert.equal(
      (await new ChartWorld({ 'shop/kustomization.yaml': elsewhere }).states())['shop'],
      'BP1210 the chart nginx is not in the folder charts/nginx-1.2.3/nginx, and nothing is fetched',
    )
  })
})
