/**
 * Who says that an object is his: the marks that each syncer leaves on what it applies. One rule per tool, from its source or
 * its documentation (docs/facts/applier-marks.md); all marks can be forged or copied, so a mark that names its own object is
 * held against it. Sveltos, Fleet and kapp are after their sources only: none of them was run against this.
 */

import type { LiveView, WantedObject } from '../krm/live-view.ts'
import { managedFieldsOf } from '../krm/managed-fields.ts'
import { annotationsOf, labelsOf, readResource } from '../krm/resource.ts'
import type { ResourceId } from '../krm/resource-id.ts'
import { getKey, isJsonObject, type JsonObject } from '../text/json.ts'

export type ApplierTool =
  | 'flux-kustomization'
  | 'flux-helmrelease'
  | 'argo-application'
  | 'config-sync'
  | 'sveltos'
  | 'fleet'
  | 'kapp'
  | 'kpt-live'
  | 'helm'

/** One applier that marked objects of the package. */
export interface Claim {
  readonly tool: ApplierTool
  /** Kind of the syncer's own resource; empty where it has none in this cluster. */
  readonly kind: string
  /** Empty for cluster-scoped kinds, and where the marks do not say. */
  readonly namespace: string
  readonly name: string
  /** The syncer's own resource, in each place where it may be; empty where there is nothing to read. */
  readonly wanted: readonly WantedObject[]
  /** The objects that are marked, by `resourceKey`. */
  readonly objects: ReadonlySet<string>
}

type Mark = Omit<Claim, 'objects'>

/** Where Argo CD runs when nothing says where: its own manifests, and OpenShift GitOps. */
const ARGO_NAMESPACES = ['argocd', 'openshift-gitops']

/** Every claim, the one with most objects first. Objects that are not there or could not be read claim nothing. */
export function claimsOf(live: LiveView): readonly Claim[] {
  const claims = new Map<string, Mark & { readonly objects: Set<string> }>()
  for (const [key, state] of live) {
    const read = state.state === 'present' ? readResource(state.object) : undefined
    if (read === undefined || 'problem' in read) continue
    for (const mark of marksOf(read.id, read.object)) {
      const place = `${mark.tool} ${mark.kind} ${mark.namespace} ${mark.name}`
      const claim = claims.get(place) ?? { ...mark, objects: new Set<string>() }
      claim.objects.add(key)
      claims.set(place, claim)
    }
  }
  return [...claims]
    .sort(([left, one], [right, other]) => other.objects.size - one.objects.size || (left < right ? -1 : 1))
    .map(([, claim]) => claim)
}

function marksOf(id: ResourceId, object: JsonObject): readonly Mark[] {
  const marks = RULES.flatMap((rule) => rule({ id, labels: labelsOf(object), annotations: annotationsOf(object), object }) ?? [])
  // Config Sync applies through kpt's library, Flux and Fleet through Helm's: the outer tool is the one that decides.
  const outer = new Set(marks.map(({ tool }) => tool))
  return marks.filter(({ tool }) => {
    if (tool === 'kpt-live') return !outer.has('config-sync')
    return tool !== 'helm' || !(outer.has('flux-helmrelease') || outer.has('fleet'))
  })
}

interface Marked {
  readonly id: ResourceId
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly object: JsonObject
}

const RULES: readonly ((marked: Marked) => Mark | undefined)[] = [
  ({ labels }) => fluxMark('flux-kustomization', 'kustomize.toolkit.fluxcd.io', 'Kustomization', labels),
  ({ labels }) => fluxMark('flux-helmrelease', 'helm.toolkit.fluxcd.io', 'HelmRelease', labels),
  argoMark,
  configSyncMark,
  sveltosMark,
  fleetMark,
  kappMark,
  kptMark,
  helmMark,
]

/** `<group>/name` and `<group>/namespace`: fluxcd/pkg `ssa/manager.go` SetOwnerLabels; helm-controller `internal/postrender/origin_labels.go`. */
function fluxMark(tool: ApplierTool, group: string, kind: string, labels: Marked['labels']): Mark | undefined {
  const [name, namespace] = [labels.get(`${group}/name`) ?? '', labels.get(`${group}/namespace`) ?? '']
  return isName(name) && isName(namespace) ? mark(tool, group, kind, [namespace], name) : undefined
}

/**
 * `<application>:<group>/<kind>:<namespace>/<name>`, which must be the object's own: argo-cd `util/argo/resource_tracking.go`
 * ParseAppInstanceValue, and "Non self-referencing annotations" in `docs/user-guide/resource_tracking.md`. An Application outside
 * of Argo CD's own namespace is `<namespace>_<application>` (`pkg/apis/application/v1alpha1/types.go` InstanceName).
 * The label alone, which charts set too, counts only where Argo CD wrote the object.
 */
function argoMark({ id, labels, annotations, object }: Marked): Mark | undefined {
  const tracking = annotations.get('argocd.argoproj.io/tracking-id')
  if (tracking !== undefined) {
    // Only the first two colons part it: a name may hold more, as those of RBAC do.
    const [application = '', kind, ...rest] = tracking.split(':')
    const place = rest.join(':')
    if (kind !== `${id.group}/${id.kind}`) return undefined
    // Of a cluster-scoped object the namespace is where the Application deploys to.
    const own = id.namespace === '' ? place.endsWith(`/${id.name}`) : place === `${id.namespace}/${id.name}`
    return own ? argoApplication(application) : undefined
  }
  const wrote = managedFieldsOf(object).entries.some(({ manager }) => manager.startsWith('argocd'))
  const label = labels.get('argocd.argoproj.io/instance') ?? (wrote ? labels.get('app.kubernetes.io/instance') : undefined)
  return label === undefined ? undefined : argoApplication(label)
}

