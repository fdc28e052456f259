/** For each rule of src/drift/risk/risk.ts a difference that has its code, and one that nearly has it. The guide and the tests are made of them. */
import type { Json } from '@backporch/kyaml/json'
import type { ChangeKind, Risk } from '../../src/drift/compare/drift.ts'

export interface RiskExample {
  /** `apps/Deployment`; a kind alone is of the core group. */
  readonly kind: string
  readonly change: ChangeKind
  /** Keyed field path; empty for the whole object. */
  readonly path: string
  readonly git?: Json
  readonly live?: Json
}

export interface RiskExamples {
  /** Risk of each difference in `has`, written by hand: the table of rules is compared with it. */
  readonly risk: Risk
  readonly has: readonly [RiskExample, ...RiskExample[]]
  /** With the code that it has instead. */
  readonly not: readonly [readonly [RiskExample, string], ...(readonly [RiskExample, string])[]]
}

const POD = 'spec.template.spec'
const APP = `${POD}.containers[name=app]`
const RBAC = 'rbac.authorization.k8s.io'

function modified(kind: string, path: string, git: Json, live: Json): RiskExample {
  return { kind, change: 'modified', path, git, live }
}

function added(kind: string, path: string, live: Json): RiskExample {
  return { kind, change: 'added', path, live }
}

function removed(kind: string, path: string, git: Json): RiskExample {
  return { kind, change: 'removed', path, git }
}

function missing(kind: string): RiskExample {
  return { kind, change: 'missing', path: '' }
}

