/** Pull requests as proposals. GitHub itself allows one open pull request of one branch into one base. */
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, objectId } from '@backporch/kyaml/files'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { assertSeen, endedMeanwhile } from '../adapter/finish-merge.ts'
import { refusedRequest } from '../adapter/forge-failure.ts'
import { leftOut } from '../adapter/left-out.ts'
import { labelChanges } from '../adapter/our-labels.ts'
import { mayBeDone, statusOf } from '../adapter/refused-answer.ts'
import { plainLines, sameText } from '../adapter/topic-marker.ts'
import type {
  ForgePullRequest,
  KnownProposal,
  OpenedProposal,
  WantedProposal,
} from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'
import type { GitHubLabels } from './github-labels.ts'
import { readEnqueuer, readMergeQueue } from './github-merge-queue.ts'

const HEADS = 'refs/heads/'
const PROPOSED = 'proposed/'
/** Requests at once. */
const WIDTH = 6

type PullFilter = Pick<
  RestEndpointMethodTypes['pulls']['list']['parameters'],
  'state' | 'base' | 'head'
>
type ListedPull = RestEndpointMethodTypes['pulls']['list']['response']['data'][number]

export class GitHubProposals {
  readonly #client: GitHubClient
  readonly #labels: GitHubLabels
  /** Private repositories of some plans have no drafts. */
  #noDrafts = false
  /** Names of base branches without a merge queue. */
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
    // Each turn: a renamed, archived or replaced repository is noticed before anything is believed.
    await this.#client.observe(signal)
    const listed = await this.#openInto(baseBranch, signal)
    const ours = listed
      .filter((pull) => isFromHere(pull) && pull.head.ref.startsWith(PROPOSED))
      .map(proposalOf)
    const queued = ours.length === 0 ? undefined : await this.#queueOf(baseBranch, signal)
    const open = ours.map((proposal) =>
      queued?.has(proposal.number) === true ? { ...proposal, isQueued: true as const } : proposal,
    )
    const found = new Map(open.map((proposal) => [proposal.ref, proposal]))
    const missing = [...new Set(refs)].filter((ref) => !found.has(ref))
    for (let start = 0; start < missing.length; start += WIDTH) {
      const part = missing
        .slice(start, start + WIDTH)
        .map(async (ref) => this.#lastIn(await this.#pullsOf(ref, signal), signal))
      for (const proposal of await Promise.all(part))
        if (proposal !== undefined) found.set(proposal.ref, proposal)
    }
    return [...found.values()].sort((left, right) => left.number - right.number)
  }

