/** Gitea and Forgejo behind the forge's port, by their API v1. Octokit is silently wrong there (`ux.md` §3), so the client is our own. */
import type * as z from 'zod'
import { asFailure, type Failure } from '../../../failure.ts'
import { type ObjectId, objectId } from '../../../package/object-id.ts'
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
  WantedProposal,
} from '../../../ports/hosted-forge.ts'
import type { PackageRepository } from '../../../ports/package-repository.ts'
import { sameText } from '../topic-marker.ts'
import {
  DRAFT_PREFIX,
  type PullRequest,
  permissionSchema,
  proposalOf,
  pullRequestSchema,
  repositorySchema,
  timelineSchema,
  userSchema,
} from './gitea-answers.ts'
import type { GiteaClient, GiteaRequest } from './gitea-client.ts'
import { GiteaComments } from './gitea-comments.ts'
import { giteaDialect } from './gitea-dialect.ts'
import { goneElsewhere, notGitea, refusedRequest, statusOf } from './gitea-failure.ts'
import { GiteaIssues } from './gitea-issues.ts'
import { GiteaLabels } from './gitea-labels.ts'
import { ensureGiteaStatuses } from './gitea-statuses.ts'

/** Closed proposals that are looked through before one is asked for by its branch: those that changed last. */
const RECENT_PAGES = 2
const PAGE = 50

export class GiteaForge implements HostedForge {
  readonly dialect: ForgeDialect
  readonly #client: GiteaClient
  readonly #repository: PackageRepository
  readonly #labels: GiteaLabels
  readonly #comments: GiteaComments
  readonly #issues: GiteaIssues
  #self: Promise<string> | undefined
  #usable: Promise<void> | undefined

  /** @param repository of the same remote: branches, tags and the ledger go through git */
  constructor(client: GiteaClient, repository: PackageRepository) {
    this.#client = client
    this.#repository = repository
    this.dialect = giteaDialect(client.address)
    this.#labels = new GiteaLabels(client)
    this.#comments = new GiteaComments(client, (signal) => this.#login(signal))
    this.#issues = new GiteaIssues(client, this.#labels, (signal) => this.#login(signal))
  }

