import { createInterface } from 'node:readline/promises'
import { Failure } from '@backporch/kyaml/failure'
import { isRemovedByApply } from '../../drift/compare/last-applied.ts'
import type { PendingSettle } from '../../plan/unit/pending-settles.ts'
import {
  approve,
  type Decided,
  type DecisionRequest,
  type Reviewed,
  reject,
} from '../../reconcile/turn/decide.ts'
import { settleDecisions } from '../../reconcile/turn/settle.ts'
import { waitUntilSettled } from '../../reconcile/turn/wait-until-settled.ts'
import { countResolutions } from '../../record/subject.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { APPROVE_FLAGS, DECISION_FLAGS } from '../flags/command-flags.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import { formatApplierLines } from '../print/print-applier.ts'
import { formatDiff } from '../print/print-diff.ts'
import type { Printer } from '../print/printer.ts'
import { listDecisionUpdates, printPublished } from '../print/published-lines.ts'
import { formatLossLines, printSettled } from '../report/print-turn.ts'
import { runWithSession, type Session, type SessionOptions } from '../session/turn-session.ts'

type DecideOptions = SessionOptions & ForgeOptions & ValuesOf<typeof DECISION_FLAGS>

export async function approveOne(
  name: string | undefined,
  options: DecideOptions & ValuesOf<typeof APPROVE_FLAGS>,
  cli: TurnContext,
): Promise<number> {
  return runWithSession(
    cli,
    options,
    { packages: name === undefined ? [] : [name] },
    async (session) => {
      const { ports, request, progress, printer, openWriter } = session
      const decided = await approve(
        ports,
        await buildDecisionRequest('approve', session, options),
        cli.signal,
      )
      progress.end()
      const { observation, proposal } = decided.reviewed
      const { packageName, cluster } = observation.unit
      const { plan, changes } = proposal.record.spec
      const what = plan === 'Mixed' ? countResolutions(changes) : plan
      if (decided.isQueued === true) {
        printer.write(
          `${printer.ok} ${packageName}: ${what} is in the merge queue of ${observation.git.baseBranch}\n`,
        )
        if (!printer.quiet && options.wait !== true)
          printer.write(`  next: backporch scan ${packageName} reads the result\n`)
        if (options.wait === true)
          throw createNotMergedFailure(packageName, observation.git.baseBranch)
        return 0
      }
      printer.write(
        `${printer.ok} ${packageName}${decided.revision === undefined ? '' : ` ${decided.revision} is published`}: ${what} merged into ${observation.git.baseBranch} at ${decided.commit?.slice(0, 7)}\n`,
      )
      await printPublished(
        listDecisionUpdates(decided),
        observation.git.baseBranch,
        options,
        printer,
      )
      const pending = listSettles(decided)
      if (pending.length > 0) {
        const target = { ...ports, clusters: [ports.cluster], openWriter }
        const { settled, unsettled } = await settleDecisions(
          target,
          request,
          { cluster, pending },
          cli.signal,
        )
        progress.end()
        printSettled(settled, printer)
        if (unsettled[0] !== undefined) throw unsettled[0]
      }
      if (options.wait !== true) {
        if (!printer.quiet) printNext(decided, printer)
        return 0
      }
      const timeout = options.waitTimeout ?? observation.policy.verifyTimeout
      const units = { ...request.units, packages: [observation.unit.packagePath || '.'] }
      await waitUntilSettled(
        ports,
        { ...request, units },
        { clock: cli.clock, timeout },
        cli.signal,
      )
      progress.end()
      printer.write(`${printer.ok} ${cluster} matches git: verified\n`)
      return 0
    },
  )
}

/** The queue has its own timing: hours if many wait. */
function createNotMergedFailure(packageName: string, baseBranch: string): Failure {
  return new Failure({
    code: 'BP3014',
    what: `${packageName} is not verified`,
    why: `its pull request is in the merge queue of ${baseBranch}, and not merged yet`,
    remedy: `wait for the queue, then run backporch scan ${packageName}`,
    retry: 'backoff',
  })
}

