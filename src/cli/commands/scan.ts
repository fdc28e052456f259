import { runTurn } from '../../reconcile/run-turn.ts'
import { pendingSettles } from '../../reconcile/settle.ts'
import { exitStatusOf, worstExit } from '../exit-status.ts'
import { isTable } from '../outputs.ts'
import { printFailures } from '../print-failures.ts'
import { printTurn, type TurnPrintOptions, tellWritten } from '../print-turn.ts'
import type { SelectionOptions } from '../selection-flags.ts'
import { settlePending } from '../settle-pending.ts'
import { withSession } from '../turn-session.ts'
import type { World } from '../world.ts'

export async function scan(
  packages: readonly string[],
  options: TurnPrintOptions & Pick<SelectionOptions, 'package' | 'selector'>,
  world: World,
): Promise<number> {
  return withSession(world, options, packages, async (session) => {
    const { ports, request, progress } = session
    const result = await runTurn(ports, { ...request, dryRun: options.dryRun === true }, world.signal)
    progress.end()
    printTurn(result, options, world)
    const unsettled = options.dryRun === true ? [] : await settlePending(pendingSettles(result), session, options, world)
    printFailures(unsettled, world)
    if (options.quiet !== true && isTable(options.output)) tellWritten(result, options, world)
    if (unsettled.length > 0) return worstExit(unsettled)
    return exitStatusOf(result.units, {
      partialOk: options.partial === 'ok',
      driftCounts: options.exitCode !== false,
      silencedCounts: false,
    })
  })
}
