/** As argo-cd `docs/user-guide/{resource_hooks,helm}.md`, gitops-engine `pkg/sync/hook`. */
import type { JsonObject } from '@backporch/kyaml/json'
import { listHookValues } from './helm.ts'
import type { BuiltInRule } from './syncer.ts'

const NOT_IN_A_SYNC = new Set(['SyncFail', 'PreDelete', 'PostDelete', 'Skip'])

/**
 * argo-cd docs/user-guide/helm.md "Helm Hooks"; other events are not applied at all. `crd-install`
 * is no hook there.
 */
const HELM_EVENTS: { readonly [event: string]: string | undefined } = {
  'pre-install': 'PreSync',
  'pre-upgrade': 'PreSync',
  'post-install': 'PostSync',
  'post-upgrade': 'PostSync',
  'pre-delete': 'PreDelete',
  'post-delete': 'PostDelete',
  'crd-install': 'Sync',
}

/** Its own hook annotation replaces Helm's (gitops-engine pkg/sync/hook/hook.go). */
export function findArgoHook(manifest: JsonObject, runs: boolean): BuiltInRule | undefined {
  const own = listHookValues(manifest, 'argocd.argoproj.io/hook')
  if (own.length === 0 && !runs) return undefined
  const events = listHookValues(manifest, 'helm.sh/hook')
  const mapped = events.flatMap((event) => HELM_EVENTS[event] ?? [])
  const hooks = own.length > 0 ? own : mapped
  const because = (why: string): BuiltInRule => ({ rule: 'argo-hook', why })
  if (own.length === 0 && events.length > 0 && mapped.length === 0)
    return because('Argo CD never applies a Helm hook of this kind (helm.sh/hook)')
  if (hooks.length === 0) return undefined
  const from = own.length > 0 ? 'argocd.argoproj.io/hook' : 'helm.sh/hook'
  if (hooks.every((hook) => hook === 'Skip'))
    return because(`Argo CD is told not to apply the object (${from}: Skip)`)
  if (hooks.every((hook) => NOT_IN_A_SYNC.has(hook)))
    return because(
      `Argo CD creates this hook only when a sync fails or the Application is deleted (${from})`,
    )
  const policies = [
    ...listHookValues(manifest, 'argocd.argoproj.io/hook-delete-policy'),
    ...listHookValues(manifest, 'helm.sh/hook-delete-policy'),
  ]
  const clears = policies.some(
    (policy) => policy === 'HookSucceeded' || policy === 'hook-succeeded',
  )
  return clears
    ? because(`Argo CD removes this hook after it succeeded (${from}, hook-delete-policy)`)
    : undefined
}
