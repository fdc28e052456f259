/**
 * GitHub's OpenAPI description (`repos/create-repo-ruleset`) and "Permissions required for
 * fine-grained personal access tokens".
 */
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { quoteShellWord } from '@backporch/kyaml/text'
import { parsePageAddress } from '../adapter/forge-address.ts'
import { formatProtectionCommands } from '../adapter/protection-commands.ts'
import type { ForgeSetup, ProtectionRequest, ProtectionSubject } from '../ports/forge-setup.ts'

export const GITHUB_SETUP: ForgeSetup = {
  rights: [
    { name: 'Contents: read and write', why: 'branches, tags and records' },
    { name: 'Pull requests: read and write', why: 'proposals, their labels and reviewers' },
    {
      name: 'Commit statuses: read and write',
      why: 'whether a proposal still matches the cluster',
    },
    { name: 'Issues: read and write', why: 'comments and the dashboard issue' },
    {
      name: 'Checks: read and write',
      why: 'a GitHub App only, with its event "Check run": the check with buttons',
    },
    { name: 'Metadata: read', why: 'comes with every token' },
  ],
  protection: (subject) => {
    const requests = createRequests(subject)
    return {
      requests,
      commands: formatProtectionCommands(
        requests,
        ({ method, path }) =>
          `gh api --method ${method} ${quoteShellWord(path.slice(1))} --input -`,
      ),
    }
  },
}

function createRequests({ remote, baseBranch, bot }: ProtectionSubject): ProtectionRequest[] {
  const address = parsePageAddress(remote)
  // gh fills in what the address does not name.
  const path = `/repos/${address === undefined ? '{owner}/{repo}' : `${address.owner}/${address.repository}`}/rulesets`
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
          // An approval applies only to the reviewed commit.
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
    rules: [
      { type: 'deletion' },
      { type: 'non_fast_forward' },
      ...(appId === undefined ? [] : [{ type: 'update' }, { type: 'creation' }]),
    ],
    ...(appId === undefined
      ? {}
      : { bypass_actors: [{ actor_id: appId, actor_type: 'Integration', bypass_mode: 'always' }] }),
  }
  // `porchctl rpkg delete` deletes the tag of a revision.
  const revisions = {
    name: 'backporch: the tag of a published revision does not move',
    target: 'tag',
    enforcement: 'active',
    conditions: { ref_name: { include: ['refs/tags/*/v*', 'refs/tags/**/v*'], exclude: [] } },
    rules: [{ type: 'update' }, { type: 'non_fast_forward' }],
  }
  return [
    {
      what: 'nothing reaches the base branch without a review',
      method: 'POST',
      path,
      body: review,
    },
    { what: 'the ledger is never rewritten', method: 'POST', path, body: ledger },
    {
      what: 'the tag of a published revision does not move',
      method: 'POST',
      path,
      body: revisions,
    },
  ]
}
