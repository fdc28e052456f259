/**
 * Safe to interrupt: GitHub's merge decides. Tag, deleted branch and ledger follow in one push, or
 * the next turn finds the decision by its content (`src/plan/unit/found-decisions.ts`). A close is
 * one push: GitHub closes the pull request of a deleted branch.
 */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import {
  createMovedFailure,
  createNotOpenFailure,
  finishMerge,
  mergeRefused,
} from '../adapter/finish-merge.ts'
import { findRefusedStatus, mayBeDone } from '../adapter/refused-answer.ts'
import type { KnownProposal, ProposalClose, ProposalMerge } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'
import { enqueue } from './github-merge-queue.ts'
import type { GitHubProposals } from './github-proposals.ts'

const HEADS = 'refs/heads/'

export class GitHubDecisions {
  readonly #client: GitHubClient
  readonly #proposals: GitHubProposals
  readonly #repository: PackageRepository

  constructor(client: GitHubClient, proposals: GitHubProposals, repository: PackageRepository) {
    this.#client = client
    this.#proposals = proposals
    this.#repository = repository
  }

  /** A squash or a rebase if the settings require it. */
  async merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId | 'queued'> {
    const { proposal, base } = decision
    const { remote } = this.#repository
    const { refs } = await this.#repository.listRefs(signal)
    // GitHub guards only the head; a decision is found by content in any case.
    if (refs.get(base.ref) !== base.commit) throw createMovedFailure(remote, base.ref)
    const pull = await this.#proposals.findLastProposal(proposal.ref, signal)
    if (pull?.state !== 'open' || pull.baseBranch !== base.ref.slice(HEADS.length))
      throw createNotOpenFailure(remote, proposal.ref, describeNotOpen(pull))
    if (pull.commit !== proposal.commit) throw createMovedFailure(remote, proposal.ref)
    const commit = await this.#mergePull(pull.number, decision, signal)
    if (commit === 'queued') return commit
    await finishMerge(this.#repository, decision, commit, signal)
    return commit
  }

  /** The push completes the decision. */
  async close({ proposal, along }: ProposalClose, signal: AbortSignal): Promise<void> {
    const pull = await this.#proposals.findLastProposal(proposal.ref, signal)
    await this.#repository.push(
      [{ ref: proposal.ref, from: proposal.commit, to: null }, ...along],
      signal,
    )
    if (pull?.state === 'open') await this.#proposals.close(pull, signal)
  }

  async #mergePull(
    number: number,
    { proposal, merge }: ProposalMerge,
    signal: AbortSignal,
  ): Promise<ObjectId | 'queued'> {
    const target = await this.#client.getWritableTarget(`merge #${number}`, signal)
    const { mergeMethods } = await this.#client.getFacts(signal)
    const [title = '', ...rest] = merge.message.split('\n')
    const message = { commit_title: title, commit_message: rest.join('\n').trim() }
    const [best = 'merge'] = mergeMethods
    let refusal: unknown
    // Twice, because "the base branch was modified" is a transient 405. A ruleset may allow less
    // than the settings do.
    for (const method of [best, ...(mergeMethods.length === 0 ? [best] : mergeMethods)]) {
      try {
        // Rebased commits keep their own messages.
        const text = method === 'rebase' ? {} : message
        const requested = {
          ...target,
          pull_number: number,
          sha: proposal.commit,
          merge_method: method,
          ...text,
        }
        const { data } = await this.#client.ask(`merge #${number}`, () =>
          this.#client.octokit.rest.pulls.merge(requested),
        )
        return parseObjectId(data.sha)
      } catch (thrown) {
        if (mayBeDone(thrown)) return this.#findMergeCommit(number, thrown, signal)
        if (findRefusedStatus(thrown) === 409)
          throw createMovedFailure(this.#repository.remote, proposal.ref)
        if (findRefusedStatus(thrown) !== 405) throw thrown
        if (wantsQueue(thrown)) return this.#enqueue(number, proposal.commit, signal)
        refusal ??= thrown
      }
    }
    const reasons = 'a review or a check is missing, it is a draft'
    throw mergeRefused(
      this.#repository.remote,
      `GitHub does not merge #${number}`,
      reasons,
      refusal,
    )
  }

  async #enqueue(number: number, commit: ObjectId, signal: AbortSignal): Promise<'queued'> {
    const target = await this.#client.getWritableTarget(`enqueue #${number}`, signal)
    const { data } = await this.#client.ask(`check #${number}`, () =>
      this.#client.octokit.rest.pulls.get({ ...target, pull_number: number }),
    )
    try {
      await enqueue(this.#client, { number, id: data.node_id, head: commit }, signal)
    } catch (thrown) {
      if (findRefusedStatus(thrown) !== 422) throw thrown
      const reasons = 'a review or a check is missing, it is a draft, or it has conflicts'
      throw mergeRefused(
        this.#repository.remote,
        `GitHub does not put #${number} into the merge queue`,
        reasons,
        thrown,
      )
    }
    return 'queued'
  }

  async #findMergeCommit(number: number, thrown: unknown, signal: AbortSignal): Promise<ObjectId> {
    const target = await this.#client.getTarget(signal)
    const { data } = await this.#client.ask(`check #${number}`, () =>
      this.#client.octokit.rest.pulls.get({ ...target, pull_number: number }),
    )
    if (!data.merged || data.merge_commit_sha === null) throw thrown
    return parseObjectId(data.merge_commit_sha)
  }
}

/** docs/facts/github-merge-queue.md */
function wantsQueue(thrown: unknown): boolean {
  return thrown instanceof Failure && /merge queue/i.test(thrown.why)
}

function describeNotOpen(pull: KnownProposal | undefined): string {
  if (pull === undefined) return 'none was opened yet'
  return pull.state === 'open'
    ? `${pull.label} goes into ${pull.baseBranch}`
    : `${pull.label} is ${pull.state}`
}
