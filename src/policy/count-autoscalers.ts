/**
 * They need no ignore rule: the presets `hpa`, `keda` and `vpa` (src/drift/noise) know what they
 * write, and a rule for `spec.replicas` would also hide a count outside their bounds.
 */
import type { Resource } from '@backporch/kyaml/resource'
import { SCALER_KINDS } from '../drift/noise/scaler.ts'

const WORDS = { hpa: 'HPA', vpa: 'VPA', keda: 'ScaledObject' } as const

export const AUTOSCALER_KINDS: readonly (readonly [group: string, kind: string, word: string])[] =
  SCALER_KINDS.map(([group, kind, tool]) => [group, kind, WORDS[tool]])

export function countAutoscalers(
  autoscalers: readonly Resource[],
): readonly { readonly word: string; readonly count: number }[] {
  return AUTOSCALER_KINDS.map(([group, kind, word]) => ({
    word,
    count: autoscalers.filter(({ id }) => id.group === group && id.kind === kind).length,
  })).filter(({ count }) => count > 0)
}
