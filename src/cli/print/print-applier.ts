/** Who applies the package and what that does, on a terminal. */

import type { Applier } from '../../status/applier.ts'
import { oneLine } from '../../text/one-line.ts'

/** The applier, the command to run where nothing applies automatically, and obstacles. Without line breaks. */
export function applierLines({ sentence, command, warning }: Pick<Applier, 'sentence' | 'command' | 'warning'>): string[] {
  return [
    oneLine(sentence, 1_000),
    ...(command === undefined ? [] : [`run: ${oneLine(command, 1_000)}`]),
    ...(warning === undefined ? [] : [`warning: ${oneLine(warning, 1_000)}`]),
  ]
}
