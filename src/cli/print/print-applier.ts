/** A rollout is no drift. */
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Applier } from '../../status/applier.ts'
import type { GroupMember } from '../../status/resource-group.ts'

/** Without line breaks. */
export function formatApplierLines({
  restores,
  sentence,
  command,
  warning,
}: Pick<Applier, 'restores' | 'sentence' | 'command' | 'warning'>): string[] {
  return [
    convertToOneLine(sentence, 1_000),
    ...(command === undefined
      ? []
      : [`${restores === 'at-interval' ? 'at once' : 'run'}: ${convertToOneLine(command, 1_000)}`]),
    ...(warning === undefined ? [] : [`warning: ${convertToOneLine(warning, 1_000)}`]),
  ]
}

/** In kstatus' words, for Failed and InProgress objects. */
export function formatRolloutLines(health: readonly GroupMember[]): string[] {
  const linesOf = (wanted: GroupMember['status'], word: string, without: string): string[] =>
    health
      .filter(({ status }) => status === wanted)
      .map(
        ({ id, health: text = without }) =>
          `${word}: ${convertToOneLine(describeResourceId(id))}: ${convertToOneLine(text, 200)}`,
      )
  return [
    ...linesOf('Failed', 'Failed', 'its controller gave up'),
    ...linesOf('InProgress', 'Reconciling', 'its controller is working'),
  ]
}
