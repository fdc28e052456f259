/** GitHub itself allows one open pull request per branch and base. */
import { Failure } from '@backporch/kyaml/failure'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { assertSeen, createEndedFailure } from '../adapter/finish-merge.ts'
import { createRefusedRequest } from '../adapter/forge-failure.ts'
import { labelChanges } from '../adapter/our-labels.ts'
import { findRefusedStatus, mayBeDone } from '../adapter/refused-answer.ts'
import { isSameText } from '../adapter/topic-marker.ts'
import type {
  ForgePullRequest,
  KnownProposal,
  OpenedProposal,
  WantedProposal,
} from '../ports/hosted-forge.ts'
import type { GitHubClient, Target } from './github-client.ts'
import { applyGitHubFiling, askReviewers } from './github-filing.ts'
import type { GitHubLabels } from './github-labels.ts'
import { readEnqueuer, readMergeQueue } from './github-merge-queue.ts'
import {
  convertPullRequest,
  createGitHubProposal,
  filterByBranch,
  HEADS,
  isFromHere,
  type ListedPull,
} from './github-pull-requests.ts'

const PROPOSED = 'proposed/'
const WIDTH = 6

type PullFilter = Pick<
  RestEndpointMethodTypes['pulls']['list']['parameters'],
  'state' | 'base' | 'head'
>

export class GitHubProposals {
  readonly #client: GitHubClient
  readonly #labels: GitHubLabels
  #noDrafts = false
  readonly #noQueue = new Set<string>()

  constructor(client: GitHubClient, labels: GitHubLabels) {
    this.#client = client
    this.#labels = labels
  }

