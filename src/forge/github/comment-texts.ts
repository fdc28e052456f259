/** From GraphQL, because REST does not report the writer (docs/facts/github-comment-editors.md). */
import { z } from 'zod'
import { createWrongForgeFailure } from '../adapter/forge-failure.ts'
import { normalizeLines } from '../adapter/topic-marker.ts'
import type { ForgeComment } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'

type CommentText = Pick<ForgeComment, 'body' | 'writer' | 'at'>

/** Text and writer are from one moment. */
const QUERY = `query Texts($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on IssueComment { id body createdAt lastEditedAt includesCreatedEdit author { login } editor { __typename login } }
  }
}`
const MOST_IDS = 100
const WHAT = 'read who wrote a comment'

const answerSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      body: z.string(),
      createdAt: z.string(),
      lastEditedAt: z.string().nullable(),
      includesCreatedEdit: z.boolean(),
      author: z.object({ login: z.string() }).nullable(),
      editor: z.object({ __typename: z.string(), login: z.string() }).nullable(),
    }),
  ),
})
type TextNode = z.infer<typeof answerSchema>['nodes'][number]

/**
 * @param nodes `node_id` of comments
 * @throws Failure BP50xx, also for a deleted comment
 */
export async function readCommentTexts(
  client: GitHubClient,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, CommentText>> {
  const texts = new Map<string, CommentText>()
  for (let start = 0; start < nodes.length; start += MOST_IDS) {
    const ids = nodes.slice(start, start + MOST_IDS)
    const answer = answerSchema.safeParse(
      await client.queryGraphql<unknown>(WHAT, QUERY, { ids }, signal),
    )
    const reported = new Map(answer.data?.nodes.map((node) => [node.id, node]))
    for (const id of ids) {
      const node = reported.get(id)
      if (node === undefined)
        throw createWrongForgeFailure(
          { address: client.address, what: WHAT },
          'its answer does not have every comment that was asked for',
        )
      const writer = await findWriter(client, node, signal)
      texts.set(id, {
        body: normalizeLines(node.body),
        writer,
        at: node.lastEditedAt ?? node.createdAt,
      })
    }
  }
  return texts
}

/** Programs and deleted accounts give no commands. */
async function findWriter(
  client: GitHubClient,
  node: TextNode,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { author, editor, lastEditedAt, includesCreatedEdit } = node
  if (lastEditedAt === null && !includesCreatedEdit) return author?.login
  return editor?.__typename !== 'User' || (await client.isOurs(editor, signal))
    ? undefined
    : editor.login
}
