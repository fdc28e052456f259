/** `--watch`: looks again and again, and prints what is another than before, as `kubectl get -w` does. */
import { type Failure, failuresOf } from '../failure.ts'
import { oneLine } from '../text/one-line.ts'
import type { CliContext } from './cli-context.ts'
import { isRows, type OutputOptions, type WatchOptions } from './flags/options.ts'
import { printFailures } from './print/print-failures.ts'

/** What one look gave. */
export interface WatchResult {
  /** Everything that can change in a row, as one text, by what the row is called. */
  readonly rows: ReadonlyMap<string, string>
  /** Prints the rows with these names without a head; everything with its head when `names` is undefined. */
  print(names: ReadonlySet<string> | undefined): void
  /** Exit code of a command that looks once. */
  readonly exit: number
}

export type ShowOptions = WatchOptions & Pick<OutputOptions, 'output' | 'quiet' | 'verbose'>

/** Milliseconds, where `--interval` is not given. */
export const DEFAULT_INTERVAL = 5_000

/**
 * Looks once, or with `--watch` until the user interrupts. `observe` answers undefined where it knows that nothing moved.
 * What fails at the first look ends the command; what fails later is told once and the next look may succeed: an error is no
 * drift, and no end of it either.
 */
export async function showOrWatch(cli: CliContext, options: ShowOptions, observe: () => Promise<WatchResult | undefined>): Promise<number> {
  const first = await observe()
  if (first === undefined) throw new TypeError('the first look always has an answer')
  first.print(undefined)
  return options.watch === true ? watch(cli, options, first, observe) : first.exit
}

async function watch(
  cli: CliContext,
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
      if (cli.signal.aborted) return 130
      const failures = failuresOf(thrown)
      // A fault of our own is not something to wait out.
      if (failures.some(({ code }) => code === 'BP9001')) throw thrown
      const reported = textOf(failures)
      if (reported !== trouble) printFailures(failures, cli, { verbose: options.verbose === true })
      trouble = reported
    }
  }
}

function printUpdates(before: WatchResult, now: WatchResult, options: ShowOptions, cli: CliContext): void {
  const updates = new Set([...now.rows].flatMap(([name, text]) => (before.rows.get(name) === text ? [] : [name])))
  const gone = [...before.rows.keys()].filter((name) => !now.rows.has(name))
  if (updates.size === 0 && gone.length === 0) return
  // Rows can be appended; a document is only right as a whole.
  if (isRows(options.output)) {
    if (updates.size > 0) now.print(updates)
    if (options.quiet !== true) for (const name of gone) cli.stderr.write(`gone: ${oneLine(name, 300)}\n`)
  } else now.print(undefined)
}

function textOf(failures: readonly Failure[]): string {
  return failures.map(({ code, where, message }) => `${code} ${where} ${message}`).join('\n')
}
