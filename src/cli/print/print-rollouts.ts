/** Objects whose last change is being rolled out, or failed; they are no drift. */
import { describeResourceId } from '../../krm/resource-id.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import { oneLine } from '../../text/one-line.ts'

/** One line for each object that kstatus calls Failed or InProgress, with kstatus' own words: `Reconciling: Deployment shop/web: Available: 0/1`. */
export function rolloutLines(health: readonly GroupMember[]): string[] {
  const linesOf = (wanted: GroupMember['status'], word: string, without: string): string[] =>
    health
      .filter(({ status }) => status === wanted)
      .map(({ id, health: text = without }) => `${word}: ${oneLine(describeResourceId(id))}: ${oneLine(text, 200)}`)
  return [...linesOf('Failed', 'Failed', 'its controller gave up'), ...linesOf('InProgress', 'Reconciling', 'its controller is at work')]
}
