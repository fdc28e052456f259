/** Found by label or, if somebody removed it, by author and marker. */
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { mayBeDone } from '../adapter/refused-answer.ts'
import { addTopic, isSameText, normalizeLines, readTopic } from '../adapter/topic-marker.ts'
import type { KnownIssue, WantedIssue } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'
import type { GitHubLabels } from './github-labels.ts'

type ListedIssue = RestEndpointMethodTypes['issues']['listForRepo']['response']['data'][number]

export class GitHubIssues {
  readonly #client: GitHubClient
  readonly #labels: GitHubLabels
  /**
   * By topic: the last change in an unfiltered list that had none of Backporch's. Only later
   * changes can be relevant.
   */
  readonly #looked = new Map<string, string>()

  constructor(client: GitHubClient, labels: GitHubLabels) {
    this.#client = client
    this.#labels = labels
  }

  async ensure(
    { topic, title, body, labels }: WantedIssue,
    signal: AbortSignal,
  ): Promise<KnownIssue> {
    const text = addTopic(topic, body)
    const wanted = [...new Set([...labels, formatLabel(topic)])]
    const [first, ...others] = await this.#listOurs(topic, signal)
    if (first === undefined) return this.#open({ topic, title, body: text, labels: wanted }, signal)
    const changes = {
      ...(first.title === title ? {} : { title }),
      ...(isSameText(first.body ?? '', text) ? {} : { body: text }),
      ...(first.state === 'open' ? {} : { state: 'open' as const }),
    }
    if (Object.keys(changes).length > 0) await this.#update(first.number, changes, signal)
    await this.#labels.ensure(first.number, listLabels(first), wanted, signal)
    // From an outdated list: the older one stays.
    for (const { number, state } of others)
      if (state === 'open') await this.#update(number, { state: 'closed' }, signal)
    return { number: first.number, url: first.html_url, open: true, body: normalizeLines(body) }
  }

  async read(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    const [first] = await this.#listOurs(topic, signal)
    return first === undefined ? undefined : createKnownIssue(first)
  }

  async close(topic: string, signal: AbortSignal): Promise<void> {
    for (const { number, state } of await this.#listOurs(topic, signal)) {
      if (state === 'open') await this.#update(number, { state: 'closed' }, signal)
    }
  }

  async #open(
    { topic, title, body, labels }: WantedIssue,
    signal: AbortSignal,
  ): Promise<KnownIssue> {
    const target = await this.#client.getWritableTarget('open an issue', signal)
    await this.#labels.ensureLabels(labels, signal)
    const { octokit } = this.#client
    try {
      const { data } = await this.#client.ask('open an issue', () =>
        octokit.rest.issues.create({ ...target, title, body, labels: [...labels] }),
      )
      return createKnownIssue(data)
    } catch (thrown) {
      const [there] = mayBeDone(thrown) ? await this.#listOurs(topic, signal) : []
      if (there === undefined) throw thrown
      return createKnownIssue(there)
    }
  }

  async #update(
    number: number,
    changes: { title?: string; body?: string; state?: 'open' | 'closed' },
    signal: AbortSignal,
  ): Promise<void> {
    const what = `update #${number}`
    const target = await this.#client.getWritableTarget(what, signal)
    await this.#client.ask(what, () =>
      this.#client.octokit.rest.issues.update({ ...target, issue_number: number, ...changes }),
    )
  }

  /**
   * Oldest first. None is missing before an unfiltered list was read: the author filter does not
   * know bots everywhere (docs/facts/github-creator-filter.md), and the label may be removed.
   */
  async #listOurs(topic: string, signal: AbortSignal): Promise<ListedIssue[]> {
    const labelled = await this.#selectOurs(
      await this.#list({ labels: formatLabel(topic) }, signal),
      topic,
      signal,
    )
    if (labelled.length > 0) return labelled
    // Pull requests are issues too: there may be hundreds of pages.
    const since = this.#looked.get(topic)
    const listed = await this.#list(since === undefined ? {} : { since }, signal)
    const ours = await this.#selectOurs(listed, topic, signal)
    const last = listed.reduce<string | undefined>(
      (latest, { updated_at }) =>
        latest === undefined || updated_at > latest ? updated_at : latest,
      since,
    )
    if (ours.length > 0 || last === undefined) this.#looked.delete(topic)
    else this.#looked.set(topic, last)
    return ours
  }

  async #list(
    filter: { readonly labels?: string; readonly since?: string },
    signal: AbortSignal,
  ): Promise<ListedIssue[]> {
    const { octokit } = this.#client
    const target = await this.#client.getTarget(signal)
    const requested = {
      ...target,
      ...filter,
      state: 'all',
      sort: 'created',
      direction: 'asc',
      per_page: 100,
    } as const
    return this.#client.list('search for an issue of backporch', (page) =>
      octokit.rest.issues.listForRepo({ ...requested, page }),
    )
  }

  async #selectOurs(
    listed: readonly ListedIssue[],
    topic: string,
    signal: AbortSignal,
  ): Promise<ListedIssue[]> {
    const ours: ListedIssue[] = []
    for (const issue of listed) {
      if (issue.pull_request !== undefined || readTopic(issue.body ?? '')?.topic !== topic) continue
      if (await this.#client.isOurs(issue.user, signal)) ours.push(issue)
    }
    return ours
  }
}

function formatLabel(topic: string): string {
  return `drift-topic/${topic}`
}

function listLabels({ labels }: ListedIssue): string[] {
  return labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')))
}

function createKnownIssue(issue: {
  readonly number: number
  readonly html_url: string
  readonly state: string
  readonly body?: string | null
}): KnownIssue {
  const body = readTopic(issue.body ?? '')?.body ?? ''
  return { number: issue.number, url: issue.html_url, open: issue.state === 'open', body }
}
