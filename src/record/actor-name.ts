/** Not yet encoded for a sink: `ada (kubectl-scale)`, `ada as admin (kubectl)`. */
import type { Change } from './documents/change.ts'

export function formatActorName({ manager, confidence, user, actingAs }: Change['actor']): string {
  if (confidence === 'none') return 'unknown'
  if (user === undefined) return manager
  return `${actingAs === undefined ? user : `${user} as ${actingAs}`} (${manager})`
}

/** Characters; `manager` is the limit for a manager alone. */
export function computeActorLimit({ user }: Change['actor'], manager: number): number {
  return user === undefined ? manager : manager + 80
}