  async readProposals(baseBranch: string, refs: readonly string[], signal: AbortSignal): Promise<readonly KnownProposal[]> {
    await this.#assertUsable(signal)
    const open = await this.#pulls('open', 'oldest', signal)
    const ours = open.filter((pull) => isOurs(pull) && pull.base.ref === baseBranch).map((pull) => proposalOf(pull, ''))
    const missing = new Set(refs.filter((ref) => !ours.some((proposal) => proposal.ref === ref)))
    return missing.size === 0 ? ours : [...ours, ...(await this.#ended(baseBranch, missing, signal))]
  }

  async ensureProposal(wanted: WantedProposal, known: KnownProposal | undefined, signal: AbortSignal): Promise<OpenedProposal> {
    const open = known?.state === 'open' ? known : await this.#open(wanted, signal)
    await this.#update(open, wanted, signal)
    await this.#labels.ensure(open.number, open.labels, wanted.labels, signal)
    return { label: open.label, url: open.url, number: open.number }
  }

  async merge({ proposal, merge, tag, along }: ProposalMerge, signal: AbortSignal): Promise<ObjectId> {
    const [known] = (await this.#pulls('open', 'oldest', signal)).filter((pull) => `refs/heads/${pull.head.label}` === proposal.ref)
    if (known === undefined) throw this.#refused('merge the pull request', 'it is not open any more', 'scan again')
    const [title = '', ...rest] = merge.message.split('\n')
    const body = {
      Do: 'merge',
      MergeTitleField: title,
      MergeMessageField: rest.join('\n').trim(),
      head_commit_id: proposal.commit,
      delete_branch_after_merge: false,
    }
    await this.#client.send(
      { method: 'POST', path: this.#path(`/pulls/${known.number}/merge`), body, what: 'merge the pull request' },
      signal,
    )
    const merged = await this.#pull(known.number, signal)
    const commit = objectId(merged.merge_commit_sha ?? '')
    // What is missing after an interruption here, the next turn finds by the record on the base branch.
    await this.#repository.push(
      [{ ref: tag, from: null, to: commit }, { ref: proposal.ref, from: proposal.commit, to: null }, ...along],
      signal,
    )
    return commit
  }

  /** Gitea closes a pull request whose branch is deleted (services/pull: AdjustPullsCausedByBranchDeleted). */
  async close({ proposal, along }: ProposalClose, signal: AbortSignal): Promise<void> {
    await this.#repository.push([{ ref: proposal.ref, from: proposal.commit, to: null }, ...along], signal)
  }

  ensureStatuses(commit: ObjectId, statuses: readonly CommitStatus[], signal: AbortSignal): Promise<void> {
    return ensureGiteaStatuses(this.#client, commit, statuses, signal)
  }

  readComments(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    return this.#comments.read(number, signal)
  }

  ensureComment(number: number, topic: string, body: string, signal: AbortSignal): Promise<void> {
    return this.#comments.ensure(number, topic, body, signal)
  }

  react(comment: ForgeComment, reaction: 'seen' | 'done' | 'refused', signal: AbortSignal): Promise<void> {
    return this.#comments.react(comment, reaction, signal)
  }

  /** Gitea tells it to administrators of the repository only; of others it says no (BP5003). */
  async permissionOf(login: string, signal: AbortSignal): Promise<Permission> {
    const path = this.#path(`/collaborators/${encodeURIComponent(login)}/permission`)
    try {
      const { permission } = await this.#get({ path, what: `ask what ${login} may do` }, permissionSchema, signal)
      if (permission === 'owner' || permission === 'admin') return 'admin'
      return permission === 'write' || permission === 'read' ? permission : 'none'
    } catch (thrown) {
      if (statusOf(thrown) === 404) return 'none'
      throw thrown
    }
  }

  ensureIssue(topic: string, title: string, body: string, labels: readonly string[], signal: AbortSignal): Promise<KnownIssue> {
    return this.#issues.ensure(topic, title, body, labels, signal)
  }

  readIssue(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    return this.#issues.read(topic, signal)
  }

  closeIssue(topic: string, signal: AbortSignal): Promise<void> {
    return this.#issues.close(topic, signal)
  }

  async #open(wanted: WantedProposal, signal: AbortSignal): Promise<KnownProposal> {
    const body = {
      head: wanted.ref.slice('refs/heads/'.length),
      base: wanted.baseBranch,
      title: `${wanted.draft ? DRAFT_PREFIX : ''}${wanted.title}`,
      body: wanted.body,
    }
    try {
      const request = { method: 'POST', path: this.#path('/pulls'), body, what: 'open a pull request' } as const
      const opened = this.#parsed(await this.#client.send(request, signal), pullRequestSchema, request.what)
      await this.#askReviewers(opened.number, wanted.reviewers, signal)
      return proposalOf(opened, '')
    } catch (thrown) {
      // Refused as a duplicate, or done although the answer was lost: what stands there is the one.
      const failure = asFailure(thrown)
      const mayBeThere = statusOf(thrown) === 409 || failure.code === 'BP5001' || failure.code === 'BP5005'
      const there = mayBeThere ? await this.#openFrom(wanted, signal).catch(() => undefined) : undefined
      if (there === undefined) throw thrown
      return there
    }
  }

  async #openFrom({ ref, baseBranch }: WantedProposal, signal: AbortSignal): Promise<KnownProposal | undefined> {
    const open = await this.#pulls('open', 'oldest', signal)
    const pull = open.find((each) => `refs/heads/${each.head.label}` === ref && each.base.ref === baseBranch && isOwnBranch(each))
    return pull === undefined ? undefined : proposalOf(pull, '')
  }

  async #update(open: KnownProposal, wanted: WantedProposal, signal: AbortSignal): Promise<void> {
    const isTitle = open.title === wanted.title && open.draft === wanted.draft
    if (isTitle && sameText(open.body, wanted.body)) return
    const body = { title: `${wanted.draft ? DRAFT_PREFIX : ''}${wanted.title}`, body: wanted.body }
    await this.#client.send({ method: 'PATCH', path: this.#path(`/pulls/${open.number}`), body, what: 'update the pull request' }, signal)
  }

  /** One by one: Gitea refuses all of them for one that may not be asked. */
  async #askReviewers(number: number, reviewers: readonly string[], signal: AbortSignal): Promise<void> {
    for (const name of reviewers) {
      const team = name.includes('/') ? name.slice(name.indexOf('/') + 1) : undefined
      const body = team === undefined ? { reviewers: [name] } : { team_reviewers: [team] }
      const path = this.#path(`/pulls/${number}/requested_reviewers`)
      try {
        await this.#client.send({ method: 'POST', path, body, what: 'ask for a review' }, signal)
      } catch (thrown) {
        const status = statusOf(thrown)
        if (status !== 403 && status !== 404 && status !== 422) throw thrown
      }
    }
  }

