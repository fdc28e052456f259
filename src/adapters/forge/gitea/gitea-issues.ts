/** Our own issues of Gitea, one per topic. */
import type { KnownIssue } from '../../../ports/hosted-forge.ts'
import { readTopic, sameText, withTopic } from '../topic-marker.ts'
import { issueSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { notGitea } from './gitea-failure.ts'
import type { GiteaLabels } from './gitea-labels.ts'

interface Issue extends KnownIssue {
  readonly title: string
  readonly labels: readonly string[]
}

export class GiteaIssues {
  readonly #client: GiteaClient
  readonly #labels: GiteaLabels
  readonly #login: (signal: AbortSignal) => Promise<string>

  constructor(client: GiteaClient, labels: GiteaLabels, login: (signal: AbortSignal) => Promise<string>) {
    this.#client = client
    this.#labels = labels
    this.#login = login
  }

  async ensure(topic: string, title: string, text: string, labels: readonly string[], signal: AbortSignal): Promise<KnownIssue> {
    const body = withTopic(topic, text)
    const there = (await this.#find(topic, signal)) ?? (await this.#open(title, body, signal))
    const stale = there.title !== title || !sameText(there.body, body)
    if (stale || !there.open) await this.#change(there.number, { title, body, state: 'open' }, signal)
    await this.#labels.ensure(there.number, there.labels, labels, signal)
    return { number: there.number, url: there.url, open: true, body: text }
  }

  async read(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    const found = await this.#find(topic, signal)
    return found === undefined
      ? undefined
      : { number: found.number, url: found.url, open: found.open, body: readTopic(found.body)?.body ?? '' }
  }

  async close(topic: string, signal: AbortSignal): Promise<void> {
    const found = await this.#find(topic, signal)
    if (found?.open === true) await this.#change(found.number, { state: 'closed' }, signal)
  }

  async #open(title: string, body: string, signal: AbortSignal): Promise<Issue> {
    return this.#issue(
      await this.#client.send({ method: 'POST', path: this.#path('/issues'), body: { title, body }, what: 'open an issue' }, signal),
    )
  }

  async #change(number: number, body: object, signal: AbortSignal): Promise<void> {
    await this.#client.send({ method: 'PATCH', path: this.#path(`/issues/${number}`), body, what: 'update an issue' }, signal)
  }

  /** The oldest of ours: two processes may have opened one each at the same moment. */
  async #find(topic: string, signal: AbortSignal): Promise<Issue | undefined> {
    const self = await this.#login(signal)
    const query = { type: 'issues', state: 'all', created_by: self }
    const listed = await this.#client.list({ path: this.#path('/issues'), query, what: 'list issues' }, signal)
    return listed
      .map((item) => this.#issue(item))
      .filter(({ body }) => readTopic(body)?.topic === topic)
      .sort((left, right) => left.number - right.number)[0]
  }

  #issue(item: unknown): Issue {
    const parsed = issueSchema.safeParse(item)
    if (!parsed.success) throw notGitea({ address: this.#client.address, what: 'read issues' }, 'its answer has another shape')
    const { number, html_url, state, title, body, labels } = parsed.data
    return { number, url: html_url, open: state === 'open', title, body: body ?? '', labels: (labels ?? []).map(({ name }) => name) }
  }

  #path(below: string): string {
    const { owner, repository } = this.#client.address
    return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}${below}`
  }
}
