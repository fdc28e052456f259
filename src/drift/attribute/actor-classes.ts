/**
 * The first match in a policy's `actors`, then in one table. The client chooses the name
 * (docs/guides/who-did-it.md), so it identifies an honest program, never its user.
 */
import { listWords, matchesGlob } from '@backporch/kyaml/text'
import { SYNCERS } from '../../syncers/registry.ts'
import type { ActorClass } from '../compare/drift.ts'

interface Writer {
  readonly manager: string
  readonly operation?: 'Apply' | 'Update' | undefined
  readonly subresource?: string
  readonly user?: string
}

/** All given parts must match; texts may have `*`. */
export interface ActorRule {
  readonly where: string
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  /** Empty: the object itself. */
  readonly subresource?: string
  readonly user?: string
  readonly class: ActorClass
}

interface ClassRow {
  readonly class: ActorClass
  /** With `*`. */
  readonly managers: readonly string[]
  readonly subresource?: string
  readonly what: string
}

/** docs/facts/control-plane-managers.md */
const CONTROL_PLANE: readonly string[] = listWords(`
  kube-controller-manager kube-scheduler kube-apiserver kubelet cloud-controller-manager *-cloud-controller-manager
  openshift-controller-manager k3s
`)

/** Its additions are never drift. */
export function isControlPlane(manager: string): boolean {
  return CONTROL_PLANE.some((glob) => matchesGlob(glob, manager))
}

function listSyncerRows(kind: ActorClass): ClassRow[] {
  return SYNCERS.flatMap(({ managers }) =>
    managers.flatMap((row) =>
      row.class === kind ? [{ class: kind, managers: row.names, what: row.what }] : [],
    ),
  )
}

export const ACTOR_CLASSES: readonly ClassRow[] = [
  ...listSyncerRows('human-tool'),
  {
    class: 'human-tool',
    managers: ['oc', 'oc-*'],
    what: 'the OpenShift client, which is kubectl under another name',
  },
  {
    class: 'human-tool',
    managers: [
      'k9s',
      'kubie',
      'lens',
      'lens-*',
      'Lens*',
      'openlens',
      'freelens',
      'octant',
      'headlamp*',
      'aptakube*',
    ],
    what: 'terminal and desktop programs: the name of the program, which client-go sends as its User-Agent',
  },
  {
    class: 'human-tool',
    managers: ['Mozilla'],
    what: 'a browser: a console that forwards requests (Rancher, OpenShift, Headlamp, Lens) also forwards its User-Agent',
  },
  {
    class: 'human-tool',
    managers: [
      'dashboard',
      'dashboard-*',
      'kubernetes-dashboard*',
      'rancher',
      'kubesphere*',
      'ks-apiserver',
    ],
    what: 'web consoles that write under their own name',
  },
  {
    class: 'human-tool',
    managers: ['curl', 'HTTPie', 'insomnia', 'PostmanRuntime', 'Wget'],
    what: 'a manual request',
  },
  ...listSyncerRows('gitops'),
  {
    class: 'gitops',
    managers: ['tanka', 'werf*', 'nelm*', 'helmfile'],
    what: 'tools that apply a whole release',
  },
  {
    class: 'gitops',
    managers: ['porch*', 'backporch*'],
    what: 'Porch, and what Backporch itself settles',
  },
  {
    class: 'gitops',
    managers: [
      'Terraform',
      'HashiCorp',
      'terraform-provider-*',
      'pulumi*',
      'ansible',
      'ansible-*',
      'cdk8s*',
    ],
    what: 'infrastructure tools: `Terraform` is the default of `kubernetes_manifest`, `HashiCorp` the User-Agent of its other resources',
  },
  {
    class: 'gitops',
    managers: ['deploy@*', 'helm-controller@*', 'eks', 'addon-manager', 'kube-addon-manager'],
    what: 'manifests that a distribution deploys (k3s and RKE2, EKS add-ons)',
  },
  {
    class: 'webhook',
    managers: [
      '*webhook*',
      '*injector*',
      '*cainjector*',
      '*kyverno*',
      '*gatekeeper*',
      'pilot-discovery',
      'istiod',
      '*admission*',
    ],
    what: 'injectors of certificates and sidecars, and policy engines that change objects',
  },
  {
    class: 'controller',
    managers: [...CONTROL_PLANE, 'kube-proxy', 'coredns', 'konnectivity*'],
    what: 'the control plane and its nodes; `kube-controller-manager` on `scale` is a HorizontalPodAutoscaler',
  },
  { class: 'controller', managers: ['*'], subresource: 'status', what: 'a writer of a status' },
  {
    class: 'controller',
    managers: ['vpa-*', 'recommender', 'updater'],
    what: 'the VerticalPodAutoscaler',
  },
  {
    class: 'controller',
    managers: ['keda', 'keda-*', 'cluster-autoscaler', 'karpenter*', 'descheduler'],
    what: 'autoscalers',
  },
  { class: 'controller', managers: ['cert-manager', 'cert-manager-*'], what: 'cert-manager' },
  {
    class: 'controller',
    managers: ['glbc', 'neg-controller', 'ingress-gce*'],
    what: 'load balancers of GKE (kubernetes/ingress-gce)',
  },
  {
    class: 'controller',
    managers: ['crossplane*', 'apiextensions.crossplane.io/*', '*.upbound.io/*'],
    what: 'Crossplane: each composed resource has its own manager',
  },
  {
    class: 'controller',
    managers: listWords(`
      capi-* cluster-api* external-dns external-secrets sealed-secrets velero* argo-rollouts rollouts-controller knative* strimzi*
    `),
    what: 'operators under their own name',
  },
  {
    class: 'controller',
    managers: listWords(
      '*-controller *-controller-manager *-operator *-autoscaler *-provisioner *-agent manager controller operator',
    ),
    what: 'usual names of operators (kubebuilder names its program `manager`)',
  },
  {
    class: 'unknown',
    managers: [
      'OpenAPI-Generator',
      'Kubernetes Java Client',
      'fabric8*',
      'node-fetch',
      'Go-http-client',
      'python-requests',
      'axios',
      'unknown',
      'before-first-apply',
    ],
    what: 'a library, which does not identify the program that uses it: Python and generated clients, Java, Node, Go',
  },
]

export function classify(writer: Writer, rules: readonly ActorRule[] = []): ActorClass {
  return findActorRule(writer, rules)?.class ?? findClassRow(writer)?.class ?? 'unknown'
}

export function findActorRule(writer: Writer, rules: readonly ActorRule[]): ActorRule | undefined {
  return rules.find(
    (rule) =>
      (rule.manager === undefined || matchesGlob(rule.manager, writer.manager)) &&
      (rule.operation === undefined || rule.operation === writer.operation) &&
      (rule.subresource === undefined || rule.subresource === (writer.subresource ?? '')) &&
      (rule.user === undefined || (!!writer.user && matchesGlob(rule.user, writer.user))),
  )
}

export function findClassRow({ manager, subresource = '' }: Writer): ClassRow | undefined {
  if (manager === '') return undefined
  return ACTOR_CLASSES.find(
    (row) =>
      (row.subresource === undefined || row.subresource === subresource) &&
      row.managers.some((glob) => matchesGlob(glob, manager)),
  )
}
