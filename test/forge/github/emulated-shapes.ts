/** The state as GitHub's JSON, without what does not matter here. */
import type { EmulatedComment, EmulatedState, EmulatedThread } from './emulated-state.ts'

export function userShape(state: EmulatedState, login: string | null): unknown {
  return login === null ? null : { login, type: state.bots.has(login) ? 'Bot' : 'User' }
}

/**
 * @param actor who asks. GitHub tells a person what they may do there; of an installation token it says nothing, or that it may do nothing
 * (docs/facts/github-installation-tokens.md).
 */
export function repositoryShape(
  state: EmulatedState,
  actor: string,
): Readonly<Record<string, unknown>> {
  const { owner, repo, id, archived, allowed, hidden, issues } = state
  const own = {
    admin: state.may(actor, 'admin'),
    push: state.may(actor, 'write'),
    pull: state.may(actor, 'read'),
  }
  const none =
    state.installationPermissions === 'omitted'
      ? {}
      : { permissions: { admin: false, push: false, pull: false } }
  return {
    id,
    name: repo,
    full_name: `${owner}/${repo}`,
    owner: userShape(state, owner),
    archived,
    private: hidden,
    has_issues: issues,
    ...(state.bots.has(actor) ? none : { permissions: own }),
    default_branch: 'main',
    allow_merge_commit: allowed.merge,
    allow_squash_merge: allowed.squash,
    allow_rebase_merge: allowed.rebase,
  }
}

export function labelShape(state: EmulatedState, name: string): unknown {
  const { color, description } = state.labels.get(name) ?? { color: 'ededed', description: null }
  return { name, color, description: description ?? '' }
}

/** @param whole as one pull request is told; a list has less */
export function pullShape(
  state: EmulatedState,
  thread: EmulatedThread,
  web: string,
  whole: boolean,
): unknown {
  const { pull } = thread
  if (pull === undefined) throw new Error(`#${thread.number} is no pull request`)
  const here = { id: state.id, name: state.repo, full_name: `${state.owner}/${state.repo}` }
  const there = pull.fork
    ? { ...here, id: state.id + 1, full_name: `somebody/${state.repo}` }
    : here
  return {
    number: thread.number,
    node_id: `PR_${thread.number}`,
    html_url: `${web}/pull/${thread.number}`,
    state: thread.state,
    title: thread.title,
    body: thread.body,
    user: userShape(state, thread.user),
    labels: thread.labels.map((name) => labelShape(state, name)),
    draft: pull.draft,
    created_at: '2026-11-21T10:00:00Z',
    closed_at: thread.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeCommit,
    head: {
      ref: pull.head,
      sha: pull.sha,
      label: `${pull.fork ? 'somebody' : state.owner}:${pull.head}`,
      repo: there,
    },
    base: { ref: pull.base, label: `${state.owner}:${pull.base}`, repo: here },
    requested_reviewers: pull.reviewers
      .filter((name) => !name.startsWith('team:'))
      .map((login) => userShape(state, login)),
    ...(whole
      ? {
          merged: pull.mergedAt !== null,
          merged_by: userShape(state, pull.mergedBy),
          mergeable_state: 'clean',
        }
      : {}),
  }
}

export function issueShape(state: EmulatedState, thread: EmulatedThread, web: string): unknown {
  const path = thread.pull === undefined ? 'issues' : 'pull'
  return {
    number: thread.number,
    html_url: `${web}/${path}/${thread.number}`,
    state: thread.state,
    title: thread.title,
    body: thread.body,
    user: userShape(state, thread.user),
    labels: thread.labels.map((name) => ({ name })),
    assignees: (thread.pull?.assignees ?? []).map((login) => userShape(state, login)),
    updated_at: thread.updatedAt,
    closed_at: thread.closedAt,
    closed_by: userShape(state, thread.closedBy),
    ...(thread.pull === undefined
      ? {}
      : { pull_request: { html_url: `${web}/pull/${thread.number}` } }),
  }
}

export function commentShape(state: EmulatedState, comment: EmulatedComment): unknown {
  const count = (content: string): number =>
    comment.reactions.filter((reaction) => reaction.content === content).length
  const counts = Object.fromEntries(
    ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'eyes', 'rocket'].map((content) => [
      content,
      count(content),
    ]),
  )
  return {
    id: comment.id,
    node_id: `IC_${comment.id}`,
    user: userShape(state, comment.user),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    reactions: { total_count: comment.reactions.length, ...counts },
  }
}
