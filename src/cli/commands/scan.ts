import { exitStatusOf, worstExit } from '../exit-status.ts'
import type { SCAN_FLAGS } from '../flags/command-flags.ts'
import type { ExitOptions, ValuesOf } from '../flags/options.ts'
import { isTable } from '../flags/outputs.ts'
import { printFailures } from '../print/print-failures.ts'
import { printDryRun, printTurn, printWritten } from '../print/print-turn.ts'
import { printPublished } from '../print/published-lines.ts'
import { runScan } from '../run-scan.ts'
import { type SessionOptions, withSession } from '../turn-session.ts'
import type { World } from '../world.ts'

type ScanOptions = ValuesOf<typeof SCAN_FLAGS> & Required<SessionOptions> & ExitOptions

export async function scan(packages: readonly string[], options: ScanOptions, world: World): Promise<number> {
  return withSession(world, options, { packages }, async (session) => {
    const { result, unsettled } = await runScan(session, options, world, (observed) => printTurn(observed, options, world))
    printFailures(unsettled, world)
    if (options.quiet !== true && isTable(options.output)) {
      printWritten(result, options, world)
      printDryRun(result, options, world)
      await printPublished(result.updates, result.view.baseBranch, options, world)
    }
    if (unsettled.length > 0) return worstExit(unsettled)
    const missed = result.notObserved.flatMap(({ failures }) => failures)
    if (missed.length > 0 && options.partial !== 'ok') return worstExit(missed)
    return exitStatusOf(result.units, {
      partialOk: options.partial === 'ok',
      driftCounts: options.exitCode !== false,
      silencedCounts: false,
    })
  })
}
