/** Answers GraphQL as GitHub does, from the state; what its own schema does not have is a problem (`cut-graphql.ts` cuts the schema). */
import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema, graphqlSync, parse, validate } from 'graphql'
import type { EmulatedComment, EmulatedState } from './emulated-state.ts'

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
  schema ??= buildSchema(readFileSync(new URL('../../corpus/github/schema.graphql', import.meta.url), 'utf8'))
  for (const { message } of validate(schema, parse(query))) problem(`GraphQL: ${message}`)
  const rootValue = {
    viewer: { login: actor },
    nodes: ({ ids }: { readonly ids: readonly string[] }) =>
      ids.map((id) => {
        const comment = state.comments.find((one) => nodeId(one) === id)
        return comment === undefined ? notFound(id) : commentNode(state, comment)
      }),
    convertPullRequestToDraft: ({ input }: DraftInput) => setDraft(state, input.pullRequestId, true),
    markPullRequestReadyForReview: ({ input }: DraftInput) => setDraft(state, input.pullRequestId, false),
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
  return { __typename: state.bots.has(login) ? 'Bot' : 'User', login: login.replace(/\[bot\]$/, '') }
}

function setDraft(state: EmulatedState, id: string, draft: boolean): unknown {
  const thread = state.thread(Number(id.replace('PR_', '')), true)
  if (thread?.pull === undefined) throw notFound(id)
  if (draft && !state.drafts) throw new Refusal('UNPROCESSABLE', 'Draft state cannot be set.')
  thread.pull.draft = draft
  return { pullRequest: { isDraft: draft } }
}
