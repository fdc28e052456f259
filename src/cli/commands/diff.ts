import type { Command } from 'commander'
import { runTurn } from '../../reconcile/run-turn.ts'
import { exitStatusOf } from '../exit-status.ts'
import { type CommonOptions, withClusterFlags, withExitFlags, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { printTurn, type TurnPrintOptions } from '../print-turn.ts'
import { withSession } from '../turn-session.ts'
import type { Run, World } from '../world.ts'

export function addDiffCommand(program: Command, world: World, run: Run): void {
  const command = program
    .command('diff')
    .description('show what differs between packages in git and the cluster; reads only')
    .argument('[packages...]', 'paths of packages; all of them otherwise')
    .option('--show-ignored', 'list what ignore rules and releases cover, and what git is behind or ahead with')
  withExitFlags(withOutputFlags(withClusterFlags(withRepositoryFlags(command))))
  command.action((packages: string[], options: TurnPrintOptions) => run(() => diff(packages, options, world)))
}

async function diff(packages: readonly string[], options: TurnPrintOptions, world: World): Promise<number> {
  return withSession(world, options, packages, async ({ ports, request, progress }) => {
    const result = await runTurn(ports, { ...request, dryRun: true }, world.signal)
    progress.end()
    await tellWorkTree(options, world)
    printTurn(result, options, world)
    return exitStatusOf(result.units, {
      partialOk: options.partial === 'ok',
      driftCounts: options.exitCode !== false,
      silencedCounts: true,
    })
  })
}

/** Commits are compared, never files that are not committed: whoever has such files is told. */
async function tellWorkTree(options: CommonOptions, world: World): Promise<void> {
  if (options.quiet === true || /^[a-z+]+:\/\//.test(options.repo)) return
  if ((await world.workTree(options.repo)) === 'dirty') {
    world.stderr.write('note: the work tree has changes that are not committed; commits are compared, not the work tree\n')
  }
}
