import { convertToOneLine } from '@backporch/kyaml/text'
import type { Answer } from '../../reconcile/turn/apply/apply-answers.ts'
import { writeOpenHeads } from '../../reconcile/turn/apply/write-open-heads.ts'
import { assertObserved } from '../../reconcile/turn/run-turn.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { SCAN_FLAGS } from '../flags/command-flags.ts'
import { computeExitStatus, getWorstExitStatus } from '../flags/exit-status.ts'
import type { ExitOptions, ValuesOf } from '../flags/options.ts'
import { printFailures } from '../print/print-failures.ts'
import { printNotes } from '../print/print-notes.ts'
import { printSettled, printTurn, printWrites } from '../report/print-turn.ts'
import { runScan, runWithSession, type SessionOptions } from '../session/turn-session.ts'

type ScanOptions = ValuesOf<typeof SCAN_FLAGS> & Required<SessionOptions> & ExitOptions

export async function scan(
  packages: readonly string[],
  options: ScanOptions,
  cli: TurnContext,
): Promise<number> {
  return runWithSession(cli, options, { packages }, async (session) => {
    const { progress, printer, clusters } = session
    const dryRun = options.dryRun === true
    const result = await runScan(session, dryRun, cli.signal)
    const others = dryRun
      ? undefined
      : await writeOpenHeads(session.ports.forge, result.view, new Map(), cli.signal)
    progress.end()
    if (others !== undefined) printNotes(others.notes, printer)
    for (const answer of result.answers) printer.hint(answerText(answer))
    if (clusters.length === 1) assertObserved(result)
    printTurn(result, options, printer)
    printSettled(result.settled, printer)
    printFailures(result.unsettled, cli)
    if (!printer.quiet && printer.isTable) await printWrites(result, options, printer)
    if (result.unsettled.length > 0) return getWorstExitStatus(result.unsettled)
    const { lastGood } = result.view.policies
    if (lastGood !== undefined) return getWorstExitStatus([lastGood.failure])
    const missed = result.notObserved.flatMap(({ failures }) => failures)
    if (missed.length > 0 && options.partial !== 'ok') return getWorstExitStatus(missed)
    return computeExitStatus(result.units, options, false)
  })
}

function answerText({ proposal, by, line, outcome, failure }: Answer): string {
  const who = by === undefined ? '' : ` of ${convertToOneLine(by, 60)}`
  const why = failure === undefined ? '' : `: ${convertToOneLine(failure.message, 300)}`
  return `${convertToOneLine(proposal.label, 60)} ${convertToOneLine(line, 100)}${who}: ${outcome}${why}`
}
