/** Objects whose last change is still being rolled out: what differs there may differ only for now. Never drift. */
import { describeResourceId } from '../krm/resource-id.ts'
import { oneLine } from '../record/one-line.ts'
import type { GroupMember } from '../status/resource-group.ts'

/** One line for each object that kstatus calls InProgress, with kstatus' own words: `Reconciling: Deployment shop/web: Available: 0/1`. */
export function rolloutLines(health: readonly GroupMember[]): string[] {
  return health
    .filter(({ status }) => status === 'InProgress')
    .map(({ id, health: said = 'its controller is at work' }) => `Reconciling: ${oneLine(describeResourceId(id))}: ${oneLine(said, 200)}`)
}
