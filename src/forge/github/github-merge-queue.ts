/** Only GraphQL exposes them (docs/facts/github-merge-queue.md). */
import type { ObjectId } from '@backporch/kyaml/files'
import { z } from 'zod'
import { createWrongForgeFailure } from '../adapter/forge-failure.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { GitHubClient } from './github-client.ts'

const ENTRIES = `query Queue($owner: String!, $name: String!, $base: String!) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $base) { entries(first: 100) { nodes { pullRequest { number } } } }
  }
}`
const ENQUEUER = `query Enqueuer($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      timelineItems(last: 1, itemTypes: ADDED_TO_MERGE_QUEUE_EVENT) {
        nodes { ... on AddedToMergeQueueEvent { actor { __typename login } } }
      }
    }
  }
}`
const ENQUEUE = `mutation Enqueue($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { mergeQueueEntry { position } }
}`

const entriesSchema = z.object({
  repository: z.object({
    mergeQueue: z
      .object({
        entries: z
          .object({
            nodes: z.array(z.object({ pullRequest: z.object({ number: z.number() }).nullable() })),
          })
          .nullable(),
      })
      .nullable(),
  }),
})
const enqueuerSchema = z.object({
  repository: z.object({
    pullRequest: z.object({
      timelineItems: z.object({
        nodes: z.array(
          z.object({ actor: z.object({ __typename: z.string(), login: z.string() }).nullable() }),
        ),
      }),
    }),
  }),
})

/** The first hundred; undefined without a queue. */
export async function readMergeQueue(
  client: GitHubClient,
  base: string,
  signal: AbortSignal,
): Promise<ReadonlySet<number> | undefined> {
  const what = 'read the merge queue'
  const { owner, repo } = await client.getTarget(signal)
  let answer: unknown
  try {
    answer = await client.queryGraphql<unknown>(what, ENTRIES, { owner, name: repo, base }, signal)
  } catch (thrown) {
    if (findRefusedStatus(thrown) === 422) return undefined
    throw thrown
  }
  const read = entriesSchema.safeParse(answer)
  if (!read.success)
    throw createWrongForgeFailure(
      { address: client.address, what },
      'its answer has no merge queue',
    )
  const { mergeQueue } = read.data.repository
  if (mergeQueue === null) return undefined
  return new Set(
    (mergeQueue.entries?.nodes ?? []).flatMap(({ pullRequest }) => pullRequest?.number ?? []),
  )
}

export async function readEnqueuer(
  client: GitHubClient,
  number: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const what = `read who put #${number} into the merge queue`
  const { owner, repo } = await client.getTarget(signal)
  const read = enqueuerSchema.safeParse(
    await client.queryGraphql<unknown>(what, ENQUEUER, { owner, name: repo, number }, signal),
  )
  if (!read.success)
    throw createWrongForgeFailure({ address: client.address, what }, 'its answer has no events')
  const actor = read.data.repository.pullRequest.timelineItems.nodes[0]?.actor
  // GraphQL omits `[bot]` from a bot's login.
  return actor === null || actor === undefined
    ? undefined
    : actor.__typename === 'Bot'
      ? `${actor.login}[bot]`
      : actor.login
}

/**
 * The queue merges in its own style and with its own message.
 * @param id in GraphQL
 * @throws Failure BP5006 with its reason
 */
export async function enqueue(
  client: GitHubClient,
  { number, id, head }: { readonly number: number; readonly id: string; readonly head: ObjectId },
  signal: AbortSignal,
): Promise<void> {
  await client.queryGraphql(`put #${number} into the merge queue`, ENQUEUE, { id, head }, signal)
}