  async #queueOf(
    baseBranch: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<number> | undefined> {
    if (this.#noQueue.has(baseBranch)) return undefined
    try {
      const queue = await readMergeQueue(this.#client, baseBranch, signal)
      if (queue === undefined) this.#noQueue.add(baseBranch)
      return queue
    } catch (thrown) {
      // Only GraphQL fails: drift is not held up for it. At worst a push takes a pull request out of the queue, and it is put in again.
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      return undefined
    }
  }

  /** Of whoever, into the branch. */
  async pullRequests(baseBranch: string, signal: AbortSignal): Promise<ForgePullRequest[]> {
    return (await this.#openInto(baseBranch, signal)).map(pullRequestOf)
  }

  async pullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest> {
    const requested = { ...(await this.#client.target(signal)), pull_number: number }
    const { data } = await this.#client.ask(`read #${number}`, () =>
      this.#client.octokit.rest.pulls.get(requested),
    )
    return pullRequestOf(data)
  }

  #openInto(baseBranch: string, signal: AbortSignal): Promise<ListedPull[]> {
    return this.#list('read the pull requests', { state: 'open', base: baseBranch }, signal)
  }

  /** Oldest first: one that is opened meanwhile comes last, and moves no other over the end of a page. */
  async #list(what: string, filter: PullFilter, signal: AbortSignal): Promise<ListedPull[]> {
    const { octokit } = this.#client
    const target = await this.#client.target(signal)
    const wanted = {
      ...target,
      ...filter,
      sort: 'created',
      direction: 'asc',
      per_page: 100,
    } as const
    return this.#client.list(what, (page) => octokit.rest.pulls.list({ ...wanted, page }))
  }

  /** The open proposal of a branch into any base, otherwise the last one that it had, with who decided it. */
  async lastOf(ref: string, signal: AbortSignal): Promise<KnownProposal | undefined> {
    const pulls = await this.#pullsOf(ref, signal)
    return this.#lastIn([...(await this.#openPullsOf(ref, pulls, signal)), ...pulls], signal)
  }

  /** The open one, otherwise the first. */
  async #lastIn(
    pulls: readonly ListedPull[],
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    const found = pulls.find(({ state }) => state === 'open') ?? pulls[0]
    if (found === undefined) return undefined
    return found.state === 'open'
      ? proposalOf(found)
      : { ...proposalOf(found), decidedBy: await this.#personOf(found, signal) }
  }

  /** Whatever its branch and its base are now. */
  async readNumbered(number: number, signal: AbortSignal): Promise<KnownProposal | undefined> {
    const requested = { ...(await this.#client.target(signal)), pull_number: number }
    try {
      const { data } = await this.#client.ask(`read #${number}`, () =>
        this.#client.octokit.rest.pulls.get(requested),
      )
      if (!isFromHere(data)) return undefined
      return data.state === 'open'
        ? proposalOf(data)
        : { ...proposalOf(data), decidedBy: await this.#personOf(data, signal) }
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined
      throw thrown
    }
  }

  async isOpen({ number, label }: KnownProposal, signal: AbortSignal): Promise<boolean> {
    const requested = { ...(await this.#client.target(signal)), pull_number: number }
    const { data } = await this.#client.ask(`look at ${label}`, () =>
      this.#client.octokit.rest.pulls.get(requested),
    )
    return data.state === 'open'
  }

  async ensure(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal> {
    const given = known?.state === 'open' && known.ref === wanted.ref ? known : undefined
    if (given !== undefined && isOther(given, wanted)) await this.#assertOpen(given, signal)
    const there = given ?? (await this.#openOf(wanted, known, signal))
    const proposal = there ?? (await this.#open(wanted, known, signal))
    await this.#update(proposal, wanted, signal)
    // Labels come last. Without any, an earlier turn was interrupted before it requested reviews.
    const half =
      labelChanges(proposal.labels, wanted.labels).add.length === wanted.labels.length &&
      wanted.labels.length > 0
    if (there === undefined || half) {
      await this.#ask(proposal.number, wanted.reviewers, signal)
      await this.#file(proposal.number, wanted, signal)
    }
    await this.#labels.ensure(proposal.number, proposal.labels, wanted.labels, signal)
    return { label: proposal.label, url: proposal.url, number: proposal.number }
  }

  /** @throws Failure BP4003 where somebody decided about the commit since */
  async #openOf(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    const pulls = await this.#pullsOf(wanted.ref, signal)
    const [open] = await this.#openPullsOf(wanted.ref, pulls, signal)
    if (open !== undefined) return proposalOf(open)
    const [last] = pulls
    if (last !== undefined) assertSeen(proposalOf(last), wanted, known)
    return undefined
  }

  /** Into any base. None counts as missing before a list without a filter was read. @param pulls what the filter finds */
  async #openPullsOf(
    ref: string,
    pulls: readonly ListedPull[],
    signal: AbortSignal,
  ): Promise<ListedPull[]> {
    const open = pulls.filter(({ state }) => state === 'open')
    return open.length > 0
      ? open
      : ofBranch(await this.#list('look for the pull request', { state: 'open' }, signal), ref)
  }

  /** Newest first. */
  async #pullsOf(ref: string, signal: AbortSignal): Promise<ListedPull[]> {
    const { owner } = await this.#client.target(signal)
    const head = `${owner}:${ref.slice(HEADS.length)}`
    // A server that does not know the filter gives others.
    return ofBranch(
      await this.#list('look for the pull request', { state: 'all', head }, signal),
      ref,
    ).reverse()
  }

  async #open(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal> {
    const target = await this.#client.writable('open a pull request', signal)
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
      return proposalOf(data)
    }
    try {
      return await create(wanted.draft && !this.#noDrafts)
    } catch (thrown) {
      if (!mayBeDone(thrown) && statusOf(thrown) !== 422) throw thrown
      // It exists, or the request whose answer was lost opened it: never a second one.
      const there = await this.#openOf(wanted, known, signal)
      if (there !== undefined) return there
      if (mayBeDone(thrown) || !wanted.draft || this.#noDrafts)
        throw retriable(this.#client, thrown)
      this.#noDrafts = true
      return create(false).catch((again: unknown) => {
        this.#noDrafts = false
        throw retriable(this.#client, again)
      })
    }
  }

  async close(
    { number, label }: Pick<KnownProposal, 'number' | 'label'>,
    signal: AbortSignal,
  ): Promise<void> {
    const requested = { ...(await this.#client.target(signal)), pull_number: number }
    const { octokit } = this.#client
    const { data } = await this.#client.ask(`look at ${label}`, () =>
      octokit.rest.pulls.get(requested),
    )
    if (data.state !== 'open') return
    await this.#client.writable(`close ${label}`, signal)
    await this.#client.ask(`close ${label}`, () =>
      octokit.rest.pulls.update({ ...requested, state: 'closed' }),
    )
  }

  async #update(
    proposal: KnownProposal,
    wanted: WantedProposal,
    signal: AbortSignal,
  ): Promise<void> {
    const changes = {
      ...(proposal.title === wanted.title ? {} : { title: wanted.title }),
      ...(sameText(proposal.body, wanted.body) ? {} : { body: wanted.body }),
      ...(proposal.baseBranch === wanted.baseBranch ? {} : { base: wanted.baseBranch }),
    }
    const { number, draft } = proposal
    if (Object.keys(changes).length > 0) {
      const target = await this.#client.writable(`update #${number}`, signal)
      const send = (some: typeof changes) =>
        this.#client.ask(`update #${number}`, () =>
          this.#client.octokit.rest.pulls.update({ ...target, pull_number: number, ...some }),
        )
      const { data } = await send(changes)
      if (data.state !== 'open') {
        // It was merged or closed between the read and the edit, and GitHub edits it all the same: the reviewed text is restored.
        await send({ title: proposal.title, body: proposal.body })
        throw endedMeanwhile(proposal)
      }
    }
    if (draft !== wanted.draft && !(wanted.draft && this.#noDrafts))
      await this.#setDraft(number, wanted.draft, signal)
  }

  /** The read may be minutes old, and GitHub changes the text of a merged one too. */
  async #assertOpen(proposal: KnownProposal, signal: AbortSignal): Promise<void> {
    if (!(await this.isOpen(proposal, signal))) throw endedMeanwhile(proposal)
  }

  /** REST cannot change it after the opening. */
  async #setDraft(number: number, draft: boolean, signal: AbortSignal): Promise<void> {
    const target = await this.#client.writable(`update #${number}`, signal)
    const { data } = await this.#client.ask(`look at #${number}`, () =>
      this.#client.octokit.rest.pulls.get({ ...target, pull_number: number }),
    )
    if (data.draft === draft) return
    const mutation = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
    const query = `mutation Draft($id: ID!) { ${mutation}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
    try {
      await this.#client.graphql(
        `${draft ? 'make a draft of' : 'take the draft mark from'} #${number}`,
        query,
        { id: data.node_id },
        signal,
      )
    } catch (thrown) {
      if (!draft || statusOf(thrown) !== 422) throw thrown
      this.#noDrafts = true
    }
  }

  /** Leaves out a name that cannot be requested without losing the others: GitHub refuses all for one. */
  async #ask(number: number, names: readonly string[], signal: AbortSignal): Promise<void> {
    if (names.length === 0) return
    const target = await this.#client.writable(`ask for a review of #${number}`, signal)
    const request = async (some: readonly string[]): Promise<boolean> => {
      const plain = some.map((name) => name.replace(/^@/, ''))
      const reviewers = plain.filter((name) => !name.includes('/'))
      const team_reviewers = plain
        .filter((name) => name.includes('/'))
        .map((name) => name.slice(name.indexOf('/') + 1))
      const requested = { ...target, pull_number: number, reviewers, team_reviewers }
      try {
        await this.#client.ask(`ask for a review of #${number}`, () =>
          this.#client.octokit.rest.pulls.requestReviewers(requested),
        )
        return true
      } catch (thrown) {
        if (![403, 404, 422].includes(statusOf(thrown) ?? 0)) throw thrown
        return false
      }
    }
    if (await request(names)) return
    for (const name of names)
      if (names.length === 1 || !(await request([name]))) this.#tell('reviewers', [name])
  }

  #tell(what: Parameters<typeof leftOut>[1], names: readonly string[]): void {
    const { owner, repository } = this.#client.address
    if (names.length > 0) this.#client.tell(leftOut(`${owner}/${repository}`, what, names))
  }

