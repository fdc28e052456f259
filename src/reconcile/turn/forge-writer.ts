import {
  type Forge,
  HeldBackWrite,
  type HostedForge,
  type OpenedProposal,
} from '@backporch/forge/hosted-forge'
import type { RefUpdate } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { describeWrite } from '../../plan/turn/forge/describe-action.ts'
import type {
  CommitTarget,
  ForgeAction,
  ProposalAction,
} from '../../plan/turn/forge/forge-action.ts'
import { followUps } from '../../plan/turn/forge/moved-proposals.ts'
import { isHosted } from '../repository/is-hosted.ts'
import type { RepositoryView } from '../repository/repository-view.ts'

interface WritingTurn {
  readonly view: Pick<RepositoryView, 'refs'>
  readonly dryRun: boolean
  readonly updates: () => readonly RefUpdate[]
  readonly written: string[]
}

export class ForgeWriter {
  readonly opened = new Map<string, OpenedProposal>()
  private readonly forge: Forge
  private readonly turn: WritingTurn

  constructor(forge: Forge, turn: WritingTurn) {
    this.forge = forge
    this.turn = turn
  }

  async write(write: ForgeAction, signal: AbortSignal): Promise<void> {
    if (write.kind === 'proposal') return this.openProposal(write, signal)
    const forge = requireHostedForge(this.forge)
    switch (write.kind) {
      case 'statuses':
        return this.runOnCommit(write, (commit) =>
          forge.ensureStatuses(commit, write.statuses, signal),
        )
      case 'check-run':
        return this.runOnCommit(write, async (commit) =>
          forge.checkRuns?.ensureCheckRun(commit, write.run, signal),
        )
      case 'comment':
        return this.noteWrite(write, () =>
          forge.ensureComment(write.proposal, write.topic, write.body, signal),
        )
      case 'issue':
        return this.noteWrite(write, async () => void (await forge.ensureIssue(write, signal)))
      case 'stays-open':
        return forge.assertStaysOpen(write.proposal, signal)
      case 'close-proposal':
        return this.noteWrite(write, () => forge.closeProposal(write.proposal, signal))
      case 'close-issue':
        return this.noteWrite(write, () => forge.closeIssue(write.topic, signal))
    }
  }

  /** The forge lacks a dry run's commits. */
  private async runOnCommit(
    write: ForgeAction & { readonly commit: CommitTarget },
    work: (commit: ObjectId) => Promise<void>,
  ): Promise<void> {
    const commit = this.findCommit(write.commit)
    if (commit === undefined) return
    const isCreated = this.turn.dryRun && this.turn.updates().some(({ to }) => to === commit)
    if (!isCreated) return this.noteWrite(write, () => work(commit))
    if (write.kind !== 'check-run' || requireHostedForge(this.forge).checkRuns !== undefined)
      this.turn.written.push(describeWrite(write))
  }

  private async noteWrite(write: ForgeAction, work: () => Promise<void>): Promise<void> {
    const { writeCount } = this.forge
    const before = writeCount.count
    try {
      await work()
    } catch (thrown) {
      if (!(thrown instanceof HeldBackWrite)) throw thrown
    }
    if (writeCount.count > before) this.turn.written.push(describeWrite(write))
  }

  private async openProposal(write: ProposalAction, signal: AbortSignal): Promise<void> {
    const { wanted, known, followedBy } = write
    const commit = this.findCommit({ headOf: wanted.ref })
    if (commit === undefined) return
    let opened: OpenedProposal =
      known?.state === 'open' ? known : { label: '', url: '', number: undefined }
    await this.noteWrite(write, async () => {
      opened = await this.forge.ensureProposal({ ...wanted, commit }, known, signal)
    })
    for (const next of followUps(followedBy, opened)) await this.write(next, signal)
    this.opened.set(wanted.ref.replace(/^refs\/heads\//, ''), opened)
  }

  private findCommit(target: CommitTarget): ObjectId | undefined {
    if (typeof target === 'string') return target
    const update = this.turn.updates().find(({ ref }) => ref === target.headOf)
    return update === undefined ? this.turn.view.refs.get(target.headOf) : (update.to ?? undefined)
  }
}

/** @throws TypeError without a forge */
export function requireHostedForge(forge: Forge): HostedForge {
  if (isHosted(forge)) return forge
  throw new TypeError('a plan for git alone has no comments')
}
