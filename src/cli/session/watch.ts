import { type Failure, listFailures } from '@backporch/kyaml/failure'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { CliContext } from '../context/cli-context.ts'
import { getInterruptedExit } from '../flags/exit-status.ts'
import { isRows, type OutputOptions, type WatchOptions } from '../flags/options.ts'
import { printFailures } from '../print/print-failures.ts'

export interface WatchResult {
  readonly rows: ReadonlyMap<string, string>
  /** Without a head, or everything with its head when `names` is undefined. */
  print(names: ReadonlySet<string> | undefined): void
  readonly exit: number
}

export type ShowOptions = WatchOptions & Pick<OutputOptions, 'output' | 'quiet' | 'verbose'>

/** Milliseconds. */
const DEFAULT_INTERVAL = 5_000

/**
 * `observe` returns undefined if nothing moved. A failure of the first observation ends the
 * command; a later one is printed once.
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
  let trouble: string | undefined
  for (;;) {
    try {
      await cli.clock.sleep(options.interval ?? DEFAULT_INTERVAL, cli.signal)
      cli.signal.throwIfAborted()
      const now = await observe()
      if (trouble !== undefined && options.quiet !== true) cli.stderr.write('answers again\n')
      trouble = undefined
      if (now === undefined) continue
      printUpdates(shown, now, options, cli)
      shown = now
    } catch (thrown) {
      if (cli.signal.aborted) return getInterruptedExit(cli.signal)
      const failures = listFailures(thrown)
      // Waiting does not fix a bug.
      if (failures.some(({ code }) => code === 'BP9001')) throw thrown
      const reported = formatFailures(failures)
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
  if (isRows(options.output)) {
    if (updates.size > 0) now.print(updates)
    if (options.quiet !== true)
      for (const name of gone) cli.stderr.write(`gone: ${convertToOneLine(name, 300)}\n`)
  } else now.print(undefined)
}

function formatFailures(failures: readonly Failure[]): string {
  return failures.map(({ code, where, message }) => `${code} ${where} ${message}`).join('\n')
}
