/**
 * Executes the actions of a turn in order. If the process ends in between, the next turn writes the
 * rest.
 */
import type { RequestedActionSource } from '@backporch/forge/check-run'
import type { Forge, OpenedProposal } from '@backporch/forge/hosted-forge'
import type { PackageRepository, RefUpdate } from '@backporch/git-store/package-repository'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { LedgerFile } from '../../plan/observation/action.ts'
import { describeSettle, describeUpdate } from '../../plan/turn/forge/describe-action.ts'
import type { ForgeAction, IssuesAction } from '../../plan/turn/forge/forge-action.ts'
import { planIssues } from '../../plan/turn/forge/plan-issues.ts'
import { getActionKey, type UnitOutcomes } from '../../plan/turn/pushed-units.ts'
import { decodeChanges } from '../../plan/turn/text-commit.ts'
import type {
  ActionUnit,
  AnswerAction,
  EndedBranch,
  ProposeAction,
  PushAction,
  SettleAction,
  TurnAction,
} from '../../plan/turn/turn-action.ts'
import type { ProposalTurns } from '../observe/proposal-turns.ts'
import type { RefusedRefs } from '../observe/refused-refs.ts'
import type { Meanwhile } from '../observe/turn-request.ts'
import { isHosted } from '../repository/is-hosted.ts'
import { getLedgerContent, type RepositoryView } from '../repository/repository-view.ts'
import { acknowledgeComments } from './acknowledge-comments.ts'
import { type Answer, applyAnswers } from './apply/apply-answers.ts'
import { type CommitWriter, type LedgerTarget, writeLedger } from './apply/apply-writes.ts'
import { isRefusal as isRefusedPush, writeTurn } from './apply/write-turn.ts'
import { ForgeWriter, requireHostedForge } from './forge-writer.ts'
import { numberBranches } from './numbered-branches.ts'
import { NO_REQUESTED_ACTIONS, type RequestObstacles } from './requests/observe-requests.ts'
import type { SettleOutcome } from './settle.ts'

export interface WrittenActions extends SettleOutcome {
  readonly updates: readonly RefUpdate[]
  readonly proposals: ReadonlyMap<string, OpenedProposal>
  readonly reported: readonly Failure[]
  readonly answers: readonly Answer[]
  /** In order, including those that a dry run holds back. */
  readonly written: readonly string[]
}

export interface AppliedTurn extends WrittenActions, UnitOutcomes {
  readonly postponed: readonly ActionUnit[]
}

interface ApplyRequest {
  readonly repository: PackageRepository
  readonly forge: Forge
  readonly settle?: (action: SettleAction) => Promise<SettleOutcome>
  readonly view: RepositoryView
  /** RFC 3339 UTC. */
  readonly at: string
  readonly dryRun: boolean
  readonly requestedActions?: RequestedActionSource | undefined
  readonly refusedRefs: RefusedRefs
  readonly proposalTurns: ProposalTurns
  readonly meanwhile?: Meanwhile | undefined
  readonly now: number
  readonly obstacles?: RequestObstacles
}

/**
 * Needs nothing of the plan but its actions, which may have been stored.
 * @throws Failure BP4003 when a ref moved since it was read: observe and plan again. BP40xx and BP50xx when nothing can be written
 */
export async function applyTurn(
  actions: readonly TurnAction[],
  request: ApplyRequest,
  signal: AbortSignal,
): Promise<AppliedTurn> {
  const { forge, dryRun } = request
  if (dryRun && isHosted(forge) && !forge.writeCount.dryRun)
    throw new TypeError('the forge of a dry run holds its writes back')
  return new TurnWriter(request).write(actions, signal)
}

class TurnWriter {
  private readonly request: ApplyRequest
  private updates: readonly RefUpdate[] = []
  private readonly postponed: ActionUnit[] = []
  /** By `formatUnitKey`. */
  private readonly refusedUnits = new Map<string, Failure>()
  private unmoved: ReadonlySet<string> = new Set()
  /** What the ledger got. */
  private files: readonly LedgerFile[] = []
  /** Why the forge refused proposals. */
  private readonly refused: Failure[] = []
  private hasWrittenProposal = false
  private readonly reported: Failure[] = []
  private readonly written: string[] = []
  private readonly answers: Answer[] = []
  private readonly forge: ForgeWriter
  private readonly settled: SettleOutcome['settled'][number][] = []
  private readonly unsettled: Failure[] = []
  private after: Pick<LedgerTarget, 'head' | 'pushed'>
  private notPushed: Failure | undefined
  private obstructed: Failure | undefined

  constructor(request: ApplyRequest) {
    this.request = request
    this.forge = new ForgeWriter(request.forge, {
      view: request.view,
      dryRun: request.dryRun,
      updates: () => this.updates,
      written: this.written,
    })
    this.after = { head: request.view.ledger, pushed: request.view.pushed }
  }

