/**
 * Cuts the types that the adapter asks for out of GitHub's GraphQL schema, as the npm package `@octokit/graphql-schema` (MIT) carries
 * it. Of a type that stays, the fields stay whose own types do; prose goes.
 *
 * npm install --prefix TEMPORARY --ignore-scripts @octokit/graphql-schema@15.26.1
 * node test/forge/github/cut-graphql.ts TEMPORARY/node_modules/@octokit/graphql-schema/schema.graphql
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type DefinitionNode,
  type FieldDefinitionNode,
  Kind,
  parse,
  print,
  type TypeNode,
  visit,
} from 'graphql'

const target = fileURLToPath(new URL('../../corpus/github/schema.graphql', import.meta.url))
const FIELDS_OF_ROOTS = new Set([
  ...['id', 'node', 'nodes', 'repository', 'viewer'],
  ...['convertPullRequestToDraft', 'enqueuePullRequest', 'markPullRequestReadyForReview'],
])
const KEPT = new Set([
  ...[
    'Query',
    'Mutation',
    'Node',
    'Actor',
    'Bot',
    'EnterpriseUserAccount',
    'Mannequin',
    'Organization',
    'User',
  ],
  ...[
    'Comment',
    'IssueComment',
    'PullRequest',
    'ConvertPullRequestToDraftInput',
    'ConvertPullRequestToDraftPayload',
  ],
  ...['MarkPullRequestReadyForReviewInput', 'MarkPullRequestReadyForReviewPayload'],
  ...[
    'Repository',
    'PullRequestConnection',
    'PullRequestState',
    'PageInfo',
    'IssueOrder',
    'IssueOrderField',
    'OrderDirection',
  ],
  ...[
    'PullRequestCommitConnection',
    'PullRequestCommit',
    'Commit',
    'GitObjectID',
    'Status',
    'StatusContext',
    'StatusState',
    'Ref',
    'RefUpdateRule',
  ],
  ...[
    'EnqueuePullRequestInput',
    'EnqueuePullRequestPayload',
    'MergeQueue',
    'MergeQueueEntryConnection',
    'MergeQueueEntry',
    'MergeQueueEntryState',
  ],
  ...[
    'PullRequestTimelineItemsConnection',
    'PullRequestTimelineItems',
    'PullRequestTimelineItemsItemType',
    'AddedToMergeQueueEvent',
  ],
  ...['ID', 'String', 'Int', 'Float', 'Boolean', 'DateTime', 'BigInt', 'HTML', 'URI'],
])

const source = parse(readFileSync(process.argv[2] ?? '', 'utf8'), { noLocation: true })
const definitions = source.definitions.flatMap((definition): DefinitionNode[] => {
  if (
    !('name' in definition) ||
    definition.kind === Kind.DIRECTIVE_DEFINITION ||
    !KEPT.has(definition.name?.value ?? '')
  )
    return []
  const isRoot = definition.name?.value === 'Query' || definition.name?.value === 'Mutation'
  const stays = (field: FieldDefinitionNode): boolean =>
    KEPT.has(nameOf(field.type)) && (!isRoot || FIELDS_OF_ROOTS.has(field.name.value))
  return [
    visit(definition, {
      Directive: () => null,
      StringValue: (_node, key) => (key === 'description' ? null : undefined),
      FieldDefinition: (field) => (stays(field) ? undefined : null),
      InputValueDefinition: ({ type }) => (KEPT.has(nameOf(type)) ? undefined : null),
      NamedType: ({ name }, _key, parent) =>
        Array.isArray(parent) && !KEPT.has(name.value) ? null : undefined,
    }),
  ]
})
writeFileSync(target, `${print({ ...source, definitions })}\n`)

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type)
}
