/**
 * Source: `+listType`, `+listMapKey` and `+genclient:nonNamespaced` markers of k8s.io/api v0.34.3.
 * Live tests compare it with a real server.
 */
import type { ListType } from '@backporch/kyaml/field'

interface KnownList {
  readonly type: ListType
  readonly keys: readonly string[]
}

const map = (...keys: string[]): KnownList => ({ type: 'map', keys })

const KNOWN_LISTS: ReadonlyMap<string, KnownList> = new Map([
  ['containers', map('name')],
  ['initContainers', map('name')],
  ['ephemeralContainers', map('name')],
  ['env', map('name')],
  ['volumes', map('name')],
  ['volumeMounts', map('mountPath')],
  ['volumeDevices', map('devicePath')],
  ['imagePullSecrets', map('name')],
  ['hostAliases', map('ip')],
  ['topologySpreadConstraints', map('topologyKey', 'whenUnsatisfiable')],
  ['schedulingGates', map('name')],
  ['containers.ports', map('containerPort', 'protocol')],
  ['initContainers.ports', map('containerPort', 'protocol')],
  ['Service.spec.ports', map('port', 'protocol')],
  ['ServiceAccount.secrets', map('name')],
  ['ServiceAccount.imagePullSecrets', { type: 'atomic', keys: [] }],
  ['metadata.ownerReferences', map('uid')],
  ['metadata.finalizers', { type: 'set', keys: [] }],
  ['status.conditions', map('type')],
  ['webhooks', map('name')],
])

/** @param names kind first, without item names: `['Service', 'spec', 'ports']` */
export function findKnownList(names: readonly string[]): KnownList | undefined {
  for (let length = Math.min(3, names.length); length > 0; length -= 1) {
    const known = KNOWN_LISTS.get(names.slice(-length).join('.'))
    if (known !== undefined) return known
  }
  return undefined
}

/** The server sets these before it records ownership. */
export function findKnownKeyDefault(names: readonly string[], key: string): string | undefined {
  return key === 'protocol' && names.at(-1) === 'ports' ? 'TCP' : undefined
}

/** Authors choose these keys. */
const FREE_MAPS = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'data',
  'stringData',
  'binaryData',
  'limits',
  'requests',
  'hard',
])
const QUANTITIES = new Set(['limits', 'requests', 'hard', 'capacity'])

export function isFreeMap(name: string): boolean {
  return FREE_MAPS.has(name)
}

export function holdsQuantities(name: string): boolean {
  return QUANTITIES.has(name)
}

const CLUSTER_SCOPED = new Set([
  '/Namespace',
  '/Node',
  '/PersistentVolume',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'apiregistration.k8s.io/APIService',
  'certificates.k8s.io/CertificateSigningRequest',
  'certificates.k8s.io/ClusterTrustBundle',
  'flowcontrol.apiserver.k8s.io/FlowSchema',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/IPAddress',
  'networking.k8s.io/ServiceCIDR',
  'node.k8s.io/RuntimeClass',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/ResourceSlice',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
  'storage.k8s.io/VolumeAttributesClass',
])
const BUILT_IN_GROUPS = new Set(['', 'apps', 'batch', 'autoscaling', 'policy', 'extensions'])

/** Every Kubernetes has these groups. */
export function isBuiltInGroup(group: string): boolean {
  return (
    BUILT_IN_GROUPS.has(group) ||
    [...CLUSTER_SCOPED].some((kind) => kind.startsWith(`${group}/`)) ||
    group === 'coordination.k8s.io' ||
    group === 'discovery.k8s.io'
  )
}

export function isKnownNamespaced(group: string, kind: string): boolean | undefined {
  return isBuiltInGroup(group) ? !CLUSTER_SCOPED.has(`${group}/${kind}`) : undefined
}
