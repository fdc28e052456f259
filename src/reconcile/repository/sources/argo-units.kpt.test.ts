/** Units that Argo CD Applications apply, in a repository without a Kptfile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { InProcessRenderer } from '../../../../test/fakes/in-process-renderer.ts'
import { appliedBy, editedBy } from '../../../../test/fakes/live-object.ts'
import { TurnWorld, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../../adapters/functions/package-builds.ts'

const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)
const WEB = 'apps/Deployment/shop/prod-web'
const TOOLS = '/ConfigMap/tools/quota'

const SHOP = `# the shop in production
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  namespace: argocd
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: ssh://git@/deploy
    targetRevision: HEAD
    path: shop/production
    kustomize:
      namePrefix: prod-
      images:
      - nginx=example.com/nginx:1.27 # as released
      replicas:
      - {name: web, count: 3}
      commonLabels: {tier: front}
      labelWithoutSelector: true
      commonAnnotations:
        team: \${ARGOCD_APP_NAME}s # ours
      commonAnnotationsEnvsubst: true
      patches:
      - target: {kind: Deployment}
        patch: |
          - op: replace
            path: /spec/minReadySeconds
            value: 10 # slow
`
const TOOLS_APP = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: tools, namespace: argocd}
spec:
  destination: {name: in-cluster, namespace: tools}
  source:
    repoURL: ssh://git@/deploy
    path: tools
    directory: {recurse: true, exclude: '{values.yaml,old/*}'}
`
const ROOT_APP = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: root, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: argocd}
  source: {repoURL: ssh://git@/deploy, targetRevision: main, path: argocd}
`
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  minReadySeconds: 5
  paused: false # never
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
`
const FILES = {
  'argocd/shop.yaml': SHOP,
  'argocd/tools.yaml': TOOLS_APP,
  'shop/base/kustomization.yaml': 'resources:\n- deployment.yaml\n',
  'shop/base/deployment.yaml': DEPLOYMENT,
  'shop/production/kustomization.yaml': 'resources:\n- ../base\n',
  'tools/README.md': 'The tools.\n',
  'tools/values.yaml': 'color: blue\n',
  'tools/old/quota.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n',
  'tools/limits/quota.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: quota\ndata:\n  cpu: "4" # cores\n',
  'tools/later.yaml':
    '# +argocd:skip-file-rendering\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: later}\n',
  'tools/notes.yaml': 'color: blue\n',
}

const LIVE_WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: prod-web
  namespace: shop
  labels: {tier: front}
  annotations: {team: shops, "argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/prod-web"}
spec:
  replicas: 3
  minReadySeconds: 10
  paused: false
  template:
    metadata: {annotations: {team: shops}}
    spec: {containers: [{name: app, image: "example.com/nginx:1.27"}]}
`
const LIVE_QUOTA = `apiVersion: v1
kind: ConfigMap
metadata: {name: quota, namespace: tools, annotations: {"argocd.argoproj.io/tracking-id": "tools:/ConfigMap:tools/quota"}}
data: {cpu: "4"}
`

class ArgoWorld extends TurnWorld {
  constructor(
    files: { readonly [path: string]: string } = {},
    applications: readonly string[] = [SHOP],
  ) {
    super('{mode: Propose}', { ...FILES, ...files })
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
    for (const object of [LIVE_WEB, LIVE_QUOTA])
      this.cluster.put(appliedBy('argocd-controller', yaml(object)))
    for (const object of applications)
      this.cluster.put(appliedBy('argocd-controller', yaml(object)))
  }

  override sync(): void {}

  override request(more = {}) {
    return super.request({ renderer: RENDERER, ...more })
  }

  changed(branch: string): { readonly [path: string]: string | undefined } {
    const paths = new Set([...this.repository.paths(branch), ...this.repository.paths('main')])
    return Object.fromEntries(
      [...paths]
        .filter(
          (path) =>
            !path.startsWith('.drift/') &&
            this.repository.text(branch, path) !== this.repository.text('main', path),
        )
        .map((path) => [path, this.repository.text(branch, path)]),
    )
  }

  async adopted(
    key: string,
    field: string,
    value: Json,
  ): Promise<{ readonly [path: string]: string | undefined }> {
    this.edit(key, field, value)
    const { branch } = await this.plan({
      packages: [key === WEB ? 'shop/production' : 'tools'],
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
    })
    return this.changed(branch)
  }

  async states(): Promise<{ readonly [unit: string]: readonly [string | undefined, string] }> {
    const { units } = await this.scan()
    return Object.fromEntries(
      units.map((unit) =>
        unit.state === 'failed'
          ? [unit.packagePath, [unit.failures[0]?.code, unit.failures[0]?.why ?? '']]
          : [
              unit.plan.report.spec.unit.package,
              [unit.plan.report.spec.unit.appliedBy, unit.plan.report.status.state],
            ],
      ),
    )
  }

  async notes(): Promise<readonly string[]> {
    const { view } = await this.scan()
    return view.problems.map(({ subject, text }) => `${subject}: ${text}`)
  }
}

/** The Application with another text in its place. */
function shop(before: string, after: string): string {
  assert.ok(SHOP.includes(before), before)
  return SHOP.replace(before, after)
}

