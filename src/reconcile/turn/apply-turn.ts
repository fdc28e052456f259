/** Writes the actions of a turn in their order. If the process ends in between, the next turn writes the rest. */
import type { RequestedActionSource } from '@backporch/forge/check-run'
import {
  type Forge,
  HeldBackWrite,
  type HostedForge,
  type OpenedProposal,
} from '@backporch/forge/hosted-forge'
import type { PackageRepository, RefUpdate } from '@backporch/git-store/package-repository'
import { asFailure, Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  describeSettle,
  describeUpdate,
  describeWrite,
} from '../../plan/turn/forge/describe-action.ts'
import type {
  CommitTarget,
  ForgeAction,
  ProposalAction,
} from '../../plan/turn/forge/forge-action.ts'
import type { EndedBranch, SettleAction, TurnAction } from '../../plan/turn/turn-action.ts'
import type { AnsweredRequests } from '../../plan/unit/commands/plan-requests.ts'
import type { ProposalRequests } from '../../plan/unit/commands/proposal-requests.ts'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import { withPullRequest } from '../../record/pushed-branch.ts'
import type { ProposalTurns } from '../observe/proposal-turns.ts'
import type { RefusedRefs } from '../observe/refused-refs.ts'
import type { Meanwhile } from '../observe/turn-request.ts'
import { isHosted } from '../repository/is-hosted.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { type Answer, applyAnswers } from './apply/apply-answers.ts'
import {
  type CommitWriter,
  type LedgerTarget,
  pushedFile,
  writeLedger,
} from './apply/apply-writes.ts'
import { isRefusal as isRefusedPush, writeTurn } from './apply/write-turn.ts'
import { NO_REQUESTED_ACTIONS, type RequestObstacles } from './requests/observe-requests.ts'
import type { SettleOutcome } from './settle.ts'

export interface AppliedTurn extends SettleOutcome {
  /** Of all clusters, in their order. A unit whose push or proposal was refused has the reason. */
  readonly units: readonly UnitResult[]
  /** What was pushed; empty in a dry run. */
  readonly updates: readonly RefUpdate[]
  /** The open proposals, by short name of the branch. */
  readonly proposals: ReadonlyMap<string, OpenedProposal>
  /** Units whose proposals are left to the next turn. */
  readonly postponed: readonly UnitResult[]
  /** Failures that ended nothing else: issues of the repository that could not be written. */
  readonly reported: readonly Failure[]
  /** Outcomes of the requests on the forge. */
  readonly answers: readonly Answer[]
  /** Every write in order, also those that a dry run holds back: `create branch …`, `open a pull request from …`. */
  readonly written: readonly string[]
}

interface ApplyRequest {
  readonly repository: PackageRepository
  readonly forge: Forge
  readonly settle?: (action: SettleAction) => Promise<SettleOutcome>
  /** As it was before the turn. */
  readonly view: RepositoryView
  /** RFC 3339 UTC. */
  readonly at: string
  /** Nothing is pushed, and the forge holds back every write. */
  readonly dryRun: boolean
  readonly requestedActions?: RequestedActionSource | undefined
  readonly refusedRefs: RefusedRefs
  readonly proposalTurns: ProposalTurns
  readonly meanwhile?: Meanwhile | undefined
  /** Milliseconds since 1970: the present. */
  readonly now: number
  /** Gets the reasons why requests are not executed in this turn. */
  readonly obstacles?: RequestObstacles
}

/**
 * @param units of the plan
 * @throws Failure BP4003 when a ref moved since it was read: observe and plan again. BP40xx and BP50xx when nothing can be written
 */
export async function applyTurn(
  actions: readonly TurnAction[],
  units: readonly UnitResult[],
  request: ApplyRequest,
  signal: AbortSignal,
): Promise<AppliedTurn> {
  const { forge, dryRun } = request
  if (dryRun && isHosted(forge) && !forge.writeCount.dryRun)
    throw new TypeError('the forge of a dry run holds its writes back')
  return new TurnWriter(request, units).write(actions, signal)
}

