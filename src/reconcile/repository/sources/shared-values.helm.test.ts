/** A file of values that two releases read, and each release's own values: adopting for one of them moves no other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { KPTFILE, policyText, yaml } from '../../../../test/fakes/turn-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'

const { helm4 } = await helmOrThrow()
const COMMON = 'replicas: 1 # of all\nimage:\n  tag: "1.27"\nargs: [-a]\n'
const PROD = 'color: blue # of production\n'
const FILES = {
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'charts/web/values.yaml': 'replicas: 2\nimage: {tag: latest}\nargs: []\ncolor: red\n',
  'charts/web/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: app
        image: "nginx:{{ .Values.image.tag }}"
        args:
        {{- toYaml .Values.args | nindent 8 }}
        env:
        - name: COLOR
          value: {{ .Values.color }}
`,
  'envs/common.yaml': COMMON,
  'envs/prod/values.yaml': PROD,
  'envs/staging/values.yaml': 'color: green\n',
}

function application(env: string, files: string, more = ''): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-${env}, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: shop-${env}}
  source:
    repoURL: ssh://git@/deploy
    path: charts/web
    helm:
      releaseName: web
      valueFiles: [${files}]
${more}`
}
const inFiles = (env: string): string =>
  application(env, `../../envs/common.yaml, ../../envs/${env}/values.yaml`)
const inObject = (env: string, color: string): string =>
  application(env, '../../envs/common.yaml', `      valuesObject:\n        color: ${color}\n`)
const inText = (env: string, color: string): string =>
  application(env, '../../envs/common.yaml', `      values: |\n        color: ${color} # ours\n`)

function policy(env: string, clusters: string): string {
  const render = `{tool: helm, release: web, namespace: shop-${env}, values: [../../envs/common.yaml, ../../envs/${env}/values.yaml]}`
  return policyText(
    `{priority: 9, match: {packages: [charts/web], clusters: ${clusters}}, mode: Propose, render: ${render}}`,
  ).replace('name: test', `name: ${env}`)
}

interface Layout {
  readonly files: { readonly [path: string]: string }
  readonly unit: string
  readonly resources: readonly string[]
  readonly manager: string
  readonly edited: (values: { readonly [path: string]: string }) => {
    readonly [path: string]: string
  }
}

const LAYOUTS: { readonly [name: string]: Layout } = {
  'helm template with a file of values for each environment': {
    files: {
      'charts/web/Kptfile': KPTFILE,
      '.drift/prod.yaml': policy('prod', '[prod]'),
      '.drift/staging.yaml': policy('staging', '[staging]'),
    },
    unit: 'charts/web',
    resources: [],
    manager: 'helm',
    edited: ({ file = '' }) => ({ 'envs/prod/values.yaml': `${PROD}${file}` }),
  },
  'Argo CD with a file of values for each environment': {
    files: { 'argocd/prod.yaml': inFiles('prod'), 'argocd/staging.yaml': inFiles('staging') },
    unit: 'charts/web',
    resources: [inFiles('prod')],
    manager: 'argocd-controller',
    edited: ({ file = '' }) => ({ 'envs/prod/values.yaml': `${PROD}${file}` }),
  },
  'Argo CD with values in each Application': {
    files: {
      'argocd/prod.yaml': inObject('prod', 'blue'),
      'argocd/staging.yaml': inObject('staging', 'green'),
    },
    unit: 'charts/web',
    resources: [inObject('prod', 'blue')],
    manager: 'argocd-controller',
    edited: ({ file = '' }) => ({
      'argocd/prod.yaml': `${inObject('prod', 'blue')}${indented(file)}`,
    }),
  },
  'Argo CD with a text of values in each Application': {
    files: {
      'argocd/prod.yaml': inText('prod', 'blue'),
      'argocd/staging.yaml': inText('staging', 'green'),
    },
    unit: 'charts/web',
    resources: [inText('prod', 'blue')],
    manager: 'argocd-controller',
    edited: ({ file = '' }) => ({
      'argocd/prod.yaml': `${inText('prod', 'blue')}${indented(file)}`,
    }),
  },
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(8))
}

function worldOf({ files, resources, manager }: Layout): SyncedWorld {
  const world = new SyncedWorld({ ...FILES, ...files }, [helm4])
  const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop-prod, annotations: {"argocd.argoproj.io/tracking-id": "web-prod:apps/Deployment:shop-prod/web"}}
spec:
  replicas: 1
  template: {spec: {containers: [{name: app, image: "nginx:1.27", args: [-a], env: [{name: COLOR, value: blue}]}]}}
`
  world.cluster.put(appliedBy(manager, yaml(web)))
  for (const text of resources) world.cluster.put(yaml(text))
  return world
}

const KEY = 'apps/Deployment/shop-prod/web'
const APP = 'spec.template.spec.containers[name=app]'

async function adopted(
  world: SyncedWorld,
  unit: string,
  ...change: [string, number | string | string[], string?]
): Promise<{ readonly [path: string]: string | undefined }> {
  const { 'charts/web/Kptfile': _, ...files } = await world.adopted({ key: KEY, unit }, ...change)
  return files
}

for (const [name, layout] of Object.entries(LAYOUTS))
  describe(name, () => {
    test('adopts a value of the shared file in its own values', async () => {
      const world = worldOf(layout)
      assert.deepEqual(
        await adopted(world, layout.unit, 'spec.replicas', 4),
        layout.edited({ file: 'replicas: 4\n' }),
      )
      assert.match(
        String(world.told),
        /shared-source: spec\.replicas comes from the value replicas \(envs\/common\.yaml:1\), which .*staging.* is built from too: the value replicas \([^)]*prod[^)]*\) changes it here only/,
      )
    })

    test('adopts a nested value, and a list as a whole', async () => {
      const world = worldOf(layout)
      assert.deepEqual(
        await adopted(world, layout.unit, `${APP}.image`, 'nginx:1.28'),
        layout.edited({ file: 'image:\n  tag: "1.28"\n' }),
      )
      const list = worldOf(layout)
      assert.deepEqual(
        Object.keys(await adopted(list, layout.unit, `${APP}.args`, ['-a', '-b'])),
        Object.keys(layout.edited({})),
      )
    })

    test('adopts its own value in place, without a note about others', async () => {
      const world = worldOf(layout)
      const files = await adopted(world, layout.unit, `${APP}.env[name=COLOR].value`, 'cyan')
      assert.deepEqual(Object.keys(files), Object.keys(layout.edited({})))
      assert.ok(!String(world.told).includes('shared-source'), String(world.told))
    })

    test('adopts the value for all releases on request', async () => {
      const world = worldOf(layout)
      assert.deepEqual(await adopted(world, layout.unit, 'spec.replicas', 4, 'everywhere'), {
        'envs/common.yaml': COMMON.replace('replicas: 1', 'replicas: 4'),
      })
      assert.match(String(world.told), /also changes spec\.replicas of Deployment .*staging/)
    })
  })
