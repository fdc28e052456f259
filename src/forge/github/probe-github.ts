/**
 * Answers have a classic token's scopes (`X-OAuth-Scopes`), and an App's key gives its permissions.
 * GitHub reports neither for a fine-grained token or a foreign installation token (such as
 * GITHUB_TOKEN): the rehearsed push shows what it may push
 * (docs/facts/github-installation-tokens.md). GitHub also returns rules of branches that do not
 * exist yet (docs.github.com, "Get rules for a branch").
 */
import type { Finding } from '@backporch/kyaml/note'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import {
  checkArchived,
  checkIssues,
  createFailedFinding,
  pushFinding,
} from '../adapter/repository-findings.ts'
import type { GitHubClient } from './github-client.ts'
import { ALLOW_ACTIONS } from './github-failure.ts'

/** docs.github.com, "Permissions required for GitHub Apps". */
const NEEDED = {
  contents: 'write',
  pull_requests: 'write',
  statuses: 'write',
  issues: 'write',
} as const
const ADD_RIGHT = "add it to the App's permissions, and accept them for the installation"
const OF_APP = 'the token is of an App that is installed for this repository; what it may write'
const PAGE = 100
const SIGNATURES = 'required_signatures'
const GIVE_KEY =
  'use a GitHub App, or give a signing key (BACKPORCH_SIGNING_KEY_FILE) and add it to the account of the token'
const LEAVE_OUT =
  'leave the branches drafts/**, proposed/** and drift-ledger out of the ruleset, or add the bot to its bypass list'
const ACTIONS_LOGIN = 'github-actions[bot]'
const IN_THE_WAY = new Map([
  ['creation', 'no account may create it'],
  ['update', 'no account may push to it'],
  ['deletion', 'no account may delete it'],
  ['non_fast_forward', 'it may only move forwards, and a proposal is rewritten in place'],
  ['pull_request', 'changes have to come by a pull request'],
  [SIGNATURES, 'commits have to be signed'],
  ['required_status_checks', 'checks have to pass before a push'],
  ['required_deployments', 'deployments have to succeed before a push'],
  ['workflows', 'workflows have to pass before a push'],
  ['code_scanning', 'code scanning has to pass before a push'],
  ['branch_name_pattern', 'names of branches have to fit a pattern'],
  ['commit_message_pattern', 'commit messages have to fit a pattern'],
  ['commit_author_email_pattern', 'addresses of authors have to fit a pattern'],
  ['committer_email_pattern', 'addresses of committers have to fit a pattern'],
  ['file_path_restriction', 'some paths may not be changed'],
])

interface GitHubProbe {
  readonly client: GitHubClient
  readonly granted: () => Readonly<Record<string, string>> | undefined
}

/**
 * @param refs full names of branches that Backporch pushes
 * @throws Failure BP50xx if the repository is not visible
 */
export async function probeGitHub(
  { client, granted }: GitHubProbe,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { owner, repository: repo } = client.address
  const name = `GitHub ${owner}/${repo}`
  const answer = await client.ask('read the repository', () =>
    client.octokit.rest.repos.get({ owner, repo, request: { signal } }),
  )
  const { data, headers } = answer
  const findings: Finding[] = [...checkArchived(name, data.archived === true)]
  const now = `${data.owner.login}/${data.name}`
  if (now.toLowerCase() !== `${owner}/${repo}`.toLowerCase()) {
    const message = `${name} is ${now} now: renamed or transferred`
    findings.push({
      check: 'forge',
      state: 'warning',
      code: 'BP5008',
      message,
      fix: 'change the remote to its present name',
    })
  }
  findings.push(...checkIssues(name, data.has_issues !== false))
  const permissions = granted()
  let isApp = permissions !== undefined
  if (permissions !== undefined) findings.push(...judgeApp(name, permissions))
  else {
    const push = data.permissions?.push === true
    const installed = push ? undefined : await isInstalled(client, data.id, signal)
    if (installed !== undefined) {
      isApp = true
      findings.push(installed ? createRightsFinding(name, OF_APP) : createNotInstalledFinding(name))
      if ((await client.getLogin(signal)) === ACTIONS_LOGIN)
        findings.push(createWorkflowTokenFinding(name))
    } else {
      const role = pushFinding(name, push, 'give the account the role Write in the repository')
      findings.push(role, ...judgeScopes(name, headers['x-oauth-scopes'], data.private === true))
    }
  }
  for (const ref of refs) {
    const rules = await judgeRules(client, { name, ref, isApp }, signal)
    findings.push(rules ?? createRulesFinding(name))
    // The answer is the same for each branch.
    if (rules === undefined) break
  }
  return findings
}

/**
 * Undefined for a token of no installation: GitHub then reports nothing, or "no rights", and shows
 * every public repository.
 */
