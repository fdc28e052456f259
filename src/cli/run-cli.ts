import { Interrupted, listFailures } from '@backporch/kyaml/failure'
import { escapeUnseenLines } from '@backporch/kyaml/text'
import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { addCompletionCommand, COMPLETE, complete } from './commands/completion.ts'
import { addDemoCommand } from './commands/demo.ts'
import type { CliContext, Run } from './context/cli-context.ts'
import { addDecideCommands } from './decide-commands.ts'
import { getInterruptedExit, getWorstExitStatus } from './flags/exit-status.ts'
import { createUsageFailure, findWantedHelp } from './flags/usage-failure.ts'
import { printFailures } from './print/print-failures.ts'
import { addReadCommands } from './read-commands.ts'

/** Never throws: returns the exit code. */
export async function runCli(argv: readonly string[], cli: CliContext): Promise<number> {
  let code = 0
  const program = buildProgram(cli, async (work) => {
    code = await work()
  })
  try {
    if (argv[0] === COMPLETE) return await complete(argv.slice(1), program, cli)
    const help = findWantedHelp(argv, program)
    if (help === undefined) await program.parseAsync([...argv], { from: 'user' })
    else help.outputHelp()
    return code
  } catch (thrown) {
    return reportThrown(thrown, argv, program, cli)
  }
}

export function buildProgram(cli: CliContext, run: Run): Command {
  const program = new Command('backporch')
    .description(
      'Compares what clusters really run with the kpt packages in git, and writes the difference back into git for review.',
    )
    .version(`backporch ${cli.version}`, '-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      // reportThrown prints commander errors.
      writeErr: (text) => (text.startsWith('Usage:') ? cli.stderr.write(text) : undefined),
    })
  program.commandsGroup('Look:')
  addReadCommands(program, cli, run)
  program.commandsGroup('Record and decide:')
  addDecideCommands(program, cli, run)
  program.commandsGroup('Other:')
  addDemoCommand(program, cli, run, runCli)
  addCompletionCommand(program, cli, run)
  program
    .command('version')
    .description('print the version')
    .action(() =>
      run(async () => {
        cli.stdout.write(`backporch ${cli.version} (Node ${process.versions.node})\n`)
        return 0
      }),
    )
  for (const command of program.commands) inherit(command, program)
  return program
}

function inherit(command: CommandUnknownOpts, from: CommandUnknownOpts): void {
  command.exitOverride().configureOutput(from.configureOutput())
  for (const below of command.commands) inherit(below, from)
}

function reportThrown(
  thrown: unknown,
  argv: readonly string[],
  program: Command,
  cli: Pick<CliContext, 'env' | 'signal' | 'stderr'>,
): number {
  if (thrown instanceof CommanderError) return reportUsage(thrown, argv, program, cli)
  if (cli.signal.aborted) return reportInterrupted(argv, program, cli)
  const failures = listFailures(thrown)
  printFailures(failures, cli)
  if (argv.includes('--debug')) cli.stderr.write(`${escapeUnseenLines(formatStack(thrown))}\n`)
  return getWorstExitStatus(failures)
}

/** Earlier writes stay, and the next run continues from them. */
function reportInterrupted(
  argv: readonly string[],
  program: Command,
  cli: Pick<CliContext, 'signal' | 'stderr'>,
): number {
  const { reason } = cli.signal
  const command =
    argv.find((word) => program.commands.some((one) => one.name() === word)) ?? 'the command'
  const by = reason instanceof Interrupted ? ` by ${reason.by}` : ''
  cli.stderr.write(`interrupted${by}: ${command} is not finished, and nothing is half-written\n`)
  return getInterruptedExit(cli.signal)
}

function reportUsage(
  thrown: CommanderError,
  argv: readonly string[],
  program: Command,
  cli: Pick<CliContext, 'env' | 'stderr'>,
): number {
  if (thrown.exitCode === 0) return 0
  if (thrown.code === 'commander.help') return 2
  printFailures([createUsageFailure(thrown, argv, program)], cli)
  return 2
}

function formatStack(thrown: unknown): string {
  return thrown instanceof Error
    ? `${thrown.stack ?? thrown.message}${thrown.cause === undefined ? '' : `\ncaused by ${formatStack(thrown.cause)}`}`
    : String(thrown)
}