class TurnWriter {
  private readonly request: ApplyRequest
  private units: readonly UnitResult[]
  private updates: readonly RefUpdate[] = []
  private readonly opened = new Map<string, OpenedProposal>()
  private readonly postponed: UnitResult[] = []
  /** By the branch of its proposal. */
  private readonly refused = new Map<string, Failure>()
  private hasWrittenProposal = false
  private readonly reported: Failure[] = []
  private readonly written: string[] = []
  private readonly answers: Answer[] = []
  private readonly settled: SettleOutcome['settled'][number][] = []
  private readonly unsettled: Failure[] = []
  /** The ledger as the push of the turn left it. */
  private after: Pick<LedgerTarget, 'head' | 'pushed'>
  /** Why the push was refused: commands are answered with it, and nothing else is written. */
  private notPushed: Failure | undefined
  /** Why the turn is planned again without some of the requests. */
  private obstructed: Failure | undefined

  constructor(request: ApplyRequest, units: readonly UnitResult[]) {
    this.request = request
    this.units = units
    this.after = { head: request.view.ledger, pushed: request.view.pushed }
  }

  async write(actions: readonly TurnAction[], signal: AbortSignal): Promise<AppliedTurn> {
    for (const action of this.request.proposalTurns.inTurn(
      actions,
      this.request.meanwhile !== undefined,
    )) {
      if (this.notPushed !== undefined && action.kind !== 'answer') continue
      if (action.kind !== 'propose') this.assertProposed()
      if (action.kind !== 'acknowledge' && this.obstructed !== undefined) throw this.obstructed
      if (!(await this.one(action, signal))) break
    }
    if (this.notPushed !== undefined) throw this.notPushed
    this.assertProposed()
    const { units, postponed, reported, written, answers, settled, unsettled } = this
    const applied = { units, postponed, reported, written, answers, settled, unsettled }
    if (this.request.dryRun) return { ...applied, updates: [], proposals: new Map() }
    return { ...applied, updates: this.updates, proposals: this.opened }
  }

  /** @returns whether the turn goes on */
  private async one(action: TurnAction, signal: AbortSignal): Promise<boolean> {
    switch (action.kind) {
      case 'forge':
        if (action.onRefusal === 'end') await this.onForge(action.write, signal)
        else if (this.reported.length === 0)
          await this.report(isRefusal, () => this.onForge(action.write, signal))
        return true
      case 'push':
        return this.report(action.onFailure === 'end' ? () => false : isNoRace, () =>
          this.push(action, signal),
        )
      case 'propose':
        await this.propose(action, signal)
        return true
      case 'acknowledge':
        await this.acknowledge(action.requests, signal)
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
        await this.answer(action.answered, signal)
        return true
      case 'settle':
        await this.settleIn(action)
        return true
      case 'issues': {
        // What an issue says of proposals that wait is not so yet.
        if (this.reported.length + this.postponed.length > 0) return true
        await this.report(isRefusal, async () => {
          for (const write of action.writes(this.units, this.opened))
            await this.onForge(write, signal)
        })
        return true
      }
    }
  }

