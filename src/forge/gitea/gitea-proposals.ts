/** Pull requests of Gitea: found by their branch, opened once, updated in place. Gitea's own guard against a second one has a gap. */
import { assertSeen, endedMeanwhile } from '../adapter/finish-merge.ts'
import { leftOut } from '../adapter/left-out.ts'
import { labelChanges } from '../adapter/our-labels.ts'
import { mayBeDone, statusOf } from '../adapter/refused-answer.ts'
import { sameText, withTopic } from '../adapter/topic-marker.ts'
import type {
  ForgePullRequest,
  KnownProposal,
  OpenedProposal,
  WantedProposal,
} from '../ports/hosted-forge.ts'
import {
  gitReferencesSchema,
  milestoneSchema,
  type PullRequest,
  proposalOf,
  pullRequestSchema,
  timelineSchema,
  titleFor,
  userSchema,
} from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import type { GiteaLabels } from './gitea-labels.ts'

/** Pages of closed proposals, last changed first, that are read before single branches are requested. */
const RECENT_PAGES = 2
const PAGE = 50
const LIST = 'list pull requests'

export class GiteaProposals {
  readonly #client: GiteaClient
  readonly #labels: GiteaLabels
  readonly #login: (signal: AbortSignal) => Promise<string>
  /** Numbers of further open pull requests of a branch, as they were last read. */
  readonly #spare = new Map<string, readonly number[]>()

  /** @param login of the token's account, whose decisions were made for somebody else */
  constructor(
    client: GiteaClient,
    labels: GiteaLabels,
    login: (signal: AbortSignal) => Promise<string>,
  ) {
    this.#client = client
    this.#labels = labels
    this.#login = login
  }

