import { parseObjectId } from '@backporch/kyaml/files'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { normalizeLines } from '../adapter/topic-marker.ts'
import type { ForgePullRequest, KnownProposal } from '../ports/hosted-forge.ts'

export const HEADS = 'refs/heads/'

export type ListedPull = RestEndpointMethodTypes['pulls']['list']['response']['data'][number]

/** A fork may have a branch of the same name. */
export function isFromHere({
  head,
  base,
}: {
  readonly head: { repo: { id: number } | null }
  readonly base: { repo: { id: number } }
}): boolean {
  return head.repo !== null && head.repo.id === base.repo.id
}

export function filterByBranch(pulls: readonly ListedPull[], ref: string): ListedPull[] {
  return pulls.filter((pull) => isFromHere(pull) && `${HEADS}${pull.head.ref}` === ref)
}

export function convertPullRequest(
  pull: PullParts & Parameters<typeof isFromHere>[0],
): ForgePullRequest {
  const { number, label, url, baseBranch, commit, state } = createGitHubProposal(pull)
  return {
    number,
    label,
    url,
    baseBranch,
    commit,
    branch: pull.head.ref,
    fork: !isFromHere(pull),
    open: state === 'open',
  }
}

interface PullParts {
  readonly number: number
  readonly html_url: string
  readonly state: string
  readonly created_at: string
  readonly merged_at: string | null
  readonly closed_at: string | null
  readonly title: string
  readonly body: string | null
  readonly draft?: boolean
  readonly labels: readonly { readonly name: string }[]
  readonly head: { readonly ref: string; readonly sha: string }
  readonly base: { readonly ref: string }
}

export function createGitHubProposal(pull: PullParts): KnownProposal {
  const merged = pull.merged_at !== null
  return {
    number: pull.number,
    label: `#${pull.number}`,
    url: pull.html_url,
    ref: `${HEADS}${pull.head.ref}`,
    baseBranch: pull.base.ref,
    state: pull.state === 'open' ? 'open' : merged ? 'merged' : 'closed',
    commit: parseObjectId(pull.head.sha),
    title: pull.title,
    body: normalizeLines(pull.body),
    labels: pull.labels.map(({ name }) => name),
    draft: pull.draft === true,
    openedAt: pull.created_at,
    decidedBy: undefined,
    decidedAt: pull.state === 'open' ? undefined : (pull.merged_at ?? pull.closed_at ?? undefined),
  }
}