  async read(
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<KnownProposal[]> {
    // A renamed, archived or replaced repository is noticed before any answer is trusted.
    await this.#client.observe(signal)
    const listed = await this.#openInto(baseBranch, signal)
    const ours = listed
      .filter((pull) => isFromHere(pull) && pull.head.ref.startsWith(PROPOSED))
      .map(createGitHubProposal)
    const queued = ours.length === 0 ? undefined : await this.#readQueue(baseBranch, signal)
    const open = ours.map((proposal) =>
      queued?.has(proposal.number) === true ? { ...proposal, isQueued: true as const } : proposal,
    )
    const found = new Map(open.map((proposal) => [proposal.ref, proposal]))
    const missing = [...new Set(refs)].filter((ref) => !found.has(ref))
    for (let start = 0; start < missing.length; start += WIDTH) {
      const part = missing
        .slice(start, start + WIDTH)
        .map(async (ref) => this.#findLastIn(await this.#listPulls(ref, signal), signal))
      for (const proposal of await Promise.all(part))
        if (proposal !== undefined) found.set(proposal.ref, proposal)
    }
    return [...found.values()].sort((left, right) => left.number - right.number)
  }

  async #readQueue(
    baseBranch: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<number> | undefined> {
    if (this.#noQueue.has(baseBranch)) return undefined
    try {
      const queue = await readMergeQueue(this.#client, baseBranch, signal)
      if (queue === undefined) this.#noQueue.add(baseBranch)
      return queue
    } catch (thrown) {
      // Only GraphQL fails. At worst a push takes a pull request out of the queue, and it is queued
      // again.
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      return undefined
    }
  }

  async pullRequests(baseBranch: string, signal: AbortSignal): Promise<ForgePullRequest[]> {
    return (await this.#openInto(baseBranch, signal)).map(convertPullRequest)
  }

  async pullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest> {
    const target = await this.#client.getTarget(signal)
    return convertPullRequest(await this.#get(target, number, `read #${number}`))
  }

  async #get(target: Target, number: number, what: string) {
    const { data } = await this.#client.ask(what, () =>
      this.#client.octokit.rest.pulls.get({ ...target, pull_number: number }),
    )
    return data
  }

  #openInto(baseBranch: string, signal: AbortSignal): Promise<ListedPull[]> {
    return this.#list('read the pull requests', { state: 'open', base: baseBranch }, signal)
  }

  /** Oldest first: a new one shifts no other across a page boundary. */
  async #list(what: string, filter: PullFilter, signal: AbortSignal): Promise<ListedPull[]> {
    const { octokit } = this.#client
    const target = await this.#client.getTarget(signal)
    const wanted = {
      ...target,
      ...filter,
      sort: 'created',
      direction: 'asc',
      per_page: 100,
    } as const
    return this.#client.list(what, (page) => octokit.rest.pulls.list({ ...wanted, page }))
  }

  async findLastProposal(ref: string, signal: AbortSignal): Promise<KnownProposal | undefined> {
    const pulls = await this.#listPulls(ref, signal)
    return this.#findLastIn([...(await this.#listOpenPulls(ref, pulls, signal)), ...pulls], signal)
  }

  async #findLastIn(
    pulls: readonly ListedPull[],
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    const found = pulls.find(({ state }) => state === 'open') ?? pulls[0]
    if (found === undefined) return undefined
    return found.state === 'open'
      ? createGitHubProposal(found)
      : { ...createGitHubProposal(found), decidedBy: await this.#findPerson(found, signal) }
  }

  async readNumbered(number: number, signal: AbortSignal): Promise<KnownProposal | undefined> {
    const target = await this.#client.getTarget(signal)
    try {
      const pull = await this.#get(target, number, `read #${number}`)
      if (!isFromHere(pull)) return undefined
      return pull.state === 'open'
        ? createGitHubProposal(pull)
        : { ...createGitHubProposal(pull), decidedBy: await this.#findPerson(pull, signal) }
    } catch (thrown) {
      if (findRefusedStatus(thrown) === 404) return undefined
      throw thrown
    }
  }

  async isOpen({ number, label }: KnownProposal, signal: AbortSignal): Promise<boolean> {
    const target = await this.#client.getTarget(signal)
    return (await this.#get(target, number, `read ${label}`)).state === 'open'
  }

  async ensure(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal> {
    const given = known?.state === 'open' && known.ref === wanted.ref ? known : undefined
    if (given !== undefined && isOther(given, wanted)) await this.#assertOpen(given, signal)
    const there = given ?? (await this.#findOpen(wanted, known, signal))
    const proposal = there ?? (await this.#open(wanted, known, signal))
    await this.#update(proposal, wanted, signal)
    // Labels come last: if none are set, an earlier turn was interrupted before it requested
    // reviews.
    const half =
      labelChanges(proposal.labels, wanted.labels).add.length === wanted.labels.length &&
      wanted.labels.length > 0
    if (there === undefined || half) {
      await askReviewers(this.#client, proposal.number, wanted.reviewers, signal)
      await applyGitHubFiling(this.#client, proposal.number, wanted, signal)
    }
    await this.#labels.ensure(proposal.number, proposal.labels, wanted.labels, signal)
    return { label: proposal.label, url: proposal.url, number: proposal.number }
  }

  async #findOpen(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    const pulls = await this.#listPulls(wanted.ref, signal)
    const [open] = await this.#listOpenPulls(wanted.ref, pulls, signal)
    if (open !== undefined) return createGitHubProposal(open)
    const [last] = pulls
    if (last !== undefined) assertSeen(createGitHubProposal(last), wanted, known)
    return undefined
  }

  /**
   * Into any base. None is missing before an unfiltered list was read.
   * @param pulls result of the filter
   */
  async #listOpenPulls(
    ref: string,
    pulls: readonly ListedPull[],
    signal: AbortSignal,
  ): Promise<ListedPull[]> {
    const open = pulls.filter(({ state }) => state === 'open')
    return open.length > 0
      ? open
      : filterByBranch(await this.#list('find the pull request', { state: 'open' }, signal), ref)
  }

  async #listPulls(ref: string, signal: AbortSignal): Promise<ListedPull[]> {
    const { owner } = await this.#client.getTarget(signal)
    const head = `${owner}:${ref.slice(HEADS.length)}`
    // A server may not know the filter.
    return filterByBranch(
      await this.#list('find the pull request', { state: 'all', head }, signal),
      ref,
    ).reverse()
  }

  async #open(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal> {
    const target = await this.#client.getWritableTarget('open a pull request', signal)
    const create = async (draft: boolean): Promise<KnownProposal> => {
      const { title, body, baseBranch: base } = wanted
      const requested = {
        ...target,
        title,
        body,
        base,
        head: wanted.ref.slice(HEADS.length),
        draft,
      }
      const { data } = await this.#client.ask('open a pull request', () =>
        this.#client.octokit.rest.pulls.create(requested),
      )
      return createGitHubProposal(data)
    }
    try {
      return await create(wanted.draft && !this.#noDrafts)
    } catch (thrown) {
      if (!mayBeDone(thrown) && findRefusedStatus(thrown) !== 422) throw thrown
      // The request whose answer was lost may have opened it.
      const there = await this.#findOpen(wanted, known, signal)
      if (there !== undefined) return there
      if (mayBeDone(thrown) || !wanted.draft || this.#noDrafts)
        throw convertToRetriable(this.#client, thrown)
      this.#noDrafts = true
      return create(false).catch((again: unknown) => {
        this.#noDrafts = false
        throw convertToRetriable(this.#client, again)
      })
    }
  }

  async close(
    { number, label }: Pick<KnownProposal, 'number' | 'label'>,
    signal: AbortSignal,
  ): Promise<void> {
    const target = await this.#client.getTarget(signal)
    if ((await this.#get(target, number, `read ${label}`)).state !== 'open') return
    await this.#client.getWritableTarget(`close ${label}`, signal)
    await this.#client.ask(`close ${label}`, () =>
      this.#client.octokit.rest.pulls.update({ ...target, pull_number: number, state: 'closed' }),
    )
  }

  async #update(
    proposal: KnownProposal,
    wanted: WantedProposal,
    signal: AbortSignal,
  ): Promise<void> {
    const changes = {
      ...(proposal.title === wanted.title ? {} : { title: wanted.title }),
      ...(isSameText(proposal.body, wanted.body) ? {} : { body: wanted.body }),
      ...(proposal.baseBranch === wanted.baseBranch ? {} : { base: wanted.baseBranch }),
    }
    const { number, draft } = proposal
    if (Object.keys(changes).length > 0) {
      const target = await this.#client.getWritableTarget(`update #${number}`, signal)
      const send = (some: typeof changes) =>
        this.#client.ask(`update #${number}`, () =>
          this.#client.octokit.rest.pulls.update({ ...target, pull_number: number, ...some }),
        )
      const { data } = await send(changes)
      if (data.state !== 'open') {
        // GitHub edits a merged or closed one: restore the reviewed text.
        await send({ title: proposal.title, body: proposal.body })
        throw createEndedFailure(proposal)
      }
    }
    if (draft !== wanted.draft && !(wanted.draft && this.#noDrafts))
      await this.#setDraft(number, wanted.draft, signal)
  }

  /** The read may be minutes old, and GitHub also changes a merged one. */
  async #assertOpen(proposal: KnownProposal, signal: AbortSignal): Promise<void> {
    if (!(await this.isOpen(proposal, signal))) throw createEndedFailure(proposal)
  }

  async #setDraft(number: number, draft: boolean, signal: AbortSignal): Promise<void> {
    const target = await this.#client.getWritableTarget(`update #${number}`, signal)
    const pull = await this.#get(target, number, `read #${number}`)
    if (pull.draft === draft) return
    const mutation = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
    const query = `mutation Draft($id: ID!) { ${mutation}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
    try {
      await this.#client.queryGraphql(
        `${draft ? 'make a draft of' : 'take the draft mark from'} #${number}`,
        query,
        { id: pull.node_id },
        signal,
      )
    } catch (thrown) {
      if (!draft || findRefusedStatus(thrown) !== 422) throw thrown
      this.#noDrafts = true
    }
  }

  /** Undefined if unknown (lists do not report it), and for Backporch's account. */
  async #findPerson(
    pull: Pick<ListedPull, 'number' | 'merged_at'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const login = await this.#findDecider(pull, signal)
    return login === undefined || (await this.#client.isOurs({ login }, signal)) ? undefined : login
  }

  async #findDecider(
    pull: Pick<ListedPull, 'number' | 'merged_at'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const target = await this.#client.getTarget(signal)
    const what = `read who decided #${pull.number}`
    if (pull.merged_at !== null) {
      const { merged_by } = await this.#get(target, pull.number, what)
      const { login = '', type } = merged_by ?? {}
      const person = login || undefined
      // A queue has its own account.
      const isQueue = type === 'Bot' && !(await this.#client.isOurs({ login }, signal))
      return isQueue ? ((await readEnqueuer(this.#client, pull.number, signal)) ?? person) : person
    }
    const { data } = await this.#client.ask(what, () =>
      this.#client.octokit.rest.issues.get({ ...target, issue_number: pull.number }),
    )
    return data.closed_by?.login || undefined
  }
}

/** A list may lag by a minute, so a refusal for "there already" looks like any other. */
function convertToRetriable({ address }: GitHubClient, thrown: unknown): unknown {
  if (findRefusedStatus(thrown) !== 422 || !(thrown instanceof Error)) return thrown
  const why = `it refuses (${thrown.cause instanceof Error ? thrown.cause.message : '422'}), and shows no open pull request of the branch`
  return createRefusedRequest(
    { address, what: 'open a pull request' },
    why,
    'check the branch on GitHub; the next turn tries again',
    'backoff',
  )
}

function isOther(known: KnownProposal, wanted: WantedProposal): boolean {
  const { add, remove } = labelChanges(known.labels, wanted.labels)
  const same =
    known.title === wanted.title &&
    isSameText(known.body, wanted.body) &&
    known.draft === wanted.draft
  return add.length + remove.length > 0 || !same || known.baseBranch !== wanted.baseBranch
}