  async read(
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly KnownProposal[]> {
    const named = new Set(refs)
    const open = await this.#open(baseBranch, signal)
    const ours = [...open.values()].filter(
      ({ ref }) => ref.startsWith('refs/heads/proposed/') || named.has(ref),
    )
    const missing = new Set(refs.filter((ref) => !open.has(ref)))
    return missing.size === 0
      ? ours
      : [...ours, ...(await this.#ended(baseBranch, missing, signal))]
  }

  /** Of whoever, into the branch. */
  async pullRequests(
    baseBranch: string,
    signal: AbortSignal,
  ): Promise<readonly ForgePullRequest[]> {
    const open = (await this.#openInto(baseBranch, signal)).filter(
      ({ base, state }) => base.ref === baseBranch && state === 'open',
    )
    return open.toSorted((left, right) => left.number - right.number).map(pullRequestOf)
  }

  async pullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest> {
    return pullRequestOf(await this.get(number, signal))
  }

  async ensure(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal> {
    const given = known?.state === 'open' ? known : undefined
    if (given !== undefined && isOther(given, wanted)) await this.#assertOpen(given, signal)
    const open =
      given ?? (await this.openOf(wanted, signal)) ?? (await this.#openNew(wanted, known, signal))
    await this.#closeSpare(wanted.ref, open.number, signal)
    await this.#update(open, wanted, signal)
    await this.#labels.ensure(open.number, open.labels, wanted.labels, signal)
    return { label: open.label, url: open.url, number: open.number }
  }

  async openOf(
    { ref, baseBranch }: Pick<WantedProposal, 'ref' | 'baseBranch'>,
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    return (await this.#open(baseBranch, signal)).get(ref)
  }

  /** Open ones of a branch, into any base. */
  async openFrom(ref: string, signal: AbortSignal): Promise<readonly PullRequest[]> {
    const query = { state: 'open', sort: 'oldest' }
    const listed = await this.#client.getAll(
      { path: this.#client.path('/pulls'), query, what: LIST },
      pullRequestSchema,
      signal,
    )
    return listed.filter((pull) => refOf(pull) === ref && isOwnBranch(pull))
  }

  /** Whatever its branch and its base are now. */
  async readNumbered(number: number, signal: AbortSignal): Promise<KnownProposal | undefined> {
    try {
      const pull = await this.get(number, signal)
      if (!isOwnBranch(pull)) return undefined
      if (pull.state === 'open') return proposalOf(pull, '')
      return proposalOf(pull, await this.#decidedBy(pull, signal), await this.#headOf(pull, signal))
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined
      throw thrown
    }
  }

  get(number: number, signal: AbortSignal): Promise<PullRequest> {
    return this.#client.get(
      { path: this.#client.path(`/pulls/${number}`), what: 'read the pull request' },
      pullRequestSchema,
      signal,
    )
  }

  async closeOpen(number: number, signal: AbortSignal): Promise<void> {
    if ((await this.get(number, signal)).state === 'open') await this.close(number, signal)
  }

  async close(number: number, signal: AbortSignal): Promise<void> {
    const path = this.#client.path(`/pulls/${number}`)
    try {
      await this.#client.send(
        { method: 'PATCH', path, body: { state: 'closed' }, what: 'close the pull request' },
        signal,
      )
    } catch (thrown) {
      // Gitea answers 500 to one of two simultaneous closes; or the close succeeded although the answer was lost.
      const now = mayBeDone(thrown)
        ? await this.get(number, signal).catch(() => undefined)
        : undefined
      if (now?.state !== 'closed') throw thrown
    }
  }

  /** By branch, the first one that was opened. */
  async #open(baseBranch: string, signal: AbortSignal): Promise<Map<string, KnownProposal>> {
    const listed = await this.#openInto(baseBranch, signal)
    const found = new Map<string, KnownProposal>()
    this.#spare.clear()
    for (const pull of listed.toSorted((left, right) => left.number - right.number)) {
      const ref = refOf(pull)
      // Forgejo may not know the filter.
      if (pull.base.ref !== baseBranch || !isOwnBranch(pull) || pull.state !== 'open') continue
      if (!found.has(ref)) found.set(ref, proposalOf(pull, ''))
      else if (found.get(ref)?.number !== pull.number)
        this.#spare.set(ref, [...(this.#spare.get(ref) ?? []), pull.number])
    }
    return found
  }

  #openInto(baseBranch: string, signal: AbortSignal): Promise<readonly PullRequest[]> {
    const query = { state: 'open', sort: 'oldest', base_branch: baseBranch }
    return this.#client.getAll(
      { path: this.#client.path('/pulls'), query, what: LIST },
      pullRequestSchema,
      signal,
    )
  }

  async #openNew(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal> {
    for (const ended of await this.#ended(wanted.baseBranch, new Set([wanted.ref]), signal))
      assertSeen(ended, wanted, known)
    return this.#make(wanted, signal)
  }

  async #make(wanted: WantedProposal, signal: AbortSignal): Promise<KnownProposal> {
    const what = 'open a pull request'
    const { ref, baseBranch, title, draft, body: text, reviewers } = wanted
    const body = {
      head: ref.slice('refs/heads/'.length),
      base: baseBranch,
      title: titleFor(title, draft),
      body: text,
    }
    let created: KnownProposal
    try {
      const answer = await this.#client.send(
        { method: 'POST', path: this.#client.path('/pulls'), body, what },
        signal,
      )
      created = proposalOf(this.#client.parse(answer, pullRequestSchema, what), '')
    } catch (thrown) {
      // Refused as a duplicate, or opened although the answer was lost: the existing one is taken.
      const mayBeThere = statusOf(thrown) === 409 || mayBeDone(thrown)
      const there = mayBeThere
        ? await this.openOf(wanted, signal).catch(() => undefined)
        : undefined
      if (there === undefined) throw thrown
      return there
    }
    // Gitea lets two simultaneous requests through (models/issues: it reads, and then inserts). The first one stays.
    const first = (await this.openOf(wanted, signal)) ?? created
    if (first.number === created.number) {
      await this.#askReviewers(created.number, reviewers, signal)
      await this.#file(created.number, wanted, signal)
    } else await this.#closeSecond(created.number, first, signal)
    return first
  }

  /** Whoever was told of it finds the first one. */
  async #closeSecond(number: number, first: KnownProposal, signal: AbortSignal): Promise<void> {
    const body = `[${first.label}](${first.url}) is the pull request of this branch. Two turns opened one at the same moment.`
    const path = this.#client.path(`/issues/${number}/comments`)
    await this.#client.send(
      {
        method: 'POST',
        path,
        body: { body: withTopic('second', body) },
        what: 'comment on the pull request',
      },
      signal,
    )
    await this.close(number, signal)
  }

  async #closeSpare(ref: string, retained: number, signal: AbortSignal): Promise<void> {
    for (const number of this.#spare.get(ref) ?? [])
      if (number !== retained) await this.close(number, signal)
    this.#spare.delete(ref)
  }

  async #update(
    open: KnownProposal,
    { title, draft, body: text, baseBranch }: WantedProposal,
    signal: AbortSignal,
  ): Promise<void> {
    const [before, whole] = [titleFor(open.title, open.draft), titleFor(title, draft)]
    const base = open.baseBranch === baseBranch ? {} : { base: baseBranch }
    if (before === whole && sameText(open.body, text) && open.baseBranch === baseBranch) return
    const send = async (body: {
      readonly title: string
      readonly body: string
      readonly base?: string
    }): Promise<PullRequest> => {
      const [path, what] = [this.#client.path(`/pulls/${open.number}`), 'update the pull request']
      return this.#client.parse(
        await this.#client.send({ method: 'PATCH', path, body, what }, signal),
        pullRequestSchema,
        what,
      )
    }
    if ((await send({ title: whole, body: text, ...base })).state === 'open') return
    // It was merged or closed between the read and the edit, and Gitea edits it all the same: the reviewed text is restored.
    await send({ title: before, body: open.body })
    throw endedMeanwhile(open)
  }

  /** The read may be minutes old, and Gitea changes the text of a merged one too. */
  async #assertOpen(open: KnownProposal, signal: AbortSignal): Promise<void> {
    if ((await this.get(open.number, signal)).state !== 'open') throw endedMeanwhile(open)
  }

