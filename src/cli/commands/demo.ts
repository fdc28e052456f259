import type { Command } from 'commander'
import type { RunCommand } from '../demo/stage.ts'
import type { Run, World } from '../world.ts'

interface DemoOptions {
  readonly controlPlane?: boolean
  readonly folder?: string
}

/** `runCommand` runs the commands of the story; it is given, because the command line itself is above this file. */
export function addDemoCommand(program: Command, world: World, run: Run, runCommand: RunCommand): void {
  program
    .command('demo')
    .description('the whole turn on a package made on the spot: drift, record, decision; needs git and nothing else')
    .option('--control-plane', 'against a real API server, with the cluster coming back (in a checkout, with Go)')
    .option('--folder <path>', 'where the repository is made; a new folder among the temporary files otherwise')
    .action((options: DemoOptions) =>
      run(async () => {
        const { runDemo } = await import('../demo/run-demo.ts')
        return runDemo(world, { controlPlane: options.controlPlane === true, folder: options.folder }, runCommand)
      }),
    )
}
