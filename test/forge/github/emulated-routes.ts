/** What each operation does, by GitHub's documentation: numbers, states, duplicates, rights. */
import {
  commentShape,
  issueShape,
  labelShape,
  pullShape,
  repositoryShape,
  userShape,
} from './emulated-shapes.ts'
import { ACTIONS_LOGIN, type EmulatedState, type EmulatedThread } from './emulated-state.ts'
import type { UsedOperation } from './used-operations.ts'

export interface RouteInput {
  readonly state: EmulatedState
  /** Login of whose token it is. */
  readonly actor: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  /** Address of the repository's pages. */
  readonly web: string
}

/** `body` is completed by GitHub's description. */
export interface RouteAnswer {
  readonly status: number
  readonly body?: unknown
}

type Route = (input: RouteInput) => RouteAnswer

/** Of one commit and one context: "Create a commit status" in the REST reference. */
const MOST_STATUSES = 1000
const REPOSITORY = '/repos/{owner}/{repo}'
const NOT_FOUND: RouteAnswer = { status: 404, body: { message: 'Not Found' } }
const ROLE_RIGHTS = { admin: 'admin', write: 'write', read: 'read', none: 'none' }

export const ROUTES: Readonly<Partial<Record<UsedOperation, Route>>> = {
  'GET /installation/repositories': ({ state, actor, query }: RouteInput) => {
    if (!state.bots.has(actor)) {
      const message =
        'You must authenticate with an installation access token in order to list repositories for an installation.'
      return { status: 403, body: { message } }
    }
    const own = repositoryShape(state, actor)
    const others = Array.from({ length: state.otherRepositories }, (_none, at) => ({
      ...own,
      id: 1_000_000 + at,
      name: `other-${at}`,
    }))
    const all = [...others, ...(state.installed ? [own] : [])]
    const [size, page] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)]
    return {
      status: 200,
      body: { total_count: all.length, repositories: all.slice((page - 1) * size, page * size) },
    }
  },

  [`GET ${REPOSITORY}` as const]: ({ state, actor }: RouteInput) => ({
    status: 200,
    body: repositoryShape(state, actor),
  }),

  [`GET ${REPOSITORY}/pulls` as const]: ({ state, query, web }: RouteInput) => {
    const [wanted, base] = ['state', 'base'].map((name) => query.get(name) ?? '')
    const found = listed(state).filter((thread) => {
      const { pull } = thread
      if (pull === undefined || (wanted !== 'all' && thread.state !== (wanted || 'open')))
        return false
      const label = `${pull.fork ? 'somebody' : state.owner}:${pull.head}`
      return (
        (base === '' || pull.base === base) && state.passes('head', query, (head) => label === head)
      )
    })
    return {
      status: 200,
      body: ordered(found, query).map((thread) => pullShape(state, thread, web, false)),
    }
  },

  [`POST ${REPOSITORY}/pulls` as const]: ({ state, actor, body, web }: RouteInput) => {
    if (actor === ACTIONS_LOGIN && !state.actionsMayOpenPullRequests)
      return {
        status: 403,
        body: { message: 'GitHub Actions is not permitted to create or approve pull requests.' },
      }
    const [head, base] = [String(body['head']), String(body['base'])]
    const branches = state.git.branches()
    const sha = branches.get(head)
    const onto = branches.get(base)
    if (sha === undefined || onto === undefined)
      return refused('PullRequest', sha === undefined ? 'head' : 'base', 'invalid')
    const duplicate = state.threads.some(
      ({ pull, state: now }) =>
        now === 'open' && pull?.head === head && pull.base === base && !pull.fork,
    )
    if (duplicate) return custom(`A pull request already exists for ${state.owner}:${head}.`)
    if (state.git.reaches(onto, sha)) return custom(`No commits between ${base} and ${head}`)
    if (isTooLong(body)) return custom('body is too long (maximum is 65536 characters)')
    if (body['draft'] === true && !state.drafts)
      return custom('Draft pull requests are not supported in this repository.')
    const pull = {
      head,
      sha,
      base,
      draft: body['draft'] === true,
      mergedAt: null,
      mergedBy: null,
      mergeCommit: null,
      reviewers: [],
      assignees: [],
      milestone: null,
      fork: false,
    }
    const thread = state.addThread({
      user: actor,
      title: String(body['title']),
      body: String(body['body'] ?? ''),
      pull,
    })
    return { status: 201, body: pullShape(state, thread, web, true) }
  },

  [`GET ${REPOSITORY}/pulls/{pull_number}` as const]: ({ state, parameters, web }: RouteInput) => {
    const thread = state.thread(Number(parameters['pull_number']), true)
    return thread === undefined
      ? NOT_FOUND
      : { status: 200, body: pullShape(state, thread, web, true) }
  },

  [`PATCH ${REPOSITORY}/pulls/{pull_number}` as const]: ({
    state,
    parameters,
    body,
    actor,
    web,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['pull_number']), true)
    if (thread?.pull === undefined) return NOT_FOUND
    if (isTooLong(body)) return custom('body is too long (maximum is 65536 characters)')
    edit(state, thread, body, actor)
    if (typeof body['base'] === 'string') thread.pull.base = body['base']
    return { status: 200, body: pullShape(state, thread, web, true) }
  },

  [`PUT ${REPOSITORY}/pulls/{pull_number}/merge` as const]: ({
    state,
    parameters,
    body,
    actor,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['pull_number']), true)
    if (thread?.pull === undefined) return NOT_FOUND
    if (body['sha'] !== undefined && body['sha'] !== thread.pull.sha) {
      return {
        status: 409,
        body: { message: 'Head branch was modified. Review and try the merge again.' },
      }
    }
    const style =
      body['merge_method'] === 'squash' || body['merge_method'] === 'rebase'
        ? body['merge_method']
        : 'merge'
    const title = body['commit_title']
    const message =
      typeof title === 'string'
        ? [title, String(body['commit_message'] ?? '')].join('\n\n').trim()
        : undefined
    const merged = state.merge(thread, style, message, actor)
    if (typeof merged !== 'string') return { status: 405, body: { message: merged.why } }
    return {
      status: 200,
      body: { sha: merged, merged: true, message: 'Pull Request successfully merged' },
    }
  },

  [`POST ${REPOSITORY}/pulls/{pull_number}/requested_reviewers` as const]: ({
    state,
    parameters,
    body,
    web,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['pull_number']), true)
    if (thread?.pull === undefined) return NOT_FOUND
    const people = textsIn(body['reviewers'])
    const teams = textsIn(body['team_reviewers'])
    const unknown = people.find(
      (login) => (state.roles.get(login) ?? 'none') === 'none' || login === thread.user,
    )
    if (unknown !== undefined)
      return { status: 422, body: { message: 'Reviews may only be requested from collaborators.' } }
    if (teams.some((team) => team !== 'platform'))
      return { status: 422, body: { message: 'Could not resolve to a node' } }
    thread.pull.reviewers.push(...people, ...teams.map((team) => `team:${team}`))
    return { status: 201, body: pullShape(state, thread, web, false) }
  },

  [`GET ${REPOSITORY}/labels` as const]: ({ state }: RouteInput) => ({
    status: 200,
    body: [...state.labels.keys()].map((name) => labelShape(state, name)),
  }),

  [`POST ${REPOSITORY}/labels` as const]: ({ state, body }: RouteInput) => {
    const name = String(body['name'])
    if ([...state.labels.keys()].some((known) => known.toLowerCase() === name.toLowerCase()))
      return refused('Label', 'name', 'already_exists')
    state.labels.set(name, {
      color: String(body['color']),
      description: String(body['description']),
    })
    return { status: 201, body: labelShape(state, name) }
  },

  [`POST ${REPOSITORY}/issues/{issue_number}/labels` as const]: ({
    state,
    parameters,
    body,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['issue_number']))
    if (thread === undefined) return NOT_FOUND
    state.touch(thread)
    for (const name of textsIn(body['labels'])) {
      if (!thread.labels.includes(name)) thread.labels.push(name)
      if (!state.labels.has(name)) state.labels.set(name, { color: 'ededed', description: null })
    }
    return { status: 200, body: thread.labels.map((name) => labelShape(state, name)) }
  },

  [`DELETE ${REPOSITORY}/issues/{issue_number}/labels/{name}` as const]: ({
    state,
    parameters,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['issue_number']))
    const name = parameters['name'] ?? ''
    if (thread === undefined || !thread.labels.includes(name)) return NOT_FOUND
    thread.labels = thread.labels.filter((label) => label !== name)
    state.touch(thread)
    return { status: 200, body: thread.labels.map((label) => labelShape(state, label)) }
  },

  [`POST ${REPOSITORY}/issues/{issue_number}/assignees` as const]: ({
    state,
    parameters,
    body,
    web,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['issue_number']))
    if (thread === undefined) return NOT_FOUND
    // GitHub leaves out who may not push, without a word.
    for (const login of textsIn(body['assignees']))
      if (state.may(login, 'write')) thread.pull?.assignees.push(login)
    return { status: 201, body: issueShape(state, thread, web) }
  },

  [`GET ${REPOSITORY}/milestones` as const]: ({ state, query }: RouteInput) => {
    const found = state.milestones.filter(({ open }) => query.get('state') !== 'open' || open)
    return {
      status: 200,
      body: found.map(({ number, title, open }) => ({
        number,
        title,
        state: open ? 'open' : 'closed',
      })),
    }
  },

  [`GET ${REPOSITORY}/issues` as const]: ({ state, query, web }: RouteInput) => {
    const found = listed(state).filter(
      (thread) =>
        (query.get('state') === 'all' || thread.state === (query.get('state') ?? 'open')) &&
        thread.updatedAt >= (query.get('since') ?? '') &&
        state.passes('creator', query, (login) => thread.user === login) &&
        state.passes('labels', query, (names) =>
          names.split(',').every((name) => thread.labels.includes(name)),
        ),
    )
    return {
      status: 200,
      body: ordered(found, query).map((thread) => issueShape(state, thread, web)),
    }
  },

  [`POST ${REPOSITORY}/issues` as const]: ({ state, actor, body, web }: RouteInput) => {
    const labels = textsIn(body['labels'])
    const thread = state.addThread({
      user: actor,
      title: String(body['title']),
      body: String(body['body'] ?? ''),
      labels,
    })
    return { status: 201, body: issueShape(state, thread, web) }
  },

  [`GET ${REPOSITORY}/issues/{issue_number}` as const]: ({
    state,
    parameters,
    web,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['issue_number']))
    return thread === undefined ? NOT_FOUND : { status: 200, body: issueShape(state, thread, web) }
  },

  [`PATCH ${REPOSITORY}/issues/{issue_number}` as const]: ({
    state,
    parameters,
    body,
    actor,
    web,
  }: RouteInput) => {
    const thread = state.thread(Number(parameters['issue_number']))
    if (thread === undefined) return NOT_FOUND
    edit(state, thread, body, actor)
    if (typeof body['milestone'] === 'number' && thread.pull !== undefined)
      thread.pull.milestone = body['milestone']
    return { status: 200, body: issueShape(state, thread, web) }
  },

  [`GET ${REPOSITORY}/issues/{issue_number}/comments` as const]: ({
    state,
    parameters,
  }: RouteInput) => {
    const number = Number(parameters['issue_number'])
    if (state.thread(number) === undefined) return NOT_FOUND
    const found = state.comments.filter(
      (comment) => comment.thread === number && !(state.behind && comment.late),
    )
    return { status: 200, body: found.map((comment) => commentShape(state, comment)) }
  },

  [`POST ${REPOSITORY}/issues/{issue_number}/comments` as const]: ({
    state,
    parameters,
    actor,
    body,
  }: RouteInput) => {
    const number = Number(parameters['issue_number'])
    if (state.thread(number) === undefined) return NOT_FOUND
    return {
      status: 201,
      body: commentShape(state, state.addComment(number, actor, String(body['body']))),
    }
  },

  [`PATCH ${REPOSITORY}/issues/comments/{comment_id}` as const]: ({
    state,
    parameters,
    body,
    actor,
  }: RouteInput) => {
    const comment = state.comments.find(({ id }) => id === Number(parameters['comment_id']))
    if (comment === undefined) return NOT_FOUND
    state.editComment(comment, actor, String(body['body']))
    return { status: 200, body: commentShape(state, comment) }
  },

  [`DELETE ${REPOSITORY}/issues/comments/{comment_id}` as const]: ({
    state,
    parameters,
  }: RouteInput) => {
    const retained = state.comments.filter(({ id }) => id !== Number(parameters['comment_id']))
    if (retained.length === state.comments.length) return NOT_FOUND
    state.comments = retained
    return { status: 204 }
  },

  [`GET ${REPOSITORY}/issues/comments/{comment_id}/reactions` as const]: ({
    state,
    parameters,
    query,
  }: RouteInput) => {
    const comment = state.comments.find(({ id }) => id === Number(parameters['comment_id']))
    if (comment === undefined) return NOT_FOUND
    const found = comment.reactions.filter(({ content }) =>
      state.passes('content', query, (wanted) => content === wanted),
    )
    return {
      status: 200,
      body: found.map(({ id, user, content }) => ({ id, user: userShape(state, user), content })),
    }
  },

  [`POST ${REPOSITORY}/issues/comments/{comment_id}/reactions` as const]: ({
    state,
    parameters,
    body,
    actor,
  }: RouteInput) => {
    const comment = state.comments.find(({ id }) => id === Number(parameters['comment_id']))
    if (comment === undefined) return NOT_FOUND
    const content = String(body['content'])
    const there = comment.reactions.find(
      (reaction) => reaction.user === actor && reaction.content === content,
    )
    const reaction = there ?? { id: state.next(), user: actor, content }
    if (there === undefined) comment.reactions.push(reaction)
    return {
      status: there === undefined ? 201 : 200,
      body: { ...reaction, user: userShape(state, actor) },
    }
  },

  [`GET ${REPOSITORY}/collaborators/{username}/permission` as const]: ({
    state,
    parameters,
  }: RouteInput) => {
    const login = parameters['username'] ?? ''
    const role = state.roles.get(login)
    if (role === undefined) return NOT_FOUND
    return {
      status: 200,
      body: { permission: ROLE_RIGHTS[role], role_name: role, user: userShape(state, login) },
    }
  },

  [`GET ${REPOSITORY}/commits/{ref}/status` as const]: ({ state, parameters }: RouteInput) => {
    const latest = new Map(
      state.statuses
        .filter(({ sha }) => sha === parameters['ref'])
        .map((status) => [status.context, status]),
    )
    const statuses = [...latest.values()].map(({ sha: _, ...status }) => status)
    return {
      status: 200,
      body: { sha: parameters['ref'], state: 'pending', total_count: statuses.length, statuses },
    }
  },

  [`POST ${REPOSITORY}/statuses/{sha}` as const]: ({ state, parameters, body }: RouteInput) => {
    const description = typeof body['description'] === 'string' ? body['description'] : null
    if ((description ?? '').length > 140) return refused('Status', 'description', 'invalid')
    const target = typeof body['target_url'] === 'string' ? body['target_url'] : null
    const status = {
      context: String(body['context']),
      state: String(body['state']),
      description,
      target_url: target,
    }
    const same = state.statuses.filter(
      ({ sha, context }) => sha === parameters['sha'] && context === status.context,
    )
    if (same.length >= MOST_STATUSES)
      return {
        status: 422,
        body: { message: 'This SHA and context has reached the maximum number of statuses.' },
      }
    state.statuses.push({ sha: parameters['sha'] ?? '', ...status })
    return { status: 201, body: status }
  },

  [`GET ${REPOSITORY}/rules/branches/{branch}` as const]: ({ state, parameters }: RouteInput) => {
    const { rules } = state
    if (rules === 'refused')
      return {
        status: 403,
        body: {
          message: 'Upgrade to GitHub Pro or make this repository public to enable this feature.',
        },
      }
    const source = {
      ruleset_source_type: 'Repository',
      ruleset_source: `${state.owner}/${state.repo}`,
      ruleset_id: 42,
    }
    return {
      status: 200,
      body: rules(parameters['branch'] ?? '').map((rule) => ({ ...rule, ...source })),
    }
  },
}