describe('a unit that an Argo CD Application applies', { skip: whyNoKubectl() }, () => {
  test("is in sync when live equals Argo CD's output, for a kustomization and a plain folder", async () => {
    assert.deepEqual(await new ArgoWorld({}, [SHOP, TOOLS_APP]).states(), {
      'shop/production': ['Argo CD Application argocd/shop', 'InSync'],
      tools: ['Argo CD Application argocd/tools', 'InSync'],
    })
  })

  test('shows drift at the line that declares the object', async () => {
    const world = new ArgoWorld()
    world.edit(WEB, 'spec.replicas', 5)
    const { report, branch } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
      [['spec.replicas', 3, 5, 'shop/base/deployment.yaml:1']],
    )
    assert.deepEqual(world.changed(branch), {})
  })

  for (const [what, field, value, before, after] of [
    [
      'the tag of an image',
      'spec.template.spec.containers[name=app].image',
      'example.com/nginx:1.28',
      'nginx:1.27 #',
      'nginx:1.28 #',
    ],
    ['a count in replicas', 'spec.replicas', 4, 'count: 3', 'count: 4'],
    ['a field of a patch', 'spec.minReadySeconds', 20, 'value: 10 #', 'value: 20 #'],
    ['a common label', 'metadata.labels.tier', 'back', 'tier: front', 'tier: back'],
  ] as const)
    test(`adopts ${what} in the Application file, keeping every other byte`, async () => {
      const world = new ArgoWorld({}, [SHOP, ROOT_APP])
      assert.deepEqual(await world.adopted(WEB, field, value), {
        'argocd/shop.yaml': shop(before, after),
      })
    })

  test('adopts a manifest field in its manifest, in a built folder and a plain folder', async () => {
    const adopted = await new ArgoWorld().adopted(WEB, 'spec.paused', true)
    assert.deepEqual(adopted, {
      'shop/base/deployment.yaml': DEPLOYMENT.replace('paused: false', 'paused: true'),
    })
    const path = 'tools/limits/quota.yaml'
    assert.deepEqual(await new ArgoWorld({}, [TOOLS_APP]).adopted(TOOLS, 'data.cpu', '8'), {
      [path]: FILES[path].replace('"4"', '"8"'),
    })
  })

  test('is not edited in the Application file when the cluster has another specification', async () => {
    const world = new ArgoWorld({
      'argocd/shop.yaml': shop('namePrefix: prod-', 'namePrefix: test-'),
    })
    world.edit(WEB, 'spec.replicas', 4)
    await assert.rejects(
      world.plan({ resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined } }),
      { code: 'BP2001' },
    )
  })

  test('applies and edits the Argo CD file in the folder, which overrides the Application', async () => {
    const path = 'shop/production/.argocd-source-shop.yaml'
    const text = 'kustomize:\n  images:\n  - nginx=example.com/nginx:1.29 # by the image updater\n'
    const world = new ArgoWorld({ [path]: text })
    world.cluster.change(WEB, (live) =>
      editedBy(
        'argocd-controller',
        live,
        'spec.template.spec.containers[name=app].image',
        'example.com/nginx:1.29',
      ),
    )
    assert.deepEqual(
      Object.values(await world.states()).map(([, state]) => state),
      ['InSync'],
    )
    const adopted = await world.adopted(
      WEB,
      'spec.template.spec.containers[name=app].image',
      'example.com/nginx:1.30',
    )
    assert.deepEqual(adopted, { [path]: text.replace('1.29', '1.30') })
  })

  test('ignores other repositories, branches and ref sources; each source with a path is a unit', async () => {
    for (const text of [
      shop('/deploy', '/other'),
      shop('targetRevision: HEAD', 'targetRevision: next'),
    ]) {
      const world = new ArgoWorld({}, [text])
      world.repository.commitByHand('next', {})
      await assert.rejects(world.plan(), /there is no package in the repository/)
    }
    const source = SHOP.slice(SHOP.indexOf('    repoURL'))
    const several = `${SHOP.slice(0, SHOP.indexOf('  source:'))}  sources:\n  - repoURL: ssh://git@/deploy\n    ref: values\n  - repoURL: ssh://git@/deploy\n    path: tools\n    directory: {include: 'limits/*', recurse: true}\n  - ${source.trimStart().replaceAll('\n    ', '\n    ')}`
    const world = new ArgoWorld({ 'argocd/shop.yaml': several }, [several])
    assert.deepEqual(Object.keys(await world.states()), ['shop/production', 'tools'])
    assert.deepEqual(await world.adopted(WEB, 'spec.replicas', 4), {
      'argocd/shop.yaml': several.replace('count: 3', 'count: 4'),
    })
  })

  for (const [what, text, note] of [
    [
      'another cluster',
      shop('server: https://kubernetes.default.svc', 'server: https://other.example.com'),
      /it applies to another cluster \(spec\.destination: https:\/\/other\.example\.com\)/,
    ],
    [
      'a plugin',
      shop('    kustomize:', '    plugin: {name: ytt}\n    kustomize:'),
      /a plugin makes its objects/,
    ],
    [
      'a branch written by Argo CD',
      shop('  source:', '  sourceHydrator: {drySource: {repoURL: "ssh://git@/deploy"}}\n  source:'),
      /it applies a branch that Argo CD itself writes/,
    ],
    [
      'a path outside the repository',
      shop('path: shop/production', 'path: ../x'),
      /its path leaves the repository/,
    ],
    [
      'a tag',
      shop('targetRevision: HEAD', 'targetRevision: v1.2.3'),
      /applies the revision v1\.2\.3: a merge is applied once targetRevision of its source moves/,
    ],
  ] as const)
    test(`causes a note for ${what}, while other units continue`, async () => {
      const world = new ArgoWorld({}, [text, TOOLS_APP])
      assert.match((await world.notes()).join('\n'), note)
      assert.ok('tools' in (await world.states()))
    })

  test('rejects jsonnet, a commit in an option and a duplicate label with the reason', async () => {
    const why = async (application: string, files = {}): Promise<string> =>
      Object.values(await new ArgoWorld(files, [application]).states())[0]?.join(' ') ?? ''
    assert.match(await why(TOOLS_APP, { 'tools/x.jsonnet': '{}' }), /BP1210 x\.jsonnet is jsonnet/)
    assert.match(
      await why(shop('{ARGOCD_APP_NAME}', '{ARGOCD_APP_REVISION}')),
      /BP1210 .* contains the commit, so each commit changes the value/,
    )
    const kustomization = 'resources: [../base]\nlabels:\n- pairs: {tier: back}\n'
    assert.match(
      await why(SHOP, { 'shop/production/kustomization.yaml': kustomization }),
      /BP1210 the kustomization has the label tier already/,
    )
  })

  test('is edited in overlay and manifests when no file declares its Application', async () => {
    const overlay = {
      'shop/production/kustomization.yaml':
        'resources:\n- ../base\nnamePrefix: prod-\nreplicas:\n- name: web\n  count: 3\n',
    }
    const text = SHOP.replace('      namePrefix: prod-\n', '').replace(
      '      replicas:\n      - {name: web, count: 3}\n',
      '',
    )
    const world = new ArgoWorld({ 'argocd/shop.yaml': '', ...overlay }, [text])
    assert.deepEqual(await world.adopted(WEB, 'spec.replicas', 4), {
      'shop/production/kustomization.yaml': overlay['shop/production/kustomization.yaml'].replace(
        'count: 3',
        'count: 4',
      ),
    })
  })

  test('comes from an ApplicationSet file in a recording without Applications', async () => {
    const set = (
      generator: string,
      path = '{{.path.path}}',
    ): string => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  goTemplate: true
  generators: [${generator}]
  template:
    metadata: {name: '{{.path.basename}}'}
    spec:
      destination: {server: https://kubernetes.default.svc, namespace: tools}
      source: {repoURL: ssh://git@/deploy, path: '${path}'}
`
    const recorded = (text: string): ArgoWorld => {
      const world = new ArgoWorld(
        { 'argocd/shop.yaml': '', 'argocd/tools.yaml': '', 'argocd/all.yaml': text },
        [],
      )
      const identify = world.cluster.identify.bind(world.cluster)
      world.cluster.identify = async () => ({ ...(await identify()), recorded: true })
      return world
    }
    const folders =
      '{git: {repoURL: ssh://git@/deploy, directories: [{path: "tools/*"}, {path: tools/old, exclude: true}]}}'
    assert.deepEqual(await recorded(set(folders)).states(), {
      'tools/limits': ['Argo CD Application argocd/limits', 'InSync'],
    })
    const clusters = recorded(
      `${set(folders)}---\n${set('{clusters: {}}', 'tools').replace('name: all', 'name: fleet')}`,
    )
    assert.match(
      (await clusters.notes()).join(),
      /Argo CD ApplicationSet argocd\/fleet: only Argo CD can run its generator clusters, and there is no cluster to ask/,
    )
  })
})
