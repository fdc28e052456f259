import type { Resolution } from '../../drift/compare/drift.ts'
import { listUnitFailures } from '../../plan/unit/unit-result.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { RESOLVE_FLAGS, VIA_FLAGS } from '../flags/command-flags.ts'
import { getWorstExitStatus } from '../flags/exit-status.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import { printFailures } from '../print/print-failures.ts'
import { printTurn, printWrites } from '../report/print-turn.ts'
import { runWithSession, type SessionOptions, splitArguments } from '../session/turn-session.ts'

type ResolveOptions = SessionOptions &
  ForgeOptions &
  ValuesOf<typeof RESOLVE_FLAGS> &
  ValuesOf<typeof VIA_FLAGS>

interface ResolveArguments {
  readonly resolution: Resolution
  readonly name: string | undefined
  readonly selectors: readonly string[]
}

export async function resolve(
  { resolution, name, selectors: named }: ResolveArguments,
  options: ResolveOptions,
  cli: TurnContext,
): Promise<number> {
  const { packages, selectors } = splitArguments(name, named)
  return runWithSession(
    cli,
    options,
    { packages },
    async ({ ports, request, progress, printer }) => {
      const resolutionRequest = {
        resolution,
        selectors,
        message: options.message,
        ...(options.via === undefined ? {} : { via: options.via }),
      }
      const dryRun = options.dryRun === true
      const requested = {
        ...request,
        mode: dryRun ? 'rehearse' : 'apply',
        forge: { ...request.forge, resolutionRequest },
      } as const
      const result = await runTurn(ports, requested, cli.signal)
      progress.end()
      const failures = result.units.flatMap(listUnitFailures)
      if (!printer.isTable) printTurn(result, options, printer)
      else {
        await printWrites(result, options, printer)
        printFailures(failures, cli, printer)
      }
      return failures.length === 0 ? 0 : getWorstExitStatus(failures)
    },
  )
}
