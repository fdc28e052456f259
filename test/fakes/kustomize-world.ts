/** A unit that `kubectl kustomize` renders: an overlay, and the base that it is built from. */
import type { Json } from '@backporch/kyaml/json'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import type { PackageRenderer } from '../../src/sources/kpt/render/package-renderer.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { appliedBy } from './live-object.ts'
import { KPTFILE, policyText, TurnWorld, yaml } from './turn-world.ts'

/** Remembers what was built, so that the tests together build each content once. */
const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)
export const WEB = 'apps/Deployment/shop/web'

export const DEPLOYMENT = `# the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  minReadySeconds: 5 # slow
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0 # theirs
        resources:
          limits: {cpu: 100m}
`
export const BASE = {
  'bases/web/kustomization.yaml': 'resources:\n- deployment.yaml\n- config.yaml\n',
  'bases/web/deployment.yaml': DEPLOYMENT,
  'bases/web/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n  size: "5"\n',
}
export const PROD = `namespace: shop
resources:
- ../../bases/web # the base
images: # as released
- name: nginx
  newTag: "1.27" # ours
replicas:
- {name: web, count: 3}
patches:
- path: cpu.yaml
- target: {kind: Deployment}
  patch: |-
    - op: replace
      path: /spec/minReadySeconds
      # why not
      value: 10
`
export const CPU = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: app
        resources:
          limits:
            cpu: 200m # two of ten
`

export const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports:
  - name: http
    port: 8000
    targetPort: 8080
`
export const PORT = `${PROD}- target: {kind: Service, name: web}
  patch: |-
    - op: replace
      path: /spec/ports/0/port
      value: 80 # as agreed
`

interface WorldOptions {
  readonly files?: { readonly [path: string]: string }
  readonly policy?: string
  readonly renderer?: PackageRenderer
}

export class KustomizeWorld extends TurnWorld {
  private readonly renderer: PackageRenderer
  /** The notes of the last `adopted`. */
  told: readonly string[] = []

  constructor({
    files = {},
    policy = '{mode: Propose, render: {tool: kustomize}}',
    renderer = RENDERER,
  }: WorldOptions = {}) {
    super('{mode: Propose}', {
      '.drift/units.yaml': policyText(
        policy.replace('{', '{priority: 9, match: {packages: ["units/**"]}, '),
      ).replace('name: test', 'name: units'),
      'units/prod/Kptfile': KPTFILE,
      'units/prod/kustomization.yaml': PROD,
      'units/prod/cpu.yaml': CPU,
      ...BASE,
      ...files,
    })
    this.packages = ['units/prod']
    this.renderer = renderer
  }

  /** What the unit's kustomization gives, as a syncer leaves it. */
  async apply(): Promise<this> {
    for (const object of [
      yaml(
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 3\n  minReadySeconds: 10\n  template: {spec: {containers: [{name: app, image: "nginx:1.27", resources: {limits: {cpu: 200m}}}]}}\n',
      ),
      yaml(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {size: "5"}\n',
      ),
    ])
      this.cluster.put(appliedBy(this.syncer, object))
    return this
  }

  override request(more = {}) {
    return super.request({ renderer: this.renderer, ...more })
  }

  /** Files that a proposal changes, without records and the Kptfile. */
  sourcesOf(branch: string): { readonly [path: string]: string | undefined } {
    const paths = new Set([...this.repository.paths(branch), ...this.repository.paths('main')])
    const changed = [...paths].filter(
      (path) => this.repository.text(branch, path) !== this.repository.text('main', path),
    )
    return Object.fromEntries(
      changed
        .filter((path) => !path.startsWith('.drift/') && !path.endsWith('Kptfile'))
        .map((path) => [path, this.repository.text(branch, path)]),
    )
  }

  async adopted(via?: string): Promise<{ readonly [path: string]: string | undefined }> {
    const { branch, notes } = await this.plan({
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined, via },
    })
    this.told = notes.map(({ cause, text }) => `${cause}: ${text}`)
    return this.sourcesOf(branch)
  }
}

export async function drifted(
  field: string,
  value: Json,
  options: WorldOptions = {},
): Promise<KustomizeWorld> {
  const world = await new KustomizeWorld(options).apply()
  world.edit(WEB, field, value)
  return world
}