  /** One by one: Gitea refuses all reviewers for one that may not be requested. */
  async #askReviewers(
    number: number,
    reviewers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const name of reviewers) {
      const team = name.includes('/') ? name.slice(name.indexOf('/') + 1) : undefined
      const body = team === undefined ? { reviewers: [name] } : { team_reviewers: [team] }
      const path = this.#client.path(`/pulls/${number}/requested_reviewers`)
      try {
        await this.#client.send({ method: 'POST', path, body, what: 'ask for a review' }, signal)
      } catch (thrown) {
        const status = statusOf(thrown)
        if (status !== 403 && status !== 404 && status !== 422) throw thrown
        this.#tell('reviewers', [name])
      }
    }
  }

  #tell(what: Parameters<typeof leftOut>[1], names: readonly string[]): void {
    const { owner, repository } = this.#client.address
    if (names.length > 0) this.#client.tell(leftOut(`${owner}/${repository}`, what, names))
  }

  /** Assigns it, and gives it its milestone. Gitea answers 500 to a name that cannot be assigned, so it is asked who can be. */
  async #file(
    number: number,
    { assignees = [], milestone }: WantedProposal,
    signal: AbortSignal,
  ): Promise<void> {
    const path = this.#client.path(`/issues/${number}`)
    if (assignees.length > 0) {
      const requested = { path: this.#client.path('/assignees'), what: 'read who can be assigned' }
      const possible =
        (await this.#client.get(requested, userSchema.array().nullable(), signal)) ?? []
      const known = new Set(possible.map(({ login }) => login.toLowerCase()))
      const isKnown = (name: string): boolean => known.has(name.toLowerCase())
      this.#tell(
        'assignees',
        assignees.filter((name) => !isKnown(name)),
      )
      const body = { assignees: assignees.filter(isKnown) }
      if (body.assignees.length > 0)
        await this.#client.send(
          { method: 'PATCH', path, body, what: 'assign the pull request' },
          signal,
        )
    }
    if (milestone === undefined) return
    const requested = {
      path: this.#client.path('/milestones'),
      query: { state: 'open' },
      what: 'read the milestones',
    }
    const found = (await this.#client.getAll(requested, milestoneSchema, signal)).find(
      ({ title }) => title === milestone,
    )
    if (found === undefined) return this.#tell('milestone', [milestone])
    await this.#client.send(
      {
        method: 'PATCH',
        path,
        body: { milestone: found.id },
        what: 'give the pull request its milestone',
      },
      signal,
    )
  }

  async #ended(
    baseBranch: string,
    refs: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<KnownProposal[]> {
    const found = new Map<string, PullRequest[]>()
    const take = (pull: PullRequest): void => {
      const ref = refOf(pull)
      const fits =
        refs.has(ref) && pull.base.ref === baseBranch && isOwnBranch(pull) && pull.state !== 'open'
      if (fits) found.set(ref, [...(found.get(ref) ?? []), pull])
    }
    const path = this.#client.path('/pulls')
    for (let page = 1; page <= RECENT_PAGES && found.size < refs.size; page += 1) {
      const query = {
        state: 'closed',
        sort: 'recentupdate',
        base_branch: baseBranch,
        page,
        limit: PAGE,
      }
      const pulls =
        (await this.#client.get(
          { path, query, what: LIST },
          pullRequestSchema.array().nullable(),
          signal,
        )) ?? []
      for (const pull of pulls) take(pull)
      if (pulls.length === 0) break
    }
    for (const ref of refs) {
      if (found.has(ref)) continue
      const pull = await this.#byBranch(baseBranch, ref.slice('refs/heads/'.length), signal)
      if (pull !== undefined) take(pull)
    }
    return Promise.all(
      [...found.values()].map(async (pulls) => {
        const { pull, by } = await this.#decision(pulls, signal)
        return proposalOf(pull, by, await this.#headOf(pull, signal))
      }),
    )
  }

  /** The last one of a branch that was merged, or that a person closed. Our account closes a second one of the same moment. */
  async #decision(
    pulls: readonly PullRequest[],
    signal: AbortSignal,
  ): Promise<{ readonly pull: PullRequest; readonly by: string }> {
    const ended = await Promise.all(
      pulls.map(async (pull) => ({ pull, by: await this.#decidedBy(pull, signal) })),
    )
    const decided = ended.filter(({ pull, by }) => pull.merged || by !== '')
    const [first, ...more] = decided.length > 0 ? decided : ended
    if (first === undefined) throw new TypeError('no pull request')
    return more.reduce((last, one) => (isLater(one.pull, last.pull) ? one : last), first)
  }

  /** For an ended one Gitea reports the branch as it is now; its own ref stays (docs/facts/head-of-an-ended-pull-request.md). */
  async #headOf({ number, head }: PullRequest, signal: AbortSignal): Promise<string> {
    const ref = `refs/pull/${number}/head`
    if (head.ref === ref) return head.sha
    const requested = {
      path: this.#client.path(`/git/${ref}`),
      what: 'read the head of the pull request',
    }
    const listed = await this.#client.get(requested, gitReferencesSchema, signal)
    return listed.find((one) => one.ref === ref)?.object.sha ?? head.sha
  }

  async #byBranch(
    base: string,
    branch: string,
    signal: AbortSignal,
  ): Promise<PullRequest | undefined> {
    const head = branch.split('/').map(encodeURIComponent).join('/')
    const path = this.#client.path(`/pulls/${encodeURIComponent(base)}/${head}`)
    try {
      return await this.#client.get(
        { path, what: 'find the pull request of a branch' },
        pullRequestSchema,
        signal,
      )
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined
      throw thrown
    }
  }

  /** Login of the person who merged or closed it last; empty where Gitea does not report one, and for our own account. */
  async #decidedBy(pull: PullRequest, signal: AbortSignal): Promise<string> {
    const login = await this.#deciderOf(pull, signal)
    return login === '' || login.toLowerCase() === (await this.#login(signal)).toLowerCase()
      ? ''
      : login
  }

  /** Lists leave it out. */
  async #deciderOf(pull: PullRequest, signal: AbortSignal): Promise<string> {
    if (pull.merged)
      return (pull.merged_by ?? (await this.get(pull.number, signal)).merged_by)?.login ?? ''
    const requested = {
      path: this.#client.path(`/issues/${pull.number}/timeline`),
      what: 'read who closed the pull request',
    }
    const events = (await this.#client.list(requested, signal)).map((event) =>
      timelineSchema.safeParse(event),
    )
    return events.findLast(({ data }) => data?.type === 'close')?.data?.user?.login ?? ''
  }
}