async function isInstalled(
  client: GitHubClient,
  id: number,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { apps } = client.octokit.rest
  const requested = { per_page: PAGE, request: { signal } }
  try {
    for (let page = 1; ; page += 1) {
      const { data } = await client.ask('read the permissions of the token', () =>
        apps.listReposAccessibleToInstallation({ ...requested, page }),
      )
      if (data.repositories.some((repository) => repository.id === id)) return true
      if (data.repositories.length < PAGE) return false
    }
  } catch (thrown) {
    const status = findRefusedStatus(thrown)
    if (status !== 403 && status !== 404) throw thrown
    return undefined
  }
}

function createNotInstalledFinding(name: string): Finding {
  const fix = 'add the repository to the installation of the App'
  return createFailedFinding(
    'forge-permissions',
    'BP5003',
    `${name}: the App of the token is not installed for this repository`,
    fix,
  )
}

function createWorkflowTokenFinding(name: string): Finding {
  const message =
    `${name}: the token is GITHUB_TOKEN of a workflow: a setting that it cannot read says whether it may open pull requests, and workflows on ` +
    'these wait for an approval (GitHub Enterprise Server starts none)'
  return { check: 'forge-token', state: 'warning', message, fix: ALLOW_ACTIONS }
}

function createRightsFinding(name: string, what: string): Finding {
  const message = `${name}: ${what} is not reported by GitHub (needed: contents, pull requests, statuses and issues: write)`
  return { check: 'forge-token', state: 'skipped', message }
}

function judgeApp(name: string, permissions: Readonly<Record<string, string>>): Finding[] {
  const lacking = Object.entries(NEEDED).filter(
    ([key, level]) => permissions[key] !== level && permissions[key] !== 'admin',
  )
  const checks: Finding[] = permissions['checks'] === 'write' ? [] : [createNoChecksFinding(name)]
  if (lacking.length === 0)
    return [
      {
        check: 'forge-token',
        state: 'passed',
        message: `${name}: the App has ${Object.keys(NEEDED).join(', ')}`,
      },
      ...checks,
    ]
  const wanted = lacking.map(([key, level]) => `${key}: ${level}`).join(', ')
  return [
    createFailedFinding('forge-token', 'BP5003', `${name}: the App lacks ${wanted}`, ADD_RIGHT),
    ...checks,
  ]
}

function createNoChecksFinding(name: string): Finding {
  const message = `${name}: the App lacks checks: write, so pull requests have no check with buttons`
  return { check: 'forge-token', state: 'warning', message, fix: ADD_RIGHT }
}

function judgeScopes(name: string, header: unknown, hidden: boolean): Finding[] {
  if (typeof header !== 'string') return [createRightsFinding(name, 'what the token may write')]
  const scopes = header.split(',').map((scope) => scope.trim())
  const scope = ['repo', ...(hidden ? [] : ['public_repo'])].find((one) => scopes.includes(one))
  if (scope !== undefined)
    return [
      {
        check: 'forge-token',
        state: 'passed',
        message: `${name}: the token has the scope ${scope}`,
      },
    ]
  const fix = 'make a token with the scope repo, or a fine-grained one'
  return [
    createFailedFinding(
      'forge-token',
      'BP5003',
      `${name}: the token does not have the scope repo`,
      fix,
    ),
  ]
}

interface RulesQuestion {
  readonly name: string
  readonly ref: string
  /** GitHub then signs where signatures are required. */
  readonly isApp: boolean
}

async function judgeRules(
  client: GitHubClient,
  { name, ref, isApp }: RulesQuestion,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { owner, repository: repo } = client.address
  const branch = ref.replace(/^refs\/heads\//, '')
  let types: readonly string[]
  try {
    const rules = await client.list('read the rules of a branch', (page) =>
      client.octokit.rest.repos.getBranchRules({
        owner,
        repo,
        branch,
        per_page: 100,
        page,
        request: { signal },
      }),
    )
    types = rules.flatMap(({ type = '' }) => (type === SIGNATURES && isApp ? [] : [type]))
  } catch (thrown) {
    const status = findRefusedStatus(thrown)
    if (status !== 403 && status !== 404) throw thrown
    return undefined
  }
  const reasons = types.flatMap((type) => IN_THE_WAY.get(type) ?? [])
  if (reasons.length === 0)
    return {
      check: 'forge-rules',
      state: 'passed',
      message: `${name}: no rule blocks ${branch}`,
    }
  return {
    check: 'forge-rules',
    state: 'warning',
    code: 'BP4002',
    message: `${name}: a ruleset covers ${branch}: ${[...new Set(reasons)].join('; ')}, unless this account is on its bypass list, which GitHub does not show`,
    fix: types.every((type) => type === SIGNATURES || !IN_THE_WAY.has(type)) ? GIVE_KEY : LEAVE_OUT,
  }
}

/** Private repositories of a free plan answer 403, servers without rulesets 404. */
function createRulesFinding(name: string): Finding {
  const message = `${name}: GitHub does not show branch rules (private repositories of a free plan have none)`
  return { check: 'forge-rules', state: 'skipped', message }
}
