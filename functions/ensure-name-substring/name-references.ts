/** kustomize api v0.8.11 `internal/konfig/builtinpluginconsts/namereference.go` */
import type { FieldSpec } from '@backporch/kpt/field'

export interface NameReferences {
  readonly target: Omit<FieldSpec, 'path' | 'create'>
  /** They end at a name, a list of names, or a map or list of maps with a `name`. */
  readonly fields: readonly FieldSpec[]
}

const POD_SPECS = {
  Pod: 'spec',
  Deployment: 'spec/template/spec',
  ReplicaSet: 'spec/template/spec',
  DaemonSet: 'spec/template/spec',
  StatefulSet: 'spec/template/spec',
  ReplicationController: 'spec/template/spec',
  Job: 'spec/template/spec',
  CronJob: 'spec/jobTemplate/spec/template/spec',
} as const

type PodKind = keyof typeof POD_SPECS

/** A Pod only in `v1`; no ReplicationController. */
const OF_DATA: readonly PodKind[] = [
  'Pod',
  'Deployment',
  'ReplicaSet',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'CronJob',
]
/** kustomize omits ReplicaSet here. */
const OF_ACCOUNTS: readonly PodKind[] = [
  'Pod',
  'StatefulSet',
  'Deployment',
  'ReplicationController',
  'CronJob',
  'Job',
  'DaemonSet',
]

function buildPodFields(
  kinds: readonly PodKind[],
  ...paths: readonly string[]
): readonly FieldSpec[] {
  return kinds.flatMap((kind) =>
    paths.map((path) => ({ kind, path: `${POD_SPECS[kind]}/${path}` })),
  )
}

function buildDataPodFields(...paths: readonly string[]): readonly FieldSpec[] {
  return buildPodFields(OF_DATA, ...paths).map((field) =>
    field.kind === 'Pod' ? { ...field, version: 'v1' } : field,
  )
}

const RBAC = 'rbac.authorization.k8s.io'
const ADMISSION = 'admissionregistration.k8s.io'
const IN_RULES = { path: 'rules/resourceNames' }
const IN_AUTOSCALER = [{ kind: 'HorizontalPodAutoscaler', path: 'spec/scaleTargetRef/name' }]

