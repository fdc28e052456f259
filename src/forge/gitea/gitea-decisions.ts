/**
 * Gitea's merge decides. Tag, deleted branch and ledger follow in one push, or the next turn writes
 * them: it finds a decision by its content (`src/plan/unit/found-decisions.ts`).
 */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { Clock } from '@backporch/system/clock'
import {
  createMovedFailure,
  createNotOpenFailure,
  finishMerge,
  mergeRefused,
} from '../adapter/finish-merge.ts'
import { createWrongForgeFailure } from '../adapter/forge-failure.ts'
import { findRefusedStatus, mayBeDone } from '../adapter/refused-answer.ts'
import type { KnownProposal, ProposalClose, ProposalMerge } from '../ports/hosted-forge.ts'
import { type PullRequest, repositorySchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import type { GiteaProposals } from './gitea-proposals.ts'

const HEADS = 'refs/heads/'
const ENDED = 'none was opened yet, or it was closed or merged meanwhile'
const REASONS = 'a review or a check is missing, it is a draft, it has a conflict'
/** Milliseconds. Gitea's check after a push takes 50 to 200 (`docs/facts/gitea-api.md`). */
const WAITS = [100, 200, 400, 800, 1_600, 3_200]

export class GiteaDecisions {
  readonly #client: GiteaClient
  readonly #proposals: GiteaProposals
  readonly #repository: PackageRepository
  readonly #clock: Clock

  constructor(
    client: GiteaClient,
    proposals: GiteaProposals,
    repository: PackageRepository,
    clock: Clock,
  ) {
    this.#client = client
    this.#proposals = proposals
    this.#repository = repository
    this.#clock = clock
  }

  /** Another style if the repository does not allow merge commits. */
  async merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId> {
    const { proposal, base } = decision
    await this.#assertUnmoved(decision, signal)
    const open = await this.#proposals.findOpen(
      { ref: proposal.ref, baseBranch: base.ref.slice(HEADS.length) },
      signal,
    )
    if (open === undefined) throw createNotOpenFailure(this.#repository.remote, proposal.ref, ENDED)
    const commit = await this.#merge(open, decision, signal)
    await finishMerge(this.#repository, decision, commit, signal)
    return commit
  }

  /**
   * The push completes the decision. Gitea closes the pull request of a deleted branch some time
   * later (services/pull: AdjustPullsCausedByBranchDeleted), and until then it would be read as
   * open.
   */
  async close({ proposal, along }: ProposalClose, signal: AbortSignal): Promise<void> {
    const bases = await this.#proposals.listOpenFrom(proposal.ref, signal)
    await this.#repository.push(
      [{ ref: proposal.ref, from: proposal.commit, to: null }, ...along],
      signal,
    )
    for (const { number } of bases)
      if ((await this.#proposals.get(number, signal)).state === 'open')
        await this.#proposals.close(number, signal)
  }

  async #merge(
    { number, label }: KnownProposal,
    decision: ProposalMerge,
    signal: AbortSignal,
  ): Promise<ObjectId> {
    const { proposal, merge } = decision
    const { remote } = this.#repository
    const [title = '', ...rest] = merge.message.split('\n')
    const body = {
      Do: await this.#style(signal),
      MergeTitleField: title,
      MergeMessageField: rest.join('\n').trim(),
      head_commit_id: proposal.commit,
      delete_branch_after_merge: false,
    }
    const request = {
      method: 'POST',
      path: this.#client.buildPath(`/pulls/${number}/merge`),
      body,
      what: `merge ${label}`,
    } as const
    for (const wait of [...WAITS, undefined]) {
      try {
        await this.#client.send(request, signal)
        return this.#getMergeCommit(await this.#proposals.get(number, signal))
      } catch (thrown) {
        const status = findRefusedStatus(thrown)
        if (!mayBeDone(thrown) && status !== 405 && status !== 409) throw thrown
        const pull = await this.#proposals.get(number, signal).catch(() => undefined)
        if (pull?.merged === true) return this.#getMergeCommit(pull)
        if (mayBeDone(thrown)) throw thrown
        if (pull !== undefined && pull.state !== 'open')
          throw createNotOpenFailure(remote, proposal.ref, ENDED)
        if (status === 409) await this.#assertUnmoved(decision, signal)
        // A 405 means "not checked yet", a conflict, or an unmet rule.
        if (status === 409 || wait === undefined || pull?.draft === true)
          throw mergeRefused(remote, `Gitea does not merge ${label}`, REASONS, thrown)
        await this.#clock.sleep(wait, signal)
      }
    }
    throw new TypeError('not reached')
  }

  #getMergeCommit({ merged, merge_commit_sha: commit }: PullRequest): ObjectId {
    if (merged && commit) return parseObjectId(commit)
    throw createWrongForgeFailure(
      { address: this.#client.address, what: 'merge the pull request' },
      'it says that it did, and names no commit',
    )
  }

  async #style(signal: AbortSignal): Promise<string> {
    const requested = { path: this.#client.buildPath(''), what: 'read the repository' }
    const allowed = await this.#client.get(requested, repositorySchema, signal)
    if (allowed.allow_merge_commits !== false) return 'merge'
    if (allowed.allow_squash_merge === true) return 'squash'
    if (allowed.allow_rebase_explicit === true) return 'rebase-merge'
    if (allowed.allow_rebase === true) return 'rebase'
    return allowed.allow_fast_forward_only_merge === true ? 'fast-forward-only' : 'merge'
  }

  /** Gitea guards only the head; a decision is found by content in any case. */
  async #assertUnmoved({ proposal, base }: ProposalMerge, signal: AbortSignal): Promise<void> {
    const { refs } = await this.#repository.listRefs(signal)
    for (const { ref, commit } of [base, proposal]) {
      if (refs.get(ref) !== commit) throw createMovedFailure(this.#repository.remote, ref)
    }
  }
}
