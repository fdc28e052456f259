/** Failures on stderr, as ux.md §2.7 has them: what, where, why, fix. Text from outside stays on its lines. */
import { type Failure, formatFailure } from '../failure.ts'
import { oneLine } from '../record/one-line.ts'
import { Terminal } from './terminal.ts'
import type { World } from './world.ts'

export function printFailures(failures: readonly Failure[], world: World): void {
  const terminal = new Terminal(world.stderr, { color: 'auto', ascii: false, env: world.env })
  for (const failure of failures) {
    const [head = '', ...rest] = formatFailure(failure).split('\n')
    const lines = rest.map((line) => oneLine(line, 2_000))
    world.stderr.write(`${terminal.style('error', 'red', 'bold')}${oneLine(head.slice('error'.length), 2_000)}\n${lines.join('\n')}\n`)
  }
}
