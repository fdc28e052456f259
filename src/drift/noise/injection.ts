/**
 * What a mutating webhook adds has no owner, so most of it is never a difference
 * (docs/facts/noise-sources.md); these rules are for injectors with a separate request.
 */
import { getTextAt, type Json } from '@backporch/kyaml/json'
import { createWordSet, listWords } from '@backporch/kyaml/text'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
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

/** k8s.io/api admissionregistration/v1; apiextensions/v1; kube-aggregator apiregistration/v1. */
const CA_BUNDLES = new Map([
  [
    'admissionregistration.k8s.io/MutatingWebhookConfiguration',
    /^webhooks\[name=[^\]]+\]\.clientConfig\.caBundle$/,
  ],
  [
    'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
    /^webhooks\[name=[^\]]+\]\.clientConfig\.caBundle$/,
  ],
  [
    'apiextensions.k8s.io/CustomResourceDefinition',
    /^spec\.conversion\.webhook\.clientConfig\.caBundle$/,
  ],
  ['apiregistration.k8s.io/APIService', /^spec\.caBundle$/],
])
/** cert-manager `docs/concepts/ca-injector`; OpenShift service CA operator documentation. */
const INJECTS_CA = listWords(`
  cert-manager.io/inject-ca-from cert-manager.io/inject-ca-from-secret cert-manager.io/inject-apiserver-ca
  certmanager.k8s.io/inject-ca-from certmanager.k8s.io/inject-apiserver-ca service.beta.openshift.io/inject-cabundle
`)
/** Their names do not reveal it. */
const CA_INJECTORS = /^(pilot-discovery|istiod|kube-webhook-certgen|service-ca-operator)$/
/** Charts use a line break for a field that must not be empty. */
const NO_BUNDLE: readonly (Json | undefined)[] = [undefined, null, '', 'Cg==']
const PEM_HEAD = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR'

function judgeBundle(drift: Drift, { desired }: Surroundings): Judgement | undefined {
  if (!isLive(drift) || CA_BUNDLES.get(getGroupKind(drift))?.test(formatDriftPath(drift)) !== true)
    return undefined
  if (typeof drift.live !== 'string' || !drift.live.startsWith(PEM_HEAD))
    return showDrift('it holds no PEM certificate')
  if (isPerson(drift))
    return showDrift(`${describeWriter(drift)} wrote it, which is not an injector`)
  // A writer of the live object can set annotations too.
  const requested = INJECTS_CA.find(
    (key) => getTextAt(desired, 'metadata', 'annotations', key) !== '',
  )
  if (requested !== undefined) return muteDrift(`git asks for it with the annotation ${requested}`)
  if (!NO_BUNDLE.includes(drift.git))
    return showDrift('git has a CA bundle of its own and no annotation that asks for another')
  if (isMachine(drift) || isWrittenBy(drift, CA_INJECTORS))
    return muteDrift(`git leaves it open, and ${describeWriter(drift)} filled it in`)
  return showDrift(`git leaves it open, and ${describeWriter(drift)} is not a known injector`)
}

interface Mesh {
  readonly name: string
  readonly writers: RegExp
  readonly mark: string
  readonly containers: ReadonlySet<string>
  readonly volumes: ReadonlySet<string>
  readonly metadata: RegExp
}

/**
 * istio/istio `manifests/charts/istio-control/istio-discovery/files/injection-template.yaml`;
 * linkerd2 `charts/patch`, `charts/partials`.
 */
const ISTIO: Mesh = {
  name: 'Istio',
  writers: /^(istio-sidecar-injector|istiod|pilot-discovery|istio-.*)$/,
  mark: 'sidecar.istio.io/status',
  containers: new Set(['istio-proxy', 'istio-init', 'istio-validation', 'enable-core-dump']),
  volumes: createWordSet(`
    workload-socket credential-socket workload-certs istio-envoy istio-data istio-podinfo istio-token istiod-ca-cert istio-ca-crl
  `),
  metadata:
    /^(sidecar\.istio\.io\/status|istio\.io\/rev|security\.istio\.io\/tlsMode|service\.istio\.io\/canonical-(name|revision)|prometheus\.io\/(path|port|scrape)|kubectl\.kubernetes\.io\/default-(container|logs-container))$/,
}
const LINKERD: Mesh = {
  name: 'Linkerd',
  writers: /^(linkerd-proxy-injector|linkerd-.*|proxy-injector)$/,
  mark: 'linkerd.io/proxy-version',
  containers: new Set(['linkerd-proxy', 'linkerd-init', 'linkerd-network-validator']),
  volumes: createWordSet(
    'linkerd-identity-end-entity linkerd-identity-token linkerd-proxy-init-xtables-lock linkerd-tap linkerd-config',
  ),
  metadata:
    /^linkerd\.io\/(proxy-version|created-by|trust-root-sha256|control-plane-ns|proxy-deployment|proxy-statefulset|proxy-daemonset|workload-ns|identity-mode)$/,
}
const POD_KINDS = new Set([
  '/Pod',
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'apps/ReplicaSet',
  'batch/Job',
])

