/** `--verbose` prints each request to the cluster and to git on stderr, with its outcome and duration. */
import type { Trace } from '../ports/trace.ts'
import { oneLine } from '../text/one-line.ts'
import type { CliContext } from './cli-context.ts'
import type { TerminalOptions } from './flags/options.ts'

/** Undefined unless `--verbose` was given. */
export function traceTo(cli: CliContext, options: Pick<TerminalOptions, 'verbose'>): Trace | undefined {
  if (options.verbose !== true) return undefined
  return ({ what, outcome, milliseconds }) => {
    cli.stderr.write(`${String(Math.round(milliseconds)).padStart(6)} ms  ${oneLine(what, 300)}  ${oneLine(outcome, 100)}\n`)
  }
}
