/**
 * First match wins. The classes follow the Pod Security Standards of Kubernetes
 * (docs/guides/risk.md). Each rule has an example and a near miss in test/fakes/risk-examples.ts.
 */
import { type FieldPath, formatFieldPath } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { createWordSet, listWords } from '@backporch/kyaml/text'
import { getImagePublisher } from '../attribute/image-publisher.ts'
import type { Risk, RiskSubject } from '../compare/drift.ts'
import { hasKey, isPodLocation, isPodSecurityChange } from './pod-security.ts'

export interface RiskRule {
  readonly code: string
  readonly risk: Risk
  readonly why: string
  readonly applies: (subject: RiskSubject, path: string) => boolean
}

const ADMISSION_KINDS = createWordSet(`
  APIService ConstraintTemplate CustomResourceDefinition MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  MutatingWebhookConfiguration PodSecurityPolicy SecurityContextConstraints ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration
`)
const ADMISSION_GROUPS = new Set([
  'constraints.gatekeeper.sh',
  'kyverno.io',
  'policies.kyverno.io',
  'policy.sigstore.dev',
])
const ACCESS_KINDS = createWordSet(
  'CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle Role RoleBinding ServiceAccount',
)
/** In addition to everything called NetworkPolicy. */
const TRAFFIC_KINDS = createWordSet(
  'AuthorizationPolicy MeshTLSAuthentication PeerAuthentication RequestAuthentication ServerAuthorization',
)
const EXPOSING_KINDS = createWordSet(`
  BackendTLSPolicy DestinationRule EndpointSlice Endpoints Gateway GatewayClass Ingress IngressClass ReferenceGrant Service ServiceEntry
  VirtualService
`)
const SECRET_SOURCES = createWordSet(
  'ClusterExternalSecret ClusterSecretStore ExternalSecret SealedSecret SecretProviderClass SecretStore',
)
const STORAGE_KINDS = createWordSet(`
  CSIDriver PersistentVolume PersistentVolumeClaim StorageClass VolumeAttributesClass VolumeSnapshot VolumeSnapshotClass
  VolumeSnapshotContent
`)

/** Labels that aggregate roles, annotations that inject a CA into a webhook configuration. */
const ACCESS_METADATA = [
  'rbac.authorization.k8s.io/aggregate-to-',
  'cert-manager.io/inject-',
  'cert-manager.io/allow-direct-injection',
]
const CLOUD_IDENTITY = listWords(
  'azure.workload.identity/ eks.amazonaws.com/ iam.gke.io/ oke.oraclecloud.com/ pod-identity.alibabacloud.com/',
)
const GUARDS = listWords(`
  admission.gatekeeper.sh/ ambient.istio.io/ azure.workload.identity/use config.linkerd.io/
  container.apparmor.security.beta.kubernetes.io/ container.seccomp.security.alpha.kubernetes.io/ istio-injection istio.io/ kuma.io/
  linkerd.io/inject pod-security.kubernetes.io/ policy.sigstore.dev/ seccomp.security.alpha.kubernetes.io/ security.openshift.io/
  sidecar.istio.io/ traffic.sidecar.istio.io/
`)
/** A controller decides by these who reaches a Service or an Ingress. */
const EXPOSING_DOMAIN =
  /ingress|load-?balancer|traefik|haproxy|konghq|alb\.|external-dns|^service(\.beta)?\.kubernetes\.io$|^cloud\.google\.com$|^networking\.gke\.io$|projectcontour|metallb/i