  async write(actions: readonly TurnAction[], signal: AbortSignal): Promise<AppliedTurn> {
    for (const action of this.request.proposalTurns.orderInTurn(
      actions,
      this.request.meanwhile !== undefined,
    )) {
      if (this.notPushed !== undefined && action.kind !== 'answer') continue
      if (action.kind !== 'propose') this.assertProposed()
      if (action.kind !== 'acknowledge' && this.obstructed !== undefined) throw this.obstructed
      if (!(await this.applyOne(action, signal))) break
    }
    if (this.notPushed !== undefined) throw this.notPushed
    this.assertProposed()
    const { refusedUnits: refused, unmoved, postponed, reported, written, answers } = this
    const { settled, unsettled } = this
    const applied = {
      ...{ refused, unmoved, postponed, reported, written, answers, settled, unsettled },
    }
    if (this.request.dryRun) return { ...applied, updates: [], proposals: new Map() }
    return { ...applied, updates: this.updates, proposals: this.forge.opened }
  }

  private async applyOne(action: TurnAction, signal: AbortSignal): Promise<boolean> {
    switch (action.kind) {
      case 'forge':
        if (action.onRefusal === 'end') await this.forge.write(action.write, signal)
        else if (this.reported.length === 0)
          await this.report(isRefusal, () => this.forge.write(action.write, signal))
        return true
      case 'push':
        return this.report(action.onFailure === 'end' ? () => false : isNoRace, () =>
          this.push(action, signal),
        )
      case 'propose':
        await this.propose(action, signal)
        return true
      case 'acknowledge':
        await this.acknowledge(action, signal)
        return true
      case 'delete-branch':
        await this.deleteBranch(action.branch, signal)
        return true
      case 'land':
        await this.report(isRefusedPush, () => this.land(action, signal))
        return true
      case 'keep-numbers':
        await this.report(isRefusedPush, () => this.keepNumbers(signal))
        return true
      case 'answer':
        await this.answer(action, signal)
        return true
      case 'settle':
        await this.settleIn(action)
        return true
      case 'issues': {
        // An issue's text about waiting proposals would not be true yet.
        if (this.reported.length + this.postponed.length > 0) return true
        await this.report(isRefusal, async () => {
          for (const write of this.planIssueWrites(action)) await this.forge.write(write, signal)
        })
        return true
      }
    }
  }

  private async push(planned: PushAction, signal: AbortSignal): Promise<void> {
    const { repository, dryRun, refusedRefs, proposalTurns, meanwhile, now } = this.request
    const target: CommitWriter = dryRun
      ? { write: ({ ref: _, ...draft }) => repository.write(draft), push: async () => {} }
      : repository
    try {
      const written = await writeTurn(
        target,
        planned,
        { ...this.ledger, refusedRefs, proposalTurns, meanwhile, now },
        signal,
      )
      for (const [key, why] of written.refused) this.refusedUnits.set(key, why)
      this.unmoved = written.unmoved
      this.files = written.files
      this.updates = written.updates
      this.postponed.push(...written.postponed)
      this.reported.push(...written.undecided)
      this.after = {
        head: written.ledger,
        pushed: new Map([...this.after.pushed, ...written.pushed]),
      }
      this.written.push(...written.updates.map(describeUpdate))
    } catch (thrown) {
      if (planned.onFailure === 'report' || !isRefusedPush(thrown)) throw thrown
      this.notPushed = thrown
    }
  }

  private planIssueWrites({ version, unpushed, ...issues }: IssuesAction): readonly ForgeAction[] {
    const { view, forge } = this.request
    const { dialect } = requireHostedForge(forge)
    const context = { ...issues, view, forge: { dialect, version, ledger: getLedgerContent(view) } }
    return planIssues(context, [...unpushed, ...this.files], this.forge.opened)
  }

  private async acknowledge(
    action: TurnAction & { readonly kind: 'acknowledge' },
    signal: AbortSignal,
  ): Promise<void> {
    const { forge, dryRun, obstacles } = this.request
    if (dryRun) return
    this.obstructed =
      (await acknowledgeComments(action, forge, obstacles, signal)) ?? this.obstructed
  }

  private async deleteBranch({ ref, commit }: EndedBranch, signal: AbortSignal): Promise<void> {
    const update = { ref, from: commit, to: null }
    try {
      if (!this.request.dryRun) await this.request.repository.push([update], signal)
      this.written.push(describeUpdate(update))
    } catch (thrown) {
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
    }
  }