function judgeMesh(drift: Drift, surroundings: Surroundings, mesh: Mesh): Judgement | undefined {
  const { live } = surroundings
  if (!isAdded(drift) || !POD_KINDS.has(getGroupKind(drift))) return undefined
  const above = drift.id.kind === 'Pod' ? [] : ['spec', 'template']
  const key =
    findMetadataKey(drift, 'annotations', above) ?? findMetadataKey(drift, 'labels', above)
  const [, list = '', item = ''] =
    /^spec\.(?:template\.spec\.)?(containers|initContainers|volumes)\[name=([^\]]+)\]$/.exec(
      formatDriftPath(drift),
    ) ?? []
  const known =
    key !== undefined
      ? mesh.metadata.test(key)
      : (list === 'volumes' ? mesh.volumes : mesh.containers).has(item)
  if (!known) return undefined
  if (!hasNoOwner(drift, surroundings) && !isWrittenBy(drift, mesh.writers))
    return showDrift(`${describeWriter(drift)} wrote it, and not the injector of ${mesh.name}`)
  if (getTextAt(live, ...above, 'metadata', 'annotations', mesh.mark) === '')
    return showDrift(
      `the annotation ${mesh.mark} is missing, which the injector of ${mesh.name} leaves`,
    )
  return muteDrift(`the injector of ${mesh.name} adds it to the Pod`)
}

/** prometheus-operator `pkg/admission/admission.go`. */
function judgePrometheus(drift: Drift): Judgement | undefined {
  if (!isLive(drift) || getGroupKind(drift) !== 'monitoring.coreos.com/PrometheusRule')
    return undefined
  if (findMetadataKey(drift, 'annotations') !== 'prometheus-operator-validated') return undefined
  if (drift.live !== 'true') return showDrift('the webhook writes true and nothing else')
  if (isPerson(drift)) return showDrift(`${describeWriter(drift)} wrote it, and not the webhook`)
  return muteDrift('the webhook of the Prometheus operator marks the rules that it read')
}

/** How unready Pods may be evicted (k8s.io/api policy/v1), which git leaves to the server. */
function judgeBudget(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  if (
    !isAdded(drift) ||
    getGroupKind(drift) !== 'policy/PodDisruptionBudget' ||
    formatDriftPath(drift) !== 'spec.unhealthyPodEvictionPolicy'
  )
    return undefined
  if (drift.live !== 'IfHealthyBudget' && drift.live !== 'AlwaysAllow')
    return showDrift('it does not hold a policy of the API')
  const webhook =
    hasNoOwner(drift, surroundings) ||
    (drift.actor.class === 'webhook' && drift.actor.confidence === 'field-manager')
  return webhook
    ? muteDrift('a webhook fills in the eviction policy that git leaves open')
    : showDrift(`${describeWriter(drift)} wrote it, which is not a webhook`)
}

export const INJECTION_RULES: readonly NoiseRule[] = [
  {
    name: 'ca-bundle',
    reason:
      'An injector writes the CA bundle of a webhook, a conversion webhook or an aggregated API.',
    mutes:
      'caBundle with a certificate, if git requests it by annotation, or omits it and an injector wrote it; a bundle that a person wrote is shown.',
    link: 'https://cert-manager.io/docs/concepts/ca-injector/',
    judge: judgeBundle,
  },
  {
    name: 'istio',
    reason: 'The injector of Istio adds its sidecar to Pods.',
    mutes:
      'containers, volumes and metadata of the sidecar that the injector added and marked; what anybody else adds is shown.',
    link: 'https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/',
    judge: (drift, surroundings) => judgeMesh(drift, surroundings, ISTIO),
  },
  {
    name: 'linkerd',
    reason: 'The injector of Linkerd adds its proxy to Pods.',
    mutes:
      'containers, volumes and metadata of the proxy that the injector added and marked; what anybody else adds is shown.',
    link: 'https://linkerd.io/2/features/proxy-injection/',
    judge: (drift, surroundings) => judgeMesh(drift, surroundings, LINKERD),
  },
  {
    name: 'prometheus-operator',
    reason: 'The webhook of the Prometheus operator marks the rules that it read.',
    mutes:
      'the annotation prometheus-operator-validated: "true" of a PrometheusRule; the rules themselves are shown.',
    link: 'https://prometheus-operator.dev/docs/platform/webhook/',
    judge: judgePrometheus,
  },
  {
    name: 'disruption-budget-webhooks',
    reason: 'Webhooks fill in the eviction policy of a PodDisruptionBudget that git omits.',
    mutes:
      'spec.unhealthyPodEvictionPolicy that a webhook added; the budget itself, and what a person sets, is shown.',
    link: 'https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy',
    judge: judgeBudget,
  },
]
