/** One request returns a hundred heads with their status, which REST cannot. */
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { z } from 'zod'
import { createWrongForgeFailure } from '../adapter/forge-failure.ts'
import type { CommitStatus, OpenHead, WantedHeads } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'

const WHAT = 'read the heads of the pull requests'
const QUERY = `query OpenHeads($owner: String!, $name: String!, $base: String!, $context: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: OPEN, baseRefName: $base, first: 100, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number headRefName isCrossRepository
        commits(last: 1) { nodes { commit { oid status { context(name: $context) { state description targetUrl } } } } }
      }
    }
  }
}`
const GROUPS = 'refs/heads/gh-readonly-queue/'

const contextSchema = z.object({
  state: z.string(),
  description: z.string().nullable(),
  targetUrl: z.string().nullable(),
})
const commitSchema = z.object({
  oid: z.string().regex(/^[0-9a-f]{40}$/),
  status: z.object({ context: contextSchema.nullable() }).nullable(),
})
const pullSchema = z.object({
  number: z.number(),
  headRefName: z.string(),
  isCrossRepository: z.boolean(),
  commits: z.object({ nodes: z.array(z.object({ commit: commitSchema })) }),
})
const answerSchema = z.object({
  repository: z.object({
    pullRequests: z.object({
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      nodes: z.array(pullSchema),
    }),
  }),
})

/** @throws Failure BP50xx */
export async function readOpenHeads(
  client: GitHubClient,
  { baseBranch, context, refs }: WantedHeads,
  signal: AbortSignal,
): Promise<readonly OpenHead[]> {
  const { owner, repo } = await client.getTarget(signal)
  const heads: OpenHead[] = [...mergeGroups(refs, baseBranch)]
  let after: string | null = null
  do {
    const variables = {
      owner,
      name: repo,
      base: baseBranch,
      context,
      ...(after === null ? {} : { after }),
    }
    const answer = answerSchema.safeParse(
      await client.queryGraphql<unknown>(WHAT, QUERY, variables, signal),
    )
    if (!answer.success)
      throw createWrongForgeFailure(
        { address: client.address, what: WHAT },
        'its answer has no pull requests',
      )
    const { nodes, pageInfo } = answer.data.repository.pullRequests
    for (const { number, commits, headRefName, isCrossRepository } of nodes) {
      const kind =
        !isCrossRepository && headRefName.startsWith('proposed/') ? 'proposal' : 'pull-request'
      for (const { commit } of commits.nodes)
        heads.push({
          kind,
          commit: parseObjectId(commit.oid),
          numbers: [number],
          status: parseStatus(context, commit.status?.context ?? undefined),
        })
    }
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null)
  return heads
}

/** GitHub has two more words for a failure. */
function parseStatus(
  context: string,
  found: z.infer<typeof contextSchema> | undefined,
): CommitStatus | undefined {
  if (found === undefined) return undefined
  const state =
    found.state === 'SUCCESS'
      ? 'success'
      : found.state === 'PENDING' || found.state === 'EXPECTED'
        ? 'pending'
        : 'failure'
  return { context, state, description: found.description ?? '', url: found.targetUrl || undefined }
}

/**
 * A group's branch names the added pull request and the commit below: the base branch, or the
 * previous group (docs/facts/github-merge-queue.md).
 */
function mergeGroups(refs: ReadonlyMap<string, ObjectId>, baseBranch: string): readonly OpenHead[] {
  const prefix = `${GROUPS}${baseBranch}/`
  const groups = [...refs].flatMap(([ref, commit]) => {
    const [, number, onto = ''] =
      (ref.startsWith(prefix) &&
        /^pr-([0-9]{1,12})-([0-9a-f]{40})$/.exec(ref.slice(prefix.length))) ||
      []
    return number === undefined ? [] : [{ commit, number: Number(number), onto }]
  })
  const byCommit = new Map(groups.map((group) => [String(group.commit), group]))
  return groups.map(({ commit, ...own }): OpenHead => {
    const numbers: number[] = []
    // A name is not proof: each group counts once.
    const seen = new Set<string>()
    for (
      let next: typeof own | undefined = own;
      next !== undefined && !seen.has(next.onto);
      next = byCommit.get(next.onto)
    ) {
      seen.add(next.onto)
      numbers.push(next.number)
    }
    return { kind: 'group', commit, numbers, status: undefined }
  })
}
