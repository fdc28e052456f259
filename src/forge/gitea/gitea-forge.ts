/** API v1. Gitea silently ignores the parameters that Octokit sends. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import { readByNumber } from '../adapter/by-number.ts'
import { assertStaysOpen } from '../adapter/finish-merge.ts'
import { encodePath, type ForgeAddress } from '../adapter/forge-address.ts'
import { createGoneFailure } from '../adapter/forge-failure.ts'
import { findRefusedAnswer } from '../adapter/refused-answer.ts'
import type { CommitStatus, ForgeDialect, HostedForge, Permission } from '../ports/hosted-forge.ts'
import { permissionSchema, repositorySchema, userSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { GiteaComments } from './gitea-comments.ts'
import { GiteaDecisions } from './gitea-decisions.ts'
import { mayNotAsk } from './gitea-failure.ts'
import { GiteaIssues } from './gitea-issues.ts'
import { GiteaLabels } from './gitea-labels.ts'
import { GiteaProposals } from './gitea-proposals.ts'
import { GITEA_SETUP } from './gitea-setup.ts'
import { ensureGiteaStatuses, readGiteaHeads } from './gitea-statuses.ts'

export function createGiteaForge(
  client: GiteaClient,
  repository: PackageRepository,
  clock: Clock,
): HostedForge {
  const login = createLoginReader(client)
  const labels = new GiteaLabels(client)
  const proposals = new GiteaProposals(client, labels, login)
  const decisions = new GiteaDecisions(client, proposals, repository, clock)
  const comments = new GiteaComments(client, login)
  const issues = new GiteaIssues(client, labels, login)
  const known = new Map<ObjectId, CommitStatus>()
  return {
    setup: GITEA_SETUP,
    dialect: createGiteaDialect(client.address),
    writeCount: client.writeCount,
    readProposals: async (baseBranch, refs, signal, numbers) => {
      await assertUsable(client, signal)
      return readByNumber(
        await proposals.read(baseBranch, refs, signal),
        { refs, numbers },
        (number) => proposals.readNumbered(number, signal),
      )
    },
    ensureProposal: (wanted, known, signal) => proposals.ensure(wanted, known, signal),
    merge: (decision, signal) => decisions.merge(decision, signal),
    close: (decision, signal) => decisions.close(decision, signal),
    assertStaysOpen: (known, signal) => {
      const isOpen = async (): Promise<boolean> =>
        (await proposals.get(known.number, signal)).state === 'open'
      return assertStaysOpen(known, isOpen, clock, signal)
    },
    closeProposal: ({ number }, signal) => proposals.closeOpen(number, signal),
    ensureStatuses: (commit, statuses, signal) =>
      ensureGiteaStatuses(client, commit, statuses, signal),
    readOpenHeads: async ({ baseBranch, context }, signal) => {
      const pulls = (await proposals.pullRequests(baseBranch, signal)).filter(
        ({ commit }) => !/^0+$/.test(commit),
      )
      return readGiteaHeads(client, pulls.toReversed(), { context, known }, signal)
    },
    readComments: (number, signal) => comments.read(number, signal),
    readOwnComment: (number, topic, signal) => comments.readOwn(number, topic, signal),
    ensureComment: (number, topic, body, signal) => comments.ensure(number, topic, body, signal),
    react: (comment, reaction, signal) => comments.react(comment, reaction, signal),
    readPullRequest: (number, signal) => proposals.pullRequest(number, signal),
    readPullRequests: (baseBranch, signal) => proposals.pullRequests(baseBranch, signal),
    permissionOf: (person, signal) => findPermission(client, person, signal),
    ensureIssue: (wanted, signal) => issues.ensure(wanted, signal),
    readIssue: (topic, signal) => issues.read(topic, signal),
    closeIssue: (topic, signal) => issues.close(topic, signal),
  }
}

/**
 * @throws Failure BP5003 if the account is not a repository administrator: Gitea answers nobody
 * else
 */
async function findPermission(
  client: GiteaClient,
  login: string,
  signal: AbortSignal,
): Promise<Permission> {
  const what = `read the permission of ${login}`
  const path = client.buildPath(`/collaborators/${encodeURIComponent(login)}/permission`)
  try {
    const { permission } = await client.get({ path, what }, permissionSchema, signal)
    if (permission === 'owner' || permission === 'admin') return 'admin'
    return permission === 'write' || permission === 'read' ? permission : 'none'
  } catch (thrown) {
    const refused = findRefusedAnswer(thrown)
    if (refused?.status === 404) return 'none'
    if (refused?.status === 403) throw mayNotAsk({ address: client.address, what }, refused)
    throw thrown
  }
}

/**
 * The list of an invisible repository would look empty, and that of a moved one like the old one.
 */
async function assertUsable(client: GiteaClient, signal: AbortSignal): Promise<void> {
  const { address } = client
  const requested = { path: client.buildPath(''), what: 'read the repository' }
  const { archived, full_name: name } = await client.get(requested, repositorySchema, signal)
  const write = { address, what: 'write to the repository' }
  if (archived)
    throw createGoneFailure(
      write,
      'it is archived',
      'unarchive it, or take it out of the configuration',
    )
  if (name.toLowerCase() === `${address.owner}/${address.repository}`.toLowerCase()) return
  throw createGoneFailure(
    write,
    `it was renamed or transferred: it is ${convertToOneLine(name, 200)} now`,
    'name the repository by its present address',
  )
}

function createLoginReader(client: GiteaClient): (signal: AbortSignal) => Promise<string> {
  let self: Promise<string> | undefined
  return (signal) => {
    self ??= client
      .get({ path: '/user', what: 'read the account of the token' }, userSchema, signal)
      .then(({ login }) => login)
    return self.catch((thrown: unknown) => {
      self = undefined
      throw thrown
    })
  }
}

/** `modules/markup/markdown`, and column sizes. */
function createGiteaDialect({ webUrl, owner, repository }: ForgeAddress): ForgeDialect {
  const source = (kind: 'commit' | 'branch', ref: string, path: string): string =>
    `${webUrl}/${owner}/${repository}/src/${kind}/${encodePath(ref)}/${encodePath(path)}`
  return {
    name: 'Gitea',
    // Nobody reads the 1 MiB that the column takes.
    bodyLimit: 250_000,
    titleLimit: 255,
    alerts: true,
    folds: true,
    fileUrl: (commit, path, line) =>
      `${source('commit', commit, path)}${line === undefined ? '' : `#L${line}`}`,
    branchFileUrl: (branch, path) => source('branch', branch, path),
  }
}
