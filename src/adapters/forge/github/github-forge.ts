/** GitHub as a forge: the parts put together. */
import type { ObjectId } from '../../../package/object-id.ts'
import type { ForgeCheckRuns } from '../../../ports/check-run.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ProposalClose, ProposalMerge } from '../../../ports/forge.ts'
import type {
  CommitStatus,
  ForgeComment,
  ForgeDialect,
  HostedForge,
  KnownIssue,
  KnownProposal,
  OpenedProposal,
  Permission,
  WantedIssue,
  WantedProposal,
  WriteCount,
} from '../../../ports/hosted-forge.ts'
import type { PackageRepository } from '../../../ports/package-repository.ts'
import { assertStaysOpen } from '../finish-merge.ts'
import type { GitHubClient } from './github-client.ts'
import { GitHubConversation } from './github-conversation.ts'
import { GitHubDecisions } from './github-decisions.ts'
import { githubDialect } from './github-dialect.ts'
import { GitHubIssues } from './github-issues.ts'
import { GitHubLabels } from './github-labels.ts'
import { GitHubProposals } from './github-proposals.ts'
import { GITHUB_SETUP } from './github-setup.ts'
import { ensureStatuses } from './github-statuses.ts'

export interface GitHubForgeParts {
  readonly repository: PackageRepository
  readonly clock: Clock
  readonly writeCount: WriteCount
}

/** See the port for what each verb promises. One object serves one repository for one turn or many. */
export class GitHubForge implements HostedForge {
  readonly setup = GITHUB_SETUP
  readonly dialect: ForgeDialect
  readonly checkRuns: ForgeCheckRuns | undefined
  readonly writeCount: WriteCount
  readonly #client: GitHubClient
  readonly #clock: Clock
  readonly #proposals: GitHubProposals
  readonly #decisions: GitHubDecisions
  readonly #conversation: GitHubConversation
  readonly #issues: GitHubIssues

  /** @param checkRuns where we are an App: no token of a person may make one */
  constructor(client: GitHubClient, { repository, clock, writeCount }: GitHubForgeParts, checkRuns?: ForgeCheckRuns) {
    const labels = new GitHubLabels(client)
    this.dialect = githubDialect(client.address)
    this.checkRuns = checkRuns
    this.writeCount = writeCount
    this.#client = client
    this.#clock = clock
    this.#proposals = new GitHubProposals(client, labels)
    this.#decisions = new GitHubDecisions(client, this.#proposals, repository)
    this.#conversation = new GitHubConversation(client)
    this.#issues = new GitHubIssues(client, labels)
  }

  async readProposals(baseBranch: string, refs: readonly string[], signal: AbortSignal): Promise<readonly KnownProposal[]> {
    return this.#proposals.read(baseBranch, refs, signal)
  }

  async ensureProposal(wanted: WantedProposal, known: KnownProposal | undefined, signal: AbortSignal): Promise<OpenedProposal> {
    return this.#proposals.ensure(wanted, known, signal)
  }

  async merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId> {
    return this.#decisions.merge(decision, signal)
  }

  async close(decision: ProposalClose, signal: AbortSignal): Promise<void> {
    return this.#decisions.close(decision, signal)
  }

  async assertStaysOpen(known: KnownProposal, signal: AbortSignal): Promise<void> {
    return assertStaysOpen(known, () => this.#proposals.isOpen(known, signal), this.#clock, signal)
  }

  async ensureStatuses(commit: ObjectId, statuses: readonly CommitStatus[], signal: AbortSignal): Promise<void> {
    return ensureStatuses(this.#client, commit, statuses, signal)
  }

  async readComments(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    return this.#conversation.read(number, signal)
  }

  async readOwnComment(number: number, topic: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#conversation.readOwn(number, topic, signal)
  }

  async ensureComment(number: number, topic: string, body: string, signal: AbortSignal): Promise<void> {
    return this.#conversation.ensure(number, topic, body, signal)
  }

  async react(comment: ForgeComment, reaction: 'seen' | 'done' | 'refused', signal: AbortSignal): Promise<void> {
    return this.#conversation.react(comment, reaction, signal)
  }

  async permissionOf(login: string, signal: AbortSignal): Promise<Permission> {
    return this.#conversation.permissionOf(login, signal)
  }

  async ensureIssue(wanted: WantedIssue, signal: AbortSignal): Promise<KnownIssue> {
    return this.#issues.ensure(wanted, signal)
  }

  async readIssue(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    return this.#issues.read(topic, signal)
  }

  async closeIssue(topic: string, signal: AbortSignal): Promise<void> {
    return this.#issues.close(topic, signal)
  }
}
