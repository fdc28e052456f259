import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { Clock } from '@backporch/system/clock'
import { readByNumber } from '../adapter/by-number.ts'
import { assertStaysOpen } from '../adapter/finish-merge.ts'
import { encodePath, type ForgeAddress } from '../adapter/forge-address.ts'
import type { ForgeCheckRuns } from '../ports/check-run.ts'
import type { ForgeDialect, HostedForge, WriteCount } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'
import { GitHubCommits } from './github-commits.ts'
import { GitHubConversation } from './github-conversation.ts'
import { GitHubDecisions } from './github-decisions.ts'
import { GitHubIssues } from './github-issues.ts'
import { GitHubLabels } from './github-labels.ts'
import { readOpenHeads } from './github-open-heads.ts'
import { GitHubProposals } from './github-proposals.ts'
import { GITHUB_SETUP } from './github-setup.ts'
import { ensureStatuses } from './github-statuses.ts'

interface GitHubForgeParts {
  readonly repository: PackageRepository
  readonly clock: Clock
  readonly writeCount: WriteCount
  /** A personal token may create none. */
  readonly checkRuns: ForgeCheckRuns | undefined
  readonly isApp: boolean
}

export function createGitHubForge(
  client: GitHubClient,
  { repository, clock, writeCount, checkRuns, isApp }: GitHubForgeParts,
): HostedForge {
  const labels = new GitHubLabels(client)
  const proposals = new GitHubProposals(client, labels)
  const decisions = new GitHubDecisions(client, proposals, repository)
  const conversation = new GitHubConversation(client)
  const issues = new GitHubIssues(client, labels)
  return {
    setup: GITHUB_SETUP,
    dialect: createGitHubDialect(client.address),
    checkRuns,
    commits: isApp ? new GitHubCommits(client) : undefined,
    writeCount,
    readProposals: async (baseBranch, refs, signal, numbers) =>
      readByNumber(await proposals.read(baseBranch, refs, signal), { refs, numbers }, (number) =>
        proposals.readNumbered(number, signal),
      ),
    ensureProposal: (wanted, known, signal) => proposals.ensure(wanted, known, signal),
    merge: (decision, signal) => decisions.merge(decision, signal),
    close: (decision, signal) => decisions.close(decision, signal),
    assertStaysOpen: (known, signal) =>
      assertStaysOpen(known, () => proposals.isOpen(known, signal), clock, signal),
    closeProposal: (known, signal) => proposals.close(known, signal),
    ensureStatuses: (commit, statuses, signal) => ensureStatuses(client, commit, statuses, signal),
    readOpenHeads: (wanted, signal) => readOpenHeads(client, wanted, signal),
    readComments: (number, signal) => conversation.read(number, signal),
    readOwnComment: (number, topic, signal) => conversation.readOwn(number, topic, signal),
    ensureComment: (number, topic, body, signal) =>
      conversation.ensure(number, topic, body, signal),
    react: (comment, reaction, signal) => conversation.react(comment, reaction, signal),
    readPullRequest: (number, signal) => proposals.pullRequest(number, signal),
    readPullRequests: (baseBranch, signal) => proposals.pullRequests(baseBranch, signal),
    permissionOf: (login, signal) => conversation.findPermission(login, signal),
    ensureIssue: (wanted, signal) => issues.ensure(wanted, signal),
    readIssue: (topic, signal) => issues.read(topic, signal),
    closeIssue: (topic, signal) => issues.close(topic, signal),
  }
}

/** GitHub accepts 65,536 characters, but answered a body near that with 502 (Renovate's number). */
const BODY_LIMIT = 58_000

export function createGitHubDialect({ webUrl, owner, repository }: ForgeAddress): ForgeDialect {
  const blob = (ref: string, path: string): string =>
    `${webUrl}/${owner}/${repository}/blob/${encodePath(ref)}/${encodePath(path)}`
  return {
    name: 'GitHub',
    bodyLimit: BODY_LIMIT,
    titleLimit: 256,
    alerts: true,
    folds: true,
    fileUrl: (commit, path, line) =>
      `${blob(commit, path)}${line === undefined ? '' : `#L${line}`}`,
    branchFileUrl: blob,
  }
}
