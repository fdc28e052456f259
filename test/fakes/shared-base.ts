/** Five units, four of which a change of a shared base and a value moves. */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import { appliedBy, editedBy } from './live-object.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { KPTFILE, TurnWorld, yaml } from './turn-world.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.27
`
const VALUE = `apiVersion: v1
kind: ConfigMap
metadata: {name: setters, annotations: {config.kubernetes.io/local-config: "true"}}
data: {size: "5"}
`
const SETTERS = `${KPTFILE.replace('name: web', 'name: sized')}pipeline:
  mutators:
  - image: ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2
    configPath: setters.yaml
`
const PLACEMENT = `apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: everywhere}
spec: {clusters: [prod, staging], packages: [apps/sized], paths: [apps/one, apps/two, apps/three, apps/pinned]}
`

function overlay(namespace: string, more = ''): string {
  return `namespace: ${namespace}\nresources:\n- ../../bases/web\n${more}`
}

export const SHARED_BASE = {
  'bases/web/kustomization.yaml': 'resources:\n- deployment.yaml\n',
  'bases/web/deployment.yaml': DEPLOYMENT,
  'apps/one/kustomization.yaml': overlay('one'),
  'apps/two/kustomization.yaml': overlay('two'),
  'apps/three/kustomization.yaml': overlay('three'),
  // Its own release: the base may say what it will.
  'apps/pinned/kustomization.yaml': overlay('pinned', 'images:\n- {name: nginx, newTag: "1.26"}\n'),
  'apps/sized/Kptfile': SETTERS,
  'apps/sized/setters.yaml': VALUE,
  'apps/sized/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sized, namespace: sized}\ndata:\n  size: "5" # kpt-set: ${size}\n',
  '.drift/placement.yaml': PLACEMENT,
  'apps/web/Kptfile': null,
  'apps/web/deployment.yaml': null,
  'apps/web/config.yaml': null,
} as const

/** The image of the base, and the size of the one that has a value of its own. */
export const CHANGE = {
  'bases/web/deployment.yaml': DEPLOYMENT.replace('nginx:1.27', 'nginx:1.28'),
  'apps/sized/setters.yaml': VALUE.replace('"5"', '"7"'),
}

export interface SharedBase {
  readonly world: TurnWorld
  readonly clusters: ReadonlyMap<string, MemoryCluster>
  /** As `--contexts` opens them. */
  open(target: {
    readonly context: string | undefined
  }): Promise<{ readonly reader: ClusterReader; close(): void }>
}

/** The world with the change on the branch `change`; both clusters run what `main` says. */
export function sharedBase(
  change: { readonly [path: string]: string | null } = CHANGE,
): SharedBase {
  const world = new TurnWorld()
  world.repository.commitByHand('main', SHARED_BASE)
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', change)
  const clusters = new Map(['prod', 'staging'].map((name) => [name, new MemoryCluster(name)]))
  for (const cluster of clusters.values()) {
    for (const namespace of ['one', 'two', 'three', 'pinned']) cluster.put(applied(namespace))
    cluster.put(
      appliedBy(
        world.syncer,
        yaml(
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sized, namespace: sized}\ndata: {size: "5"}\n',
        ),
      ),
    )
  }
  return {
    world,
    clusters,
    open: async ({ context = 'prod' }) => {
      const reader = clusters.get(context)
      if (reader === undefined)
        throw new Failure({
          code: 'BP1006',
          what: 'no context',
          why: `there is none named ${context}`,
          remedy: 'name another',
        })
      return { reader, close: () => undefined }
    },
  }
}

function applied(namespace: string) {
  const tag = namespace === 'pinned' ? '1.26' : '1.27'
  return appliedBy(
    'kustomize-controller',
    yaml(
      DEPLOYMENT.replace('{name: web}', `{name: web, namespace: ${namespace}}`).replace(
        '1.27',
        tag,
      ),
    ),
  )
}

/** Somebody sets the image by hand. */
export function setImage(cluster: MemoryCluster | undefined, namespace: string, image: Json): void {
  cluster?.change(`apps/Deployment/${namespace}/web`, (live) =>
    editedBy('kubectl-edit', live, 'spec.template.spec.containers[name=app].image', image),
  )
}
