/** Separate from notes, because every command line loads this file. */
import { type Failure, formatFailure, groupFailures } from '@backporch/kyaml/failure'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { CliContext } from '../context/cli-context.ts'
import { Terminal } from '../context/terminal.ts'

/** Once for failures that differ only in location, unless `verbose`. */
export function printFailures(
  failures: readonly Failure[],
  cli: Pick<CliContext, 'env' | 'stderr'>,
  { verbose }: { readonly verbose?: boolean } = {},
): void {
  const terminal = new Terminal(cli.stderr, { color: 'auto', ascii: false, env: cli.env })
  for (const failure of verbose === true ? failures : groupFailures(failures)) {
    const [head = '', ...rest] = formatFailure(failure).split('\n')
    const lines = rest.map((line) => convertToOneLine(line, 2_000))
    cli.stderr.write(
      `${terminal.style('error', 'red', 'bold')}${convertToOneLine(head.slice('error'.length), 2_000)}\n${lines.join('\n')}\n`,
    )
  }
}
