/**
 * They differ if another writer created the object and owns them (docs/facts/noise-sources.md). Any
 * writer is accepted, because the value is the default. Source: kubernetes/kubernetes
 * `pkg/apis/{core,apps,batch,admissionregistration,storage}/v1/defaults.go`.
 */
import {
  createFieldStep,
  type FieldPath,
  findPodPath,
  findValueAt,
  formatFieldPath,
} from '@backporch/kyaml/field'
import {
  emptyObject,
  getPartAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '@backporch/kyaml/json'
import type { Drift } from '../compare/drift.ts'
import {
  isAdded,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

/** Without `spec.replicas`, because anybody may set a count. */
type Defaults = readonly (readonly [path: RegExp, value: Json])[]

const POD: Defaults = [
  [/^dnsPolicy$/, 'ClusterFirst'],
  [/^restartPolicy$/, 'Always'],
  [/^schedulerName$/, 'default-scheduler'],
  [/^terminationGracePeriodSeconds$/, 30],
  [/^securityContext$/, {}],
  [/ontainers\[[^\]]+\]\.terminationMessagePath$/, '/dev/termination-log'],
  [/ontainers\[[^\]]+\]\.terminationMessagePolicy$/, 'File'],
  [/ontainers\[[^\]]+\]\.resources$/, {}],
  [/ontainers\[[^\]]+\]\.ports\[[^\]]+\]\.protocol$/, 'TCP'],
  [/ontainers\[[^\]]+\]\.env\[[^\]]+\]\.valueFrom\.fieldRef\.apiVersion$/, 'v1'],
  [/ontainers\[[^\]]+\]\.(liveness|readiness|startup)Probe\.timeoutSeconds$/, 1],
  [/ontainers\[[^\]]+\]\.(liveness|readiness|startup)Probe\.periodSeconds$/, 10],
  [/ontainers\[[^\]]+\]\.(liveness|readiness|startup)Probe\.successThreshold$/, 1],
  [/ontainers\[[^\]]+\]\.(liveness|readiness|startup)Probe\.failureThreshold$/, 3],
  [/ontainers\[[^\]]+\]\.[a-z]+Probe\.httpGet\.scheme$/, 'HTTP'],
  [/^volumes\[[^\]]+\]\.(configMap|secret|projected|downwardAPI)\.defaultMode$/, 420],
  [/^volumes\[[^\]]+\]\.hostPath\.type$/, ''],
]

const WEBHOOK: Defaults = [
  [/^webhooks\[[^\]]+\]\.failurePolicy$/, 'Fail'],
  [/^webhooks\[[^\]]+\]\.matchPolicy$/, 'Equivalent'],
  [/^webhooks\[[^\]]+\]\.(namespace|object)Selector$/, {}],
  [/^webhooks\[[^\]]+\]\.timeoutSeconds$/, 10],
  [/^webhooks\[[^\]]+\]\.reinvocationPolicy$/, 'Never'],
  [/^webhooks\[[^\]]+\]\.clientConfig\.service\.port$/, 443],
]

