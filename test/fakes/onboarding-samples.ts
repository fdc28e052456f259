/** A repository with three packages and a recording of the cluster that runs two of them, one by Argo CD and one by Flux. Made up. */

const kptfile = (name: string): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
const deployment = (name: string, replicas: number, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: shop
spec:
  replicas: ${replicas}
  template:
    spec:
      containers:
      - name: app
        image: ${image}
`

export const ONBOARDING_FILES: Readonly<Record<string, string>> = {
  'apps/web/Kptfile': kptfile('web'),
  'apps/web/deployment.yaml': deployment('web', 3, 'nginx:1.27'),
  'apps/api/Kptfile': kptfile('api'),
  'apps/api/deployment.yaml': deployment('api', 2, 'api:1'),
  'apps/elsewhere/Kptfile': kptfile('elsewhere'),
  'apps/elsewhere/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: elsewhere, namespace: shop}\ndata: {a: b}\n',
}

const owned = (manager: string, operation: string, fields: object): object => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time: '2026-11-21T09:30:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': fields },
})
const container = (field: string): object => ({
  'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"app"}': { '.': {}, [field]: {} } } } },
})

const live = (
  name: string,
  replicas: number,
  image: string,
  marks: object,
  managedFields: readonly object[],
): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...marks, managedFields },
  spec: { replicas, template: { spec: { containers: [{ name: 'app', image }] } } },
})

/** Files of the folder for `--live`. */
export const ONBOARDING_RECORDING: readonly object[] = [
  {
    apiVersion: 'backporch.dev/v1alpha1',
    kind: 'Recording',
    spec: {
      cluster: 'prod',
      observedAt: '2026-11-21T10:00:00Z',
      complete: [
        { apiVersion: 'v1', kind: 'ConfigMap' },
        { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
      ],
    },
  },
  live(
    'web',
    5,
    'nginx:1.28',
    { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' } },
    [
      owned('argocd-controller', 'Apply', container('f:name')),
      owned('kubectl-edit', 'Update', { 'f:replicas': {}, ...container('f:image') }),
    ],
  ),
  live(
    'api',
    4,
    'api:1',
    {
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'apps',
        'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
      },
    },
    [
      owned('kustomize-controller', 'Apply', container('f:image')),
      owned('kubectl-scale', 'Update', { 'f:replicas': {} }),
    ],
  ),
  {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'argocd' },
    spec: {
      syncPolicy: { automated: { selfHeal: false } },
      ignoreDifferences: [
        {
          group: 'apps',
          kind: 'Deployment',
          jsonPointers: [
            '/metadata/annotations/example.com~1build',
            '/spec/template/spec/containers/0/resources',
          ],
          jqPathExpressions: [
            '.spec.template.spec.containers[] | select(.name == "app") | .resources',
            '.spec.ports[]?.nodePort',
          ],
          managedFieldsManagers: ['rollout-bot'],
        },
      ],
    },
  },
  {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'apps', namespace: 'flux-system' },
    spec: {
      interval: '10m',
      prune: true,
      ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deployment', name: 'api' } }],
    },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      minReplicas: 1,
      maxReplicas: 9,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    },
  },
]

/** One file of JSON for `--live`. */
export function onboardingRecording(): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: ONBOARDING_RECORDING })
}