export const RISK_RULES: readonly RiskRule[] = [
  {
    code: 'SEC-RBAC',
    risk: 'critical',
    why: 'access rights, or the admission rules of the API server, changed',
    applies: ({ id, path: steps }, path) =>
      (ACCESS_KINDS.has(id.kind) ||
        ADMISSION_KINDS.has(id.kind) ||
        ADMISSION_GROUPS.has(id.group)) &&
      (!isMetadata(path) || isNamed(steps, ACCESS_METADATA)),
  },
  {
    code: 'SEC-IDENTITY',
    risk: 'critical',
    why: 'the service account of a workload, or its cloud identity, changed',
    applies: ({ id, path: steps }, path) =>
      (id.kind === 'ServiceAccount' && isNamed(steps, CLOUD_IDENTITY)) ||
      (/(^|\.)(serviceAccountName|serviceAccount|automountServiceAccountToken)$/.test(path) &&
        isPodLocation(id, path)),
  },
  {
    code: 'SEC-NETPOL',
    risk: 'critical',
    why: 'a network policy was removed or changed',
    applies: ({ id }, path) =>
      (id.kind.endsWith('NetworkPolicy') || TRAFFIC_KINDS.has(id.kind)) && !isMetadata(path),
  },
  {
    code: 'SEC-GUARD',
    risk: 'critical',
    why: 'a label or annotation changed that switches Pod Security, a mesh or a policy engine for a namespace or a pod',
    // A label or annotation of a Deployment itself has no effect on its pods.
    applies: ({ id, path: steps }, path) =>
      isNamed(steps, GUARDS) &&
      (['Namespace', 'Pod'].includes(id.kind) || (!isMetadata(path) && isPodLocation(id, path))),
  },
  {
    code: 'SEC-PSS',
    risk: 'critical',
    why: 'the pod gains or loses a restriction of the Pod Security Standards',
    applies: isPodSecurityChange,
  },
  {
    code: 'SUP-REGISTRY',
    risk: 'critical',
    why: 'the image comes from another registry, or from another account of a public registry',
    applies: ({ git, live }, path) =>
      isImage(path) &&
      typeof git === 'string' &&
      typeof live === 'string' &&
      getImagePublisher(path, git) !== getImagePublisher(path, live),
  },
  {
    code: 'SEC-SECRET',
    risk: 'high',
    why: 'the content of a Secret, or the reference to a Secret, changed',
    applies: ({ id, git, live }, path) =>
      ((isSecret(id) || SECRET_SOURCES.has(id.kind)) && !isMetadata(path)) ||
      (isPodLocation(id, path) &&
        !isContainer(path) &&
        (isSecretPath(path) || holdsSecret(live) || holdsSecret(git))),
  },
  {
    code: 'AVAIL-PDB',
    risk: 'high',
    why: 'a disruption budget was removed or changed',
    applies: ({ id }, path) => id.kind === 'PodDisruptionBudget' && !isMetadata(path),
  },
  {
    code: 'OBJ-MISSING',
    risk: 'high',
    why: 'an object that git declares is not in the cluster',
    applies: ({ change }) => change === 'missing',
  },
  {
    code: 'OBJ-UNEXPECTED',
    risk: 'medium',
    why: 'the inventory has an object that git does not declare',
    applies: ({ change }) => change === 'unexpected',
  },
  {
    code: 'NET-EXPOSE',
    risk: 'high',
    why: 'the exposure of the workload changed',
    applies: ({ id, path: steps }, path) =>
      (EXPOSING_KINDS.has(id.kind) || /Route$/.test(id.kind)) &&
      (!isMetadata(path) ||
        EXPOSING_DOMAIN.test(/^(.+)\//.exec(getMetadataName(steps) ?? '')?.[1] ?? '')),
  },
  {
    code: 'NET-SELECT',
    risk: 'high',
    why: 'a label of the pods, or a selector of them, changed: Services, policies and budgets choose pods by it',
    applies: ({ id }, path) =>
      !isMetadata(path) &&
      isPodLocation(id, path) &&
      /^spec\.(selector|(jobTemplate\.spec\.)?template\.metadata\.labels)\b/.test(path),
  },
  {
    code: 'APP-IMAGE',
    risk: 'high',
    why: 'the executed code changed: image, command, arguments, a hook or a whole container',
    applies: ({ id }, path) =>
      isImage(path) ||
      isContainer(path) ||
      (isPodLocation(id, path) &&
        /ontainers\[[^\]]*\]\.(command|args|lifecycle|workingDir)\b/.test(path)),
  },
  {
    code: 'DATA-STORAGE',
    risk: 'high',
    why: 'the storage of data, or its retention, changed',
    applies: ({ id }, path) =>
      (STORAGE_KINDS.has(id.kind) && !isMetadata(path)) ||
      /^spec\.(volumeClaimTemplates|persistentVolumeClaimRetentionPolicy)\b/.test(path),
  },
  {
    code: 'AVAIL-PRIORITY',
    risk: 'high',
    why: 'the priority of pods changed',
    applies: ({ id }, path) =>
      (['PriorityClass', 'PriorityLevelConfiguration', 'FlowSchema'].includes(id.kind) &&
        !isMetadata(path)) ||
      (/\.(priorityClassName|preemptionPolicy)$/.test(path) && isPodLocation(id, path)),
  },
  {
    code: 'AVAIL-QUOTA',
    risk: 'medium',
    why: 'the quota of a namespace, or the default limits of its pods, changed',
    applies: ({ id }, path) =>
      ['ResourceQuota', 'LimitRange'].includes(id.kind) && !isMetadata(path),
  },
  {
    code: 'OBJ-LIFETIME',
    risk: 'medium',
    why: 'a finalizer or an owner of the object changed',
    applies: (_subject, path) =>
      /^metadata\.(finalizers|ownerReferences)\b/.test(path) || path === 'spec.finalizers',
  },
  {
    code: 'APP-ENV',
    risk: 'medium',
    why: 'the environment of a container changed',
    applies: (_subject, path) => /ontainers\[[^\]]*\]\.env(From)?\b/.test(path),
  },
  {
    code: 'APP-VOLUME',
    risk: 'medium',
    why: 'a volume or a mount of a container changed',
    applies: ({ id }, path) =>
      isPodLocation(id, path) &&
      /(\.spec|ontainers\[[^\]]*\]|^spec)\.volume(s|Mounts|Devices)\b/.test(path),
  },
  {
    code: 'AVAIL-REPLICAS',
    risk: 'medium',
    why: 'the replica count changed',
    applies: (_subject, path) =>
      /^spec\.(replicas|(min|max)Replicas|(min|max)ReplicaCount|idleReplicaCount)$/.test(path),
  },
  {
    code: 'APP-RESOURCES',
    risk: 'medium',
    why: 'requests or limits changed',
    applies: (_subject, path) => /\.resources\b/.test(path),
  },
  {
    code: 'APP-CONFIG',
    risk: 'medium',
    why: 'configuration data changed',
    applies: ({ id }, path) => id.kind === 'ConfigMap' && !isMetadata(path),
  },
  {
    code: 'META-NAMESPACE',
    risk: 'medium',
    why: 'a label of a namespace changed: policies and webhooks choose namespaces by it',
    applies: ({ id }, path) => id.kind === 'Namespace' && /^metadata\.labels\b/.test(path),
  },
  {
    code: 'META',
    risk: 'low',
    why: 'a label or an annotation changed',
    applies: (_subject, path) => isMetadata(path),
  },
  {
    code: 'SPEC-OTHER',
    risk: 'medium',
    why: 'another field of the object changed',
    applies: () => true,
  },
]

