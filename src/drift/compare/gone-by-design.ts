/**
 * Objects that git declares and that are rightly not in the cluster: what runs once and is cleared away, or never runs as things are. Each
 * rule reads the manifest; one about hooks holds only where the tool that runs such hooks applies the package. Sources: Helm "Chart Hooks"
 * (helm.sh/docs/topics/charts_hooks), argo-cd docs/user-guide/{resource_hooks,helm}.md and gitops-engine pkg/sync/hook, Kubernetes "Automatic
 * Cleanup for Finished Jobs". A hook whose delete policy keeps it until its next run is missing when it is gone: something removed it.
 */

import { annotationsOf } from '../../krm/resource.ts'
import { parseApiVersion } from '../../krm/resource-id.ts'
import { getKey, isJsonObject, type JsonObject } from '../../text/json.ts'

/** Which tools that run hooks apply the package. */
export interface HookRunners {
  readonly helm: boolean
  readonly argo: boolean
  /** No object says which tool applies the package, so what its manifests say of hooks is all that is known. */
  readonly unknown: boolean
}

export interface GoneRule {
  readonly rule: string
  readonly why: string
}

/** The rule by which a declared object that is absent is rightly so; undefined where none holds. */
export function goneByDesign(manifest: JsonObject, runners: HookRunners): GoneRule | undefined {
  // Where nobody is known to run hooks, one that ends by itself may still be gone as it says; a ServiceAccount of a hook may not.
  const perhaps = runners.unknown && FINISHING.has(`${groupOf(manifest)}/${String(getKey(manifest, 'kind'))}`)
  return (
    finishedJob(manifest) ??
    (runners.argo || perhaps ? argoHook(manifest, runners.argo) : undefined) ??
    (runners.helm || perhaps ? helmHook(manifest) : undefined)
  )
}

const FINISHING = new Set(['batch/Job', '/Pod'])

function groupOf(manifest: JsonObject): string {
  return parseApiVersion(String(getKey(manifest, 'apiVersion'))).group
}

/** That it finished can no longer be seen: what is sure is that the cluster itself removes such a Job. */
function finishedJob(manifest: JsonObject): GoneRule | undefined {
  if (groupOf(manifest) !== 'batch' || getKey(manifest, 'kind') !== 'Job') return undefined
  const spec = getKey(manifest, 'spec')
  const seconds = isJsonObject(spec) ? getKey(spec, 'ttlSecondsAfterFinished') : undefined
  if (typeof seconds !== 'number') return undefined
  const after = seconds === 1 ? '1 second' : `${seconds} seconds`
  return { rule: 'finished-job', why: `the cluster removes this Job ${after} after it finished (spec.ttlSecondsAfterFinished)` }
}

/** Argo CD: with an argocd hook annotation Helm's own counts for nothing (gitops-engine pkg/sync/hook/hook.go). */
function argoHook(manifest: JsonObject, runs: boolean): GoneRule | undefined {
  const own = valuesOf(manifest, 'argocd.argoproj.io/hook')
  if (own.length === 0 && !runs) return undefined
  const mapped = valuesOf(manifest, 'helm.sh/hook').flatMap((event) => ARGO_HOOKS[event] ?? [])
  const hooks = own.length > 0 ? own : mapped
  if (own.length === 0 && valuesOf(manifest, 'helm.sh/hook').length > 0 && mapped.length === 0)
    return { rule: 'argo-hook', why: 'Argo CD never applies a Helm hook of this kind (helm.sh/hook)' }
  if (hooks.length === 0) return undefined
  const said = own.length > 0 ? 'argocd.argoproj.io/hook' : 'helm.sh/hook'
  if (hooks.every((hook) => hook === 'Skip')) return { rule: 'argo-hook', why: `Argo CD is told not to apply the object (${said}: Skip)` }
  if (hooks.every((hook) => NOT_IN_A_SYNC.has(hook)))
    return { rule: 'argo-hook', why: `Argo CD creates this hook only when a sync fails or the Application is deleted (${said})` }
  const policies = [...valuesOf(manifest, 'argocd.argoproj.io/hook-delete-policy'), ...valuesOf(manifest, 'helm.sh/hook-delete-policy')]
  const clears = policies.some((policy) => policy === 'HookSucceeded' || policy === 'hook-succeeded')
  return clears ? { rule: 'argo-hook', why: `Argo CD removes this hook after it succeeded (${said}, hook-delete-policy)` } : undefined
}

const NOT_IN_A_SYNC = new Set(['SyncFail', 'PreDelete', 'PostDelete', 'Skip'])

/** argo-cd docs/user-guide/helm.md "Helm Hooks"; the others are not applied at all. `crd-install` is no hook there. */
const ARGO_HOOKS: { readonly [event: string]: string | undefined } = {
  'pre-install': 'PreSync',
  'pre-upgrade': 'PreSync',
  'post-install': 'PostSync',
  'post-upgrade': 'PostSync',
  'pre-delete': 'PreDelete',
  'post-delete': 'PostDelete',
  'crd-install': 'Sync',
}

function helmHook(manifest: JsonObject): GoneRule | undefined {
  const events = valuesOf(manifest, 'helm.sh/hook')
  if (events.length === 0) return undefined
  if (events.every((event) => NOT_IN_A_RELEASE.has(event)))
    return { rule: 'helm-hook', why: `Helm creates this hook only on ${events.join(', ')} (helm.sh/hook)` }
  return valuesOf(manifest, 'helm.sh/hook-delete-policy').includes('hook-succeeded')
    ? { rule: 'helm-hook', why: 'Helm removes this hook after it succeeded (helm.sh/hook-delete-policy)' }
    : undefined
}

/** Events that neither an install nor an upgrade is. */
const NOT_IN_A_RELEASE = new Set(['pre-delete', 'post-delete', 'pre-rollback', 'post-rollback', 'test', 'test-success', 'test-failure'])

function valuesOf(manifest: JsonObject, annotation: string): readonly string[] {
  return (annotationsOf(manifest).get(annotation) ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}