/** By characters, as people count them. */
function isTooLong({ body }: Readonly<Record<string, unknown>>): boolean {
  return typeof body === 'string' && [...body].length > 65_536
}

function edit(
  state: EmulatedState,
  thread: EmulatedThread,
  body: Readonly<Record<string, unknown>>,
  actor: string,
): void {
  state.touch(thread)
  if (typeof body['title'] === 'string') thread.title = body['title']
  if (typeof body['body'] === 'string') thread.body = body['body']
  if (body['state'] === 'open' || body['state'] === 'closed')
    state.setState(thread, body['state'], actor)
}

function listed(state: EmulatedState): EmulatedThread[] {
  return state.threads.filter((thread) => !(state.behind && thread.late))
}

function ordered(threads: EmulatedThread[], query: URLSearchParams): EmulatedThread[] {
  return query.get('direction') === 'asc' ? threads : threads.toReversed()
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function refused(resource: string, field: string, code: string): RouteAnswer {
  return {
    status: 422,
    body: { message: 'Validation Failed', errors: [{ resource, field, code }] },
  }
}

function custom(message: string): RouteAnswer {
  return {
    status: 422,
    body: {
      message: 'Validation Failed',
      errors: [{ resource: 'PullRequest', code: 'custom', message }],
    },
  }
}