export function assessRisk(subject: RiskSubject): RiskRule {
  const path = formatFieldPath(subject.path)
  const rule = RISK_RULES.find((candidate) => candidate.applies(subject, path))
  if (rule === undefined) throw new TypeError('the risk table has no rule for everything else')
  return rule
}

function isMetadata(path: string): boolean {
  return /^metadata\b/.test(path)
}

function getMetadataName(path: FieldPath): string | undefined {
  const [above, map, last] = path.slice(-3)
  const isMap = map?.kind === 'field' && (map.name === 'labels' || map.name === 'annotations')
  return isMap && above?.kind === 'field' && above.name === 'metadata' && last?.kind === 'field'
    ? last.name
    : undefined
}

function isNamed(path: FieldPath, beginnings: readonly string[]): boolean {
  const name = getMetadataName(path)
  return name !== undefined && beginnings.some((beginning) => name.startsWith(beginning))
}

function isImage(path: string): boolean {
  return /^(spec|template)\b.*\.image(\.(registry|repository|tag|digest))?$/.test(path)
}

function isContainer(path: string): boolean {
  return /ontainers\[[^\]]*\]$/.test(path)
}

function isSecretPath(path: string): boolean {
  return (
    /\.(secretKeyRef|secretRef|imagePullSecrets)\b/.test(path) ||
    /\.volumes\[[^\]]*\]\.(secret|projected)\b/.test(path)
  )
}

function holdsSecret(value: Json | undefined): boolean {
  return hasKey(value, ['secretKeyRef', 'secretRef', 'secretName'])
}
