/** kustomize api v0.8.11 `konfig/builtinpluginconsts/commonlabels.go` */
import type { FieldSpec } from '@backporch/kpt/field'

const POD_LABELS = 'spec/template/metadata/labels'
const SELECTOR = 'spec/selector/matchLabels'
const AFFINITIES = ['podAffinity', 'podAntiAffinity'].flatMap((affinity) => [
  `spec/template/spec/affinity/${affinity}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `spec/template/spec/affinity/${affinity}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])
const OF_PODS = [
  ...AFFINITIES,
  'spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels',
]

function listWorkloadFields(of: Omit<FieldSpec, 'path'>): readonly FieldSpec[] {
  return [SELECTOR, POD_LABELS].map((path) => ({ ...of, path, create: true }))
}

function listPodFields(kind: string): readonly FieldSpec[] {
  return OF_PODS.map((path) => ({ group: 'apps', kind, path }))
}

const JOB = { group: 'batch', kind: 'Job' }
const CRON_JOB = { group: 'batch', kind: 'CronJob' }
const NETWORK_POLICY = { group: 'networking.k8s.io', kind: 'NetworkPolicy' }

export const KUSTOMIZE_LABEL_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/labels', create: true },
  { version: 'v1', kind: 'Service', path: 'spec/selector', create: true },
  { version: 'v1', kind: 'ReplicationController', path: 'spec/selector', create: true },
  { version: 'v1', kind: 'ReplicationController', path: POD_LABELS, create: true },
  ...listWorkloadFields({ kind: 'Deployment' }),
  ...listPodFields('Deployment'),
  ...listWorkloadFields({ kind: 'ReplicaSet' }),
  ...listWorkloadFields({ kind: 'DaemonSet' }),
  ...listWorkloadFields({ group: 'apps', kind: 'StatefulSet' }),
  ...listPodFields('StatefulSet'),
  {
    group: 'apps',
    kind: 'StatefulSet',
    path: 'spec/volumeClaimTemplates[]/metadata/labels',
    create: true,
  },
  { ...JOB, path: SELECTOR },
  { ...JOB, path: POD_LABELS, create: true },
  { ...CRON_JOB, path: 'spec/jobTemplate/spec/selector/matchLabels' },
  { ...CRON_JOB, path: 'spec/jobTemplate/metadata/labels', create: true },
  { ...CRON_JOB, path: 'spec/jobTemplate/spec/template/metadata/labels', create: true },
  { group: 'policy', kind: 'PodDisruptionBudget', path: SELECTOR },
  { ...NETWORK_POLICY, path: 'spec/podSelector/matchLabels' },
  { ...NETWORK_POLICY, path: 'spec/ingress/from/podSelector/matchLabels' },
  { ...NETWORK_POLICY, path: 'spec/egress/to/podSelector/matchLabels' },
]
