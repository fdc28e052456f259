/** Gitea's own guard against duplicates has a gap. */
import { assertSeen, createEndedFailure } from '../adapter/finish-merge.ts'
import { labelChanges } from '../adapter/our-labels.ts'
import { findRefusedStatus, mayBeDone } from '../adapter/refused-answer.ts'
import { addTopic, isSameText } from '../adapter/topic-marker.ts'
import type {
  ForgePullRequest,
  KnownProposal,
  OpenedProposal,
  WantedProposal,
} from '../ports/hosted-forge.ts'
import {
  createGiteaProposal,
  formatGiteaTitle,
  type PullRequest,
  pullRequestSchema,
} from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { GiteaEndedProposals } from './gitea-ended-proposals.ts'
import { applyGiteaFiling, askReviewers } from './gitea-filing.ts'
import type { GiteaLabels } from './gitea-labels.ts'
import {
  convertPullRequest,
  getHeadRef,
  isOwnBranch,
  LIST,
  readPullRequest,
} from './gitea-pull-requests.ts'

export class GiteaProposals {
  readonly #client: GiteaClient
  readonly #labels: GiteaLabels
  readonly #ended: GiteaEndedProposals
  readonly #spare = new Map<string, readonly number[]>()

  constructor(
    client: GiteaClient,
    labels: GiteaLabels,
    login: (signal: AbortSignal) => Promise<string>,
  ) {
    this.#client = client
    this.#labels = labels
    this.#ended = new GiteaEndedProposals(client, login)
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
      : [...ours, ...(await this.#ended.read(baseBranch, missing, signal))]
  }

  async pullRequests(
    baseBranch: string,
    signal: AbortSignal,
  ): Promise<readonly ForgePullRequest[]> {
    const open = (await this.#openInto(baseBranch, signal)).filter(
      ({ base, state }) => base.ref === baseBranch && state === 'open',
    )
    return open.toSorted((left, right) => left.number - right.number).map(convertPullRequest)
  }

  async pullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest> {
    return convertPullRequest(await this.get(number, signal))
  }

  async ensure(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal> {
    const given = known?.state === 'open' ? known : undefined
    if (given !== undefined && isOther(given, wanted)) await this.#assertOpen(given, signal)
    const open =
      given ?? (await this.findOpen(wanted, signal)) ?? (await this.#openNew(wanted, known, signal))
    await this.#closeSpare(wanted.ref, open.number, signal)
    await this.#update(open, wanted, signal)
    await this.#labels.ensure(open.number, open.labels, wanted.labels, signal)
    return { label: open.label, url: open.url, number: open.number }
  }

  async findOpen(
    { ref, baseBranch }: Pick<WantedProposal, 'ref' | 'baseBranch'>,
    signal: AbortSignal,
  ): Promise<KnownProposal | undefined> {
    return (await this.#open(baseBranch, signal)).get(ref)
  }

  async listOpenFrom(ref: string, signal: AbortSignal): Promise<readonly PullRequest[]> {
    const query = { state: 'open', sort: 'oldest' }
    const listed = await this.#client.getAll(
      { path: this.#client.buildPath('/pulls'), query, what: LIST },
      pullRequestSchema,
      signal,
    )
    return listed.filter((pull) => getHeadRef(pull) === ref && isOwnBranch(pull))
  }

  async readNumbered(number: number, signal: AbortSignal): Promise<KnownProposal | undefined> {
    try {
      const pull = await this.get(number, signal)
      if (!isOwnBranch(pull)) return undefined
      if (pull.state === 'open') return createGiteaProposal(pull, '')
      return await this.#ended.readOne(pull, signal)
    } catch (thrown) {
      if (findRefusedStatus(thrown) === 404) return undefined
      throw thrown
    }
  }

  get(number: number, signal: AbortSignal): Promise<PullRequest> {
    return readPullRequest(this.#client, number, signal)
  }

  async closeOpen(number: number, signal: AbortSignal): Promise<void> {
    if ((await this.get(number, signal)).state === 'open') await this.close(number, signal)
  }

  async close(number: number, signal: AbortSignal): Promise<void> {
    const path = this.#client.buildPath(`/pulls/${number}`)
    try {
      await this.#client.send(
        { method: 'PATCH', path, body: { state: 'closed' }, what: 'close the pull request' },
        signal,
      )
    } catch (thrown) {
      // Gitea answers 500 to one of two simultaneous closes, or the answer was lost.
      const now = mayBeDone(thrown)
        ? await this.get(number, signal).catch(() => undefined)
        : undefined
      if (now?.state !== 'closed') throw thrown
    }
  }

  async #open(baseBranch: string, signal: AbortSignal): Promise<Map<string, KnownProposal>> {
    const listed = await this.#openInto(baseBranch, signal)
    const found = new Map<string, KnownProposal>()
    this.#spare.clear()
    for (const pull of listed.toSorted((left, right) => left.number - right.number)) {
      const ref = getHeadRef(pull)
      // Forgejo may not know the filter.
      if (pull.base.ref !== baseBranch || !isOwnBranch(pull) || pull.state !== 'open') continue
      if (!found.has(ref)) found.set(ref, createGiteaProposal(pull, ''))
      else if (found.get(ref)?.number !== pull.number)
        this.#spare.set(ref, [...(this.#spare.get(ref) ?? []), pull.number])
    }
    return found
  }

  #openInto(baseBranch: string, signal: AbortSignal): Promise<readonly PullRequest[]> {
    const query = { state: 'open', sort: 'oldest', base_branch: baseBranch }
    return this.#client.getAll(
      { path: this.#client.buildPath('/pulls'), query, what: LIST },
      pullRequestSchema,
      signal,
    )
  }

  async #openNew(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<KnownProposal> {
    for (const ended of await this.#ended.read(wanted.baseBranch, new Set([wanted.ref]), signal))
      assertSeen(ended, wanted, known)
    return this.#make(wanted, signal)
  }

  async #make(wanted: WantedProposal, signal: AbortSignal): Promise<KnownProposal> {
    const what = 'open a pull request'
    const { ref, baseBranch, title, draft, body: text, reviewers } = wanted
    const body = {
      head: ref.slice('refs/heads/'.length),
      base: baseBranch,
      title: formatGiteaTitle(title, draft),
      body: text,
    }
    let created: KnownProposal
    try {
      const answer = await this.#client.send(
        { method: 'POST', path: this.#client.buildPath('/pulls'), body, what },
        signal,
      )
      created = createGiteaProposal(this.#client.parse(answer, pullRequestSchema, what), '')
    } catch (thrown) {
      // A duplicate, or the answer was lost.
      const mayBeThere = findRefusedStatus(thrown) === 409 || mayBeDone(thrown)
      const there = mayBeThere
        ? await this.findOpen(wanted, signal).catch(() => undefined)
        : undefined
      if (there === undefined) throw thrown
      return there
    }
    // Gitea reads, then inserts (models/issues): two may exist. The first one stays.
    const first = (await this.findOpen(wanted, signal)) ?? created
    if (first.number === created.number) {
      await askReviewers(this.#client, created.number, reviewers, signal)
      await applyGiteaFiling(this.#client, created.number, wanted, signal)
    } else await this.#closeSecond(created.number, first, signal)
    return first
  }

  async #closeSecond(number: number, first: KnownProposal, signal: AbortSignal): Promise<void> {
    const body = `[${first.label}](${first.url}) is the pull request of this branch. Two turns opened one at the same moment.`
    const path = this.#client.buildPath(`/issues/${number}/comments`)
    await this.#client.send(
      {
        method: 'POST',
        path,
        body: { body: addTopic('second', body) },
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
    const [before, whole] = [
      formatGiteaTitle(open.title, open.draft),
      formatGiteaTitle(title, draft),
    ]
    const base = open.baseBranch === baseBranch ? {} : { base: baseBranch }
    if (before === whole && isSameText(open.body, text) && open.baseBranch === baseBranch) return
    const send = async (body: {
      readonly title: string
      readonly body: string
      readonly base?: string
    }): Promise<PullRequest> => {
      const [path, what] = [
        this.#client.buildPath(`/pulls/${open.number}`),
        'update the pull request',
      ]
      return this.#client.parse(
        await this.#client.send({ method: 'PATCH', path, body, what }, signal),
        pullRequestSchema,
        what,
      )
    }
    if ((await send({ title: whole, body: text, ...base })).state === 'open') return
    // Gitea edits a merged or closed one: restore the reviewed text.
    await send({ title: before, body: open.body })
    throw createEndedFailure(open)
  }

  /** The read may be minutes old, and Gitea also changes a merged one. */
  async #assertOpen(open: KnownProposal, signal: AbortSignal): Promise<void> {
    if ((await this.get(open.number, signal)).state !== 'open') throw createEndedFailure(open)
  }
}

function isOther(known: KnownProposal, wanted: WantedProposal): boolean {
  const { add, remove } = labelChanges(known.labels, wanted.labels)
  const sameTitle =
    formatGiteaTitle(known.title, known.draft) === formatGiteaTitle(wanted.title, wanted.draft)
  return (
    add.length + remove.length > 0 ||
    !sameTitle ||
    !isSameText(known.body, wanted.body) ||
    known.baseBranch !== wanted.baseBranch
  )
}
