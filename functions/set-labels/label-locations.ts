/** kptdev/krm-functions-catalog `functions/go/set-labels/setlabels/transformer.go` */
import type { SdkKind } from '@backporch/kpt/field'

export interface LabelLocation {
  /** Undefined: every object. */
  readonly kinds?: readonly (Partial<SdkKind> & { readonly kind: string })[]
  /** Must exist for any change; `*` is each item of a list. */
  readonly holder: readonly string[]
  readonly labels: readonly string[]
  /** If false, only existing labels change. */
  readonly create: boolean
  readonly also?: Pick<LabelLocation, 'labels' | 'create'>
  /** Skips an unusable value silently, with the rest of the object. */
  readonly silent?: true
  /** Whether a value other than a list of maps is an error; otherwise it is skipped. */
  readonly strict?: true
}

const SERVICES = [
  { version: 'v1', kind: 'Service' },
  { version: 'v1', kind: 'ReplicationController' },
]
const STATEFUL_SETS = [{ group: 'apps', kind: 'StatefulSet' }]
const WORKLOADS = [
  { kind: 'Deployment' },
  { kind: 'ReplicaSet' },
  { kind: 'DaemonSet' },
  ...STATEFUL_SETS,
]
const JOBS = [{ group: 'batch', kind: 'Job' }]
const CRON_JOBS = [{ group: 'batch', kind: 'CronJob' }]
const NETWORK_POLICIES = [{ group: 'networking.k8s.io', kind: 'NetworkPolicy' }]
const WITH_PODS = [{ version: 'v1', kind: 'ReplicationController' }, ...WORKLOADS, ...JOBS]

const OWN_LABELS = ['metadata', 'labels']
const TOPOLOGY = {
  holder: ['topologySpreadConstraints', '*'],
  labels: ['labelSelector', 'matchLabels'],
  create: false,
}
const POD_SELECTOR = ['podSelector', 'matchLabels']
const CRON_JOB_PODS = ['spec', 'jobTemplate', 'spec', 'template']

/**
 * In the order of the original, which ignores the rest of an object after a failure. Without
 * affinity, whose terms the original searches one level too high, and without the selector of a
 * StatefulSet claim, which it does not search under `spec`.
 */
export const LABEL_PLACES: readonly LabelLocation[] = [
  { holder: [], labels: OWN_LABELS, create: true },
  { kinds: SERVICES, holder: [], labels: ['spec', 'selector'], create: true },
  { kinds: WORKLOADS, holder: [], labels: ['spec', 'selector', 'matchLabels'], create: true },
  {
    kinds: [...JOBS, { group: 'policy', kind: 'PodDisruptionBudget' }],
    holder: [],
    labels: ['spec', 'selector', 'matchLabels'],
    create: false,
  },
  { kinds: NETWORK_POLICIES, holder: [], labels: ['spec', ...POD_SELECTOR], create: false },
  {
    kinds: WITH_PODS,
    holder: ['spec', 'template'],
    labels: OWN_LABELS,
    create: true,
    silent: true,
  },
  {
    kinds: WITH_PODS,
    ...TOPOLOGY,
    holder: ['spec', 'template', 'spec', ...TOPOLOGY.holder],
    silent: true,
  },
  { kinds: CRON_JOBS, holder: ['spec', 'jobTemplate'], labels: OWN_LABELS, create: true },
  {
    kinds: CRON_JOBS,
    holder: ['spec', 'jobTemplate', 'spec'],
    labels: ['selector', 'matchLabels'],
    create: false,
  },
  { kinds: CRON_JOBS, holder: CRON_JOB_PODS, labels: OWN_LABELS, create: true },
  { kinds: CRON_JOBS, ...TOPOLOGY, holder: [...CRON_JOB_PODS, 'spec', ...TOPOLOGY.holder] },
  {
    kinds: STATEFUL_SETS,
    holder: ['spec', 'volumeClaimTemplates', '*'],
    labels: OWN_LABELS,
    create: true,
    also: { labels: ['selector', 'matchLabels'], create: false },
    strict: true,
  },
  {
    kinds: NETWORK_POLICIES,
    holder: ['spec', 'ingress', '*', 'from', '*'],
    labels: POD_SELECTOR,
    create: false,
  },
  {
    kinds: NETWORK_POLICIES,
    holder: ['spec', 'egress', '*', 'to', '*'],
    labels: POD_SELECTOR,
    create: false,
  },
]
