/**
 * Labels and annotations by which appliers mark what they apply. They are never in git, and each apply writes them anew: what the syncer
 * itself wrote of them is no difference. Sources: docs/facts/applier-marks.md and the files that it names; kapp
 * `pkg/kapp/config/default.go`; kpt-config-sync `pkg/metadata`.
 */
import type { FieldPath } from '../../krm/field-path.ts'
import type { FieldSet } from '../../krm/field-set.ts'
import type { Json } from '../../text/json.ts'

export interface MarkingTool {
  readonly name: string
  readonly writers: RegExp
  readonly labels?: RegExp
  readonly annotations?: RegExp
  /** Keys that others use too: only with this value. */
  readonly shared?: { readonly label: string; readonly value?: string }
}

export const MARKING_TOOLS: readonly MarkingTool[] = [
  {
    name: 'Flux',
    writers: /^(kustomize-controller|helm-controller|source-controller|flux|flux-.*)$/,
    labels: /^(kustomize|helm)\.toolkit\.fluxcd\.io\/(name|namespace)$/,
    annotations: /^(kustomize|helm)\.toolkit\.fluxcd\.io\/(checksum|chart)$/,
  },
  {
    name: 'Argo CD',
    writers: /^argocd(-.*)?$/,
    annotations: /^argocd\.argoproj\.io\/(tracking-id|installation-id)$/,
    shared: { label: 'app.kubernetes.io/instance' },
  },
  {
    name: 'Helm',
    writers: /^(helm|Helm|helm-controller)$/,
    annotations: /^meta\.helm\.sh\/release-(name|namespace)$/,
    shared: { label: 'app.kubernetes.io/managed-by', value: 'Helm' },
  },
  {
    name: 'Config Sync',
    writers: /^(configsync\.gke\.io|configsync)$/,
    labels: /^(configsync|configmanagement)\.gke\.io\//,
    annotations: /^((configsync|configmanagement)\.gke\.io\/.+|config\.k8s\.io\/owning-inventory)$/,
    shared: { label: 'app.kubernetes.io/managed-by', value: 'configmanagement.gke.io' },
  },
  {
    name: 'kpt live',
    // cli-utils applies under kubectl's own names (docs/facts/applier-managers.md).
    writers: /^(kpt(-.*)?|kubectl|kubectl-client-side-apply)$/,
    annotations:
      /^(config\.k8s\.io\/owning-inventory|(internal\.)?config\.kubernetes\.io\/(path|index|package-path|annotations-migration-resource-id)|internal\.kpt\.dev\/.+)$/,
  },
  {
    name: 'Sveltos',
    writers: /^(application\/apply-patch|addon-controller|sveltos.*)$/,
    labels: /^projectsveltos\.io\//,
    annotations: /^projectsveltos\.io\//,
  },
  {
    name: 'Fleet',
    writers: /^(fleet.*|rancher-fleet.*|helm)$/,
    labels: /^(objectset\.rio\.cattle\.io\/hash|fleet\.cattle\.io\/.+)$/,
    annotations: /^(objectset\.rio\.cattle\.io|fleet\.cattle\.io)\//,
  },
  { name: 'kapp', writers: /^kapp(-.*)?$/, labels: /^kapp\.k14s\.io\//, annotations: /^kapp\.k14s\.io\// },
  { name: 'Kluctl', writers: /^kluctl(-.*)?$/, labels: /^kluctl\.io\//, annotations: /^kluctl\.io\// },
]

/** The tools that mark with this label or annotation; none for any other place. @param value live there, undefined where it is not read */
export function toolsOfMark(path: FieldPath, value: Json | undefined): MarkingTool[] {
  const [metadata, map, key, below] = path
  if (metadata?.kind !== 'field' || metadata.name !== 'metadata' || map?.kind !== 'field' || key?.kind !== 'field' || below !== undefined) {
    return []
  }
  const { name } = key
  if (map.name === 'annotations') return MARKING_TOOLS.filter(({ annotations }) => annotations?.test(name) === true)
  if (map.name !== 'labels') return []
  return MARKING_TOOLS.filter(
    ({ labels, shared }) =>
      labels?.test(name) === true || (shared?.label === name && (shared.value === undefined || shared.value === value)),
  )
}

/** Whether a manager marks with it as its tool does: somebody who applies by hand under the name of a CI job leaves no marks of Flux. */
export function isMarkOf(manager: string, path: FieldPath, value: Json | undefined): boolean {
  return toolsOfMark(path, value).some(({ writers }) => writers.test(manager))
}

/** What a manager owns but for its own marks that `wanted` does not have: what is left it declared for the package's sake. */
export function withoutMarks(
  manager: string,
  owned: FieldSet,
  wanted: FieldSet,
  liveAt: (path: FieldPath) => Json | undefined,
  path: FieldPath = [],
): FieldSet {
  if (path.length > 2) return owned
  const children = new Map<string, FieldSet['children'] extends ReadonlyMap<string, infer Child> ? Child : never>()
  for (const [key, child] of owned.children) {
    const here = [...path, child.step]
    const other = wanted.children.get(key)
    if (other === undefined && isMarkOf(manager, here, liveAt(here))) continue
    const isMap = child.step.kind === 'field' && MAPS.has(here.map((step) => (step.kind === 'field' ? step.name : '')).join('.'))
    const set = isMap ? withoutMarks(manager, child.set, other?.set ?? NOTHING, liveAt, here) : child.set
    // A map that held nothing but marks was not declared either.
    if (isMap && set.children.size === 0 && child.set.children.size > 0 && other === undefined) continue
    children.set(key, { step: child.step, set })
  }
  return { owned: owned.owned, children }
}

const MAPS: ReadonlySet<string> = new Set(['metadata', 'metadata.labels', 'metadata.annotations'])
const NOTHING: FieldSet = { owned: false, children: new Map() }
