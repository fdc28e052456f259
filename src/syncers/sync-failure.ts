/**
 * Whether a syncer that does not apply waits or failed. An unlisted reason is a failure, because
 * the syncer reports it while not ready. Sources: fluxcd/pkg `apis/meta/conditions.go`,
 * kustomize-controller `api/v1/kustomization_types.go`, helm-controller
 * `api/v2/condition_types.go`.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { findConditionProblem, findConditionReason } from './own-resource.ts'

/** Reasons of `Ready: False` that end without a person. */
const WAITS: ReadonlySet<string> = new Set([
  'DependencyNotReady',
  'ArtifactFailed',
  'SourceNotReady',
  'Progressing',
  'ProgressingWithRetry',
])

/** Undefined if it waits, is ready or is in progress. */
export function findFailedCondition(title: string, own: JsonObject): string | undefined {
  const stalled = findConditionProblem(title, own, ['Stalled', 'True'])
  if (stalled !== undefined) return stalled
  const reason = findConditionReason(own, 'Ready', 'False')
  return reason === undefined || WAITS.has(reason)
    ? undefined
    : findConditionProblem(title, own, ['Ready', 'False'])
}
