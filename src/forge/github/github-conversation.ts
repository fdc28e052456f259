import { Failure } from '@backporch/kyaml/failure'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { findRefusedStatus, mayBeDone } from '../adapter/refused-answer.ts'
import {
  addTopic,
  isSameText,
  mayCommand,
  normalizeLines,
  readTopic,
} from '../adapter/topic-marker.ts'
import type { ForgeComment, Permission } from '../ports/hosted-forge.ts'
import { readCommentTexts } from './comment-texts.ts'
import type { GitHubClient } from './github-client.ts'

type ListedComment = RestEndpointMethodTypes['issues']['listComments']['response']['data'][number]
interface KnownComment {
  readonly node: string
  readonly comment: ForgeComment
}

const CONTENTS = { seen: 'eyes', done: '+1', refused: 'confused' } as const

export class GitHubConversation {
  readonly #client: GitHubClient

  constructor(client: GitHubClient) {
    this.#client = client
  }

  async read(number: number, signal: AbortSignal): Promise<ForgeComment[]> {
    const comments: KnownComment[] = []
    for (const comment of await this.#list(number, signal)) {
      if (await this.#client.isOurs(comment.user, signal)) continue
      comments.push({ node: comment.node_id, comment: await this.#createComment(comment, signal) })
    }
    const requested = comments.filter(
      ({ comment: { body, bot, answered } }) => !bot && !answered && mayCommand(body),
    )
    const texts = await readCommentTexts(
      this.#client,
      requested.map(({ node }) => node),
      signal,
    )
    return comments.map(({ node, comment }) => ({ ...comment, ...texts.get(node) }))
  }

  async readOwn(number: number, topic: string, signal: AbortSignal): Promise<string | undefined> {
    const [first] = await this.#listOurs(number, topic, signal)
    return readTopic(first?.body ?? '')?.body
  }

  /** One comment per topic. A lost answer may have left a duplicate, which is deleted. */
  async ensure(number: number, topic: string, body: string, signal: AbortSignal): Promise<void> {
    const text = addTopic(topic, body)
    const what = `comment on #${number}`
    const [first, ...others] = await this.#listOurs(number, topic, signal)
    const target =
      first === undefined || others.length > 0 || !isSameText(first.body ?? '', text)
        ? await this.#client.getWritableTarget(what, signal)
        : undefined
    if (target === undefined) return
    const { issues } = this.#client.octokit.rest
    const create = async (): Promise<void> => {
      try {
        await this.#client.ask(what, () =>
          issues.createComment({ ...target, issue_number: number, body: text }),
        )
      } catch (thrown) {
        if (!mayBeDone(thrown) || (await this.#listOurs(number, topic, signal)).length === 0)
          throw thrown
      }
    }
    if (first === undefined) return create()
    if (!isSameText(first.body ?? '', text)) {
      const there = await this.#runUnlessGone(what, () =>
        issues.updateComment({ ...target, comment_id: first.id, body: text }),
      )
      if (!there) await create()
    }
    for (const { id } of others)
      await this.#runUnlessGone(what, () => issues.deleteComment({ ...target, comment_id: id }))
  }

  async #runUnlessGone(what: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#client.ask(what, work)
      return true
    } catch (thrown) {
      if (findRefusedStatus(thrown) !== 404) throw thrown
      return false
    }
  }

  async react(
    { id }: ForgeComment,
    reaction: 'seen' | 'done' | 'refused',
    signal: AbortSignal,
  ): Promise<void> {
    const content = CONTENTS[reaction]
    const comment = Number(id)
    if ((await this.#listReactions(comment, signal)).has(content)) return
    const what = 'answer a comment with a reaction'
    const target = await this.#client.getWritableTarget(what, signal)
    const { reactions } = this.#client.octokit.rest
    await this.#client.ask(what, () =>
      reactions.createForIssueComment({ ...target, comment_id: comment, content }),
    )
  }

  async findPermission(login: string, signal: AbortSignal): Promise<Permission> {
    const { octokit } = this.#client
    const target = await this.#client.getTarget(signal)
    const what = 'read the permission of a person'
    try {
      const { data } = await this.#client.ask(what, () =>
        octokit.rest.repos.getCollaboratorPermissionLevel({ ...target, username: login }),
      )
      const { permission } = data
      return permission === 'admin' || permission === 'write' || permission === 'read'
        ? permission
        : 'none'
    } catch (thrown) {
      if (!(thrown instanceof Failure) || findRefusedStatus(thrown) !== 404) throw thrown
      // An invisible repository must not count as an answer.
      await this.#client.observe(signal)
      return 'none'
    }
  }

  async #createComment(comment: ListedComment, signal: AbortSignal): Promise<ForgeComment> {
    const author = comment.user?.login ?? 'ghost'
    return {
      id: String(comment.id),
      author,
      bot: comment.user?.type === 'Bot' || author.endsWith('[bot]'),
      body: normalizeLines(comment.body),
      at: comment.created_at,
      // REST times are whole seconds, and REST does not report the editor.
      writer: comment.updated_at === comment.created_at ? author : undefined,
      answered: await this.#isAnswered(comment, signal),
    }
  }

  async #isAnswered({ id, reactions }: ListedComment, signal: AbortSignal): Promise<boolean> {
    const answers = [CONTENTS.done, CONTENTS.refused]
    if (reactions !== undefined && answers.every((content) => reactions[content] === 0))
      return false
    const ours = await this.#listReactions(id, signal)
    return answers.some((content) => ours.has(content))
  }

  async #listReactions(comment: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { octokit } = this.#client
    const requested = {
      ...(await this.#client.getTarget(signal)),
      comment_id: comment,
      per_page: 100,
    }
    const pages = (page: number) =>
      octokit.rest.reactions.listForIssueComment({ ...requested, page })
    const ours = new Set<string>()
    for (const { user, content } of await this.#client.list(
      'read the reactions of a comment',
      pages,
    )) {
      if (await this.#client.isOurs(user, signal)) ours.add(content)
    }
    return ours
  }

  async #listOurs(number: number, topic: string, signal: AbortSignal): Promise<ListedComment[]> {
    const ours: ListedComment[] = []
    for (const comment of await this.#list(number, signal)) {
      // Anybody may write the marker.
      if (
        readTopic(comment.body ?? '')?.topic === topic &&
        (await this.#client.isOurs(comment.user, signal))
      )
        ours.push(comment)
    }
    return ours
  }

  async #list(number: number, signal: AbortSignal): Promise<ListedComment[]> {
    const { octokit } = this.#client
    const requested = {
      ...(await this.#client.getTarget(signal)),
      issue_number: number,
      per_page: 100,
    }
    const listed = await this.#client.list(`read the comments of #${number}`, (page) =>
      octokit.rest.issues.listComments({ ...requested, page }),
    )
    return listed.sort((left, right) => left.id - right.id)
  }
}
