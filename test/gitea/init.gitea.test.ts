/** `backporch init` as people run it, on the real Gitea, with a token that has no more than what init says it needs. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GITEA_SETUP } from '@backporch/forge/gitea'
import { backporchHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { ONBOARDING_FILES, onboardingRecording } from '../fakes/onboarding-samples.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { isApiWrite, isPush, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts'
import type { Gitea } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'

interface Pull {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly title: string
  readonly body: string
  readonly updated_at: string
  readonly labels: readonly { readonly name: string }[]
}

await giteaSuite('backporch init', {}, (gitea) => {
  test('proposed, unchanged, edited by a person, merged: the repository is enrolled and its branch is gone', async (t) => {
    const { init, send, edit, branches, pull, bot, writes } = await fixture(gitea, t)
    const refused = await init()
    assert.equal(refused.code, 2, 'there is nobody to ask')
    assert.match(refused.stderr, /BP2011/)
    assert.deepEqual(await branches(), ['main'])

    const first = await init('--yes')
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /drift\/configure is proposed: #1 http/)
    const opened = await pull(1)
    assert.deepEqual(
      [opened.title, opened.state, opened.labels.map(({ name }) => name)],
      ['chore(drift): configure Backporch', 'open', ['drift']],
    )
    assert.match(
      opened.body,
      /With this policy \(2 packages: 2 Warn\): \*\*0 pull requests today\*\*/,
    )
    assert.match(opened.body, /everywhere: \*\*1 pull request today\*\* \(0 critical, 1 high\)/)
    assert.match(opened.body, /\*\*2 differences\*\* are muted by 2 rules/)
    assert.match(
      opened.body,
      /3 packages of the repository|1 package of the repository has no object there/,
    )

    assert.equal(writes().filter(({ path }) => path.endsWith('/pulls')).length, 1)
    const before = writes().length
    const again = await init()
    assert.equal(again.code, 0, again.stderr)
    assert.equal(writes().length, before, 'said twice: no write to the API, and no push')
    assert.equal((await pull(1)).updated_at, opened.updated_at)

    await edit('.drift/default.policy', (text) => text.replace('mode: Warn', 'mode: Propose'))
    const head = (await send<{ commit: { id: string } }>('GET', '/branches/drift%2Fconfigure')).body
      .commit.id
    const edited = await init()
    assert.equal(edited.code, 0, edited.stderr)
    assert.match(edited.stdout, /was edited by .* and is left unchanged/)
    assert.equal(
      (await send<{ commit: { id: string } }>('GET', '/branches/drift%2Fconfigure')).body.commit.id,
      head,
    )
    const rendered = await pull(1)
    assert.match(rendered.body, /2 packages: 2 Propose\): \*\*1 pull request today\*\*/)
    assert.match(rendered.body, /\*\*Edited by/)

    const merged = await gitea.mergePull(bot.owner, bot.owner.name, 'deploy', 1, { Do: 'squash' })
    assert.equal(merged.status, 200, JSON.stringify(merged.body))
    const enrolled = await init()
    assert.match(
      enrolled.stdout,
      /enrolled: main has \.drift\/default\.policy:\d+; the merged branch drift\/configure is removed/,
    )
    assert.deepEqual(await branches(), ['main'])
    assert.match((await init()).stdout, /enrolled: main has \.drift\/default\.policy:\d+\n/)
    assert.equal((await send<Pull[]>('GET', '/pulls?state=all')).body.length, 1)
  })

  test('closed: the branch is removed, and only --again proposes it again', async (t) => {
    const { init, send, branches, pull } = await fixture(gitea, t)
    assert.equal((await init('--yes')).code, 0)
    await send('PATCH', '/pulls/1', { state: 'closed' })
    const closed = await init('--yes')
    assert.equal(closed.code, 0, closed.stderr)
    assert.match(
      closed.stdout,
      /#1 was closed by \S+ at .*: not enrolled, and drift\/configure is removed/,
    )
    assert.deepEqual(await branches(), ['main'])
    assert.match((await init('--yes')).stdout, /not enrolled\n/)
    assert.equal((await send<Pull[]>('GET', '/pulls?state=open')).body.length, 0)
    const again = await init('--again', '--yes')
    assert.match(again.stdout, /is proposed: #2 /, again.stderr)
    assert.match((await init()).stdout, /is open: #2 /)
    assert.match((await init('--remove', '--yes')).stdout, /drift\/configure is removed/)
    assert.deepEqual(await branches(), ['main'])
    await waitUntil('#2 is closed', async () => (await pull(2)).state !== 'open')
    assert.deepEqual([(await pull(2)).state, (await pull(2)).merged], ['closed', false])
  })

  test('accepts the requests of --print-ruleset, which reserve the ledger for the bot', async (t) => {
    const { send, init, bot, url } = await fixture(gitea, t)
    const printed = await init('--print-ruleset', '--bot', bot.account.name)
    assert.equal(printed.code, 0, printed.stderr)
    const [, web] = / (http[^ ]*)\/api\/v1/.exec(printed.stdout) ?? []
    assert.equal(web, url)
    const subject = {
      remote: `${url}/${bot.owner.name}/deploy`,
      baseBranch: 'main',
      bot: bot.account.name,
    }
    for (const { method, path, body } of GITEA_SETUP.protection(subject).requests) {
      const answer = await gitea.request(bot.owner.token, method, path, body)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
    }
    const rules = await send<
      { rule_name: string; required_approvals: number; push_whitelist_usernames: string[] }[]
    >('GET', '/branch_protections')
    assert.deepEqual(
      rules.body.map(({ rule_name, required_approvals, push_whitelist_usernames }) => [
        rule_name,
        required_approvals,
        push_whitelist_usernames,
      ]),
      [
        ['main', 1, []],
        ['drift-ledger', 0, [bot.account.name]],
      ],
    )
    const tags = await send<{ name_pattern: string; whitelist_usernames: string[] }[]>(
      'GET',
      '/tag_protections',
    )
    assert.deepEqual(
      tags.body.map(({ name_pattern, whitelist_usernames }) => [name_pattern, whitelist_usernames]),
      [['/^.+\\/v[0-9]+$/', [bot.account.name]]],
    )
    const refused = await gitea.request(
      bot.owner.token,
      'POST',
      `/repos/${bot.owner.name}/deploy/tags`,
      {
        tag_name: 'apps/web/v1',
        target: 'main',
      },
    )
    assert.ok(refused.status >= 400, `somebody else sets the tag of a revision: ${refused.status}`)
    assert.equal((await init('--yes')).code, 0, 'and init goes on as before')
  })
})

