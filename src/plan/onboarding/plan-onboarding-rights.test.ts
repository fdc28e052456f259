import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { protectionCommands, protectionRequests, repositoryAddress } from './plan-onboarding-rights.ts'

type Ruleset = Omit<RestEndpointMethodTypes['repos']['createRepoRuleset']['parameters'], 'owner' | 'repo'>

test('the rulesets are what the types of GitHub’s own description take', () => {
  const subject = { forge: 'github', repository: 'acme/deploy', baseBranch: 'main', bot: '12345' } as const
  const expected: readonly Ruleset[] = [
    {
      name: 'backporch: review before the base branch',
      target: 'branch',
      enforcement: 'active',
      conditions: { ref_name: { include: ['refs/heads/main'], exclude: [] } },
      rules: [
        { type: 'deletion' },
        { type: 'non_fast_forward' },
        {
          type: 'pull_request',
          parameters: {
            required_approving_review_count: 1,
            dismiss_stale_reviews_on_push: true,
            require_code_owner_review: true,
            require_last_push_approval: false,
            required_review_thread_resolution: false,
          },
        },
      ],
    },
    {
      name: 'backporch: the ledger is written by the bot',
      target: 'branch',
      enforcement: 'active',
      conditions: { ref_name: { include: ['refs/heads/drift-ledger'], exclude: [] } },
      rules: [{ type: 'deletion' }, { type: 'non_fast_forward' }, { type: 'update' }, { type: 'creation' }],
      bypass_actors: [{ actor_id: 12345, actor_type: 'Integration', bypass_mode: 'always' }],
    },
  ]
  const requests = protectionRequests(subject)
  assert.deepEqual(
    requests.map(({ body }) => body),
    expected,
  )
  for (const { method, path } of requests) assert.deepEqual([method, path], ['POST', '/repos/acme/deploy/rulesets'])
})

test('without an account that is an App nobody is locked out of the ledger', () => {
  for (const bot of [undefined, 'drift-bot', '0']) {
    const ledger = JSON.stringify(protectionRequests({ forge: 'github', repository: undefined, baseBranch: 'main', bot })[1]?.body)
    assert.doesNotMatch(ledger, /update|bypass/)
  }
})

test('the commands hold nothing but comments, commands and JSON, and end the shell quoting of every name', () => {
  const subject = { forge: 'gitea', repository: "acme/d'x", baseBranch: "ma'in", bot: 'drift-bot' } as const
  const text = protectionCommands(subject, protectionRequests(subject), 'https://git.example')
  const outside = text.replaceAll(/<<'JSON'\n[\s\S]*?\nJSON\n/g, '\n')
  for (const line of outside.split('\n').filter((each) => each !== '')) assert.match(line, /^(# |curl --fail-with-body )/)
  assert.match(text, /'https:\/\/git\.example\/api\/v1\/repos\/acme\/d'\\''x\/branch_protections'/)
  assert.doesNotMatch(text, /token (?!\$GITEA_TOKEN)/)
  assert.match(protectionCommands({ forge: 'git' }, [], undefined), /^# /)
})

test('pages and name of the repository, where the address says them', () => {
  assert.deepEqual(repositoryAddress('https://git.example/acme/deploy.git'), { web: 'https://git.example', repository: 'acme/deploy' })
  assert.deepEqual(repositoryAddress('http://127.0.0.1:3000/sub/acme/deploy/'), {
    web: 'http://127.0.0.1:3000/sub',
    repository: 'acme/deploy',
  })
  for (const remote of [
    '/srv/deploy.git',
    'ssh://git@git.example/acme/deploy',
    'git@git.example:acme/deploy',
    'https://git.example/deploy',
  ]) {
    assert.equal(repositoryAddress(remote), undefined, remote)
  }
})