  /** Assigns it, and gives it its milestone. GitHub leaves out who cannot be assigned. */
  async #file(
    number: number,
    { assignees = [], milestone }: WantedProposal,
    signal: AbortSignal,
  ): Promise<void> {
    if (assignees.length === 0 && milestone === undefined) return
    const { issues } = this.#client.octokit.rest
    const target = await this.#client.writable(`assign #${number}`, signal)
    const issue = { ...target, issue_number: number }
    if (assignees.length > 0) {
      const { data } = await this.#client.ask(`assign #${number}`, () =>
        issues.addAssignees({ ...issue, assignees: [...assignees] }),
      )
      const known = new Set(data.assignees?.map(({ login }) => login.toLowerCase()))
      this.#tell(
        'assignees',
        assignees.filter((name) => !known.has(name.toLowerCase())),
      )
    }
    if (milestone === undefined) return
    const pages = (page: number) =>
      issues.listMilestones({ ...target, state: 'open', per_page: 100, page })
    const found = (await this.#client.list('read the milestones', pages)).find(
      ({ title }) => title === milestone,
    )
    if (found === undefined) return this.#tell('milestone', [milestone])
    await this.#client.ask(`give #${number} its milestone`, () =>
      issues.update({ ...issue, milestone: found.number }),
    )
  }

  /** Empty where GitHub does not report it (lists do not), and for our own account, which decided for somebody. */
  async #personOf(
    pull: Pick<ListedPull, 'number' | 'merged_at'>,
    signal: AbortSignal,
  ): Promise<string> {
    const login = await this.#deciderOf(pull, signal)
    return login === '' || (await this.#client.isOurs({ login }, signal)) ? '' : login
  }

  async #deciderOf(
    pull: Pick<ListedPull, 'number' | 'merged_at'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { octokit } = this.#client
    const target = await this.#client.target(signal)
    const what = `look who decided #${pull.number}`
    if (pull.merged_at !== null) {
      const { data } = await this.#client.ask(what, () =>
        octokit.rest.pulls.get({ ...target, pull_number: pull.number }),
      )
      const { login = '', type } = data.merged_by ?? {}
      // A queue merges by an account of its own.
      const isQueue = type === 'Bot' && !(await this.#client.isOurs({ login }, signal))
      return isQueue ? (await readEnqueuer(this.#client, pull.number, signal)) || login : login
    }
    const { data } = await this.#client.ask(what, () =>
      octokit.rest.issues.get({ ...target, issue_number: pull.number }),
    )
    return data.closed_by?.login ?? ''
  }
}

