/** The fields that kustomize's transformers write (`api/internal/konfig/builtinpluginconsts`). */
import { type FieldSpec, isSelectedBy, splitFieldPath } from '@backporch/kpt/field'
import type { FieldPath } from '@backporch/kyaml/field'
import type { BuiltIdentity } from './built-identity.ts'

const WORKLOADS: readonly FieldSpec[] = [
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map((kind) => ({
    kind,
    path: 'spec/template',
  })),
  { version: 'v1', kind: 'ReplicationController', path: 'spec/template' },
  { group: 'batch', kind: 'Job', path: 'spec/template' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/spec/template' },
]

const listSpecsBelow = (path: string): readonly FieldSpec[] => [
  { path: `metadata/${path}`, create: true },
  ...WORKLOADS.map((each) => ({ ...each, path: `${each.path}/metadata/${path}`, create: true })),
]

const TERMS = ['podAffinity', 'podAntiAffinity'].flatMap((each) => [
  `spec/template/spec/affinity/${each}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `spec/template/spec/affinity/${each}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])

export const OWN_LABELS: readonly FieldSpec[] = [{ path: 'metadata/labels', create: true }]

export const TEMPLATE_LABELS: readonly FieldSpec[] = [
  ...listSpecsBelow('labels'),
  {
    group: 'apps',
    kind: 'StatefulSet',
    path: 'spec/volumeClaimTemplates/metadata/labels',
    create: true,
  },
]

export const ALL_LABELS: readonly FieldSpec[] = [
  ...TEMPLATE_LABELS,
  ...['Service', 'ReplicationController'].map((kind) => ({
    version: 'v1',
    kind,
    path: 'spec/selector',
    create: true,
  })),
  ...['Deployment', 'ReplicaSet', 'DaemonSet'].map((kind) => ({
    kind,
    path: 'spec/selector/matchLabels',
    create: true,
  })),
  { group: 'apps', kind: 'StatefulSet', path: 'spec/selector/matchLabels', create: true },
  ...['Deployment', 'StatefulSet'].flatMap((kind) =>
    [...TERMS, 'spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels'].map(
      (path) => ({ group: 'apps', kind, path }),
    ),
  ),
  { group: 'batch', kind: 'Job', path: 'spec/selector/matchLabels' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/spec/selector/matchLabels' },
  { group: 'policy', kind: 'PodDisruptionBudget', path: 'spec/selector/matchLabels' },
  ...['podSelector', 'ingress/from/podSelector', 'egress/to/podSelector'].map((each) => ({
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    path: `spec/${each}/matchLabels`,
  })),
]

export const ANNOTATIONS: readonly FieldSpec[] = listSpecsBelow('annotations')

export const REPLICAS: readonly FieldSpec[] = [
  'Deployment',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
].map((kind) => ({
  kind,
  path: 'spec/replicas',
  create: true,
}))

/** In addition to `metadata.namespace`, and role binding subjects named `default`. */
export const NAMESPACES: readonly FieldSpec[] = [
  { version: 'v1', kind: 'Namespace', path: 'metadata/name', create: true },
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    path: 'spec/service/namespace',
    create: true,
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
  },
]

export function findFieldSpec(
  specs: readonly FieldSpec[],
  identity: BuiltIdentity,
  path: FieldPath,
): FieldSpec | undefined {
  const names = path.flatMap((step) => (step.kind === 'field' ? [step.name] : []))
  return specs.find((spec) => {
    const wanted = splitFieldPath(spec.path).map((name) => name.replace(/\[\]$/, ''))
    return (
      isSelectedBy(identity, spec) &&
      wanted.length === names.length &&
      wanted.every((name, at) => name === names[at])
    )
  })
}