async function fixture(gitea: Gitea, t: { after(done: () => unknown): void }) {
  const owner = await gitea.createUser(gitea.uniqueName('ann'))
  const account = await gitea.createUser(gitea.uniqueName('bot'))
  await gitea.createRepository(owner, 'deploy', { files: ONBOARDING_FILES })
  const path = `/repos/${owner.name}/deploy`
  const send = <Body>(method: string, below: string, body?: unknown) =>
    gitea.request<Body>(owner.token, method, `${path}${below}`, body)
  await send('PUT', `/collaborators/${account.name}`, { permission: 'write' })
  const { token } = await gitea.createToken(
    account,
    GITEA_SETUP.rights.map(({ name }) => name),
  )
  const folder = mkdtempSync(join(tmpdir(), 'backporch-init-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'live.json'), onboardingRecording())
  const proxy = await startFaultyProxy(gitea.url)
  t.after(() => proxy.stop())
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    BACKPORCH_TOKEN: token,
    GIT_CONFIG_NOSYSTEM: '1',
  }
  return {
    bot: { owner, account },
    url: proxy.url,
    /** What was sent to change something, by git and to the API. */
    writes: (): readonly ProxiedRequest[] =>
      proxy.requests.filter((request) => isApiWrite(request) || isPush(request)),
    send,
    init: (...flags: readonly string[]): Promise<ProgramRun> => {
      const remote = ['--repo', `${proxy.url}/${owner.name}/deploy.git`]
      const live = flags.includes('--print-ruleset') ? [] : ['--live', join(folder, 'live.json')]
      return backporchHere(['init', ...remote, ...live, ...flags], { cwd: folder, env })
    },
    branches: async (): Promise<string[]> =>
      (await send<{ name: string }[]>('GET', '/branches')).body.map(({ name }) => name).sort(),
    pull: async (number: number): Promise<Pull> =>
      (await send<Pull>('GET', `/pulls/${number}`)).body,
    /** A person's commit on the branch. */
    edit: async (file: string, change: (text: string) => string): Promise<void> => {
      const at = `/contents/${file}`
      const { body } = await send<{ sha: string; content: string }>(
        'GET',
        `${at}?ref=drift%2Fconfigure`,
      )
      const content = Buffer.from(change(Buffer.from(body.content, 'base64').toString())).toString(
        'base64',
      )
      const { status } = await send('PUT', at, {
        branch: 'drift/configure',
        sha: body.sha,
        content,
        message: 'open pull requests',
      })
      assert.equal(status, 200)
    },
  }
}
