/** docs/facts/onboarding-rights.md */
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { quoteShellWord } from '@backporch/kyaml/text'
import { parsePageAddress } from '../adapter/forge-address.ts'
import { formatProtectionCommands } from '../adapter/protection-commands.ts'
import type { ForgeSetup, ProtectionRequest, ProtectionSubject } from '../ports/forge-setup.ts'

export const GITEA_SETUP: ForgeSetup = {
  rights: [
    { name: 'write:repository', why: 'branches, tags, records, pull requests and statuses' },
    { name: 'write:issue', why: 'comments, labels and the dashboard issue' },
    { name: 'read:user', why: 'to know its own comments' },
  ],
  protection: (subject) => {
    const requests = createRequests(subject)
    const web = parsePageAddress(subject.remote)?.webUrl ?? 'https://FORGE'
    return {
      requests,
      commands: formatProtectionCommands(
        requests,
        ({ method, path }) =>
          `curl --fail-with-body -X ${method} -H "Authorization: token $GITEA_TOKEN" -H 'Content-Type: application/json' --data @- ${quoteShellWord(`${web}/api/v1${path}`)}`,
      ),
    }
  },
}

function createRequests({ remote, baseBranch, bot }: ProtectionSubject): ProtectionRequest[] {
  const address = parsePageAddress(remote)
  const repository = `/repos/${address === undefined ? '{owner}/{repo}' : `${address.owner}/${address.repository}`}`
  const path = `${repository}/branch_protections`
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
  // Without an account nobody could publish: Gitea protects a tag from everybody not named.
  const revisions =
    bot === undefined ? undefined : { name_pattern: '/^.+\\/v[0-9]+$/', whitelist_usernames: [bot] }
  return [
    {
      what: 'nothing reaches the base branch without a review',
      method: 'POST',
      path,
      body: review,
    },
    { what: 'the ledger is never rewritten', method: 'POST', path, body: ledger },
    ...(revisions === undefined
      ? []
      : [
          {
            what: 'the tag of a published revision is set by these accounts only: add that of Porch where it approves',
            method: 'POST',
            path: `${repository}/tag_protections`,
            body: revisions,
          } as const,
        ]),
  ]
}