export const NAME_REFERENCES: readonly NameReferences[] = [
  { target: { kind: 'Deployment' }, fields: IN_AUTOSCALER },
  { target: { kind: 'ReplicationController' }, fields: IN_AUTOSCALER },
  { target: { kind: 'ReplicaSet' }, fields: IN_AUTOSCALER },
  { target: { kind: 'StatefulSet' }, fields: IN_AUTOSCALER },
  {
    target: { kind: 'ConfigMap', version: 'v1' },
    fields: [
      ...buildDataPodFields(
        'volumes/configMap/name',
        'containers/env/valueFrom/configMapKeyRef/name',
        'initContainers/env/valueFrom/configMapKeyRef/name',
        'containers/envFrom/configMapRef/name',
        'initContainers/envFrom/configMapRef/name',
        'volumes/projected/sources/configMap/name',
      ),
      { kind: 'PodTemplate', path: 'template/spec/volumes/configMap/name' },
      { kind: 'Node', path: 'spec/configSource/configMap' },
      { kind: 'Role', ...IN_RULES },
      { kind: 'ClusterRole', ...IN_RULES },
      {
        kind: 'Ingress',
        path: 'metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap',
      },
    ],
  },
  {
    target: { kind: 'Secret', version: 'v1' },
    fields: [
      ...buildDataPodFields(
        'volumes/secret/secretName',
        'containers/env/valueFrom/secretKeyRef/name',
        'initContainers/env/valueFrom/secretKeyRef/name',
        'containers/envFrom/secretRef/name',
        'initContainers/envFrom/secretRef/name',
        'imagePullSecrets/name',
        'volumes/projected/sources/secret/name',
      ),
      { kind: 'Ingress', path: 'spec/tls/secretName' },
      { kind: 'Ingress', path: 'metadata/annotations/ingress.kubernetes.io\\/auth-secret' },
      { kind: 'Ingress', path: 'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret' },
      {
        kind: 'Ingress',
        path: 'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret',
      },
      { kind: 'ServiceAccount', path: 'imagePullSecrets/name' },
      { kind: 'StorageClass', path: 'parameters/secretName' },
      { kind: 'StorageClass', path: 'parameters/adminSecretName' },
      { kind: 'StorageClass', path: 'parameters/userSecretName' },
      { kind: 'StorageClass', path: 'parameters/secretRef' },
      { kind: 'Role', ...IN_RULES },
      { kind: 'ClusterRole', ...IN_RULES },
      {
        group: 'serving.knative.dev',
        version: 'v1',
        kind: 'Service',
        path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
      },
      { kind: 'PersistentVolume', path: 'spec/azureFile/secretName' },
    ],
  },
  {
    target: { kind: 'Service', version: 'v1' },
    fields: [
      { group: 'apps', kind: 'StatefulSet', path: 'spec/serviceName' },
      { kind: 'Ingress', path: 'spec/rules/http/paths/backend/serviceName' },
      { kind: 'Ingress', path: 'spec/backend/serviceName' },
      { kind: 'Ingress', path: 'spec/rules/http/paths/backend/service/name' },
      { kind: 'Ingress', path: 'spec/defaultBackend/service/name' },
      { group: 'apiregistration.k8s.io', kind: 'APIService', path: 'spec/service/name' },
      {
        group: ADMISSION,
        kind: 'ValidatingWebhookConfiguration',
        path: 'webhooks/clientConfig/service',
      },
      {
        group: ADMISSION,
        kind: 'MutatingWebhookConfiguration',
        path: 'webhooks/clientConfig/service',
      },
    ],
  },
  {
    target: { group: RBAC, kind: 'Role' },
    fields: [{ group: RBAC, kind: 'RoleBinding', path: 'roleRef/name' }],
  },
  {
    target: { group: RBAC, kind: 'ClusterRole' },
    fields: [
      { group: RBAC, kind: 'RoleBinding', path: 'roleRef/name' },
      { group: RBAC, kind: 'ClusterRoleBinding', path: 'roleRef/name' },
    ],
  },
  {
    target: { kind: 'ServiceAccount', version: 'v1' },
    fields: [
      { group: RBAC, kind: 'RoleBinding', path: 'subjects' },
      { group: RBAC, kind: 'ClusterRoleBinding', path: 'subjects' },
      ...buildPodFields(OF_ACCOUNTS, 'serviceAccountName'),
    ],
  },
  {
    target: { kind: 'PersistentVolumeClaim', version: 'v1' },
    fields: buildPodFields(OF_ACCOUNTS, 'volumes/persistentVolumeClaim/claimName'),
  },
  {
    target: { kind: 'PersistentVolume', version: 'v1' },
    fields: [
      { kind: 'PersistentVolumeClaim', path: 'spec/volumeName' },
      { kind: 'ClusterRole', ...IN_RULES },
    ],
  },
  {
    target: { group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass' },
    fields: [
      { kind: 'PersistentVolume', path: 'spec/storageClassName' },
      { kind: 'PersistentVolumeClaim', path: 'spec/storageClassName' },
      { kind: 'StatefulSet', path: 'spec/volumeClaimTemplates/spec/storageClassName' },
    ],
  },
  {
    target: { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass' },
    fields: buildPodFields(OF_ACCOUNTS, 'priorityClassName'),
  },
  // kustomize puts the version in the group, so this never matches.
  {
    target: { group: 'networking.k8s.io/v1', version: 'v1', kind: 'IngressClass' },
    fields: [{ kind: 'Ingress', path: 'spec/ingressClassName' }],
  },
]
