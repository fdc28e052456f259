/** Comments and reactions of Gitea. */
import type { ForgeComment } from '../../../ports/hosted-forge.ts'
import { plainLines, readTopic, sameText, withTopic } from '../topic-marker.ts'
import { commentSchema, reactionSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { notGitea } from './gitea-failure.ts'

const REACTIONS = { seen: 'eyes', done: '+1', refused: 'confused' } as const

export class GiteaComments {
  readonly #client: GiteaClient
  readonly #login: (signal: AbortSignal) => Promise<string>

  /** @param login whose the token is: what has this author is ours */
  constructor(client: GiteaClient, login: (signal: AbortSignal) => Promise<string>) {
    this.#client = client
    this.#login = login
  }

  async read(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const self = await this.#login(signal)
    const others = (await this.#all(number, signal)).filter(({ user }) => user?.login !== self)
    const comments: ForgeComment[] = []
    for (const { id, body, user, created_at, updated_at } of others) {
      comments.push({
        id: String(id),
        author: user?.login ?? '',
        // Gitea marks no account as a bot; its own runner's name is fixed, and others follow GitHub's habit.
        bot: user == null || user.login === 'gitea-actions' || user.login.endsWith('[bot]'),
        body: plainLines(body),
        at: `${new Date(created_at).toISOString().slice(0, 19)}Z`,
        edited: created_at !== updated_at,
        answered: isCommand(body) && (await this.#isAnswered(id, self, signal)),
      })
    }
    return comments
  }

  async ensure(number: number, topic: string, text: string, signal: AbortSignal): Promise<void> {
    const self = await this.#login(signal)
    const body = withTopic(topic, text)
    const ours = (await this.#all(number, signal)).find(
      (comment) => comment.user?.login === self && readTopic(comment.body)?.topic === topic,
    )
    if (ours === undefined) {
      await this.#client.send(
        { method: 'POST', path: this.#path(`/issues/${number}/comments`), body: { body }, what: 'write a comment' },
        signal,
      )
    } else if (!sameText(ours.body, body)) {
      const path = this.#path(`/issues/comments/${ours.id}`)
      await this.#client.send({ method: 'PATCH', path, body: { body }, what: 'edit a comment' }, signal)
    }
  }

  async react({ id }: ForgeComment, reaction: keyof typeof REACTIONS, signal: AbortSignal): Promise<void> {
    const path = this.#path(`/issues/comments/${encodeURIComponent(id)}/reactions`)
    await this.#client.send({ method: 'POST', path, body: { content: REACTIONS[reaction] }, what: 'react to a comment' }, signal)
  }

  async #isAnswered(id: number, self: string, signal: AbortSignal): Promise<boolean> {
    const path = this.#path(`/issues/comments/${id}/reactions`)
    const answer = (await this.#client.send({ method: 'GET', path, what: 'read reactions' }, signal)) ?? []
    const parsed = reactionSchema.array().safeParse(answer)
    if (!parsed.success) throw notGitea({ address: this.#client.address, what: 'read reactions' }, 'its answer has another shape')
    return parsed.data.some(({ user, content }) => user?.login === self && (content === REACTIONS.done || content === REACTIONS.refused))
  }

  async #all(number: number, signal: AbortSignal) {
    const path = this.#path(`/issues/${number}/comments`)
    // Not paged: Gitea gives all comments of one issue at once (routers/api/v1/repo/issue_comment.go).
    const parsed = commentSchema.array().safeParse(await this.#client.send({ method: 'GET', path, what: 'read comments' }, signal))
    if (parsed.success) return parsed.data
    throw notGitea({ address: this.#client.address, what: 'read comments' }, 'its answer has another shape')
  }

  #path(below: string): string {
    const { owner, repository } = this.#client.address
    return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}${below}`
  }
}

/** Reactions are asked for only where a command may stand. */
function isCommand(body: string): boolean {
  return /^\//m.test(body)
}
