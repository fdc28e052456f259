import type { Command } from 'commander'
import type { Run, World } from '../world.ts'

export function addDemoCommand(program: Command, world: World, run: Run): void {
  program
    .command('demo')
    .description('the whole turn on a package made on the spot: drift, record, decision; needs git and nothing else')
    .option('--control-plane', 'against a real API server, with the cluster coming back (in a checkout, with Go)')
    .option('--keep <folder>', 'leave the repository there, to look around')
    .action((options: { controlPlane?: boolean; keep?: string }) =>
      run(async () => {
        const { runDemo } = await import('../demo/run-demo.ts')
        return runDemo(world, { controlPlane: options.controlPlane === true, keep: options.keep })
      }),
    )
}
