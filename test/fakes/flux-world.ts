/** A repository without a Kptfile, whose folders a Flux Kustomization applies. */
import type { Json } from '@backporch/kyaml/json'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { appliedBy } from './live-object.ts'
import { TurnWorld, yaml } from './turn-world.ts'

const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)
export const WEB = 'apps/Deployment/shop/prod-web'

export const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref: {branch: main}
  url: ssh://git@/deploy
`
export const APPS = `# the shop in production
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  prune: true
  targetNamespace: shop
  namePrefix: prod-
  commonMetadata:
    labels: {tier: front}
  images:
  - name: nginx
    newTag: "1.27" # as released
  patches:
  - patch: |
      - op: replace
        path: /spec/minReadySeconds
        value: 10 # slow
    target: {kind: Deployment}
  postBuild:
    substitute:
      color: blue # of the day
      replicas: "3"
`
export const BASE = {
  'apps/base/kustomization.yaml': 'resources:\n- deployment.yaml\n- config.yaml\n',
  'apps/base/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  minReadySeconds: 5
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
        env:
        - name: COLOR
          value: \${color}
`,
  'apps/base/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  greeting: hello \${color:=red}
  size: "5"
`,
}
export const OVERLAY = `resources:
- ../base
patches:
- path: replicas.yaml
`
const REPLICAS =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: ${replicas} # as ordered\n'

export const LIVE = {
  deployment: `apiVersion: apps/v1
kind: Deployment
metadata: {name: prod-web, namespace: shop, labels: {tier: front}}
spec:
  replicas: 3
  minReadySeconds: 10
  template: {spec: {containers: [{name: app, image: "nginx:1.27", env: [{name: COLOR, value: blue}]}]}}
`,
  config: `apiVersion: v1
kind: ConfigMap
metadata: {name: prod-web, namespace: shop, labels: {tier: front}}
data: {greeting: hello blue, size: "5"}
`,
}

export class FluxWorld extends TurnWorld {
  constructor(files: { readonly [path: string]: string } = {}) {
    super('{mode: Propose}', {
      ...{ 'apps/web/Kptfile': '', 'apps/web/deployment.yaml': '', 'apps/web/config.yaml': '' },
      'clusters/prod/sync.yaml': SYNC,
      'clusters/prod/apps.yaml': APPS,
      'apps/production/kustomization.yaml': OVERLAY,
      'apps/production/replicas.yaml': REPLICAS,
      ...BASE,
      ...files,
    })
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
  }

  override sync(): void {
    for (const object of [LIVE.deployment, LIVE.config])
      this.cluster.put(appliedBy(this.syncer, yaml(object)))
    for (const object of [SYNC, APPS]) this.cluster.put(yaml(object))
  }

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
    field: string,
    value: Json,
  ): Promise<{ readonly [path: string]: string | undefined }> {
    this.edit(WEB, field, value)
    const { branch } = await this.plan({
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
    })
    return this.changed(branch)
  }
}
