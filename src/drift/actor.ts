/** Who wrote a field, from `managedFields`. */
import type { FieldPath } from '../krm/field-path.ts'
import { touchesPath } from '../krm/field-set.ts'
import { type FieldManager, type ManagedFields, type ManagedFieldsEntry, sameManager } from '../krm/managed-fields.ts'
import type { Actor, ActorClass, Syncer } from './drift.ts'

interface ClassRule {
  readonly class: ActorClass
  readonly manager: RegExp
}

/**
 * First match wins. Sources: default managers of kubectl (`kubectl-<verb>`, k8s.io/kubectl), the managers that Flux,
 * Argo CD, Config Sync, Fleet, Sveltos, kapp and Helm document, and the components of the Kubernetes control plane.
 */
const CLASS_RULES: readonly ClassRule[] = [
  { class: 'human-tool', manager: /^(kubectl(-.*)?|oc|k9s|lens|openlens|freelens|headlamp|rancher|dashboard|Mozilla|octant|kubie)$/ },
  {
    class: 'gitops',
    manager:
      /^(argocd-.*|argocd|kustomize-controller|helm-controller|source-controller|flux.*|configsync\.gke\.io|fleet.*|application\/apply-patch|addon-controller|sveltos.*|kapp.*|kluctl.*|helm|kpt.*|backporch.*)$/,
  },
  { class: 'webhook', manager: /(webhook|injector|cainjector|kyverno|gatekeeper|admission)/ },
  {
    class: 'controller',
    manager: /^(kube-(controller-manager|scheduler|apiserver)|kubelet|cloud-controller-manager|vpa-.*|keda.*|cluster-autoscaler|coredns)$/,
  },
  { class: 'controller', manager: /(-controller|-controller-manager|-operator|-autoscaler)$/ },
]

export function classOfManager(manager: string): ActorClass {
  return CLASS_RULES.find((rule) => rule.manager.test(manager))?.class ?? 'unknown'
}

/** Managers of the Kubernetes control plane itself: what they add to an object is never drift. */
const CONTROL_PLANE = new Set(['kube-controller-manager', 'kube-scheduler', 'kube-apiserver', 'kubelet', 'cloud-controller-manager'])

export function isControlPlane(manager: string): boolean {
  return CONTROL_PLANE.has(manager)
}

export const UNKNOWN_ACTOR: Actor = { manager: 'unknown', operation: '', subresource: '', class: 'unknown', at: '', confidence: 'none' }

export function actorOf(entry: ManagedFieldsEntry, confidence: Actor['confidence']): Actor {
  return {
    manager: entry.manager,
    operation: entry.operation,
    subresource: entry.subresource,
    class: classOfManager(entry.manager),
    at: entry.time,
    confidence,
  }
}

/** Owners of a live field, the syncer first, then by time, the latest first. */
export function ownersOf(managed: ManagedFields, path: FieldPath): ManagedFieldsEntry[] {
  return managed.entries.filter((entry) => entry.subresource !== 'status' && touchesPath(entry.fields, path)).sort(byTimeLatestFirst)
}

/** Who last wrote a live field other than the syncer; undefined when the syncer alone owns it, or nobody does. */
export function foreignOwner(managed: ManagedFields, path: FieldPath, syncer: Syncer | undefined): ManagedFieldsEntry | undefined {
  return ownersOf(managed, path).find((entry) => !isSyncer(entry, syncer))
}

/**
 * Who removed a field: nobody owns what is not there, and a write that only removes leaves no entry at all
 * (docs/facts/removals-leave-no-owner.md). One single other writer of the object is named as `last-writer`.
 */
export function removerOf(managed: ManagedFields, syncer: Syncer | undefined): Actor {
  const others = managed.entries.filter((entry) => entry.subresource === '' && !isSyncer(entry, syncer) && !isControlPlane(entry.manager))
  const [only] = others
  return others.length === 1 && only !== undefined ? actorOf(only, 'last-writer') : UNKNOWN_ACTOR
}

/** Who made an object: the earliest entry for the object itself. */
export function creatorOf(managed: ManagedFields): Actor {
  const own = managed.entries.filter((entry) => entry.subresource === '').sort((left, right) => -byTimeLatestFirst(left, right))
  const [first] = own
  return first === undefined ? UNKNOWN_ACTOR : actorOf(first, 'field-manager')
}

/** Under its own name, or one that it had before. */
export function isSyncer(entry: FieldManager, syncer: Syncer | undefined): boolean {
  return syncer !== undefined && (sameManager(entry, syncer) || (syncer.former?.some((other) => sameManager(entry, other)) ?? false))
}

function byTimeLatestFirst(left: ManagedFieldsEntry, right: ManagedFieldsEntry): number {
  return left.time === right.time ? compareText(left.manager, right.manager) : -compareText(left.time, right.time)
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
