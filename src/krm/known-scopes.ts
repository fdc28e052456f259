/**
 * Which kinds stand in a namespace, as kpt's functions and kustomize know it without a cluster (kyaml
 * `openapi/openapi.go`, `precomputedIsNamespaceScoped`; the Go SDK has a copy). Newer versions, `autoscaling/v2` among
 * them, are not in it: there the functions go by whether `metadata.namespace` is set.
 */
const SCOPES: { readonly [apiVersion: string]: { readonly namespaced?: string; readonly cluster?: string } } = {
  'admissionregistration.k8s.io/v1': { cluster: 'MutatingWebhookConfiguration ValidatingWebhookConfiguration' },
  'admissionregistration.k8s.io/v1beta1': { cluster: 'MutatingWebhookConfiguration ValidatingWebhookConfiguration' },
  'apiextensions.k8s.io/v1': { cluster: 'CustomResourceDefinition' },
  'apiextensions.k8s.io/v1beta1': { cluster: 'CustomResourceDefinition' },
  'apiregistration.k8s.io/v1': { cluster: 'APIService' },
  'apiregistration.k8s.io/v1beta1': { cluster: 'APIService' },
  'apps/v1': { namespaced: 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet' },
  'autoscaling/v1': { namespaced: 'HorizontalPodAutoscaler Scale' },
  'autoscaling/v2beta1': { namespaced: 'HorizontalPodAutoscaler' },
  'autoscaling/v2beta2': { namespaced: 'HorizontalPodAutoscaler' },
  'batch/v1': { namespaced: 'CronJob Job' },
  'batch/v1beta1': { namespaced: 'CronJob' },
  'certificates.k8s.io/v1': { cluster: 'CertificateSigningRequest' },
  'certificates.k8s.io/v1beta1': { cluster: 'CertificateSigningRequest' },
  'coordination.k8s.io/v1': { namespaced: 'Lease' },
  'coordination.k8s.io/v1beta1': { namespaced: 'Lease' },
  'discovery.k8s.io/v1': { namespaced: 'EndpointSlice' },
  'discovery.k8s.io/v1beta1': { namespaced: 'EndpointSlice' },
  'events.k8s.io/v1': { namespaced: 'Event' },
  'events.k8s.io/v1beta1': { namespaced: 'Event' },
  'extensions/v1beta1': { namespaced: 'Ingress' },
  'flowcontrol.apiserver.k8s.io/v1beta1': { cluster: 'FlowSchema PriorityLevelConfiguration' },
  'networking.k8s.io/v1': { namespaced: 'Ingress NetworkPolicy', cluster: 'IngressClass' },
  'networking.k8s.io/v1beta1': { namespaced: 'Ingress', cluster: 'IngressClass' },
  'node.k8s.io/v1': { cluster: 'RuntimeClass' },
  'node.k8s.io/v1beta1': { cluster: 'RuntimeClass' },
  'policy/v1': { namespaced: 'PodDisruptionBudget' },
  'policy/v1beta1': { namespaced: 'PodDisruptionBudget', cluster: 'PodSecurityPolicy' },
  'rbac.authorization.k8s.io/v1': { namespaced: 'Role RoleBinding', cluster: 'ClusterRole ClusterRoleBinding' },
  'rbac.authorization.k8s.io/v1beta1': { namespaced: 'Role RoleBinding', cluster: 'ClusterRole ClusterRoleBinding' },
  'scheduling.k8s.io/v1': { cluster: 'PriorityClass' },
  'scheduling.k8s.io/v1beta1': { cluster: 'PriorityClass' },
  'storage.k8s.io/v1': { cluster: 'CSIDriver CSINode StorageClass VolumeAttachment' },
  'storage.k8s.io/v1beta1': { namespaced: 'CSIStorageCapacity', cluster: 'CSIDriver CSINode StorageClass VolumeAttachment' },
  v1: {
    namespaced:
      'ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodPortForwardOptions PodProxyOptions PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount ServiceProxyOptions',
    cluster: 'ComponentStatus Namespace Node NodeProxyOptions PersistentVolume',
  },
}

const NAMESPACED = new Map(
  Object.entries(SCOPES).flatMap(([apiVersion, { namespaced = '', cluster = '' }]) => [
    ...kindsOf(apiVersion, namespaced, true),
    ...kindsOf(apiVersion, cluster, false),
  ]),
)

function kindsOf(apiVersion: string, kinds: string, namespaced: boolean): readonly (readonly [string, boolean])[] {
  return kinds === '' ? [] : kinds.split(' ').map((kind) => [`${apiVersion} ${kind}`, namespaced])
}

/** Whether objects of the kind stand in a namespace; undefined for a kind that is not known. */
export function isNamespacedKind(apiVersion: string, kind: string): boolean | undefined {
  return NAMESPACED.get(`${apiVersion} ${kind}`)
}
