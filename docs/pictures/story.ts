/** What the pictures of pull requests show: a repository, clusters that run it, and what people did to them by hand. Made up. */
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { appliedBy, editedBy, withMetadata } from '../../test/fakes/live-object.ts'
import { MemoryCluster } from '../../test/fakes/memory-cluster.ts'

export const PROD = 'prod-eu-1'
export const EDGES = Array.from(
  { length: 37 },
  (_each, index) => `edge-${String(index + 1).padStart(2, '0')}`,
)

const kptfile = (name: string): string => `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: ${name}
  annotations:
    config.kubernetes.io/local-config: "true"
`

const deployment = (name: string, image: string): string => `# The ${name} of the shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: shop
  labels: {app: ${name}}
spec:
  replicas: 3  # two zones and a spare
  selector:
    matchLabels: {app: ${name}}
  template:
    metadata:
      labels: {app: ${name}}
    spec:
      containers:
      - name: app
        image: "${image}"
        env:
        - name: LOG_LEVEL
          value: info
`

const configMap = (name: string, namespace: string, data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\ndata:\n${data}`

export const FILES: Readonly<Record<string, string>> = {
  'apps/web/Kptfile': kptfile('web'),
  'apps/web/deployment.yaml': deployment('web', 'registry.example/shop/web:v2.4.0'),
  'apps/checkout/Kptfile': kptfile('checkout'),
  'apps/checkout/deployment.yaml': deployment('checkout', 'registry.example/shop/checkout:v1.8.2'),
  'apps/checkout/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: checkout
  namespace: shop
spec:
  selector: {app: checkout}
  ports:
  - {name: http, port: 80, targetPort: 8080}
`,
  'apps/checkout/settings.yaml': configMap(
    'checkout-settings',
    'shop',
    '  timeout: "30"\n  currency: EUR\n',
  ),
  'apps/checkout/budget.yaml': `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: checkout
  namespace: shop
spec:
  minAvailable: 2
`,
  'platform/trust/Kptfile': kptfile('trust'),
  'platform/trust/ca-bundle.yaml': configMap(
    'ca-bundle',
    'platform',
    '  ca.crt: MIIBfirst\n  issuer: corp-root-2\n',
  ),
  'infra/dns/Kptfile': kptfile('dns'),
  'infra/dns/config.yaml': configMap(
    'dns',
    'infra',
    '  upstream: 10.0.0.2\n  domain: corp.example\n',
  ),
  'infra/logging/Kptfile': kptfile('logging'),
  'infra/logging/config.yaml': configMap('logging', 'infra', '  level: info\n  format: json\n'),
  '.drift/policy.yaml': `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: prod}
spec:
  mode: Propose
  detect: {minAge: 0s, settle: 0s}
  limits: {prHourlyLimit: 3}
  ignore:
  - target: {kind: Deployment, namespace: batch}
    paths: [spec.replicas]
    reason: KEDA scales batch
    expires: "2027-06-30"
---
apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: quiet}
spec:
  priority: 10
  match: {packages: [infra/logging]}
  mode: Warn
---
apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: prod}
spec: {clusters: ["prod-*"], packages: ["apps/**", "infra/**"]}
---
apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: edge}
spec: {clusters: ["edge-*"], packages: ["platform/**"]}
`,
}

/** Syncs each new commit, and does not undo what people do by hand. */
const APPLICATION: JsonObject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'argocd', uid: 'uid-shop' },
  spec: { project: 'default', source: { path: '.' }, syncPolicy: { automated: { prune: true } } },
}

/** A cluster into which Argo CD has applied the packages of these folders. */
export function clusterOf(name: string, folders: readonly string[]): MemoryCluster {
  const cluster = new MemoryCluster(name)
  cluster.uid = `uid-of-${name}`
  cluster.put(APPLICATION)
  for (const [path, text] of Object.entries(FILES)) {
    if (!path.endsWith('.yaml') || !folders.some((folder) => path.startsWith(folder))) continue
    for (const { value } of parseGoYaml(text, path).documents) {
      const manifest = value as JsonObject
      cluster.put(
        appliedBy(
          'argocd-controller',
          withMetadata(manifest, {
            annotations: { 'argocd.argoproj.io/tracking-id': mark(manifest) },
          }),
        ),
      )
    }
  }
  return cluster
}

function mark(manifest: JsonObject): string {
  const read = readResource(manifest)
  if ('problem' in read) throw new TypeError(read.problem)
  const { group, kind, namespace, name } = read.id
  return `shop:${group}/${kind}:${namespace}/${name}`
}

export interface Edit {
  readonly key: string
  /** Undefined deletes the object. */
  readonly field?: string
  readonly value?: Json
  readonly manager?: string
  /** RFC 3339 UTC. */
  readonly at?: string
}

export function edit(cluster: MemoryCluster, edits: readonly Edit[]): void {
  for (const {
    key,
    field,
    value = null,
    manager = 'kubectl-edit',
    at = '2026-11-21T02:14:00Z',
  } of edits) {
    if (field === undefined) cluster.objects.delete(key)
    else cluster.change(key, (live) => editedBy(manager, live, field, value, at))
  }
}
