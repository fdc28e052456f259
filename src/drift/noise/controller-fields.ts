/**
 * A controller reports state, or requests another controller's reconciliation, outside `status`.
 */
import { parseQuantity } from '@backporch/kyaml/field'
import { getTextAt, type Json } from '@backporch/kyaml/json'
import { SYNCERS } from '../../syncers/registry.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  findMetadataKey,
  formatDriftPath,
  getGroupKind,
  isAdded,
  isLive,
  isMachine,
  isPerson,
  isWrittenBy,
  type Judgement,
  type Managers,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

interface StatusLike {
  readonly kind: RegExp
  readonly annotations?: RegExp
  readonly path?: RegExp
  readonly writers: Managers
  readonly says: string
}

/**
 * k8s.io/kubernetes `pkg/apis/autoscaling/annotations.go`; k8s.io/api core/v1
 * `annotation_key_constants.go`; ingress-gce `pkg/annotations`; metallb `internal/k8s`;
 * crossplane-runtime `pkg/meta`; cluster-api infrastructure contract.
 */
const STATUS_LIKE: readonly StatusLike[] = [
  {
    kind: /^autoscaling\/HorizontalPodAutoscaler$/,
    annotations: /^autoscaling\.alpha\.kubernetes\.io\/(conditions|current-metrics)$/,
    writers: isControlPlane,
    says: 'the autoscaler reports its observations in it',
  },
  {
    kind: /^(\/Endpoints|discovery\.k8s\.io\/EndpointSlice)$/,
    annotations: /^endpoints\.kubernetes\.io\/(last-change-trigger-time|over-capacity)$/,
    writers: isControlPlane,
    says: 'the control plane says in it when the endpoints changed',
  },
  {
    kind: /^\/Pod$/,
    path: /^spec\.nodeName$/,
    writers: isControlPlane,
    says: 'the scheduler says in it where the Pod runs',
  },
  {
    kind: /^batch\/Job$/,
    annotations: /^batch\.kubernetes\.io\/(job-tracking|cronjob-scheduled-timestamp)$/,
    writers: isControlPlane,
    says: 'the control plane says in it how it tracks the Job',
  },
  {
    kind: /^(\/Service|networking\.k8s\.io\/Ingress)$/,
    annotations:
      /^(cloud\.google\.com\/neg-status|ingress\.kubernetes\.io\/(backends|forwarding-rule|https-forwarding-rule|target-proxy|https-target-proxy|url-map|ssl-cert|static-ip))$/,
    writers: /^(glbc|neg-controller|ingress-gce.*|gke-.*)$/,
    says: 'the load balancer of the cloud records its resources in it',
  },
  {
    kind: /^\/Service$/,
    annotations: /^metallb\.(universe\.tf|io)\/ip-allocated-from-pool$/,
    writers: /^(controller|metallb.*)$/,
    says: 'MetalLB says in it which pool the address is from',
  },
  {
    kind: /./,
    annotations: /^crossplane\.io\/external-(name|create-pending|create-succeeded|create-failed)$/,
    writers: /^(crossplane.*|provider.*|apiextensions\.crossplane\.io\/.*)$/,
    says: 'Crossplane records its resources outside of the cluster in it',
  },
  {
    kind: /^(infrastructure\.|controlplane\.)?cluster\.x-k8s\.io\//,
    path: /^spec\.(controlPlaneEndpoint\.(host|port)|providerID)$/,
    writers: /^(manager|cap[a-z]+-.*)$/,
    says: 'Cluster API records its resources in it',
  },
]

/** They change nothing that runs. */
function isRequest(key: string, kind: string): boolean {
  return SYNCERS.some(
    ({ requests }) =>
      requests !== 'none' && requests.annotations.test(key) && requests.kinds.test(kind),
  )
}

function judgeStatusLike(drift: Drift): Judgement | undefined {
  if (!isLive(drift)) return undefined
  const key = findMetadataKey(drift, 'annotations')
  if (key !== undefined && isRequest(key, getGroupKind(drift)))
    return muteDrift('it asks the controller to reconcile again and changes nothing that runs')
  const known = STATUS_LIKE.find(
    ({ kind, annotations, path }) =>
      kind.test(getGroupKind(drift)) &&
      (key === undefined
        ? path?.test(formatDriftPath(drift)) === true
        : annotations?.test(key) === true),
  )
  if (known === undefined) return undefined
  if (drift.git !== undefined) return showDrift('git sets it')
  return isWrittenBy(drift, known.writers) || isMachine(drift)
    ? muteDrift(known.says)
    : showDrift(`${describeWriter(drift)} wrote it, and not the controller`)
}

/** topolvm/pvc-autoresizer `constants.go` and `internal/runners/pvc_autoresizer.go`. */
const RESIZE_LIMIT = 'resize.topolvm.io/storage_limit'

function judgeExpansion(drift: Drift, { desired }: Surroundings): Judgement | undefined {
  if (
    !isLive(drift) ||
    getGroupKind(drift) !== '/PersistentVolumeClaim' ||
    formatDriftPath(drift) !== 'spec.resources.requests.storage'
  )
    return undefined
  const [git, live, limit] = [
    drift.git,
    drift.live,
    getTextAt(desired, 'metadata', 'annotations', RESIZE_LIMIT) as Json,
  ].map(parseQuantity)
  if (live === undefined || git === undefined || live <= git || isAdded(drift))
    return showDrift('the claim did not grow')
  const note = { mutes: false, note: true } as const
  if (!isWrittenBy(drift, /^pvc-autoresizer(-.*)?$/) || isPerson(drift))
    return {
      ...note,
      because: `${describeWriter(drift)} made the claim larger; it cannot shrink again, so only git can follow`,
    }
  if (limit === undefined)
    return { ...note, because: `git sets no limit for the autoresizer (${RESIZE_LIMIT})` }
  if (live > limit)
    return {
      ...note,
      because: `the claim is larger than the limit that git sets (${RESIZE_LIMIT})`,
    }
  return muteDrift('the autoresizer made the claim larger, inside of the limit that git sets')
}

export const CONTROLLER_FIELD_RULES: readonly NoiseRule[] = [
  {
    name: 'volume-expansion',
    reason: 'An autoresizer makes a claim larger as it fills up.',
    mutes:
      'a larger storage request that the autoresizer wrote, up to the limit in git; a claim that a person made larger is shown.',
    link: 'https://github.com/topolvm/pvc-autoresizer',
    judge: judgeExpansion,
  },
  {
    name: 'status-like-fields',
    reason:
      'Some controllers report state outside of status, or receive requests to reconcile there.',
    mutes:
      'the conditions of an autoscaler, endpoints, the node of a Pod, fields of load balancers, Crossplane and Cluster API, and requests to reconcile; other writes of a person are shown.',
    link: 'https://kubernetes.io/docs/reference/labels-annotations-taints/',
    judge: judgeStatusLike,
  },
]
