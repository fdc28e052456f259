/**
 * How risky a difference is, and why: one table, first match wins. The code is printed with every line and `explain`
 * prints the sentence. Source of the classes: the review of `ux.md` §2.4, itself after the Pod Security Standards.
 */
import { type FieldPath, formatFieldPath } from '../krm/field-path.ts'
import { isJsonObject, type Json } from '../krm/json.ts'
import { isSecret } from '../krm/redacted.ts'
import type { ResourceId } from '../krm/resource-id.ts'
import type { ChangeKind, Risk } from './drift.ts'

export interface RiskSubject {
  readonly id: ResourceId
  readonly change: ChangeKind
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
}

export interface RiskRule {
  readonly code: string
  readonly risk: Risk
  /** What the rule means, as a sentence. */
  readonly why: string
  readonly applies: (subject: RiskSubject, path: string) => boolean
}

const WORKLOAD_KINDS = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'Pod',
  'ReplicationController',
  'PodTemplate',
])
const RBAC_KINDS = new Set(['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'])
const SECURITY_KINDS = new Set([
  'CustomResourceDefinition',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'APIService',
  'ServiceAccount',
])
const POD_SECURITY =
  /(securityContext|hostNetwork|hostPID|hostIPC|hostPath|privileged|capabilities|allowPrivilegeEscalation|runAsUser|runAsNonRoot|seLinuxOptions|seccompProfile|hostPort)/
const POD_SECURITY_KEYS = [
  'privileged',
  'hostPath',
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'hostPort',
  'capabilities',
  'allowPrivilegeEscalation',
]

export const RISK_RULES: readonly RiskRule[] = [
  {
    code: 'SEC-RBAC',
    risk: 'critical',
    why: 'who may do what in the cluster, or what the API server accepts, changed',
    applies: ({ id, path }) => (RBAC_KINDS.has(id.kind) || SECURITY_KINDS.has(id.kind)) && !isMetadata(path),
  },
  {
    code: 'SEC-NETPOL',
    risk: 'critical',
    why: 'a network policy is gone or changed',
    applies: ({ id, path }) => id.kind.endsWith('NetworkPolicy') && !isMetadata(path),
  },
  {
    code: 'SEC-PSS',
    risk: 'critical',
    why: 'the pod gains or loses a restriction of the Pod Security Standards',
    applies: ({ id, git, live }, path) =>
      WORKLOAD_KINDS.has(id.kind) &&
      (POD_SECURITY.test(path) || hasKey(live, POD_SECURITY_KEYS) || (live === undefined && hasKey(git, POD_SECURITY_KEYS))),
  },
  {
    code: 'SUP-REGISTRY',
    risk: 'critical',
    why: 'the image comes from another registry',
    applies: ({ git, live }, path) =>
      /\.image$/.test(path) && typeof git === 'string' && typeof live === 'string' && registryOf(git) !== registryOf(live),
  },
  {
    code: 'SEC-SECRET',
    risk: 'high',
    why: 'the content of a Secret changed',
    applies: ({ id, path }) => isSecret(id) && !isMetadata(path),
  },
  {
    code: 'AVAIL-PDB',
    risk: 'high',
    why: 'a disruption budget is gone or changed',
    applies: ({ id, path }) => id.kind === 'PodDisruptionBudget' && !isMetadata(path),
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
    why: 'how the workload is reached changed',
    applies: ({ id, path }) =>
      (['Service', 'Ingress', 'Gateway', 'HTTPRoute', 'EndpointSlice'].includes(id.kind) || /Route$/.test(id.kind)) && !isMetadata(path),
  },
  {
    code: 'APP-IMAGE',
    risk: 'high',
    why: 'what runs changed: image, command, arguments or a whole container',
    applies: ({ id }, path) => WORKLOAD_KINDS.has(id.kind) && /ontainers\[[^\]]*\](\.(image|command|args)(\[.*)?)?$/.test(path),
  },
  {
    code: 'APP-ENV',
    risk: 'medium',
    why: 'the environment of a container changed',
    applies: (_subject, path) => /ontainers\[[^\]]*\]\.env(From)?\b/.test(path),
  },
  {
    code: 'AVAIL-REPLICAS',
    risk: 'medium',
    why: 'the replica count changed',
    applies: (_subject, path) => /^spec\.(replicas|minReplicas|maxReplicas)$/.test(path),
  },
  { code: 'APP-RESOURCES', risk: 'medium', why: 'requests or limits changed', applies: (_subject, path) => /\.resources\b/.test(path) },
  {
    code: 'APP-CONFIG',
    risk: 'medium',
    why: 'configuration data changed',
    applies: ({ id, path }) => id.kind === 'ConfigMap' && !isMetadata(path),
  },
  { code: 'META', risk: 'low', why: 'a label or an annotation changed', applies: ({ path }) => isMetadata(path) },
  { code: 'SPEC-OTHER', risk: 'medium', why: 'another field of the object changed', applies: () => true },
]

export function assessRisk(subject: RiskSubject): RiskRule {
  const path = formatFieldPath(subject.path)
  const rule = RISK_RULES.find((candidate) => candidate.applies(subject, path))
  if (rule === undefined) throw new TypeError('the risk table has no rule for everything else')
  return rule
}

function isMetadata(path: FieldPath): boolean {
  return path[0]?.kind === 'field' && path[0].name === 'metadata'
}

function hasKey(value: Json | undefined, keys: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => hasKey(item as Json, keys))
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([key, below]) => keys.includes(key) || hasKey(below, keys))
}

/** `nginx:1` and `library/nginx` are of Docker Hub, as the reference grammar of distribution/reference has it. */
function registryOf(image: string): string {
  const slash = image.indexOf('/')
  const first = slash === -1 ? '' : image.slice(0, slash)
  return first.includes('.') || first.includes(':') || first === 'localhost' ? first : 'docker.io'
}