  /** Proposals have a number only then. */
  private async keepNumbers(signal: AbortSignal): Promise<void> {
    const { repository, dryRun, at } = this.request
    const numbered = numberBranches(this.forge.opened, this.after.pushed)
    if (dryRun || numbered.length === 0) return
    const writes = {
      ledger: numbered.map(({ file }) => file),
      ledgerLines: numbered.map(({ line }) => line),
    }
    const updates = await writeLedger(repository, writes, {
      ...this.after,
      cluster: 'proposals',
      at,
    })
    await repository.push(updates, signal)
    this.updates = [...this.updates, ...updates]
  }

  private async land(
    { ref, commit }: TurnAction & { readonly kind: 'land' },
    signal: AbortSignal,
  ): Promise<void> {
    const { repository, dryRun } = this.request
    const { name: _name, base, changes: _changes, ...draft } = commit
    const changes = decodeChanges(commit)
    const update = {
      ref,
      from: base,
      to: await repository.write({
        ...draft,
        ...(dryRun ? {} : { ref }),
        ...{ changes, base, parents: [base] },
      }),
    }
    if (!dryRun) await repository.push([update], signal)
    this.updates = [...this.updates, update]
    this.written.push(describeUpdate(update))
  }

  private async settleIn(action: SettleAction): Promise<void> {
    if (this.request.dryRun) return void this.written.push(...action.pending.map(describeSettle))
    const { settle } = this.request
    if (settle === undefined)
      throw new TypeError('a plan that settles needs a cluster that can be written to')
    const { settled, unsettled } = await settle(action)
    this.settled.push(...settled)
    this.unsettled.push(...unsettled)
    this.written.push(...settled.map(({ pending }) => describeSettle(pending)))
  }

  private async answer(answered: AnswerAction, signal: AbortSignal): Promise<void> {
    const { view, requestedActions = NO_REQUESTED_ACTIONS, dryRun } = this.request
    const before = this.request.forge.writeCount.count
    if (!dryRun) {
      const context = { view, forge: requireHostedForge(this.request.forge), requestedActions }
      const refused = this.findRefusal(answered)
      this.answers.push(...(await applyAnswers(context, answered, refused, signal)))
    }
    for (const { policy } of answered.answers)
      if (policy !== undefined)
        this.written.push(`open a pull request that changes the policy (${policy.change.verb})`)
    if (dryRun ? answered.answers.length > 0 : this.request.forge.writeCount.count > before)
      this.written.push(`answer commands on ${answered.proposal.label}`)
  }

  /** Why nothing of the unit was written. */
  private findRefusal({ unit, isPlanned, refused }: AnswerAction): Failure | undefined {
    if (!isPlanned) return undefined
    if (this.notPushed !== undefined) return this.notPushed
    const why = this.refusedUnits.get(getActionKey(unit))
    return why ?? (refused === undefined ? undefined : new Failure(refused))
  }

  private async report(
    mayReport: (failure: Failure) => boolean,
    work: () => Promise<void>,
  ): Promise<boolean> {
    try {
      await work()
      return true
    } catch (thrown) {
      const failure = convertToFailure(thrown)
      if (!mayReport(failure)) throw thrown
      this.reported.push(failure)
      return false
    }
  }

  private async propose(plan: ProposeAction, signal: AbortSignal): Promise<void> {
    const { unit, action } = plan
    const key = getActionKey(unit)
    // After a refused push there is no branch to propose.
    if (this.refusedUnits.has(key)) return
    if (this.postponed.some((one) => getActionKey(one) === key)) return
    if (this.isPostponed(plan)) return void this.postponed.push(unit)
    const before = this.request.forge.writeCount.count
    try {
      await this.forge.write(action, signal)
      this.hasWrittenProposal ||= this.request.forge.writeCount.count > before
      this.request.proposalTurns.markDone(action.wanted.ref)
    } catch (thrown) {
      const failure = convertToFailure(thrown)
      if (!isRefusal(failure)) throw thrown
      this.refused.push(failure)
      this.refusedUnits.set(key, failure)
    }
  }

  /**
   * At least one per turn. A proposal with commands is not postponed, so that the answer is true.
   */
  private isPostponed({ isAsked }: ProposeAction): boolean {
    const givesWay = this.request.meanwhile?.shouldGiveWay() === true
    return givesWay && (this.hasWrittenProposal || this.refused.length > 0) && !isAsked
  }

  /** Then the cause is the repository and not a unit. */
  private assertProposed(): void {
    const [first] = this.refused
    if (first !== undefined && this.forge.opened.size === 0) throw first
  }

  private get ledger(): Omit<LedgerTarget, 'cluster'> {
    const { view, at } = this.request
    return { head: view.ledger, at, pushed: view.pushed }
  }
}

function isRefusal({ code }: Failure): boolean {
  return code === 'BP5003' || code === 'BP5006'
}

function isNoRace({ code }: Failure): boolean {
  return code !== 'BP4003'
}
