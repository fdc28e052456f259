/**
 * Each write is known by kind, path and value: an edit under the controller manager's name is
 * shown. Sources: kubernetes/kubernetes `pkg/controller`, `pkg/registry`, `plugin/pkg/admission`;
 * for comparison carvel-dev/kapp `pkg/kapp/config/default.go`.
 */
import {
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
} from '@backporch/kyaml/json'
import { SYNCERS } from '../../syncers/registry.ts'
import { isControlPlane } from '../attribute/actor-classes.ts'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  findFinalizer,
  findMetadataKey,
  formatDriftPath,
  getGroupKind,
  hasNoOwner,
  isAdded,
  isLive,
  isMachine,
  isPerson,
  isWrittenBy,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'
import { isWrittenBySyncer } from './syncer-metadata.ts'

const isFromControlPlane = (drift: Drift): boolean => isWrittenBy(drift, isControlPlane)

/** The API server writes without an owner. */
function judgeServerChange(drift: Drift, why: string, surroundings: Surroundings): Judgement {
  return isFromControlPlane(drift) || hasNoOwner(drift, surroundings)
    ? muteDrift(why)
    : showDrift(`${describeWriter(drift)} wrote it, and not the control plane`)
}

const TOKEN_METADATA =
  /^kubernetes\.io\/(service-account\.uid|legacy-token-last-used|legacy-token-invalid-since)$/

function judgeServiceAccount(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const { desired, live } = surroundings
  if (!isAdded(drift)) return undefined
  if (getGroupKind(drift) === '/ServiceAccount') {
    const [, list, secret] =
      /^(secrets|imagePullSecrets)(?:\[name=([^\]]+)\])?$/.exec(formatDriftPath(drift)) ?? []
    if (list === undefined) return undefined
    const names = secret === undefined ? listNames(drift.live) : [secret]
    const own = names.every((name) =>
      new RegExp(`^${escapeText(drift.id.name)}-(token|dockercfg)-[a-z0-9]{5}$`).test(name),
    )
    if (!own || names.length === 0)
      return showDrift('the control plane does not generate its name for this account')
    return judgeServerChange(
      drift,
      'the control plane adds the credentials that it made for the account',
      surroundings,
    )
  }
  // For a Secret read as metadata only, git has the immutable type.
  const type = getTextAt(live, 'type') || getTextAt(desired, 'type')
  if (getGroupKind(drift) !== '/Secret' || type !== 'kubernetes.io/service-account-token')
    return undefined
  const key = findMetadataKey(drift, 'labels') ?? findMetadataKey(drift, 'annotations')
  const created =
    key === undefined
      ? /^data(\.(token|namespace)|\["ca\.crt"\])$/.test(formatDriftPath(drift))
      : TOKEN_METADATA.test(key)
  return created
    ? judgeServerChange(drift, 'the control plane fills in the token of the account', surroundings)
    : undefined
}

function listNames(value: Json | undefined): readonly string[] {
  const items = isJsonArray(value) ? value : []
  return items.map((item) => getTextAt(item, 'name'))
}

function escapeText(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '\\$&')
}

/** `pkg/controller/clusterroleaggregation`, formerly as the controller manager. */
const AGGREGATOR = /^(clusterrole-aggregation-controller|kube-controller-manager)$/

function judgeAggregation(drift: Drift, { desired }: Surroundings): Judgement | undefined {
  if (
    !isLive(drift) ||
    getGroupKind(drift) !== 'rbac.authorization.k8s.io/ClusterRole' ||
    !/^rules\b/.test(formatDriftPath(drift))
  )
    return undefined
  const selectors = getPartAt(desired, 'aggregationRule', 'clusterRoleSelectors')
  if (!isJsonArray(selectors) || selectors.length === 0)
    return showDrift('git declares no aggregationRule for this role')
  return isWrittenBy(drift, AGGREGATOR)
    ? muteDrift('the control plane collects the rules that the aggregationRule selects')
    : showDrift(
        `${describeWriter(drift)} wrote the rules, and not the controller that collects them`,
      )
}

