import type { Command } from 'commander'
import { runTurn } from '../../reconcile/run-turn.ts'
import { pendingSettles } from '../../reconcile/settle.ts'
import { exitStatusOf } from '../exit-status.ts'
import { withClusterFlags, withExitFlags, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { printTurn, type TurnPrintOptions, tellWritten } from '../print-turn.ts'
import { settlePending } from '../settle-pending.ts'
import { withSession } from '../turn-session.ts'
import type { Run, World } from '../world.ts'

export function addScanCommand(program: Command, world: World, run: Run): void {
  const command = program
    .command('scan')
    .description('one whole turn: observe, record drift in git, propose it where the policy says so')
    .argument('[packages...]', 'paths of packages; the placed ones, or all, otherwise')
    .option('--dry-run', 'say what would be written, and write nothing')
    .option('--show-ignored', 'list what ignore rules and releases cover')
  withExitFlags(withOutputFlags(withClusterFlags(withRepositoryFlags(command))))
  command.action((packages: string[], options: TurnPrintOptions) => run(() => scan(packages, options, world)))
}

async function scan(packages: readonly string[], options: TurnPrintOptions, world: World): Promise<number> {
  return withSession(world, options, packages, async (session) => {
    const { ports, request, progress } = session
    const result = await runTurn(ports, { ...request, dryRun: options.dryRun === true }, world.signal)
    progress.end()
    printTurn(result, options, world)
    if (options.dryRun !== true) await settlePending(pendingSettles(result), session, options, world)
    if (options.quiet !== true && options.output !== 'json' && options.output !== 'yaml') tellWritten(result, options, world)
    return exitStatusOf(result.units, {
      partialOk: options.partial === 'ok',
      driftCounts: options.exitCode !== false,
      silencedCounts: false,
    })
  })
}
