/** `--watch` observes repeatedly and prints the rows that changed, as `kubectl get -w` does. */
import { type Failure, failuresOf } from '@backporch/kyaml/failure'
import { oneLine } from '@backporch/kyaml/text'
import type { CliContext } from '../context/cli-context.ts'
import { interruptedExit } from '../flags/exit-status.ts'
import { isRows, type OutputOptions, type WatchOptions } from '../flags/options.ts'
import { printFailures } from '../print/print-failures.ts'

/** The result of one observation. */
export interface WatchResult {
  /** The text of each row with everything that can change in it, by the name of the row. */
  readonly rows: ReadonlyMap<string, string>
  /** Prints the rows with these names without a head; everything with its head when `names` is undefined. */
  print(names: ReadonlySet<string> | undefined): void
  /** Exit code without `--watch`. */
  readonly exit: number
}

export type ShowOptions = WatchOptions & Pick<OutputOptions, 'output' | 'quiet' | 'verbose'>

/** Milliseconds, where `--interval` is not given. */
const DEFAULT_INTERVAL = 5_000

/**
 * Observes once, or with `--watch` until the user interrupts. `observe` returns undefined when it knows that nothing moved.
 * A failure of the first observation ends the command. A later failure is printed once, and the next observation may succeed.
 */
export async function showOrWatch(
  cli: Pick<CliContext, 'clock' | 'env' | 'signal' | 'stderr'>,
  options: ShowOptions,
  observe: () => Promise<WatchResult | undefined>,
): Promise<number> {
  const first = await observe()
  if (first === undefined) throw new TypeError('the first look always has an answer')
  first.print(undefined)
  return options.watch === true ? watch(cli, options, first, observe) : first.exit
}

async function watch(
  cli: Pick<CliContext, 'clock' | 'env' | 'signal' | 'stderr'>,
  options: ShowOptions,
  first: WatchResult,
  observe: () => Promise<WatchResult | undefined>,
): Promise<number> {
  let shown = first
  let trouble = ''
  for (;;) {
    try {
      await cli.clock.sleep(options.interval ?? DEFAULT_INTERVAL, cli.signal)
      cli.signal.throwIfAborted()
      const now = await observe()
      if (trouble !== '' && options.quiet !== true) cli.stderr.write('answers again\n')
      trouble = ''
      if (now === undefined) continue
      printUpdates(shown, now, options, cli)
      shown = now
    } catch (thrown) {
      if (cli.signal.aborted) return interruptedExit(cli.signal)
      const failures = failuresOf(thrown)
      // A bug does not go away by waiting.
      if (failures.some(({ code }) => code === 'BP9001')) throw thrown
      const reported = textOf(failures)
      if (reported !== trouble) printFailures(failures, cli, { verbose: options.verbose === true })
      trouble = reported
    }
  }
}

function printUpdates(
  before: WatchResult,
  now: WatchResult,
  options: ShowOptions,
  cli: Pick<CliContext, 'stderr'>,
): void {
  const updates = new Set(
    [...now.rows].flatMap(([name, text]) => (before.rows.get(name) === text ? [] : [name])),
  )
  const gone = [...before.rows.keys()].filter((name) => !now.rows.has(name))
  if (updates.size === 0 && gone.length === 0) return
  // Rows can be appended; a document is printed as a whole.
  if (isRows(options.output)) {
    if (updates.size > 0) now.print(updates)
    if (options.quiet !== true)
      for (const name of gone) cli.stderr.write(`gone: ${oneLine(name, 300)}\n`)
  } else now.print(undefined)
}

function textOf(failures: readonly Failure[]): string {
  return failures.map(({ code, where, message }) => `${code} ${where} ${message}`).join('\n')
}
