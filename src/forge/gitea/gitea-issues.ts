import type * as z from 'zod'
import { mayBeDone } from '../adapter/refused-answer.ts'
import { addTopic, isSameText, readTopic } from '../adapter/topic-marker.ts'
import type { KnownIssue, WantedIssue } from '../ports/hosted-forge.ts'
import { formatGiteaTitle, issueSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import type { GiteaLabels } from './gitea-labels.ts'

interface Issue extends KnownIssue {
  readonly title: string
  readonly labels: readonly string[]
}

export class GiteaIssues {
  readonly #client: GiteaClient
  readonly #labels: GiteaLabels
  readonly #login: (signal: AbortSignal) => Promise<string>

  constructor(
    client: GiteaClient,
    labels: GiteaLabels,
    login: (signal: AbortSignal) => Promise<string>,
  ) {
    this.#client = client
    this.#labels = labels
    this.#login = login
  }

  async ensure(
    { topic, title: wantedTitle, body: text, labels }: WantedIssue,
    signal: AbortSignal,
  ): Promise<KnownIssue> {
    const body = addTopic(topic, text)
    const title = formatGiteaTitle(wantedTitle, false)
    let ours = await this.#listOurs(topic, signal)
    if (ours.length === 0) {
      const made = await this.#open(topic, title, body, signal)
      ours = await this.#listOurs(topic, signal)
      if (ours.length === 0) ours = [made]
    }
    const [there, ...others] = ours as [Issue, ...Issue[]]
    // Another process may have opened one too: the older one stays.
    for (const { number, open } of others) if (open) await this.#close(number, signal)
    const stale = there.title !== title || !isSameText(there.body, body)
    if (stale || !there.open)
      await this.#change(there.number, { title, body, state: 'open' }, signal)
    await this.#labels.ensure(there.number, there.labels, labels, signal)
    return { number: there.number, url: there.url, open: true, body: text }
  }

  async read(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined> {
    const [found] = await this.#listOurs(topic, signal)
    return found === undefined
      ? undefined
      : {
          number: found.number,
          url: found.url,
          open: found.open,
          body: readTopic(found.body)?.body ?? '',
        }
  }

  async close(topic: string, signal: AbortSignal): Promise<void> {
    for (const { number, open } of await this.#listOurs(topic, signal))
      if (open) await this.#close(number, signal)
  }

  async #open(topic: string, title: string, body: string, signal: AbortSignal): Promise<Issue> {
    const what = 'open an issue'
    try {
      const path = this.#client.buildPath('/issues')
      return convertIssue(
        this.#client.parse(
          await this.#client.send({ method: 'POST', path, body: { title, body }, what }, signal),
          issueSchema,
          what,
        ),
      )
    } catch (thrown) {
      // The answer may be lost.
      const [there] = mayBeDone(thrown) ? await this.#listOurs(topic, signal).catch(() => []) : []
      if (there === undefined) throw thrown
      return there
    }
  }

  async #change(number: number, body: object, signal: AbortSignal): Promise<void> {
    await this.#client.send(
      {
        method: 'PATCH',
        path: this.#client.buildPath(`/issues/${number}`),
        body,
        what: 'update an issue',
      },
      signal,
    )
  }

  async #close(number: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#change(number, { state: 'closed' }, signal)
    } catch (thrown) {
      // Gitea answers 500 to one of two simultaneous closes, or the answer was lost.
      const now = mayBeDone(thrown)
        ? await this.#read(number, signal).catch(() => undefined)
        : undefined
      if (now?.state !== 'closed') throw thrown
    }
  }

  #read(number: number, signal: AbortSignal): Promise<z.infer<typeof issueSchema>> {
    return this.#client.get(
      { path: this.#client.buildPath(`/issues/${number}`), what: 'read an issue' },
      issueSchema,
      signal,
    )
  }

  /** Oldest first. A server may ignore the filter. */
  async #listOurs(topic: string, signal: AbortSignal): Promise<Issue[]> {
    const self = await this.#login(signal)
    const query = { type: 'issues', state: 'all', created_by: self }
    const listed = await this.#client.getAll(
      { path: this.#client.buildPath('/issues'), query, what: 'list issues' },
      issueSchema,
      signal,
    )
    return listed
      .filter(({ user }) => user?.login === self)
      .map(convertIssue)
      .filter(({ body }) => readTopic(body)?.topic === topic)
      .sort((left, right) => left.number - right.number)
  }
}

function convertIssue({
  number,
  html_url,
  state,
  title,
  body,
  labels,
}: z.infer<typeof issueSchema>): Issue {
  return {
    number,
    url: html_url,
    open: state === 'open',
    title,
    body: body ?? '',
    labels: (labels ?? []).map(({ name }) => name),
  }
}
