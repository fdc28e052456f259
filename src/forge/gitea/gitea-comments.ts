import { mayBeDone } from '../adapter/refused-answer.ts'
import {
  addTopic,
  isSameText,
  mayCommand,
  normalizeLines,
  readTopic,
} from '../adapter/topic-marker.ts'
import type { ForgeComment } from '../ports/hosted-forge.ts'
import { commentSchema, formatGiteaTime, reactionSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

const REACTIONS = { seen: 'eyes', done: '+1', refused: 'confused' } as const

export class GiteaComments {
  readonly #client: GiteaClient
  readonly #login: (signal: AbortSignal) => Promise<string>

  /** @param login comments by this author are Backporch's */
  constructor(client: GiteaClient, login: (signal: AbortSignal) => Promise<string>) {
    this.#client = client
    this.#login = login
  }

  async read(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const self = await this.#login(signal)
    const others = (await this.#listAll(number, signal)).filter(({ user }) => user?.login !== self)
    const comments: ForgeComment[] = []
    for (const { id, body, user, created_at, updated_at } of others) {
      comments.push({
        id: String(id),
        author: user?.login ?? '',
        // Gitea marks no bots: its runner has a fixed name, others follow GitHub's convention.
        bot: user == null || user.login === 'gitea-actions' || user.login.endsWith('[bot]'),
        body: normalizeLines(body),
        at: formatGiteaTime(created_at),
        // The API does not report editors (docs/facts/gitea-api.md).
        writer: created_at === updated_at ? (user?.login ?? '') : undefined,
        answered: mayCommand(body) && isAnswer(await this.#listReactions(String(id), self, signal)),
      })
    }
    return comments
  }

  async readOwn(number: number, topic: string, signal: AbortSignal): Promise<string | undefined> {
    return readTopic((await this.#find(number, topic, signal))?.body ?? '')?.body
  }

  async ensure(number: number, topic: string, text: string, signal: AbortSignal): Promise<void> {
    const body = addTopic(topic, text)
    const ours = await this.#find(number, topic, signal)
    if (ours === undefined) await this.#write(number, topic, body, signal)
    else if (!isSameText(ours.body, body)) {
      const path = this.#client.buildPath(`/issues/comments/${ours.id}`)
      await this.#client.send(
        { method: 'PATCH', path, body: { body }, what: 'edit a comment' },
        signal,
      )
    }
  }

  async react(
    { id }: ForgeComment,
    reaction: keyof typeof REACTIONS,
    signal: AbortSignal,
  ): Promise<void> {
    const content = REACTIONS[reaction]
    if ((await this.#listReactions(id, await this.#login(signal), signal)).has(content)) return
    const path = this.#client.buildPath(`/issues/comments/${encodeURIComponent(id)}/reactions`)
    await this.#client.send(
      { method: 'POST', path, body: { content }, what: 'react to a comment' },
      signal,
    )
  }

  async #write(number: number, topic: string, body: string, signal: AbortSignal): Promise<void> {
    const path = this.#client.buildPath(`/issues/${number}/comments`)
    const what = 'write a comment'
    let id: number
    try {
      id = this.#client.parse(
        await this.#client.send({ method: 'POST', path, body: { body }, what }, signal),
        commentSchema,
        what,
      ).id
    } catch (thrown) {
      // The answer may be lost: the next turn rereads.
      if (!mayBeDone(thrown)) throw thrown
      const there = await this.#find(number, topic, signal).catch(() => undefined)
      if (there === undefined || !isSameText(there.body, body)) throw thrown
      return
    }
    // Another process may have written one too: the older one stays.
    const first = await this.#find(number, topic, signal)
    if (first === undefined || first.id === id) return
    await this.#client.send(
      {
        method: 'DELETE',
        path: this.#client.buildPath(`/issues/comments/${id}`),
        what: 'remove a comment',
      },
      signal,
    )
  }

  async #find(number: number, topic: string, signal: AbortSignal) {
    const self = await this.#login(signal)
    return (await this.#listAll(number, signal)).find(
      (comment) => comment.user?.login === self && readTopic(comment.body)?.topic === topic,
    )
  }

  async #listReactions(
    id: string,
    self: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const path = this.#client.buildPath(`/issues/comments/${encodeURIComponent(id)}/reactions`)
    const all =
      (await this.#client.get(
        { path, what: 'read reactions' },
        reactionSchema.array().nullable(),
        signal,
      )) ?? []
    return new Set(all.filter(({ user }) => user?.login === self).map(({ content }) => content))
  }

  /** Gitea returns all comments at once (routers/api/v1/repo/issue_comment.go). */
  async #listAll(number: number, signal: AbortSignal) {
    const path = this.#client.buildPath(`/issues/${number}/comments`)
    return (
      (await this.#client.get(
        { path, what: 'read comments' },
        commentSchema.array().nullable(),
        signal,
      )) ?? []
    )
  }
}

function isAnswer(reactions: ReadonlySet<string>): boolean {
  return reactions.has(REACTIONS.done) || reactions.has(REACTIONS.refused)
}