function listSettles({ reviewed: { observation, proposal }, commit }: Decided): PendingSettle[] {
  const { record } = proposal
  const restores = record.spec.changes.some(({ resolution }) => resolution === 'Restore')
  if (record.spec.settle !== 'backporch' || !restores || commit === undefined) return []
  return [
    {
      cluster: observation.unit.cluster,
      packagePath: observation.unit.packagePath,
      record,
      commit,
    },
  ]
}

function printNext({ reviewed }: Decided, printer: Printer): void {
  const { observation, proposal } = reviewed
  const { plan, settle: by } = proposal.record.spec
  if (by === 'backporch') return
  if (plan === 'Restore' || plan === 'Mixed') {
    for (const line of formatApplierLines(observation.applier)) printer.write(`  ${line}\n`)
    const added = proposal.record.spec.changes.filter(
      ({ change, resolution, notes = [] }) =>
        change === 'added' && resolution === 'Restore' && !notes.some(isRemovedByApply),
    ).length
    if (added > 0) {
      printer.write(
        `  no apply removes the ${added} added ${added === 1 ? 'field' : 'fields'}: remove ${added === 1 ? 'it' : 'them'} by hand (after later merges backporch does, with "settle: backporch" in the policy)\n`,
      )
    }
  }
  printer.write(
    `  then: backporch scan ${observation.unit.packageName} checks that the cluster agrees\n`,
  )
}

export async function rejectOne(
  name: string | undefined,
  options: DecideOptions,
  cli: TurnContext,
): Promise<number> {
  return runWithSession(
    cli,
    options,
    { packages: name === undefined ? [] : [name] },
    async (session) => {
      const { ports, progress, printer } = session
      const decided = await reject(
        ports,
        await buildDecisionRequest('reject', session, options),
        cli.signal,
      )
      progress.end()
      const { unit, git } = decided.reviewed.observation
      printer.write(
        `${printer.ok} ${decided.reviewed.proposal.workspace} is closed: ${unit.cluster} stays as it is, and exactly this drift is silent until ${decided.silentUntil}\n`,
      )
      await printPublished(listDecisionUpdates(decided), git.baseBranch, options, printer)
      return 0
    },
  )
}

async function buildDecisionRequest(
  verb: 'approve' | 'reject',
  session: Session,
  options: DecideOptions,
): Promise<DecisionRequest> {
  const { cli } = session.printer
  return {
    turn: session.request,
    decider: {
      name: options.as ?? (await cli.userName()),
      at: `${cli.clock.now().toISOString().slice(0, 19)}Z`,
      reason: options.message,
    },
    confirm: (reviewed) => confirm(verb, reviewed, session, options.yes === true),
  }
}

async function confirm(
  verb: 'approve' | 'reject',
  { observation, proposal, plan }: Reviewed,
  { progress, printer }: Session,
  yes: boolean,
): Promise<boolean> {
  const { cli, terminal } = printer
  progress.end()
  const { packageName, cluster } = observation.unit
  const { changes, plan: resolution } = proposal.record.spec
  const losses = verb === 'approve' ? formatLossLines(proposal.record) : ''
  if (yes) {
    cli.stdout.write(losses)
    return true
  }
  if (cli.stdin.isTTY !== true) {
    throw new Failure({
      code: 'BP2011',
      what: `${verb} of ${proposal.workspace} requires confirmation`,
      why: 'there is no terminal to ask on',
      remedy: `give --yes: backporch ${verb} ${packageName} --yes`,
    })
  }
  const view = {
    packageName,
    cluster,
    plan,
    verdicts: observation.verdicts,
    showIgnored: false,
    now: cli.clock.now().getTime(),
    wide: false,
    resolutions: resolution === 'Mixed',
  }
  cli.stdout.write(formatDiff(view, terminal) + losses)
  const count = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}${resolution === 'Mixed' ? ` (${countResolutions(changes)})` : ''}`
  const question = `you ${verb}: ${resolution.toUpperCase()} ${count}, fingerprint ${proposal.record.spec.fingerprint.slice(7, 15)}, live re-checked now: unchanged. ${verb === 'approve' ? 'Approve' : 'Reject'}? [y/N] `
  const lines = createInterface({ input: cli.stdin, output: cli.stdout as NodeJS.WritableStream })
  try {
    return /^y(es)?$/i.test((await lines.question(question, { signal: cli.signal })).trim())
  } finally {
    lines.close()
  }
}
