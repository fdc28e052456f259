/**
 * What the account of Backporch needs on a forge, and the rules that keep a review a review. Sources: GitHub's OpenAPI description
 * (`repos/create-repo-ruleset`), "Permissions required for fine-grained personal access tokens" in GitHub's documentation, and what a
 * real Gitea took (docs/facts/onboarding-rights.md).
 */
import { CONFIGURE_BRANCH, LEDGER_BRANCH } from '../../package/ref-name.ts'

export type RightsForge = 'github' | 'gitea' | 'git'

export interface NeededRight {
  /** As the forge calls it: `Contents: read and write`. */
  readonly name: string
  readonly why: string
}

const RIGHTS: { readonly [forge in RightsForge]: readonly NeededRight[] } = {
  github: [
    { name: 'Contents: read and write', why: 'branches, tags and records' },
    { name: 'Pull requests: read and write', why: 'proposals, their labels and reviewers' },
    { name: 'Commit statuses: read and write', why: 'whether a proposal is still what the cluster is' },
    { name: 'Issues: read and write', why: 'comments and the dashboard issue' },
    { name: 'Checks: read and write', why: 'a GitHub App only, with its event "Check run": the check with buttons' },
    { name: 'Metadata: read', why: 'comes with every token' },
  ],
  gitea: [
    { name: 'write:repository', why: 'branches, tags, records, pull requests and statuses' },
    { name: 'write:issue', why: 'comments, labels and the dashboard issue' },
    { name: 'read:user', why: 'to know its own comments' },
  ],
  git: [
    { name: 'push', why: `to drafts/, proposed/, ${LEDGER_BRANCH}, ${CONFIGURE_BRANCH}, revision tags and, to approve, the base branch` },
  ],
}

export function neededRights(forge: RightsForge): readonly NeededRight[] {
  return RIGHTS[forge]
}

/** One request that sets up protection. */
export interface ProtectionRequest {
  /** For people. */
  readonly what: string
  readonly method: 'POST'
  /** Below the address of the forge's API. */
  readonly path: string
  readonly body: object
}

export interface ProtectionSubject {
  readonly forge: RightsForge
  /** `acme/deploy`; undefined where the remote's address does not say. */
  readonly repository: string | undefined
  readonly baseBranch: string
  /** Of the account: its App's id on GitHub, its login on Gitea; undefined leaves out what has to name it. */
  readonly bot: string | undefined
}

export function protectionRequests(subject: ProtectionSubject): readonly ProtectionRequest[] {
  if (subject.forge === 'github') return githubRequests(subject)
  return subject.forge === 'gitea' ? giteaRequests(subject) : []
}

function githubRequests({ repository, baseBranch, bot }: ProtectionSubject): ProtectionRequest[] {
  // gh fills in what the address does not say.
  const path = `/repos/${repository ?? '{owner}/{repo}'}/rulesets`
  const appId = bot !== undefined && /^[1-9]\d*$/.test(bot) ? Number(bot) : undefined
  const review = {
    name: 'backporch: review before the base branch',
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${baseBranch}`], exclude: [] } },
    rules: [
      { type: 'deletion' },
      { type: 'non_fast_forward' },
      {
        type: 'pull_request',
        parameters: {
          required_approving_review_count: 1,
          // An approval is for what was looked at.
          dismiss_stale_reviews_on_push: true,
          require_code_owner_review: true,
          require_last_push_approval: false,
          required_review_thread_resolution: false,
        },
      },
    ],
  }
  const ledger = {
    name: 'backporch: the ledger is written by the bot',
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${LEDGER_BRANCH}`], exclude: [] } },
    rules: [{ type: 'deletion' }, { type: 'non_fast_forward' }, ...(appId === undefined ? [] : [{ type: 'update' }, { type: 'creation' }])],
    ...(appId === undefined ? {} : { bypass_actors: [{ actor_id: appId, actor_type: 'Integration', bypass_mode: 'always' }] }),
  }
  return [
    { what: 'nothing reaches the base branch without a review', method: 'POST', path, body: review },
    { what: 'the ledger is never rewritten', method: 'POST', path, body: ledger },
  ]
}

function giteaRequests({ repository, baseBranch, bot }: ProtectionSubject): ProtectionRequest[] {
  const path = `/repos/${repository ?? '{owner}/{repo}'}/branch_protections`
  const review = {
    rule_name: baseBranch,
    enable_push: false,
    required_approvals: 1,
    dismiss_stale_approvals: true,
    block_on_rejected_reviews: true,
  }
  const ledger = {
    rule_name: LEDGER_BRANCH,
    enable_push: true,
    ...(bot === undefined ? {} : { enable_push_whitelist: true, push_whitelist_usernames: [bot] }),
  }
  return [
    { what: 'nothing reaches the base branch without a review', method: 'POST', path, body: review },
    { what: 'the ledger is never rewritten', method: 'POST', path, body: ledger },
  ]
}

/**
 * Commands for a POSIX shell that send the requests: `gh` for GitHub, `curl` with GITEA_TOKEN for Gitea. Comments, commands and JSON
 * only. @param web address of the forge, `https://git.example`; undefined where the remote's address does not say
 */
export function protectionCommands(
  { forge }: Pick<ProtectionSubject, 'forge'>,
  requests: readonly ProtectionRequest[],
  web: string | undefined,
): string {
  if (requests.length === 0)
    return '# git alone has no rules to set: protect the base branch and drift-ledger where the repository is served.\n'
  const commands = requests.map(({ what, method, path, body }) => {
    const json = JSON.stringify(body, null, 2)
    const api = `${web ?? 'https://FORGE'}/api/v1${path}`
    const head =
      forge === 'github'
        ? `gh api --method ${method} ${quoted(path.slice(1))} --input - <<'JSON'`
        : `curl --fail-with-body -X ${method} -H "Authorization: token $GITEA_TOKEN" -H 'Content-Type: application/json' --data @- ${quoted(api)} <<'JSON'`
    return `# ${what}\n${head}\n${json}\nJSON\n`
  })
  return commands.join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Address of the pages and `owner/name`, as the remote's address has them; undefined for a path and for ssh, which say neither. */
export function repositoryAddress(remote: string): { readonly web: string; readonly repository: string } | undefined {
  const [, web, repository] = /^(https?:\/\/[^/@]+(?:\/[^/]+)*?)\/([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(remote) ?? []
  return web === undefined || repository === undefined ? undefined : { web, repository }
}