/** A list may be behind by a minute, so that a refusal for "there already" looks like any other: it is worth a retry. */
function retriable({ address }: GitHubClient, thrown: unknown): unknown {
  if (statusOf(thrown) !== 422 || !(thrown instanceof Error)) return thrown
  const why = `it refuses (${thrown.cause instanceof Error ? thrown.cause.message : '422'}), and shows no open pull request of the branch`
  return refusedRequest(
    { address, what: 'open a pull request' },
    why,
    'look at the branch on GitHub; the next turn tries again',
    'backoff',
  )
}

function isOther(known: KnownProposal, wanted: WantedProposal): boolean {
  const { add, remove } = labelChanges(known.labels, wanted.labels)
  const same =
    known.title === wanted.title &&
    sameText(known.body, wanted.body) &&
    known.draft === wanted.draft
  return add.length + remove.length > 0 || !same || known.baseBranch !== wanted.baseBranch
}

/** A fork may have a branch of the same name. */
function isFromHere({
  head,
  base,
}: {
  readonly head: { repo: { id: number } | null }
  readonly base: { repo: { id: number } }
}): boolean {
  return head.repo !== null && head.repo.id === base.repo.id
}

function ofBranch(pulls: readonly ListedPull[], ref: string): ListedPull[] {
  return pulls.filter((pull) => isFromHere(pull) && `${HEADS}${pull.head.ref}` === ref)
}

function pullRequestOf(pull: PullParts & Parameters<typeof isFromHere>[0]): ForgePullRequest {
  const { number, label, url, baseBranch, commit, state } = proposalOf(pull)
  return {
    number,
    label,
    url,
    baseBranch,
    commit,
    branch: pull.head.ref,
    fork: !isFromHere(pull),
    open: state === 'open',
  }
}

interface PullParts {
  readonly number: number
  readonly html_url: string
  readonly state: string
  readonly created_at: string
  readonly merged_at: string | null
  readonly closed_at: string | null
  readonly title: string
  readonly body: string | null
  readonly draft?: boolean
  readonly labels: readonly { readonly name: string }[]
  readonly head: { readonly ref: string; readonly sha: string }
  readonly base: { readonly ref: string }
}

function proposalOf(pull: PullParts): KnownProposal {
  const merged = pull.merged_at !== null
  return {
    number: pull.number,
    label: `#${pull.number}`,
    url: pull.html_url,
    ref: `${HEADS}${pull.head.ref}`,
    baseBranch: pull.base.ref,
    state: pull.state === 'open' ? 'open' : merged ? 'merged' : 'closed',
    commit: commitOf(pull.head.sha),
    title: pull.title,
    body: plainLines(pull.body),
    labels: pull.labels.map(({ name }) => name),
    draft: pull.draft === true,
    openedAt: pull.created_at,
    decidedBy: '',
    decidedAt: pull.state === 'open' ? '' : (pull.merged_at ?? pull.closed_at ?? ''),
  }
}

function commitOf(sha: string): ObjectId {
  return objectId(sha)
}