function pullRequestOf(pull: PullRequest): ForgePullRequest {
  const { number, label, url, baseBranch, commit, state } = proposalOf(pull, '')
  return {
    number,
    label,
    url,
    baseBranch,
    commit,
    branch: pull.head.label,
    fork: !isOwnBranch(pull),
    open: state === 'open',
  }
}

function isOther(known: KnownProposal, wanted: WantedProposal): boolean {
  const { add, remove } = labelChanges(known.labels, wanted.labels)
  const sameTitle = titleFor(known.title, known.draft) === titleFor(wanted.title, wanted.draft)
  return (
    add.length + remove.length > 0 ||
    !sameTitle ||
    !sameText(known.body, wanted.body) ||
    known.baseBranch !== wanted.baseBranch
  )
}

function isLater(one: PullRequest, other: PullRequest): boolean {
  const at = ({ merged, merged_at, closed_at }: PullRequest): number =>
    Date.parse((merged ? merged_at : closed_at) ?? '') || 0
  if (at(one) !== at(other)) return at(one) > at(other)
  return one.merged === other.merged ? one.number > other.number : one.merged
}

function refOf({ head }: PullRequest): string {
  return `refs/heads/${head.label}`
}

/** A fork may have branches of the same name. */
function isOwnBranch({ head, base }: PullRequest): boolean {
  return head.repo_id === base.repo_id
}