function argoApplication(instance: string): Mark | undefined {
  const parts = instance.split('_')
  const [namespace, name] = parts.length === 2 ? parts : ['', instance]
  if (name === undefined || namespace === undefined || !isName(name) || parts.length > 2) return undefined
  if (parts.length === 2 && !isName(namespace)) return undefined
  const places = namespace === '' ? ARGO_NAMESPACES : [namespace]
  return { ...mark('argo-application', 'argoproj.io', 'Application', places, name), namespace }
}

/**
 * `configsync.gke.io/manager` is `:root`, `:root_<name>`, `<namespace>` or `<namespace>_<name>`: kpt-config-sync
 * `pkg/declared/resource_manager.go` and `scope.go`; it counts with `managed: enabled` and the object's own resource id
 * (`pkg/metadata/metadata.go`, `pkg/core` GKNN). A RepoSync applies to its own namespace only, and syncs nothing while its source has anything else
 * (KNV1058: `pkg/validate/scoped/validate/scope_validator.go` ClusterScopedForNamespaceReconciler, `pkg/parse/repository_scope.go`
 * repositoryScopeVisitor), so its mark on any other object is a copy.
 */
function configSyncMark({ id, annotations }: Marked): Mark | undefined {
  const manager = annotations.get('configsync.gke.io/manager')
  if (manager === undefined || annotations.get('configmanagement.gke.io/managed') !== 'enabled') return undefined
  const resourceId = [id.group, id.kind.toLowerCase(), id.namespace, id.name].filter((part, index) => index !== 2 || part !== '').join('_')
  if ((annotations.get('configsync.gke.io/resource-id') ?? resourceId) !== resourceId) return undefined
  const root = manager === ':root' || manager.startsWith(':root_')
  const [scope = '', given, more] = manager.split('_')
  const namespace = root ? 'config-management-system' : scope
  if (!root && id.namespace !== namespace) return undefined
  const name = given ?? (root ? 'root-sync' : 'repo-sync')
  return isName(namespace) && isName(name) && more === undefined
    ? mark('config-sync', 'configsync.gke.io', root ? 'RootSync' : 'RepoSync', [namespace], name)
    : undefined
}

/** Annotations of libsveltos `lib/deployer/utils.go`. Of a Profile the namespace is not told. */
function sveltosMark({ annotations }: Marked): Mark | undefined {
  const [kind, name] = [annotations.get('projectsveltos.io/owner-kind'), annotations.get('projectsveltos.io/owner-name') ?? '']
  if ((kind !== 'ClusterProfile' && kind !== 'Profile') || !isName(name)) return undefined
  return mark('sveltos', 'config.projectsveltos.io', kind, kind === 'ClusterProfile' ? [''] : [], name)
}

/** The set id of fleet `internal/helmdeployer/postrender.go`; k3s marks its own with the same library, but not as a Helm release. */
function fleetMark({ annotations }: Marked): Mark | undefined {
  const name = annotations.get('objectset.rio.cattle.io/id') ?? ''
  return isName(name) && annotations.has('meta.helm.sh/release-name') && !annotations.has('objectset.rio.cattle.io/owner-gvk')
    ? mark('fleet', '', '', [], name)
    : undefined
}

/** `kapp.k14s.io/app` with the object's own identity `v1;<namespace>/<group>/<kind>/<name>;<version>`: carvel kapp, "diff" in its documentation. */
function kappMark({ id, labels, annotations }: Marked): Mark | undefined {
  const name = labels.get('kapp.k14s.io/app') ?? ''
  const identity = annotations.get('kapp.k14s.io/identity')?.split(';')[1]
  return isName(name) && identity === `${id.namespace}/${id.group}/${id.kind}/${id.name}` ? mark('kapp', '', '', [], name) : undefined
}

/** `config.k8s.io/owning-inventory`: cli-utils `pkg/inventory/policy.go`. */
function kptMark({ annotations }: Marked): Mark | undefined {
  const name = annotations.get('config.k8s.io/owning-inventory')
  return name === undefined ? undefined : mark('kpt-live', '', '', [], isName(name) ? name : '')
}

/** Helm `pkg/action/validate.go`. */
function helmMark({ labels, annotations }: Marked): Mark | undefined {
  const [name, namespace] = [annotations.get('meta.helm.sh/release-name') ?? '', annotations.get('meta.helm.sh/release-namespace') ?? '']
  if (labels.get('app.kubernetes.io/managed-by') !== 'Helm' || !isName(name) || !isName(namespace)) return undefined
  return { ...mark('helm', '', '', [], name), namespace }
}

function mark(tool: ApplierTool, group: string, kind: string, namespaces: readonly string[], name: string): Mark {
  const wanted = namespaces.map((namespace) => ({ id: { group, kind, namespace, name }, apiVersion: '' }))
  return { tool, kind, namespace: namespaces.length === 1 ? (namespaces[0] ?? '') : '', name, wanted }
}

/** DNS subdomain (RFC 1123), as Kubernetes demands it of the names of all of these kinds. */
export function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)
}

/** The part of an object under these names, or undefined. */
export function partOf(object: JsonObject, ...names: readonly string[]): JsonObject[string] | undefined {
  return names.reduce<JsonObject[string] | undefined>((value, name) => (isJsonObject(value) ? getKey(value, name) : undefined), object)
}
