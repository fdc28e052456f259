/** What `scan` does once and `controller` again and again: one turn, then the writes that merged commits authorise. */
import type { Failure } from '../failure.ts'
import { pendingSettles } from '../reconcile/apply/settle.ts'
import type { Answer } from '../reconcile/commands/apply-answers.ts'
import { NO_PRESSES } from '../reconcile/commands/observe-requests.ts'
import { runFleetTurn, runTurn, type TurnResult } from '../reconcile/run-turn.ts'
import { oneLine } from '../text/one-line.ts'
import type { TurnPrintOptions } from './print/print-turn.ts'
import { describeSettle, settlePending } from './settle-pending.ts'
import type { Session } from './turn-session.ts'
import type { World } from './world.ts'

export interface Scanned {
  readonly result: TurnResult
  /** Why an approved change could not be written to the cluster; empty where all went well. */
  readonly unsettled: readonly Failure[]
}

/**
 * @param seen told what the turn found and wrote, before anything is written to the cluster
 * @throws Failure when nothing at all could be done; failures of one package are in its result
 */
export async function runScan(
  session: Session,
  options: TurnPrintOptions,
  world: World,
  seen: (result: TurnResult) => void = () => undefined,
): Promise<Scanned> {
  const { ports, clusters, request, progress, presses } = session
  const dryRun = options.dryRun === true
  const fleet = { ...ports, clusters: clusters.map(({ reader }) => reader) }
  const asked = { ...request, dryRun, rehearses: dryRun, presses: presses ?? NO_PRESSES }
  const [only, ...others] = clusters
  const single = only !== undefined && others.length === 0
  const result = await (single ? runTurn(ports, asked, world.signal) : runFleetTurn(fleet, asked, world.signal))
  progress.end()
  for (const answer of result.answers) tellAnswer(answer, options, world)
  seen(result)
  const pending = pendingSettles(result)
  if (dryRun) return { result: { ...result, written: [...result.written, ...pending.map(describeSettle)] }, unsettled: [] }
  const unsettled: Failure[] = []
  for (const { reader, target } of clusters) {
    const own = pending.filter(({ record }) => single || record.spec.unit.cluster === reader.name)
    const at = { ...session, ports: { ...ports, cluster: reader } }
    unsettled.push(
      ...(await settlePending(own, at, { ...options, ...(target.context === undefined ? {} : { context: target.context }) }, world)),
    )
  }
  return { result, unsettled }
}

/** What people asked for on the forge, one line each. */
function tellAnswer({ proposal, by, line, outcome, failure }: Answer, { quiet }: TurnPrintOptions, world: World): void {
  if (quiet === true) return
  const who = by === '' ? '' : ` of ${oneLine(by, 60)}`
  const why = failure === undefined ? '' : `: ${oneLine(failure.message, 300)}`
  world.stderr.write(`${oneLine(proposal.label, 60)} ${oneLine(line, 100)}${who}: ${outcome}${why}\n`)
}
