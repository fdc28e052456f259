import type { ForgePullRequest } from '../ports/hosted-forge.ts'
import { createGiteaProposal, type PullRequest, pullRequestSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

export const LIST = 'list pull requests'

export function readPullRequest(
  client: GiteaClient,
  number: number,
  signal: AbortSignal,
): Promise<PullRequest> {
  return client.get(
    { path: client.buildPath(`/pulls/${number}`), what: 'read the pull request' },
    pullRequestSchema,
    signal,
  )
}

export function convertPullRequest(pull: PullRequest): ForgePullRequest {
  const { number, label, url, baseBranch, commit, state } = createGiteaProposal(pull, '')
  return {
    number,
    label,
    url,
    baseBranch,
    commit,
    branch: pull.head.label,
    fork: !isOwnBranch(pull),
    open: state === 'open',
  }
}

export function getHeadRef({ head }: PullRequest): string {
  return `refs/heads/${head.label}`
}

/** A fork may have branches of the same name. */
export function isOwnBranch({ head, base }: PullRequest): boolean {
  return head.repo_id === base.repo_id
}