  private async push(
    { onFailure, ...planned }: TurnAction & { readonly kind: 'push' },
    signal: AbortSignal,
  ): Promise<void> {
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
      this.units = written.units
      this.updates = written.updates
      this.postponed.push(...written.postponed)
      this.reported.push(...written.refused)
      this.after = {
        head: written.ledger,
        pushed: new Map([...this.after.pushed, ...written.pushed]),
      }
      this.written.push(...written.updates.map(describeUpdate))
    } catch (thrown) {
      if (onFailure === 'report' || !isRefusedPush(thrown)) throw thrown
      this.notPushed = thrown
      this.units = planned.units.map((unit) =>
        unit.state === 'planned' ? { ...unit, refused: thrown } : unit,
      )
    }
  }

  /** A comment that changed after planning, or cannot be read again, delays its own proposal only. */
  private async acknowledge(
    { unit, comments }: ProposalRequests,
    signal: AbortSignal,
  ): Promise<void> {
    const acted = comments.filter(({ refusal }) => refusal === undefined)
    const { dryRun, obstacles } = this.request
    if (dryRun || acted.length === 0) return
    const { number, label } = unit.proposal
    const forge = hosted(this.request.forge)
    try {
      for (const { comment } of acted) await forge.react(comment, 'seen', signal)
      const now = new Map(
        (await forge.readComments(number, signal)).map((comment) => [comment.id, comment]),
      )
      for (const { comment } of acted) {
        const found = now.get(comment.id)
        if (found?.body === comment.body && found.writer === comment.writer && !found.answered)
          continue
        obstacles?.changed.add(comment.id)
        this.obstructed = commentChanged(label)
      }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      obstacles?.unread.set(number, thrown)
      this.obstructed = commentChanged(label)
    }
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

  /** After the proposals, which have a number only then. */
  private async keepNumbers(signal: AbortSignal): Promise<void> {
    const { repository, dryRun, at } = this.request
    const numbered = [...this.opened].flatMap(([branch, { number, url }]) => {
      const pushed =
        number === undefined ? undefined : this.after.pushed.get(`refs/heads/${branch}`)
      const kept =
        pushed === undefined || number === undefined
          ? undefined
          : withPullRequest(pushed, { number, url })
      return kept === undefined
        ? []
        : [{ file: pushedFile(kept), line: `#${number} is of ${branch}` }]
    })
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
    const { name: _name, base, ...draft } = commit
    const update = {
      ref,
      from: base,
      to: await repository.write({ ...draft, ...(dryRun ? {} : { ref }), base, parents: [base] }),
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

  private async answer(answered: AnsweredRequests, signal: AbortSignal): Promise<void> {
    const { unit } = answered.requests
    const { view, requestedActions = NO_REQUESTED_ACTIONS, dryRun } = this.request
    const before = this.request.forge.writeCount.count
    if (!dryRun) {
      const own = this.units.find(
        (one) =>
          one.state === 'planned' &&
          one.unit.cluster === unit.cluster &&
          one.unit.packagePath === unit.packagePath,
      )
      const refused = own?.state === 'planned' ? own.refused : undefined
      this.answers.push(
        ...(await applyAnswers(
          { view, forge: hosted(this.request.forge), requestedActions },
          answered,
          refused,
          signal,
        )),
      )
    }
    for (const { policy } of answered.answers)
      if (policy !== undefined)
        this.written.push(`open a pull request that changes the policy (${policy.change.verb})`)
    if (dryRun ? answered.answers.length > 0 : this.request.forge.writeCount.count > before)
      this.written.push(`answer commands on ${unit.proposal.label}`)
  }

  /** @returns whether it went well */
  private async report(
    mayReport: (failure: Failure) => boolean,
    work: () => Promise<void>,
  ): Promise<boolean> {
    try {
      await work()
      return true
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (!mayReport(failure)) throw thrown
      this.reported.push(failure)
      return false
    }
  }

  private async propose(
    { unit, action }: TurnAction & { readonly kind: 'propose' },
    signal: AbortSignal,
  ): Promise<void> {
    const { branch } = unit.plan
    // After a refused push there is no branch to propose.
    if (
      this.units.some(
        (one) => one.state === 'planned' && one.refused !== undefined && isSame(one, unit),
      )
    )
      return
    if (this.postponed.some((one) => isSame(one, unit))) return
    if (this.isPostponed(unit)) return void this.postponed.push(unit)
    const before = this.request.forge.writeCount.count
    try {
      await this.onForge(action, signal)
      this.hasWrittenProposal ||= this.request.forge.writeCount.count > before
      this.request.proposalTurns.done(action.wanted.ref)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (!isRefusal(failure)) throw thrown
      this.refused.set(branch, failure)
      this.units = this.units.map((one) => (isSame(one, unit) ? { ...one, refused: failure } : one))
    }
  }

  /** Each turn writes one at least. The answer to a command is true: its proposal is written before. */
  private isPostponed({ requests }: UnitResult & { readonly state: 'planned' }): boolean {
    const givesWay = this.request.meanwhile?.givesWay() === true
    const isAsked = requests.some(({ answers }) => answers.length > 0)
    return givesWay && (this.hasWrittenProposal || this.refused.size > 0) && !isAsked
  }

  /** If the forge refuses every proposal, the cause is the repository and not a unit. */
  private assertProposed(): void {
    const [first] = this.refused.values()
    if (first !== undefined && this.opened.size === 0) throw first
  }

  private async onForge(write: ForgeAction, signal: AbortSignal): Promise<void> {
    if (write.kind === 'proposal') return this.openProposal(write, signal)
    const forge = hosted(this.request.forge)
    switch (write.kind) {
      case 'statuses':
        return this.onCommit(write, (commit) =>
          forge.ensureStatuses(commit, write.statuses, signal),
        )
      case 'check-run':
        return this.onCommit(write, async (commit) =>
          forge.checkRuns?.ensureCheckRun(commit, write.run, signal),
        )
      case 'comment':
        return this.noted(write, () =>
          forge.ensureComment(write.proposal, write.topic, write.body, signal),
        )
      case 'issue':
        return this.noted(write, async () => void (await forge.ensureIssue(write, signal)))
      case 'stays-open':
        return forge.assertStaysOpen(write.proposal, signal)
      case 'close-proposal':
        return this.noted(write, () => forge.closeProposal(write.proposal, signal))
      case 'close-issue':
        return this.noted(write, () => forge.closeIssue(write.topic, signal))
    }
  }

  /** The forge does not have the commits of a dry run, so it has no statuses of them. */
  private async onCommit(
    write: ForgeAction & { readonly commit: CommitTarget },
    work: (commit: ObjectId) => Promise<void>,
  ): Promise<void> {
    const commit = this.commitOf(write.commit)
    if (commit === undefined) return
    const isCreated = this.request.dryRun && this.updates.some(({ to }) => to === commit)
    if (!isCreated) return this.noted(write, () => work(commit))
    if (write.kind !== 'check-run' || hosted(this.request.forge).checkRuns !== undefined)
      this.written.push(describeWrite(write))
  }

  /** Notes a write only if it changed something. */
  private async noted(write: ForgeAction, work: () => Promise<void>): Promise<void> {
    const { writeCount } = this.request.forge
    const before = writeCount.count
    try {
      await work()
    } catch (thrown) {
      if (!(thrown instanceof HeldBackWrite)) throw thrown
    }
    if (writeCount.count > before) this.written.push(describeWrite(write))
  }

  private async openProposal(write: ProposalAction, signal: AbortSignal): Promise<void> {
    const { wanted, known, whenOpened } = write
    const commit = this.commitOf({ headOf: wanted.ref })
    if (commit === undefined) return
    let opened: OpenedProposal =
      known?.state === 'open' ? known : { label: '', url: '', number: undefined }
    await this.noted(write, async () => {
      opened = await this.request.forge.ensureProposal({ ...wanted, commit }, known, signal)
    })
    for (const next of whenOpened(opened)) await this.onForge(next, signal)
    this.opened.set(wanted.ref.replace(/^refs\/heads\//, ''), opened)
  }

  private get ledger(): Omit<LedgerTarget, 'cluster'> {
    const { view, at } = this.request
    return { head: view.ledger, at, pushed: view.pushed }
  }

  private commitOf(target: CommitTarget): ObjectId | undefined {
    if (typeof target === 'string') return target
    const update = this.updates.find(({ ref }) => ref === target.headOf)
    return update === undefined
      ? this.request.view.refs.get(target.headOf)
      : (update.to ?? undefined)
  }
}

function commentChanged(label: string): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'a comment may have changed while its command was planned',
    where: label,
    why: 'somebody edited it, deleted it or answered it, or the forge does not give it any more',
    remedy: 'nothing: it is read again',
    retry: 'backoff',
  })
}

function isSame(
  one: UnitResult,
  unit: UnitResult & { readonly state: 'planned' },
): one is UnitResult & { readonly state: 'planned' } {
  return one.state === 'planned' && one.unit === unit.unit
}

function hosted(forge: Forge): HostedForge {
  if (isHosted(forge)) return forge
  throw new TypeError('a plan for git alone has no comments')
}

/** The forge does not allow the write, or the feature is off. Nothing else depends on it. */
function isRefusal({ code }: Failure): boolean {
  return code === 'BP5003' || code === 'BP5006'
}

function isNoRace({ code }: Failure): boolean {
  return code !== 'BP4003'
}
