import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import { parsePageAddress } from '../adapter/forge-address.ts'
import { FORGES } from './forges.ts'

type Ruleset = Omit<
  RestEndpointMethodTypes['repos']['createRepoRuleset']['parameters'],
  'owner' | 'repo'
>

test('the rulesets match the types of GitHub’s own API description', () => {
  const subject = { remote: 'https://github.com/acme/deploy.git', baseBranch: 'main', bot: '12345' }
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
      rules: [
        { type: 'deletion' },
        { type: 'non_fast_forward' },
        { type: 'update' },
        { type: 'creation' },
      ],
      bypass_actors: [{ actor_id: 12345, actor_type: 'Integration', bypass_mode: 'always' }],
    },
    {
      name: 'backporch: the tag of a published revision does not move',
      target: 'tag',
      enforcement: 'active',
      conditions: { ref_name: { include: ['refs/tags/*/v*', 'refs/tags/**/v*'], exclude: [] } },
      rules: [{ type: 'update' }, { type: 'non_fast_forward' }],
    },
  ]
  const { requests } = FORGES.github.protection(subject)
  assert.deepEqual(
    requests.map(({ body }) => body),
    expected,
  )
  for (const { method, path } of requests)
    assert.deepEqual([method, path], ['POST', '/repos/acme/deploy/rulesets'])
})

test('without an App account, the ruleset locks nobody out of the ledger', () => {
  for (const bot of [undefined, 'drift-bot', '0']) {
    const ledger = JSON.stringify(
      FORGES.github.protection({ remote: '', baseBranch: 'main', bot }).requests[1]?.body,
    )
    assert.doesNotMatch(ledger, /update|bypass/)
  }
})

test('the commands contain only comments, commands and JSON, and quote every name for the shell', () => {
  const subject = {
    remote: 'https://git.example/acme/deploy.git',
    baseBranch: "ma'in",
    bot: "b'ot",
  }
  const text = `${FORGES.gitea.protection(subject).commands}\n${FORGES.github.protection(subject).commands}`
  const outside = text.replaceAll(/<<'JSON'\n[\s\S]*?\nJSON\n/g, '\n')
  for (const line of outside.split('\n').filter((each) => each !== ''))
    assert.match(line, /^(# |curl --fail-with-body |gh api )/)
  assert.match(text, / https:\/\/git\.example\/api\/v1\/repos\/acme\/deploy\/branch_protections /)
  assert.doesNotMatch(text, /token (?!\$GITEA_TOKEN)/)
  assert.match(FORGES.local.protection(subject).commands, /^# /)
})

test('parses web address, owner and name of the repository from the remote when present', () => {
  assert.partialDeepStrictEqual(parsePageAddress('https://git.example/acme/deploy.git'), {
    webUrl: 'https://git.example',
    owner: 'acme',
    repository: 'deploy',
  })
  assert.equal(
    parsePageAddress('http://127.0.0.1:3000/sub/acme/deploy/')?.webUrl,
    'http://127.0.0.1:3000/sub',
  )
  for (const remote of [
    '/srv/deploy.git',
    'ssh://git@git.example/acme/deploy',
    'git@git.example:acme/deploy',
    'https://git.example/deploy',
  ]) {
    assert.equal(parsePageAddress(remote), undefined, remote)
  }
})
