import type { Command } from '@commander-js/extra-typings'
import type { CliContext, Run, RunCommand } from '../context/cli-context.ts'

/** `runCommand` is a parameter because the command line is in a layer above. */
export function addDemoCommand(
  program: Command,
  cli: CliContext,
  run: Run,
  runCommand: RunCommand,
): void {
  program
    .command('demo')
    .description(
      'runs a whole turn on a generated package: drift, record, decision; needs only git',
    )
    .option(
      '--control-plane',
      'uses a real API server, which is restored at the end (in a checkout, with Go)',
    )
    .option(
      '--folder <path>',
      'folder for the generated repository (default: a new temporary folder)',
    )
    .action((options) =>
      run(async () => {
        const { runDemo } = await import('../demo/run-demo.ts')
        return runDemo(
          cli,
          { controlPlane: options.controlPlane === true, folder: options.folder },
          runCommand,
        )
      }),
    )
}