export const RISK_EXAMPLES: Readonly<Record<string, RiskExamples>> = {
  'SEC-RBAC': {
    risk: 'critical',
    has: [
      added(`${RBAC}/ClusterRoleBinding`, 'subjects', [{ kind: 'User', name: 'eve' }]),
      modified(
        `${RBAC}/ClusterRole`,
        'rules',
        [],
        [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
      ),
      missing(`${RBAC}/RoleBinding`),
      added(
        `${RBAC}/ClusterRole`,
        'metadata.labels["rbac.authorization.k8s.io/aggregate-to-edit"]',
        'true',
      ),
      modified(
        'apiextensions.k8s.io/CustomResourceDefinition',
        'spec.conversion.strategy',
        'None',
        'Webhook',
      ),
      missing('admissionregistration.k8s.io/ValidatingWebhookConfiguration'),
      modified(
        'admissionregistration.k8s.io/MutatingWebhookConfiguration',
        'webhooks[name=inject.example.com].failurePolicy',
        'Fail',
        'Ignore',
      ),
      missing('admissionregistration.k8s.io/ValidatingAdmissionPolicy'),
      missing('admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding'),
      modified('apiregistration.k8s.io/APIService', 'spec.insecureSkipTLSVerify', false, true),
      modified('ServiceAccount', 'automountServiceAccountToken', false, true),
      modified('kyverno.io/ClusterPolicy', 'spec.validationFailureAction', 'Enforce', 'Audit'),
    ],
    not: [
      [added(`${RBAC}/ClusterRole`, 'metadata.labels.team', 'shop'), 'META'],
      [added('acme.example.com/Roleplay', 'spec.rules', []), 'SPEC-OTHER'],
    ],
  },
  'SEC-IDENTITY': {
    risk: 'critical',
    has: [
      added(
        'ServiceAccount',
        'metadata.annotations["eks.amazonaws.com/role-arn"]',
        'arn:aws:iam::1:role/admin',
      ),
      modified(
        'ServiceAccount',
        'metadata.annotations["iam.gke.io/gcp-service-account"]',
        'shop@x',
        'owner@x',
      ),
      added('ServiceAccount', 'metadata.annotations["azure.workload.identity/client-id"]', '0000'),
      modified('apps/Deployment', `${POD}.serviceAccountName`, 'shop', 'admin'),
      modified('apps/Deployment', `${POD}.automountServiceAccountToken`, false, true),
    ],
    not: [
      [added('ServiceAccount', 'metadata.annotations["example.com/owner"]', 'shop'), 'META'],
      [modified('acme.example.com/Backup', 'spec.serviceAccountName', 'a', 'b'), 'SPEC-OTHER'],
    ],
  },
  'SEC-NETPOL': {
    risk: 'critical',
    has: [
      missing('networking.k8s.io/NetworkPolicy'),
      removed('cilium.io/CiliumNetworkPolicy', 'spec.egress', [{ toPorts: [] }]),
      modified('policy.networking.k8s.io/AdminNetworkPolicy', 'spec.priority', 1, 100),
      missing('security.istio.io/AuthorizationPolicy'),
    ],
    not: [[added('networking.k8s.io/NetworkPolicy', 'metadata.annotations.note', 'x'), 'META']],
  },
  'SEC-GUARD': {
    risk: 'critical',
    has: [
      modified(
        'Namespace',
        'metadata.labels["pod-security.kubernetes.io/enforce"]',
        'restricted',
        'privileged',
      ),
      removed('Namespace', 'metadata.labels.istio-injection', 'enabled'),
      added('Namespace', 'metadata.annotations["linkerd.io/inject"]', 'disabled'),
      added(
        'apps/Deployment',
        'spec.template.metadata.annotations["sidecar.istio.io/inject"]',
        'false',
      ),
    ],
    not: [
      [added('Namespace', 'metadata.labels.team', 'shop'), 'META-NAMESPACE'],
      [
        added('apps/Deployment', 'metadata.annotations["sidecar.istio.io/inject"]', 'false'),
        'META',
      ],
      [
        added('Namespace', 'metadata.annotations["example.com/pod-security.kubernetes.io"]', 'x'),
        'META',
      ],
    ],
  },
  'SEC-PSS': {
    risk: 'critical',
    has: [
      added('apps/Deployment', `${APP}.securityContext.privileged`, true),
      removed('apps/Deployment', `${APP}.securityContext.runAsNonRoot`, true),
      added('apps/Deployment', `${POD}.containers[name=x]`, {
        name: 'x',
        image: 'x',
        securityContext: { privileged: true },
      }),
      added('apps/Deployment', `${POD}.initContainers[name=x]`, {
        name: 'x',
        securityContext: { capabilities: { add: ['NET_ADMIN'] } },
      }),
      added('apps/Deployment', `${POD}.containers[name=x]`, {
        name: 'x',
        ports: [{ containerPort: 80, hostPort: 80 }],
      }),
      added('apps/Deployment', `${POD}.volumes[name=host]`, {
        name: 'host',
        hostPath: { path: '/' },
      }),
      added('apps/DaemonSet', `${POD}.hostNetwork`, true),
      added('apps/DaemonSet', `${POD}.hostPID`, true),
      modified('apps/Deployment', `${POD}.hostIPC`, false, true),
      modified(
        'argoproj.io/Rollout',
        POD,
        { securityContext: { runAsUser: 1000 } },
        { securityContext: { runAsUser: 0 } },
      ),
      modified('monitoring.coreos.com/Prometheus', 'spec.securityContext.runAsUser', 1000, 0),
      {
        kind: 'apps/Deployment',
        change: 'unexpected',
        path: '',
        live: { spec: { template: { spec: { hostPID: true } } } },
      },
    ],
    not: [
      [
        added('apps/Deployment', `${POD}.containers[name=x]`, {
          name: 'x',
          securityContext: { privileged: false },
        }),
        'APP-IMAGE',
      ],
      [
        removed('apps/Deployment', `${POD}.containers[name=x]`, {
          name: 'x',
          securityContext: { privileged: true },
        }),
        'APP-IMAGE',
      ],
      [modified('ConfigMap', 'data.hostNetwork', 'false', 'true'), 'APP-CONFIG'],
      [added('apps/Deployment', 'metadata.labels.privileged', 'true'), 'META'],
      [
        modified(
          'apps/Deployment',
          `${POD}.containers[name=privileged].imagePullPolicy`,
          'Always',
          'Never',
        ),
        'SPEC-OTHER',
      ],
    ],
  },
  'SUP-REGISTRY': {
    risk: 'critical',
    has: [
      modified(
        'apps/Deployment',
        `${APP}.image`,
        'registry.acme.example.com/shop:1',
        'evil.example.com/shop:1',
      ),
      modified('apps/Deployment', `${APP}.image`, 'nginx:1', 'somebody/nginx:1'),
      modified('apps/Deployment', `${APP}.image`, 'ghcr.io/acme/shop:1', 'ghcr.io/evil/shop:1'),
      modified('apps/Deployment', `${APP}.image`, 'localhost/x:1', 'x:1'),
      modified('acme.example.com/Shop', 'spec.image.registry', 'docker.io', 'evil.example.com'),
    ],
    not: [
      [
        modified('apps/Deployment', `${APP}.image`, 'nginx:1', 'docker.io/library/nginx:2'),
        'APP-IMAGE',
      ],
      [
        modified('apps/Deployment', `${APP}.image`, 'r.example.com/a/x:1', 'r.example.com/b/x:1'),
        'APP-IMAGE',
      ],
      [modified('ConfigMap', 'data.image', 'a.example.com/x', 'b.example.com/x'), 'APP-CONFIG'],
    ],
  },
  'SEC-SECRET': {
    risk: 'high',
    has: [
      modified('Secret', 'data.user', 'a', 'b'),
      modified('external-secrets.io/ExternalSecret', 'spec.secretStoreRef.name', 'shop', 'root'),
      added('apps/Deployment', `${APP}.env[name=PASSWORD]`, {
        name: 'PASSWORD',
        valueFrom: { secretKeyRef: { name: 'root', key: 'p' } },
      }),
      modified('apps/Deployment', `${APP}.env[name=P].valueFrom.secretKeyRef.name`, 'shop', 'root'),
      added('apps/Deployment', `${POD}.volumes[name=s]`, {
        name: 's',
        secret: { secretName: 'root' },
      }),
    ],
    not: [
      [modified('Secret', 'metadata.labels.a', 'a', 'b'), 'META'],
      [
        added('apps/Deployment', `${APP}.env[name=A]`, {
          name: 'A',
          valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } },
        }),
        'APP-ENV',
      ],
    ],
  },
  'AVAIL-PDB': {
    risk: 'high',
    has: [
      modified('policy/PodDisruptionBudget', 'spec.minAvailable', 2, 0),
      missing('policy/PodDisruptionBudget'),
    ],
    not: [[added('policy/PodDisruptionBudget', 'metadata.labels.a', 'b'), 'META']],
  },
  'OBJ-MISSING': {
    risk: 'high',
    has: [missing('apps/Deployment'), missing('Namespace')],
    not: [[missing('Secret'), 'SEC-SECRET']],
  },
  'OBJ-UNEXPECTED': {
    risk: 'medium',
    has: [{ kind: 'ConfigMap', change: 'unexpected', path: '', live: { data: { a: 'b' } } }],
    not: [
      [{ kind: `${RBAC}/Role`, change: 'unexpected', path: '', live: { rules: [] } }, 'SEC-RBAC'],
    ],
  },
  'NET-EXPOSE': {
    risk: 'high',
    has: [
      modified('Service', 'spec.type', 'ClusterIP', 'LoadBalancer'),
      added('Service', 'spec.externalIPs', ['203.0.113.7']),
      removed('Service', 'spec.loadBalancerSourceRanges', ['10.0.0.0/8']),
      modified('Service', 'spec.selector', { app: 'web' }, { app: 'other' }),
      removed(
        'Service',
        'metadata.annotations["service.beta.kubernetes.io/aws-load-balancer-internal"]',
        'true',
      ),
      modified('networking.k8s.io/Ingress', 'spec.rules', [], [{ host: 'x' }]),
      removed(
        'networking.k8s.io/Ingress',
        'metadata.annotations["nginx.ingress.kubernetes.io/whitelist-source-range"]',
        '10.0.0.0/8',
      ),
      added('gateway.networking.k8s.io/Gateway', 'spec.listeners[name=any]', {
        name: 'any',
        port: 80,
      }),
      modified('gateway.networking.k8s.io/TLSRoute', 'spec.hostnames', [], ['x']),
    ],
    not: [
      [added('Service', 'metadata.labels.a', 'b'), 'META'],
      [added('Service', 'metadata.annotations["example.com/owner"]', 'b'), 'META'],
      [
        added('apps/Deployment', 'metadata.annotations["nginx.ingress.kubernetes.io/x"]', 'b'),
        'META',
      ],
    ],
  },
  'NET-SELECT': {
    risk: 'high',
    has: [
      modified('apps/Deployment', 'spec.template.metadata.labels.app', 'web', 'other'),
      modified(
        'batch/CronJob',
        'spec.jobTemplate.spec.template.metadata.labels.app',
        'web',
        'other',
      ),
    ],
    not: [[modified('apps/Deployment', 'metadata.labels.app', 'web', 'other'), 'META']],
  },
  'APP-IMAGE': {
    risk: 'high',
    has: [
      modified('apps/Deployment', `${APP}.image`, 'nginx:1', 'nginx:2'),
      modified('apps/Deployment', `${APP}.image`, 'nginx:1@sha256:6af7...', 'nginx:1'),
      modified('apps/Deployment', `${APP}.command`, ['a'], ['b']),
      modified('apps/Deployment', `${APP}.args[0]`, 'a', 'b'),
      added('apps/Deployment', `${APP}.lifecycle.postStart.exec.command`, ['sh']),
      added('apps/Deployment', `${POD}.initContainers[name=x]`, { name: 'x', image: 'x' }),
      modified('acme.example.com/Shop', 'spec.image.tag', '1', '2'),
    ],
    not: [[modified('apps/Deployment', `${APP}.imagePullPolicy`, 'Always', 'Never'), 'SPEC-OTHER']],
  },
  'DATA-STORAGE': {
    risk: 'high',
    has: [
      modified('PersistentVolumeClaim', 'spec.resources.requests.storage', '1Gi', '9Gi'),
      modified('PersistentVolume', 'spec.persistentVolumeReclaimPolicy', 'Retain', 'Delete'),
      modified('storage.k8s.io/StorageClass', 'reclaimPolicy', 'Retain', 'Delete'),
      modified(
        'apps/StatefulSet',
        'spec.persistentVolumeClaimRetentionPolicy.whenDeleted',
        'Retain',
        'Delete',
      ),
    ],
    not: [
      [
        added(
          'PersistentVolumeClaim',
          'metadata.annotations["volume.kubernetes.io/storage-resizer"]',
          'x',
        ),
        'META',
      ],
    ],
  },
  'AVAIL-PRIORITY': {
    risk: 'high',
    has: [
      modified('scheduling.k8s.io/PriorityClass', 'value', 1, 1_000_000),
      modified('apps/Deployment', `${POD}.priorityClassName`, 'low', 'system-cluster-critical'),
    ],
    not: [[added('scheduling.k8s.io/PriorityClass', 'metadata.labels.a', 'b'), 'META']],
  },
  'AVAIL-QUOTA': {
    risk: 'medium',
    has: [
      modified('ResourceQuota', 'spec.hard["requests.cpu"]', '1', '100'),
      removed('LimitRange', 'spec.limits', [{ type: 'Container' }]),
    ],
    not: [[missing('ResourceQuota'), 'OBJ-MISSING']],
  },
  'OBJ-LIFETIME': {
    risk: 'medium',
    has: [
      added('ConfigMap', 'metadata.finalizers[="example.com/guard"]', 'example.com/guard'),
      added('ConfigMap', 'metadata.ownerReferences[uid=u]', { uid: 'u' }),
    ],
    not: [[added('ConfigMap', 'metadata.annotations.finalizers', 'x'), 'META']],
  },
  'APP-ENV': {
    risk: 'medium',
    has: [
      modified('apps/Deployment', `${APP}.env[name=A].value`, 'a', 'b'),
      added('apps/Deployment', `${APP}.envFrom`, []),
    ],
    not: [[modified('acme.example.com/Shop', 'spec.env', 'a', 'b'), 'SPEC-OTHER']],
  },
  'APP-VOLUME': {
    risk: 'medium',
    has: [
      added('apps/Deployment', `${POD}.volumes[name=c]`, { name: 'c', configMap: { name: 'c' } }),
      modified('apps/Deployment', `${APP}.volumeMounts[mountPath=/data].readOnly`, true, false),
    ],
    not: [[added('acme.example.com/Backup', 'spec.volumes', []), 'SPEC-OTHER']],
  },
  'AVAIL-REPLICAS': {
    risk: 'medium',
    has: [
      modified('apps/Deployment', 'spec.replicas', 3, 5),
      modified('autoscaling/HorizontalPodAutoscaler', 'spec.maxReplicas', 3, 30),
      modified('keda.sh/ScaledObject', 'spec.maxReplicaCount', 3, 30),
    ],
    not: [[modified('acme.example.com/Database', 'spec.storage.replicas', 3, 5), 'SPEC-OTHER']],
  },
  'APP-RESOURCES': {
    risk: 'medium',
    has: [modified('apps/Deployment', `${APP}.resources.limits.cpu`, '1', '2')],
    not: [[modified('apps/Deployment', `${APP}.resizePolicy`, [], [{}]), 'SPEC-OTHER']],
  },
  'APP-CONFIG': {
    risk: 'medium',
    has: [modified('ConfigMap', 'data.color', 'a', 'b'), added('ConfigMap', 'immutable', true)],
    not: [[modified('ConfigMap', 'metadata.labels.color', 'a', 'b'), 'META']],
  },
  'META-NAMESPACE': {
    risk: 'medium',
    has: [modified('Namespace', 'metadata.labels.team', 'shop', 'other')],
    not: [[modified('Namespace', 'metadata.annotations.team', 'shop', 'other'), 'META']],
  },
  META: {
    risk: 'low',
    has: [
      added('apps/Deployment', 'metadata.labels.team', 'shop'),
      modified('ConfigMap', 'metadata.annotations["example.com/owner"]', 'a', 'b'),
    ],
    not: [[added('apps/Deployment', 'spec.template.metadata.annotations.note', 'x'), 'SPEC-OTHER']],
  },
  'SPEC-OTHER': {
    risk: 'medium',
    has: [added('apps/Deployment', 'spec.paused', true)],
    not: [[modified('apps/Deployment', 'spec.replicas', 1, 2), 'AVAIL-REPLICAS']],
  },
}