const DEFAULTS: Readonly<Record<string, Defaults>> = {
  'apps/Deployment': [
    // Flux sends objects through their Go types.
    [
      /^spec\.strategy$/,
      { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    ],
    [/^spec\.strategy\.type$/, 'RollingUpdate'],
    [/^spec\.strategy\.rollingUpdate\.(maxSurge|maxUnavailable)$/, '25%'],
    [/^spec\.revisionHistoryLimit$/, 10],
    [/^spec\.progressDeadlineSeconds$/, 600],
  ],
  'apps/StatefulSet': [
    [/^spec\.podManagementPolicy$/, 'OrderedReady'],
    [/^spec\.updateStrategy$/, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
    [/^spec\.updateStrategy\.type$/, 'RollingUpdate'],
    [/^spec\.updateStrategy\.rollingUpdate\.partition$/, 0],
    [/^spec\.revisionHistoryLimit$/, 10],
    [/^spec\.persistentVolumeClaimRetentionPolicy\.(whenDeleted|whenScaled)$/, 'Retain'],
  ],
  'apps/DaemonSet': [
    [
      /^spec\.updateStrategy$/,
      { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    ],
    [/^spec\.updateStrategy\.type$/, 'RollingUpdate'],
    [/^spec\.updateStrategy\.rollingUpdate\.maxSurge$/, 0],
    [/^spec\.updateStrategy\.rollingUpdate\.maxUnavailable$/, 1],
    [/^spec\.revisionHistoryLimit$/, 10],
  ],
  'batch/Job': [
    [/^spec\.backoffLimit$/, 6],
    [/^spec\.completionMode$/, 'NonIndexed'],
    [/^spec\.(completions|parallelism)$/, 1],
    [/^spec\.(suspend|manualSelector)$/, false],
    [/^spec\.podReplacementPolicy$/, 'TerminatingOrFailed'],
  ],
  'batch/CronJob': [
    [/^spec\.concurrencyPolicy$/, 'Allow'],
    [/^spec\.suspend$/, false],
    [/^spec\.successfulJobsHistoryLimit$/, 3],
    [/^spec\.failedJobsHistoryLimit$/, 1],
  ],
  '/Service': [
    [/^spec\.type$/, 'ClusterIP'],
    [/^spec\.sessionAffinity$/, 'None'],
    [/^spec\.(internal|external)TrafficPolicy$/, 'Cluster'],
    [/^spec\.allocateLoadBalancerNodePorts$/, true],
    [/^spec\.ports\[[^\]]+\]\.protocol$/, 'TCP'],
  ],
  '/Secret': [[/^type$/, 'Opaque']],
  '/PersistentVolumeClaim': [[/^spec\.volumeMode$/, 'Filesystem']],
  '/PersistentVolume': [
    [/^spec\.volumeMode$/, 'Filesystem'],
    [/^spec\.persistentVolumeReclaimPolicy$/, 'Retain'],
  ],
  'storage.k8s.io/StorageClass': [
    [/^reclaimPolicy$/, 'Delete'],
    [/^volumeBindingMode$/, 'Immediate'],
  ],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': WEBHOOK,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': WEBHOOK,
  'apiextensions.k8s.io/CustomResourceDefinition': [[/^spec\.conversion\.strategy$/, 'None']],
}

export function isServerDefault(drift: Drift, live: Surroundings['live']): boolean {
  return (
    isAdded(drift) &&
    drift.live !== undefined &&
    isJsonEqual(drift.live, findDefault(drift, findParent(live, drift.path)) ?? null)
  )
}

export function omitServerDefaults({ id, path }: Place, value: Json): Json {
  if (isJsonArray(value))
    return value.map((item, index) =>
      omitServerDefaults({ id, path: [...path, { kind: 'index', index }] }, item),
    )
  if (!isJsonObject(value)) return value
  const retained = emptyObject()
  for (const [key, below] of Object.entries(value)) {
    const place = { id, path: [...path, createFieldStep(key)] }
    if (!isJsonEqual(below, findDefault(place, value) ?? null))
      setKey(retained, key, omitServerDefaults(place, below))
  }
  return retained
}

function judgeDefault(drift: Drift, { live }: Surroundings): Judgement | undefined {
  if (!isAdded(drift) || drift.live === undefined) return undefined
  const value = findDefault(drift, findParent(live, drift.path))
  if (value === undefined) return undefined
  if (isJsonEqual(drift.live, value))
    return muteDrift('it holds what the server puts there when git leaves it out')
  return showDrift(
    `the server's default is ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
}

type Place = Pick<Drift, 'id' | 'path'>

function findParent(live: JsonObject, path: FieldPath): Json | undefined {
  return findValueAt(live, path.slice(0, -1))
}

function findDefault({ id, path: steps }: Place, parent: Json | undefined): Json | undefined {
  const [kind, path] = [`${id.group}/${id.kind}`, formatFieldPath(steps)]
  const own = DEFAULTS[kind]?.find(([location]) => location.test(path))
  if (own !== undefined) return own[1]
  const last = steps.at(-1)
  if (kind === '/Service' && /^spec\.ports\[[^\]]+\]\.targetPort$/.test(path))
    return getPartAt(parent, 'port')
  const above = findPodPath(id)
  const pod = above === undefined ? undefined : `${formatFieldPath(above)}.`
  if (pod === undefined || !path.startsWith(pod)) return undefined
  if (last?.kind === 'field' && last.name === 'imagePullPolicy')
    return derivePullPolicy(getPartAt(parent, 'image'))
  return POD.find(([position]) => position.test(path.slice(pod.length)))?.[1]
}

function derivePullPolicy(image: Json | undefined): string | undefined {
  if (typeof image !== 'string') return undefined
  if (image.includes('@')) return 'IfNotPresent'
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

export const DEFAULTED_RULES: readonly NoiseRule[] = [
  {
    name: 'defaulted-fields',
    reason: 'The creator of an object owns the defaults that the server adds to it.',
    mutes: 'fields that git omits and that have the server default; any other value is shown.',
    link: 'https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management',
    judge: judgeDefault,
  },
]
