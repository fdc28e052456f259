/**
 * Whether a syncer that does not apply waits for something, or failed: the reasons of its own resource, in one table. A reason that is not here
 * is a failure, because the syncer reports it where it is not ready. Sources: fluxcd/pkg `apis/meta/conditions.go`, kustomize-controller
 * `api/v1/kustomization_types.go`, helm-controller `api/v2/condition_types.go`.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { conditionProblem, conditionReason } from './own-resource.ts'

/** Reasons of `Ready: False` that end without a person, once what they name is there. */
const WAITS: ReadonlySet<string> = new Set([
  // A Kustomization or HelmRelease of `spec.dependsOn`.
  'DependencyNotReady',
  // The GitRepository, HelmRepository or chart has no artifact yet.
  'ArtifactFailed',
  'SourceNotReady',
  'Progressing',
  'ProgressingWithRetry',
])

/** `Flux Kustomization apps/web says Ready is False: BuildFailed`; undefined where it waits, is ready or is at work. */
export function failedCondition(title: string, own: JsonObject): string | undefined {
  const stalled = conditionProblem(title, own, ['Stalled', 'True'])
  if (stalled !== undefined) return stalled
  const reason = conditionReason(own, 'Ready', 'False')
  return reason === undefined || WAITS.has(reason)
    ? undefined
    : conditionProblem(title, own, ['Ready', 'False'])
}
