/** Gitea and Forgejo behind the forge's port, by their API v1. Octokit sends GitHub's parameters, which Gitea ignores without an error, so this client is our own. */
import type { ObjectId } from '../../../package/object-id.ts'
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
import { statusOf } from '../refused-answer.ts'
import { permissionSchema, repositorySchema, userSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { GiteaComments } from './gitea-comments.ts'
import { GiteaDecisions } from './gitea-decisions.ts'
import { giteaDialect } from './gitea-dialect.ts'
import { goneElsewhere, mayNotAsk } from './gitea-failure.ts'
import { GiteaIssues } from './gitea-issues.ts'
import { GiteaLabels } from './gitea-labels.ts'
import { GiteaProposals } from './gitea-proposals.ts'
import { GITEA_SETUP } from './gitea-setup.ts'
import { ensureGiteaStatuses } from './gitea-statuses.ts'

export class GiteaForge implements HostedForge {
  readonly setup = GITEA_SETUP
  readonly dialect: ForgeDialect
  readonly writeCount: WriteCount
  readonly #client: GiteaClient
  readonly #clock: Clock
  readonly #proposals: GiteaProposals
  readonly #decisions: GiteaDecisions
  readonly #comments: GiteaComments
  readonly #issues: GiteaIssues
  #self: Promise<string> | undefined

  /** @param repository of the same remote: branches, tags and the ledger go through git */
  constructor(client: GiteaClient, repository: PackageRepository, clock: Clock) {
    this.#client = client
    this.#clock = clock
    this.writeCount = client.writeCount
    this.dialect = giteaDialect(client.address)
    const labels = new GiteaLabels(client)
    this.#proposals = new GiteaProposals(client, labels, (signal) => this.#login(signal))
    this.#decisions = new GiteaDecisions(client, this.#proposals, repository, clock)
    this.#comments = new GiteaComments(client, (signal) => this.#login(signal))
    this.#issues = new GiteaIssues(client, labels, (signal) => this.#login(signal))
  }

  async readProposals(baseBranch: string, refs: readonly string[], signal: AbortSignal): Promise<readonly KnownProposal[]> {
    await this.#assertUsable(signal)
    return this.#proposals.read(baseBranch, refs, signal)
  }

  ensureProposal(wanted: WantedProposal, known: KnownProposal | undefined, signal: AbortSignal): Promise<OpenedProposal> {
    return this.#proposals.ensure(wanted, known, signal)
  }

  merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId> {
    return this.#decisions.merge(decision, signal)
  }

  close(decision: ProposalClose, signal: AbortSignal): Promise<void> {
    return this.#decisions.close(decision, signal)
  }

  assertStaysOpen(known: KnownProposal, signal: AbortSignal): Promise<void> {
    const isOpen = async (): Promise<boolean> => (await this.#proposals.get(known.number, signal)).state === 'open'
    return assertStaysOpen(known, isOpen, this.#clock, signal)
  }

  ensureStatuses(commit: ObjectId, statuses: readonly CommitStatus[], signal: AbortSignal): Promise<void> {
    return ensureGiteaStatuses(this.#client, commit, statuses, signal)
  }

  readComments(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    return this.#comments.read(number, signal)
  }

  readOwnComment(number: number, topic: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#comments.readOwn(number, topic, signal)
  }

  ensureComment(number: number, topic: string, body: string, signal: AbortSignal): Promise<void> {
    return this.#comments.ensure(number, topic, body, signal)
  }

  react(comment: ForgeComment, reaction: 'seen' | 'done' | 'refused', signal: AbortSignal): Promise<void> {
    return this.#comments.react(comment, reaction, signal)
  }

  /** Gitea tells it to administrators of the repository only; of others it says no (BP5003). */
  async permissionOf(login: string, signal: AbortSignal): Promise<Permission> {
    const path = this.#client.path(`/collaborators/${encodeURIComponent(login)}/permission`)
    try {
      const { permission } = await this.#client.get({ path, what: `ask what ${login} may do` }, permissionSchema, signal)
      if (permission === 'owner' || permission === 'admin') return 'admin'
      return permission === 'write' || permission === 'read' ? permission : 'none'
    } catch (thrown) {
      if (statusOf(thrown) === 404) return 'none'
      if (statusOf(thrown) === 403) throw mayNotAsk({ address: this.#client.address, what: `ask what ${login} may do` }, thrown)
      throw thrown
    }
  }

  ensureIssue(wanted: WantedIssue, signal: AbortSignal): Promise<KnownIssue> {
    return this.#issues.ensure(wanted, signal)
  }

  readIssue(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    return this.#issues.read(topic, signal)
  }

  closeIssue(topic: string, signal: AbortSignal): Promise<void> {
    return this.#issues.close(topic, signal)
  }

  /** Each time: a list of a repository that nobody may see would otherwise look like "none", and one that moved like the old one. */
  async #assertUsable(signal: AbortSignal): Promise<void> {
    const { address } = this.#client
    const { archived, full_name: name } = await this.#client.get(
      { path: this.#client.path(''), what: 'read the repository' },
      repositorySchema,
      signal,
    )
    const requested = { address, what: 'write to the repository' }
    if (archived) throw goneElsewhere(requested, 'it is archived', 'unarchive it, or take it out of the configuration')
    if (name.toLowerCase() === `${address.owner}/${address.repository}`.toLowerCase()) return
    throw goneElsewhere(requested, 'it was renamed or transferred', 'name the repository by its present address')
  }

  #login(signal: AbortSignal): Promise<string> {
    this.#self ??= this.#client.get({ path: '/user', what: 'ask whose the token is' }, userSchema, signal).then(({ login }) => login)
    return this.#self.catch((thrown: unknown) => {
      this.#self = undefined
      throw thrown
    })
  }
}
