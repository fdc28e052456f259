/** What `scan` does once and `controller` again and again: one turn, with the writes that merged commits authorise. */
import type { Failure } from '../failure.ts'
import type { Answer } from '../reconcile/commands/apply-answers.ts'
import { NO_REQUESTED_ACTIONS } from '../reconcile/commands/observe-requests.ts'
import { assertObserved, runFleetTurn, type TurnResult } from '../reconcile/run-turn.ts'
import { oneLine } from '../text/one-line.ts'
import type { TurnPrintOptions } from './print/print-turn.ts'
import { printSettled } from './print-settled.ts'
import type { Session } from './turn-session.ts'
import type { World } from './world.ts'

export interface Scanned {
  readonly result: TurnResult
  /** Why an approved change could not be written to the cluster; empty where all went well. */
  readonly unsettled: readonly Failure[]
}

/**
 * @param print told what the turn found and wrote, before what it wrote to clusters is printed
 * @throws Failure when nothing at all could be done; failures of one package are in its result
 */
export async function runScan(
  session: Session,
  options: TurnPrintOptions,
  world: World,
  print: (result: TurnResult) => void = () => undefined,
): Promise<Scanned> {
  const { ports, clusters, request, progress, openWriter, requestedActions = NO_REQUESTED_ACTIONS } = session
  const dryRun = options.dryRun === true
  const fleet = { ...ports, clusters: clusters.map(({ reader }) => reader), openWriter }
  const requested = { ...request, mode: dryRun ? 'rehearse' : 'apply', forge: { ...request.forge, requestedActions } } as const
  const result = await runFleetTurn(fleet, requested, world.signal)
  progress.end()
  for (const answer of result.answers) postAnswer(answer, options, world)
  if (clusters.length === 1) assertObserved(result)
  print(result)
  printSettled(result.settled, options, world)
  return { result, unsettled: result.unsettled }
}

/** What people asked for on the forge, one line each. */
function postAnswer({ proposal, by, line, outcome, failure }: Answer, { quiet }: TurnPrintOptions, world: World): void {
  if (quiet === true) return
  const who = by === '' ? '' : ` of ${oneLine(by, 60)}`
  const why = failure === undefined ? '' : `: ${oneLine(failure.message, 300)}`
  world.stderr.write(`${oneLine(proposal.label, 60)} ${oneLine(line, 100)}${who}: ${outcome}${why}\n`)
}
