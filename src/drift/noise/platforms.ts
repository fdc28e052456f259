/**
 * Sources: openshift/cluster-policy-controller `pkg/security/controller`, `pkg/psalabelsyncer`;
 * openshift/openshift-controller-manager `pkg/internalregistry`; rancher/rancher `pkg/controllers`,
 * `pkg/wrangler`; rancher/norman `lifecycle`.
 */
import { getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  findFinalizer,
  findMetadataKey,
  getGroupKind,
  hasLeadingNames,
  isAdded,
  isLive,
  isMachine,
  isWrittenBy,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

interface PlatformMark {
  readonly kind: RegExp
  readonly labels?: RegExp
  readonly annotations?: RegExp
  readonly finalizers?: RegExp
  readonly writers: RegExp
}

const OPENSHIFT: readonly PlatformMark[] = [
  {
    kind: /^\/Namespace$/,
    annotations: /^openshift\.io\/sa\.scc\.(mcs|supplemental-groups|uid-range)$/,
    writers: /^cluster-policy-controller$/,
  },
  {
    kind: /^\/Namespace$/,
    // `enforce` decides what a pod may do; it is shown.
    labels: /^pod-security\.kubernetes\.io\/(audit|warn)(-version)?$/,
    annotations: /^security\.openshift\.io\/MinimallySufficientPodSecurityStandard$/,
    writers: /^pod-security-admission-label-synchronization-controller$/,
  },
  {
    kind: /^\/ServiceAccount$/,
    annotations: /^openshift\.io\/internal-registry-pull-secret-ref$/,
    writers:
      /^(openshift-controller-manager|openshift\.io\/image-registry-pull-secrets_service-account-controller)$/,
  },
]

const RANCHER: readonly PlatformMark[] = [
  {
    kind: /./,
    labels: /^field\.cattle\.io\/projectId$/,
    annotations:
      /^(cattle\.io\/status|field\.cattle\.io\/(creatorId|projectId|publicEndpoints|resourceQuota|no-creator-rbac)|lifecycle\.cattle\.io\/create\..+|management\.cattle\.io\/(no-default-sa-token|system-namespace))$/,
    finalizers: /^controller\.cattle\.io\//,
    writers: /^(rancher|agent)$/,
  },
]

function judgeMark(
  marks: readonly PlatformMark[],
  platform: string,
  drift: Drift,
): Judgement | undefined {
  if (!isLive(drift)) return undefined
  const [label, annotation, finalizer] = [
    findMetadataKey(drift, 'labels'),
    findMetadataKey(drift, 'annotations'),
    findFinalizer(drift),
  ]
  const own = marks.find(
    ({ kind, labels, annotations, finalizers }) =>
      kind.test(getGroupKind(drift)) &&
      ((label !== undefined && labels?.test(label) === true) ||
        (annotation !== undefined && annotations?.test(annotation) === true) ||
        (finalizer !== undefined && finalizers?.test(finalizer) === true)),
  )
  if (own === undefined) return undefined
  if (!isAdded(drift)) return showDrift('git sets it')
  return isWrittenBy(drift, own.writers)
    ? muteDrift(`${platform} (${describeWriter(drift)}) writes it by itself`)
    : showDrift(`${describeWriter(drift)} wrote it, and not ${platform}`)
}

const FILLED = new Set(['/Secret', '/ConfigMap'])
const CONTENT = ['data', 'stringData', 'binaryData'] as const

function judgeFilled(
  drift: Drift,
  { desired, withoutOwners }: Surroundings,
): Judgement | undefined {
  if (
    !isLive(drift) ||
    !FILLED.has(getGroupKind(drift)) ||
    drift.path.length !== 2 ||
    !CONTENT.some((name) => hasLeadingNames(drift.path, [name]))
  )
    return undefined
  if (drift.git !== '' && !isDeclaredEmpty(desired)) return undefined
  // It may be a controller or a person (docs/facts/objects-without-managers.md).
  if (withoutOwners && !isMachine(drift))
    return {
      mutes: false,
      because:
        'git declares it empty, and the object does not show who fills it: Release leaves it to them',
      note: true,
      releases: true,
    }
  return isMachine(drift)
    ? muteDrift(`git declares it empty, and ${describeWriter(drift)} fills it`)
    : showDrift(
        `git declares it empty, and ${describeWriter(drift)}, which is not a known controller, filled it`,
      )
}

function isDeclaredEmpty(desired: JsonObject): boolean {
  if (getKey(desired, 'kind') === undefined) return false
  return CONTENT.every((name) => {
    const content = getKey(desired, name)
    return (
      content === undefined ||
      content === null ||
      (isJsonObject(content) && Object.keys(content).length === 0)
    )
  })
}

export const PLATFORM_RULES: readonly NoiseRule[] = [
  {
    name: 'openshift',
    reason:
      'OpenShift writes ranges of users, levels of Pod Security and pull secrets into namespaces and accounts.',
    mutes:
      'the annotations openshift.io/sa.scc.* and the labels of Pod Security that audit and warn, by the controllers of OpenShift; the label that enforces, and what a person writes, is shown.',
    link: 'https://docs.openshift.com/container-platform/latest/authentication/understanding-and-managing-pod-security-admission.html',
    judge: (drift) => judgeMark(OPENSHIFT, 'OpenShift', drift),
  },
  {
    name: 'rancher',
    reason:
      'Rancher keeps the project of a namespace and the state of its own controllers in metadata.',
    mutes:
      'labels, annotations and finalizers of cattle.io that Rancher or its agent wrote; the same from another writer, and everything else, is shown.',
    link: 'https://ranchermanager.docs.rancher.com/how-to-guides/new-user-guides/manage-namespaces',
    judge: (drift) => judgeMark(RANCHER, 'Rancher', drift),
  },
  {
    name: 'placeholder-data',
    reason:
      'Git declares an empty Secret or ConfigMap, or an empty value, that a controller fills.',
    mutes:
      'entries that a controller or a webhook wrote where git declares none or an empty one; entries of a person are shown. Where the object does not show who wrote them, they are shown, and planned as Release.',
    link: 'https://kubernetes.io/docs/concepts/configuration/secret/',
    judge: judgeFilled,
  },
]