  async #ended(baseBranch: string, refs: ReadonlySet<string>, signal: AbortSignal): Promise<KnownProposal[]> {
    const found = new Map<string, PullRequest>()
    const take = (pull: PullRequest): void => {
      const ref = `refs/heads/${pull.head.label}`
      const before = found.get(ref)
      if (refs.has(ref) && pull.base.ref === baseBranch && isOwnBranch(pull) && (before?.number ?? 0) < pull.number) found.set(ref, pull)
    }
    for (let page = 1; page <= RECENT_PAGES && found.size < refs.size; page += 1) {
      const query = { state: 'closed', sort: 'recentupdate', page, limit: PAGE }
      const answer = await this.#client.send({ method: 'GET', path: this.#path('/pulls'), query, what: 'list pull requests' }, signal)
      const pulls = this.#parsed(answer, pullRequestSchema.array(), 'list pull requests')
      for (const pull of pulls) take(pull)
      if (pulls.length === 0) break
    }
    for (const ref of refs) {
      if (found.has(ref)) continue
      const pull = await this.#byBranch(baseBranch, ref.slice('refs/heads/'.length), signal)
      if (pull !== undefined) take(pull)
    }
    return Promise.all([...found.values()].map(async (pull) => proposalOf(pull, pull.merged ? '' : await this.#closedBy(pull, signal))))
  }

  async #byBranch(base: string, branch: string, signal: AbortSignal): Promise<PullRequest | undefined> {
    const head = branch.split('/').map(encodeURIComponent).join('/')
    try {
      return await this.#get(
        { path: this.#path(`/pulls/${encodeURIComponent(base)}/${head}`), what: 'find the pull request of a branch' },
        pullRequestSchema,
        signal,
      )
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined
      throw thrown
    }
  }

  /** Login of who closed it last; empty where the timeline does not say. */
  async #closedBy({ number }: PullRequest, signal: AbortSignal): Promise<string> {
    const events = await this.#client.list(
      { path: this.#path(`/issues/${number}/timeline`), what: 'read who closed the pull request' },
      signal,
    )
    const closes = events.flatMap((event) => {
      const parsed = timelineSchema.safeParse(event)
      return parsed.success && parsed.data.type === 'close' ? [parsed.data] : []
    })
    return closes.at(-1)?.user?.login ?? ''
  }

  async #pulls(state: 'open', sort: string, signal: AbortSignal): Promise<readonly PullRequest[]> {
    const listed = await this.#client.list({ path: this.#path('/pulls'), query: { state, sort }, what: 'list pull requests' }, signal)
    return this.#parsed(listed, pullRequestSchema.array(), 'list pull requests')
  }

  #pull(number: number, signal: AbortSignal): Promise<PullRequest> {
    return this.#get({ path: this.#path(`/pulls/${number}`), what: 'read the pull request' }, pullRequestSchema, signal)
  }

  /** Asked once: a list of a repository that nobody may see would otherwise look like "none". */
  #assertUsable(signal: AbortSignal): Promise<void> {
    this.#usable ??= this.#get({ path: this.#path(''), what: 'read the repository' }, repositorySchema, signal).then(({ archived }) => {
      if (!archived) return
      const asked = { address: this.#client.address, what: 'write to the repository' }
      throw goneElsewhere(asked, 'it is archived', 'unarchive it, or take it out of the configuration')
    })
    return this.#usable.catch((thrown: unknown) => {
      this.#usable = undefined
      throw thrown
    })
  }

  #login(signal: AbortSignal): Promise<string> {
    this.#self ??= this.#get({ path: '/user', what: 'ask whose the token is' }, userSchema, signal).then(({ login }) => login)
    return this.#self.catch((thrown: unknown) => {
      this.#self = undefined
      throw thrown
    })
  }

  async #get<Schema extends z.ZodType>(
    request: Omit<GiteaRequest, 'method'>,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.infer<Schema>> {
    return this.#parsed(await this.#client.send({ ...request, method: 'GET' }, signal), schema, request.what)
  }

  #parsed<Schema extends z.ZodType>(answer: unknown, schema: Schema, what: string): z.infer<Schema> {
    const parsed = schema.safeParse(answer)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    throw notGitea({ address: this.#client.address, what }, `its answer has another shape at ${issue?.path.join('.') ?? 'the top'}`)
  }

  #refused(what: string, why: string, remedy: string): Failure {
    return refusedRequest({ address: this.#client.address, what }, why, remedy)
  }

  #path(below: string): string {
    const { owner, repository } = this.#client.address
    return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}${below}`
  }
}

/** Ours are the branches of design §7, in the repository itself: a fork may have branches of the same name. */
function isOurs(pull: PullRequest): boolean {
  return isOwnBranch(pull) && pull.head.label.startsWith('proposed/')
}

function isOwnBranch({ head, base }: PullRequest): boolean {
  return head.repo_id === base.repo_id
}
