/**
 * Without a cluster (kyaml `openapi/openapi.go`, `precomputedIsNamespaceScoped`; the Go SDK has a
 * copy). For newer versions, such as `autoscaling/v2`, the functions check whether
 * `metadata.namespace` is set.
 */
import { listWords } from '../text/words.ts'

const SCOPES: readonly (readonly [
  group: string,
  versions: string,
  namespaced: string,
  cluster: string,
])[] = [
  [
    'admissionregistration.k8s.io',
    'v1 v1beta1',
    '',
    'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  ],
  ['apiextensions.k8s.io', 'v1 v1beta1', '', 'CustomResourceDefinition'],
  ['apiregistration.k8s.io', 'v1 v1beta1', '', 'APIService'],
  ['apps', 'v1', 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet', ''],
  ['autoscaling', 'v1 v2beta1 v2beta2', 'HorizontalPodAutoscaler', ''],
  ['autoscaling', 'v1', 'Scale', ''],
  ['batch', 'v1 v1beta1', 'CronJob', ''],
  ['batch', 'v1', 'Job', ''],
  ['certificates.k8s.io', 'v1 v1beta1', '', 'CertificateSigningRequest'],
  ['coordination.k8s.io', 'v1 v1beta1', 'Lease', ''],
  ['discovery.k8s.io', 'v1 v1beta1', 'EndpointSlice', ''],
  ['events.k8s.io', 'v1 v1beta1', 'Event', ''],
  ['extensions', 'v1beta1', 'Ingress', ''],
  ['flowcontrol.apiserver.k8s.io', 'v1beta1', '', 'FlowSchema PriorityLevelConfiguration'],
  ['networking.k8s.io', 'v1 v1beta1', 'Ingress', 'IngressClass'],
  ['networking.k8s.io', 'v1', 'NetworkPolicy', ''],
  ['node.k8s.io', 'v1 v1beta1', '', 'RuntimeClass'],
  ['policy', 'v1 v1beta1', 'PodDisruptionBudget', ''],
  ['policy', 'v1beta1', '', 'PodSecurityPolicy'],
  ['rbac.authorization.k8s.io', 'v1 v1beta1', 'Role RoleBinding', 'ClusterRole ClusterRoleBinding'],
  ['scheduling.k8s.io', 'v1 v1beta1', '', 'PriorityClass'],
  ['storage.k8s.io', 'v1 v1beta1', '', 'CSIDriver CSINode StorageClass VolumeAttachment'],
  ['storage.k8s.io', 'v1beta1', 'CSIStorageCapacity', ''],
  [
    '',
    'v1',
    'ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodPortForwardOptions',
    '',
  ],
  [
    '',
    'v1',
    'PodProxyOptions PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount ServiceProxyOptions',
    '',
  ],
  ['', 'v1', '', 'ComponentStatus Namespace Node NodeProxyOptions PersistentVolume'],
]

const NAMESPACED = new Map(
  SCOPES.flatMap(([group, versions, namespaced, cluster]) =>
    listWords(versions).flatMap((version) => {
      const key = (kind: string): string => `${group === '' ? '' : `${group}/`}${version} ${kind}`
      return [
        ...listWords(namespaced).map((kind) => [key(kind), true] as const),
        ...listWords(cluster).map((kind) => [key(kind), false] as const),
      ]
    }),
  ),
)

export function isNamespacedKind(apiVersion: string, kind: string): boolean | undefined {
  return NAMESPACED.get(`${apiVersion} ${kind}`)
}
