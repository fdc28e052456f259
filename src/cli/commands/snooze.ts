import { Failure } from '@backporch/kyaml/failure'
import { DURATION, secondsOf } from '@backporch/kyaml/text'
import { nothingToSnooze } from '../../plan/unit/commands/comment-status.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { ForgeOptions } from '../flags/options.ts'
import { printPublished } from '../print/published-lines.ts'
import { onlyUnit, type SessionOptions, withSession } from '../session/turn-session.ts'

/** Stops reminders about the open proposal of one package until a time, as the comment `/snooze` does. */
export async function snooze(
  name: string,
  duration: string | undefined,
  options: SessionOptions & ForgeOptions,
  cli: TurnContext,
): Promise<number> {
  // `snooze 7d`: in a repository with one package the path may be left out.
  const [packages, time] = duration === undefined ? [[], name] : [[name], duration]
  const end = `${new Date(cli.clock.now().getTime() + secondsIn(time) * 1_000).toISOString().slice(0, 19)}Z`
  return withSession(cli, options, { packages }, async ({ ports, request, progress, printer }) => {
    const result = await runTurn(
      ports,
      { ...request, forge: { ...request.forge, snoozeUntil: end } },
      cli.signal,
    )
    progress.end()
    const unit = onlyUnit(result, {
      none: 'there is no package to snooze',
      why: 'one proposal of one package is snoozed',
    })
    if (unit.refused !== undefined) throw unit.refused
    const { status } = unit.plan.report
    if (status.snoozedUntil !== end)
      throw nothingToSnooze(
        `${unit.unit.packageName} is ${status.state}, and no proposal of it is open`,
      )
    printer.write(
      `${printer.ok} no reminders about ${unit.plan.branch} until ${end}; it stays open and is kept up to date\n`,
    )
    await printPublished(result.updates, result.view.baseBranch, options, printer)
    return 0
  })
}

function secondsIn(text: string): number {
  if (DURATION.test(text)) return secondsOf(text)
  throw new Failure({
    code: 'BP1001',
    what: `${JSON.stringify(text.slice(0, 40))} is no duration`,
    why: 'snooze wants to know for how long',
    remedy: 'write it as 7d or 12h: backporch snooze apps/web 7d',
  })
}