const REVISIONS = new Map([
  ['apps/Deployment', /^deployment\.kubernetes\.io\/revision$/],
  [
    'apps/ReplicaSet',
    /^deployment\.kubernetes\.io\/(revision|revision-history|desired-replicas|max-replicas)$/,
  ],
  ['apps/DaemonSet', /^deprecated\.daemonset\.template\.generation$/],
])

function judgeRevision(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const key = findMetadataKey(drift, 'annotations')
  if (!isLive(drift) || key === undefined || REVISIONS.get(getGroupKind(drift))?.test(key) !== true)
    return undefined
  if (typeof drift.live !== 'string' || !/^[0-9,]+$/.test(drift.live))
    return showDrift('it holds no number')
  // Under the creator's name; what people send is dropped (kubernetes pkg/registry/apps/daemonset).
  if (getGroupKind(drift) === 'apps/DaemonSet')
    return muteDrift('the API server counts changes of the template in it')
  return judgeServerChange(drift, 'the control plane counts rollouts in it', surroundings)
}

const TEMPLATES = new Map([
  ['apps/Deployment', ['spec', 'template']],
  ['apps/StatefulSet', ['spec', 'template']],
  ['apps/DaemonSet', ['spec', 'template']],
  ['argoproj.io/Rollout', ['spec', 'template']],
])
/** kubectl `pkg/polymorphichelpers/objectrestarter.go`; Rancher's redeploy. */
const RESTARTS = new Set(['kubectl.kubernetes.io/restartedAt', 'cattle.io/timestamp'])

function judgeRestart(drift: Drift): Judgement | undefined {
  const template = TEMPLATES.get(getGroupKind(drift))
  if (
    !isLive(drift) ||
    template === undefined ||
    !RESTARTS.has(findMetadataKey(drift, 'annotations', template) ?? '')
  )
    return undefined
  const at = getTime(drift.live)
  if (at === undefined) return showDrift('it holds no time')
  const before = getTime(drift.git)
  if (drift.git !== undefined && (before === undefined || before > at))
    return showDrift('git has a later restart than live')
  return muteDrift('it asks for a restart and changes nothing that runs')
}

function getTime(value: Json | undefined): number | undefined {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})$/.test(value)
  )
    return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

/**
 * `pkg/registry/core/service/storage/alloc.go`; `service.kubernetes.io/load-balancer-cleanup`:
 * cloud-provider `service/helpers`.
 */
