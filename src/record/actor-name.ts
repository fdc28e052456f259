/** Who it was, in a few words, not yet encoded for any sink: `kubectl-scale`, `ada (kubectl-scale)`, `ada as admin (kubectl)`. */
import type { Change } from './documents/change.ts'

/** `unknown` without a trace. */
export function actorName({ manager, confidence, user, actingAs }: Change['actor']): string {
  if (confidence === 'none') return 'unknown'
  if (user === undefined) return manager
  return `${actingAs === undefined ? user : `${user} as ${actingAs}`} (${manager})`
}

/** Most characters of it, where a manager alone gets `manager`. */
export function actorLimit({ user }: Change['actor'], manager: number): number {
  return user === undefined ? manager : manager + 80
}
