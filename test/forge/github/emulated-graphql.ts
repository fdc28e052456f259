/** Answers GraphQL as GitHub does, from the state; what its own schema does not have is a problem (`cut-graphql.ts` cuts the schema). */
import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema, graphqlSync, parse, validate } from 'graphql'
import type { EmulatedComment, EmulatedState, EmulatedThread } from './emulated-state.ts'

interface RequestDescription {
  readonly query?: string
  readonly variables?: Readonly<Record<string, unknown>>
}

let schema: GraphQLSchema | undefined

/** @param problem told what GitHub would not take */
export function answerGraphql(
  state: EmulatedState,
  actor: string,
  { query = '', variables }: RequestDescription,
  problem: (text: string) => void,
): unknown {
  schema ??= buildSchema(
    readFileSync(new URL('../../corpus/github/schema.graphql', import.meta.url), 'utf8'),
  )
  for (const { message } of validate(schema, parse(query))) problem(`GraphQL: ${message}`)
  const rootValue = {
    viewer: { login: actor },
    repository: ({ owner, name }: { readonly owner: string; readonly name: string }) =>
      owner === state.owner && name === state.repo
        ? repositoryNode(state)
        : notFound(`${owner}/${name}`),
    nodes: ({ ids }: { readonly ids: readonly string[] }) =>
      ids.map((id) => {
        const comment = state.comments.find((one) => nodeId(one) === id)
        return comment === undefined ? notFound(id) : commentNode(state, comment)
      }),
    enqueuePullRequest: ({ input }: EnqueueInput) => enqueue(state, actor, input),
    convertPullRequestToDraft: ({ input }: DraftInput) =>
      setDraft(state, input.pullRequestId, true),
    markPullRequestReadyForReview: ({ input }: DraftInput) =>
      setDraft(state, input.pullRequestId, false),
  }
  const { data, errors } = graphqlSync({
    schema,
    source: query,
    rootValue,
    ...(variables === undefined ? {} : { variableValues: variables }),
  })
  const reported = errors?.map(({ message, path, originalError }) => ({
    type: originalError instanceof Refusal ? originalError.type : undefined,
    path,
    message,
  }))
  return { data, ...(reported === undefined ? {} : { errors: reported }) }
}

interface DraftInput {
  readonly input: { readonly pullRequestId: string }
}

class Refusal extends Error {
  readonly type: string

  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

function notFound(id: string): Refusal {
  return new Refusal('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`)
}

function nodeId({ id }: EmulatedComment): string {
  return `IC_${id}`
}

function commentNode(state: EmulatedState, comment: EmulatedComment): unknown {
  const { edit, createdAt } = comment
  return {
    __typename: 'IssueComment',
    id: nodeId(comment),
    body: comment.body,
    createdAt,
    lastEditedAt: edit?.at ?? null,
    includesCreatedEdit: edit !== undefined,
    author: actorNode(state, comment.user),
    editor: edit === undefined || edit.by === null ? null : actorNode(state, edit.by),
  }
}

/** The login of a bot has no `[bot]` here. */
function actorNode(state: EmulatedState, login: string): unknown {
  return {
    __typename: state.bots.has(login) ? 'Bot' : 'User',
    login: login.replace(/\[bot\]$/, ''),
  }
}

interface EnqueueInput {
  readonly input: { readonly pullRequestId: string; readonly expectedHeadOid?: string }
}

function enqueue(
  state: EmulatedState,
  actor: string,
  { pullRequestId, expectedHeadOid }: EnqueueInput['input'],
): unknown {
  const thread = state.thread(Number(pullRequestId.replace('PR_', '')), true)
  if (thread?.pull === undefined) throw notFound(pullRequestId)
  if (state.queue === undefined) throw new Refusal('UNPROCESSABLE', 'Merge queue is not enabled')
  if (thread.state !== 'open' || thread.pull.draft || state.missing(thread.pull) !== undefined)
    throw new Refusal('UNPROCESSABLE', 'Pull request is not mergeable')
  if (expectedHeadOid !== undefined && expectedHeadOid !== thread.pull.sha)
    throw new Refusal('UNPROCESSABLE', 'Head sha has changed')
  if (state.queue.includes(thread.number))
    throw new Refusal('UNPROCESSABLE', 'Pull request is already in the queue')
  state.queue.push(thread.number)
  state.enqueuers.set(thread.number, actor)
  return { mergeQueueEntry: { position: state.queue.length } }
}

interface PullsInput {
  readonly states?: readonly string[]
  readonly baseRefName?: string
  readonly first?: number
  readonly after?: string | null
}

function repositoryNode(state: EmulatedState): unknown {
  return {
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) => {
      const branch = qualifiedName.replace(/^refs\/heads\//, '')
      if (!state.tellsProtection)
        throw new Refusal('FORBIDDEN', 'Resource not accessible by integration')
      if (!state.git.branches().has(branch)) return null
      return {
        refUpdateRule: state.protectedBySignatures(branch) ? { requiresSignatures: true } : null,
      }
    },
    mergeQueue: ({ branch }: { readonly branch: string }) =>
      state.queue === undefined || branch !== 'main'
        ? null
        : { entries: { nodes: state.queue.map((number) => ({ pullRequest: { number } })) } },
    pullRequest: ({ number }: { readonly number: number }) => {
      const by = state.enqueuers.get(number)
      const nodes =
        by === undefined
          ? []
          : [{ __typename: 'AddedToMergeQueueEvent', actor: actorNode(state, by) }]
      return { timelineItems: { nodes } }
    },
    pullRequests: ({ states = [], baseRefName, first = 0, after }: PullsInput) => {
      if (first < 1 || first > 100)
        throw new Refusal('EXCESSIVE_PAGINATION', 'between 1 and 100 records')
      const all = state.threads
        .filter(
          ({ pull, state: now }) =>
            pull !== undefined && states.includes(now.toUpperCase()) && pull.base === baseRefName,
        )
        .toReversed()
      const from = Number(after ?? 0)
      const nodes = all.slice(from, from + first).map((thread) => pullNode(state, thread))
      return {
        nodes,
        pageInfo: {
          hasNextPage: all.length > from + first,
          endCursor: String(from + nodes.length),
        },
      }
    },
  }
}

function pullNode(state: EmulatedState, { number, pull }: EmulatedThread): unknown {
  return {
    number,
    headRefName: pull?.head,
    isCrossRepository: pull?.fork,
    commits: {
      nodes: [{ commit: { oid: pull?.sha, status: statusNode(state, pull?.sha ?? '') } }],
    },
  }
}

/** Null for a commit without any status. */
function statusNode(state: EmulatedState, sha: string): unknown {
  const statuses = state.statuses.filter((status) => status.sha === sha)
  if (statuses.length === 0) return null
  return {
    context: ({ name }: { readonly name: string }) => {
      const last = statuses.findLast(({ context }) => context === name)
      return last === undefined
        ? null
        : {
            state: last.state.toUpperCase(),
            description: last.description,
            targetUrl: last.target_url,
          }
    },
  }
}

function setDraft(state: EmulatedState, id: string, draft: boolean): unknown {
  const thread = state.thread(Number(id.replace('PR_', '')), true)
  if (thread?.pull === undefined) throw notFound(id)
  if (draft && !state.drafts) throw new Refusal('UNPROCESSABLE', 'Draft state cannot be set.')
  thread.pull.draft = draft
  return { pullRequest: { isDraft: draft } }
}