const ALLOCATED =
  /^spec\.(clusterIP|clusterIPs|ipFamilies|ipFamilyPolicy|healthCheckNodePort|ports\[[^\]]+\]\.nodePort)(\[.*)?$/

function judgeService(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  if (!isLive(drift) || getGroupKind(drift) !== '/Service') return undefined
  if (findFinalizer(drift) === 'service.kubernetes.io/load-balancer-cleanup')
    return judgeServerChange(
      drift,
      'a cloud controller guards the load balancer that it made',
      surroundings,
    )
  if (!ALLOCATED.test(formatDriftPath(drift))) return undefined
  if (drift.git !== undefined) return showDrift('git sets it')
  return judgeServerChange(drift, 'the API server allocates what git leaves out', surroundings)
}

/**
 * `pkg/apis/core/v1/defaults.go` SetDefaults_Namespace; `pkg/registry/core/namespace/strategy.go`.
 */
function judgeNamespace(drift: Drift): Judgement | undefined {
  if (!isLive(drift) || getGroupKind(drift) !== '/Namespace') return undefined
  const label = findMetadataKey(drift, 'labels')
  // Set on every write, so the creator owns it.
  if (label === 'kubernetes.io/metadata.name')
    return drift.live === drift.id.name
      ? muteDrift('the API server labels each namespace with its name')
      : showDrift('it is not the name of the namespace')
  if (label === 'name' && drift.live === drift.id.name && isWrittenBy(drift, /^(helm|Helm)$/))
    return muteDrift('Helm labels a namespace that it creates')
  if (!/^spec\.finalizers\b/.test(formatDriftPath(drift))) return undefined
  const finalizers = isJsonArray(drift.live) ? drift.live : [drift.live]
  return finalizers.length === 1 && finalizers[0] === 'kubernetes'
    ? muteDrift('the API server guards the content of each namespace with it')
    : showDrift('it is not the finalizer that the API server sets')
}

const BINDING: Readonly<
  Record<string, { readonly fields: RegExp; readonly keys: RegExp; readonly guard: string }>
> = {
  '/PersistentVolumeClaim': {
    fields: /^spec\.(volumeName|storageClassName|volumeMode)$/,
    keys: /^(pv\.kubernetes\.io\/(bind-completed|bound-by-controller)|volume(\.beta)?\.kubernetes\.io\/(storage-provisioner|storage-resizer|selected-node))$/,
    guard: 'kubernetes.io/pvc-protection',
  },
  '/PersistentVolume': {
    fields: /^spec\.claimRef\b/,
    keys: /^(pv\.kubernetes\.io\/(bound-by-controller|provisioned-by|migrated-to)|volume\.kubernetes\.io\/provisioner-deletion-secret-(name|namespace))$/,
    guard: 'kubernetes.io/pv-protection',
  },
}

/**
 * `pkg/controller/volume/persistentvolume`; component-helpers `storage/volume/helpers.go`; storage
 * provisioners.
 */
function judgeBinding(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const known = BINDING[getGroupKind(drift)]
  if (!isAdded(drift) || known === undefined) return undefined
  if (findFinalizer(drift) === known.guard)
    return judgeServerChange(
      drift,
      'the control plane guards volumes that are in use',
      surroundings,
    )
  const key = findMetadataKey(drift, 'annotations')
  if (key !== undefined ? !known.keys.test(key) : !known.fields.test(formatDriftPath(drift)))
    return undefined
  if (isMachine(drift)) return muteDrift(`${describeWriter(drift)} binds the claim and the volume`)
  return judgeServerChange(drift, 'the control plane binds the claim and the volume', surroundings)
}

/** `foregroundDeletion` and `orphan` are the API server's (apimachinery `meta/v1`). */
const QUALIFIED =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?(\/[A-Za-z0-9][-A-Za-z0-9_.]*)?$/

function isOfItsSyncer(drift: Drift): boolean {
  return SYNCERS.some(
    (one) =>
      one.requests !== 'none' &&
      one.requests.kinds.test(getGroupKind(drift)) &&
      isWrittenBySyncer(one, drift),
  )
}

function judgeFinalizer(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const finalizer = findFinalizer(drift)
  if (!isAdded(drift) || finalizer === undefined) return undefined
  if (finalizer === 'foregroundDeletion' || finalizer === 'orphan')
    return judgeServerChange(drift, 'the API server is deleting the object', surroundings)
  if (!QUALIFIED.test(finalizer))
    return showDrift('its name has no domain, as the finalizers of controllers have')
  if (isPerson(drift) || !(isMachine(drift) || isOfItsSyncer(drift)))
    return showDrift(`${describeWriter(drift)} wrote it, which is not a known controller`)
  return muteDrift(`${describeWriter(drift)} asks to clean up before the object is deleted`)
}

const HOLDER = [
  'holderIdentity',
  'leaseDurationSeconds',
  'acquireTime',
  'renewTime',
  'leaderTransitions',
]

/** client-go `tools/leaderelection/resourcelock`. */
function judgeLeader(drift: Drift): Judgement | undefined {
  if (!isLive(drift)) return undefined
  if (getGroupKind(drift) === 'coordination.k8s.io/Lease') {
    if (
      !/^spec\.(holderIdentity|leaseDurationSeconds|acquireTime|renewTime|leaseTransitions|strategy|preferredHolder)$/.test(
        formatDriftPath(drift),
      )
    )
      return undefined
  } else {
    const lock = getGroupKind(drift) === '/ConfigMap' || getGroupKind(drift) === '/Endpoints'
    if (
      !lock ||
      findMetadataKey(drift, 'annotations') !== 'control-plane.alpha.kubernetes.io/leader'
    )
      return undefined
    if (!isElection(drift.live)) return showDrift('it holds no record of an election')
  }
  return isPerson(drift)
    ? showDrift(`${describeWriter(drift)} wrote it, which takes part in no election`)
    : muteDrift('the leader writes its own name into it')
}

function isElection(value: Json | undefined): boolean {
  if (typeof value !== 'string') return false
  try {
    const record: unknown = JSON.parse(value)
    return (
      isJsonObject(record as Json) &&
      HOLDER.some((key) => getKey(record as { [key: string]: Json }, key) !== undefined)
    )
  } catch {
    return false
  }
}

export const CONTROL_PLANE_RULES: readonly NoiseRule[] = [
  {
    name: 'service-account-tokens',
    reason:
      'The control plane adds tokens and pull secrets to accounts, and fills in the Secrets that hold them.',
    mutes:
      'secrets and imagePullSecrets named after the account, and the content of its token Secrets; what a person adds is shown.',
    link: 'https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/',
    judge: judgeServiceAccount,
  },
  {
    name: 'aggregated-cluster-roles',
    reason: 'The control plane writes the rules of a ClusterRole that has an aggregationRule.',
    mutes:
      'rules that the aggregation controller wrote, while git has the aggregationRule; rules that anybody else writes are shown.',
    link: 'https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles',
    judge: judgeAggregation,
  },
  {
    name: 'rollout-restart',
    reason: 'A restart stamps the Pod template with the time.',
    mutes:
      'the time of a restart in the Pod template, regardless of the writer; everything else in the template is shown.',
    link: 'https://kubernetes.io/docs/reference/kubectl/generated/kubectl_rollout/kubectl_rollout_restart/',
    judge: judgeRestart,
  },
  {
    name: 'deployment-revision',
    reason: 'The control plane counts the rollouts of a workload in annotations.',
    mutes:
      'these annotations with numbers that the control plane wrote; other annotations are shown.',
    link: 'https://kubernetes.io/docs/reference/labels-annotations-taints/#deployment-kubernetes-io-revision',
    judge: judgeRevision,
  },
  {
    name: 'service-allocation',
    reason: 'The API server allocates addresses and ports of a Service that git omits.',
    mutes:
      'cluster addresses, address families and node ports that git omits and the server allocated; a node port that a person chose is shown.',
    link: 'https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies',
    judge: judgeService,
  },
  {
    name: 'namespace-defaults',
    reason: 'The API server labels each namespace with its name and sets its finalizer.',
    mutes:
      'the label kubernetes.io/metadata.name with that name, and the finalizer kubernetes; other labels are shown.',
    link: 'https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-metadata-name',
    judge: judgeNamespace,
  },
  {
    name: 'volume-binding',
    reason: 'Controllers bind claims and volumes to each other.',
    mutes:
      'volumeName, the default storage class, claimRef and the annotations of binding that a controller wrote; what a person sets is shown.',
    link: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding',
    judge: judgeBinding,
  },
  {
    name: 'controller-finalizers',
    reason: 'A controller adds a finalizer to clean up before an object is deleted.',
    mutes:
      'finalizers with a domain that a controller added, or a syncer on its own resources; a finalizer that a person added is shown.',
    link: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/',
    judge: judgeFinalizer,
  },
  {
    name: 'leader-election',
    reason: 'The leader of a group of replicas writes its identity to a Lease or an annotation.',
    mutes:
      'the election record, unless a person wrote it; other fields of these objects are shown.',
    link: 'https://kubernetes.io/docs/concepts/architecture/leases/#leader-election',
    judge: judgeLeader,
  },
]
