/** Units that Argo CD Applications render with Helm from charts of the repository. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { helmOrThrow } from '../../../../test/helm/find-helm.ts'

const { helm3, helm4 } = await helmOrThrow()
const WEB = 'apps/Deployment/shop/shop-web'

const APP = `# the shop
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  namespace: argocd
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: ssh://git@/deploy
    path: charts/web
    helm:
      valueFiles:
      - values-production.yaml
      - /environments/\${ARGOCD_APP_NAMESPACE}.yaml
      valuesObject:
        color: blue # as agreed
      parameters:
      - name: image.tag
        value: "1.27" # as released
        forceString: true
`
const EU = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-eu, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop-eu}
  source:
    repoURL: ssh://git@/deploy
    path: charts/web
    helm:
      values: |
        replicas: 2 # in Europe
        image: {tag: "1.26"}
        podAnnotations: {team: europe}
`
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {{- include "web.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    metadata:
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- with .Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
        resources:
          {{- toYaml .Values.resources | nindent 10 }}
`
const FILES = {
  'applications/shop.yaml': APP,
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'charts/web/values.yaml':
    'replicas: 1 # of the chart\nimage:\n  repository: example.com/web\n  tag: "1.0"\ncolor: red\nresources: {}\npodAnnotations: {}\n',
  'charts/web/values-production.yaml': 'replicas: 3 # in production\n',
  'environments/shop.yaml': 'podAnnotations:\n  team: shop # ours\n',
  'charts/web/templates/_helpers.tpl':
    '{{- define "web.labels" -}}\ntier: {{ .Values.tier | default "front" }}\n{{- end }}\n',
  'charts/web/templates/deployment.yaml': DEPLOYMENT,
  'charts/web/templates/NOTES.txt': 'Hello.\n',
}
const live = (
  namespace: string,
  name: string,
  replicas: number,
  tag: string,
  color: string,
  annotations: string,
): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespace}
  labels: {tier: front}
spec:
  replicas: ${replicas}
  minReadySeconds: 5
  template:
    metadata: ${annotations}
    spec:
      containers: [{name: app, image: "example.com/web:${tag}", env: [{name: COLOR, value: ${color}}], resources: {}}]
`

const AT = { key: WEB, unit: 'charts/web' }

class ChartWorld extends SyncedWorld {
  constructor(
    helm: string,
    files: { readonly [path: string]: string } = {},
    applications: readonly string[] = [APP],
  ) {
    super({ ...FILES, ...files }, [helm])
    const objects = [
      live('shop', 'shop-web', 3, '1.27', 'blue', '{annotations: {team: shop}}'),
      live('shop-eu', 'shop-eu-web', 2, '1.26', 'red', '{annotations: {team: europe}}'),
    ]
    for (const object of [...objects, ...applications])
      this.cluster.put(appliedBy('argocd-controller', yaml(object)))
  }
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a chart that an Argo CD Application renders, with ${version}`, () => {
    test("is in sync when live equals Helm's output, also for a second Application of the chart", async () => {
      assert.deepEqual(await new ChartWorld(helm, {}, [APP, EU]).states(), {
        'charts/web': 'Argo CD Application argocd/shop: InSync',
        'charts/web/shop-eu': 'Argo CD Application argocd/shop-eu: InSync',
      })
    })

    test('shows drift at its template', async () => {
      const world = new ChartWorld(helm)
      world.edit(WEB, 'spec.replicas', 5)
      const { report } = await world.plan()
      assert.deepEqual(
        report.spec.changes.map(({ path, git, live: is, source }) => [path, git, is, source]),
        [['spec.replicas', 3, 5, 'charts/web/templates/deployment.yaml:1']],
      )
    })

    for (const [what, field, value, path, before, after] of [
      [
        'a value in a values file',
        'spec.replicas',
        4,
        'charts/web/values-production.yaml',
        'replicas: 3 #',
        'replicas: 4 #',
      ],
      [
        'a value in the Application',
        'spec.template.spec.containers[name=app].env[name=COLOR].value',
        'green',
        'applications/shop.yaml',
        'color: blue #',
        'color: green #',
      ],
      [
        'a parameter',
        'spec.template.spec.containers[name=app].image',
        'example.com/web:1.28',
        'applications/shop.yaml',
        '"1.27" #',
        '"1.28" #',
      ],
      [
        'a key under a map',
        'spec.template.metadata.annotations.team',
        'store',
        'environments/shop.yaml',
        'team: shop #',
        'team: store #',
      ],
    ] as const)
      test(`adopts ${what} where it is written, keeping every other byte`, async () => {
        assert.deepEqual(await new ChartWorld(helm).adopted(AT, field, value), {
          [path]: FILES[path].replace(before, after),
        })
      })

    describe('with a values file that is a symbolic link', () => {
      const linked = (target: string, folder?: string): ChartWorld => {
        const files = {
          'charts/web/values-production.yaml': target,
          'values/eu/production.yaml': FILES['charts/web/values-production.yaml'],
          ...(folder === undefined ? {} : { 'values/current': folder }),
        }
        const world = new ChartWorld(helm, files)
        for (const path of ['charts/web/values-production.yaml', 'values/current'])
          world.repository.links.add(path)
        return world
      }

      for (const [what, world] of [
        ['is read and edited at its target', () => linked('../../values/eu/production.yaml')],
        [
          'is followed through a link to a folder',
          () => linked('../../values/current/production.yaml', 'eu'),
        ],
      ] as const)
        test(what, async () => {
          assert.deepEqual(await world().states(), {
            'charts/web': 'Argo CD Application argocd/shop: InSync',
          })
          assert.deepEqual(await world().adopted(AT, 'spec.replicas', 4), {
            'values/eu/production.yaml': 'replicas: 4 # in production\n',
          })
        })

      test('is refused when the link leads out of the repository', async () => {
        const [state] = Object.values(await linked('/etc/production.yaml').states())
        assert.match(
          state ?? '',
          /^BP1210 its file values-production\.yaml is outside of the repository, or a link out of it$/,
        )
      })
    })

    describe('from an ApplicationSet', () => {
      const IMAGE = 'spec.template.spec.containers[name=app].image'
      const setOf = (application: string, env: string): string => {
        const template = application
          .slice(application.indexOf('spec:\n'))
          .replace(/"1\.2\d"/, '"{{tag}}"')
        return [
          'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: shops, namespace: argocd}',
          `spec:\n  generators: [{list: {elements: [{env: ${env}, tag: ${/"1\.2\d"/.exec(application)?.[0]}}]}}]`,
          '  template:\n    metadata: {name: "{{env}}"}',
          template.replaceAll(/^/gm, '    '),
        ].join('\n')
      }

      test('adopts a parameter in its list element', async () => {
        const made = APP.replace('${ARGOCD_APP_NAMESPACE}', 'shop')
        const set = setOf(made, 'shop')
        const changed = await new ChartWorld(helm, { 'applications/shop.yaml': set }, [
          made,
        ]).adopted(AT, IMAGE, 'example.com/web:1.28')
        assert.deepEqual(changed, {
          'applications/shop.yaml': set.replace('tag: "1.27"', 'tag: "1.28"'),
        })
      })

      test('adopts literal values in the template, and expressions in the list element', async () => {
        const set = setOf(EU, 'shop-eu')
        const world = (): ChartWorld =>
          new ChartWorld(helm, { 'applications/shop.yaml': set }, [EU])
        const at = { key: 'apps/Deployment/shop-eu/shop-eu-web', unit: 'charts/web' }
        assert.deepEqual(await world().adopted(at, 'spec.replicas', 4), {
          'applications/shop.yaml': set.replace('replicas: 2 #', 'replicas: 4 #'),
        })
        assert.deepEqual(await world().adopted(at, IMAGE, 'example.com/web:1.28'), {
          'applications/shop.yaml': set.replace('tag: "1.26"', 'tag: "1.28"'),
        })
      })
    })

    test('is rejected with the name of the set if only Argo CD can read that ApplicationSet', async () => {
      const owners =
        'ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: shops, uid: "1"}]'
      const made = APP.replace('namespace: argocd\n', `namespace: argocd\n  ${owners}\n`)
      const world = new ChartWorld(
        helm,
        { 'applications/shop.yaml': 'apiVersion: v1\nkind: List\n' },
        [made],
      )
      await assert.rejects(
        world.adopted(AT, 'spec.template.spec.containers[name=app].image', 'example.com/web:1.28'),
        {
          why: /^the value image\.tag is set by Argo CD Application argocd\/shop \(made by the ApplicationSet shops\), which no file of this/,
        },
      )
    })

    test('adds a new key or an unset value as an override of the chart', async () => {
      const values = 'color: blue # as agreed\n'
      assert.deepEqual(
        await new ChartWorld(helm).adopted(
          AT,
          'spec.template.spec.containers[name=app].resources',
          { limits: { cpu: '1' } },
        ),
        {
          'applications/shop.yaml': APP.replace(
            values,
            `${values}        resources:\n          limits:\n            cpu: "1"\n`,
          ),
        },
      )
      assert.deepEqual(
        await new ChartWorld(helm).adopted(AT, 'spec.template.spec.priorityClassName', 'high'),
        {
          'applications/shop.yaml': APP.replace(
            values,
            `${values}        priorityClassName: high\n`,
          ),
        },
      )
    })

    test('renders Applications, which are units even without a cluster', async () => {
      const root = EU.replace('shop-eu, namespace: argocd', 'root, namespace: argocd').replace(
        'charts/web',
        'charts/all',
      )
      const child = APP.replace('path: charts/web', 'path: charts/{{ .Values.chart }}').replaceAll(
        '${ARGOCD_APP_NAMESPACE}',
        'shop',
      )
      const files = {
        'applications/shop.yaml': root,
        'charts/all/Chart.yaml': 'apiVersion: v2\nname: all\nversion: 1.0.0\n',
        'charts/all/values.yaml': 'chart: web\n',
        'charts/all/templates/shop.yaml': child,
      }
      const world = new ChartWorld(helm, files, [])
      const identify = world.cluster.identify.bind(world.cluster)
      world.cluster.identify = async () => ({ ...(await identify()), recorded: true })
      assert.equal((await world.states())['charts/web'], 'Argo CD Application argocd/shop: InSync')
    })

    test('rejects a field that no value sets, with the line of the template', async () => {
      await assert.rejects(new ChartWorld(helm).adopted(AT, 'spec.minReadySeconds', 9), {
        code: 'BP2001',
        where: 'charts/web/templates/deployment.yaml:8',
        why: 'no value of the chart leads to the field: charts/web/templates/deployment.yaml:8 sets it',
        remedy: 'add a value to the chart, or choose restore',
      })
    })
  })
