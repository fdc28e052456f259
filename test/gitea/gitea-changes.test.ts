/** What people do to a repository on Gitea while it is watched: one clear failure, nothing twice, and all well when it is put right. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { WantedProposal } from '@backporch/forge/hosted-forge'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import { nextSecond } from '../waiting/next-second.ts'
import { isApiWrite } from './faulty-proxy.ts'
import { createGiteaFixture, type GiteaFixture } from './gitea-fixture.ts'
import { giteaSuite } from './gitea-suite.ts'
import { pushBranch } from './pushed-branch.ts'

const { signal } = new AbortController()

await giteaSuite('GiteaForge where the repository or the rights change', {}, (gitea) => {
  async function opened(
    t: TestContext,
  ): Promise<{ fixture: GiteaFixture; wanted: WantedProposal; number: number }> {
    const fixture = await createGiteaFixture(gitea)
    t.after(() => fixture.close())
    const wanted = await pushBranch(fixture.repository, signal)
    const { number = 0 } = await fixture.openForge().ensureProposal(wanted, undefined, signal)
    return { fixture, wanted, number }
  }

  const asOwner = async (
    { owner, path }: GiteaFixture,
    method: string,
    below: string,
    body?: unknown,
  ): Promise<number> => {
    const { status } = await gitea.request(owner.token, method, `${path}${below}`, body)
    assert.ok(status < 300, `${method} ${below} answers ${status}`)
    return status
  }

  /** Reading and writing both fail so, and nothing that writes is done. */
  async function refuses(
    setup: GiteaFixture,
    wanted: WantedProposal,
    codes: readonly FailureCode[],
    token?: string,
  ): Promise<void> {
    const works = [
      () => setup.openForge(token).readProposals('main', [wanted.ref], signal),
      () => setup.openForge(token).ensureProposal({ ...wanted, title: 'other' }, undefined, signal),
    ]
    for (const work of works) {
      await assert.rejects(work(), (thrown: unknown) => {
        assert.ok(thrown instanceof Failure, String(thrown))
        assert.ok(codes.includes(thrown.code), `${thrown.code}: ${thrown.message}`)
        assert.ok(thrown.where !== undefined && thrown.remedy !== '')
        return true
      })
    }
  }

  test('a token revoked between two requests is BP5002, and a new one finds the same pull request', async (t) => {
    const { fixture: giteaFixture, wanted, number } = await opened(t)
    const { token, revoke } = await gitea.createToken(giteaFixture.bot, ['all'])
    const forge = giteaFixture.openForge(token)
    const [known] = await forge.readProposals('main', [wanted.ref], signal)
    await revoke()
    const next = { ...wanted, title: 'other' }
    await assert.rejects(
      forge.ensureProposal(next, known, signal),
      (thrown: unknown) => thrown instanceof Failure && thrown.code === 'BP5002',
    )
    assert.equal(
      (await giteaFixture.openForge().ensureProposal(next, undefined, signal)).number,
      number,
    )
  })

  test('a read-only token is BP5003, which names the missing scope', async (t) => {
    const { fixture: groundwork, wanted } = await opened(t)
    const { token } = await gitea.createToken(groundwork.bot, [
      'read:repository',
      'read:issue',
      'read:user',
    ])
    await assert.rejects(
      groundwork.openForge(token).ensureProposal({ ...wanted, title: 'x' }, undefined, signal),
      (thrown: unknown) => {
        assert.ok(thrown instanceof Failure)
        assert.equal(thrown.code, 'BP5003')
        assert.match(thrown.why, /write:repository|write:issue/)
        return true
      },
    )
  })

  test('reports a renamed, transferred, archived, hidden and deleted repository', async (t) => {
    const { fixture: ground, wanted, number } = await opened(t)
    await asOwner(ground, 'PATCH', '', { name: 'elsewhere' })
    await refuses(ground, wanted, ['BP5008'])
    const renamed = `/repos/${ground.owner.name}/elsewhere`
    assert.equal(
      (await gitea.request(ground.owner.token, 'PATCH', renamed, { name: 'deploy' })).status,
      200,
    )
    await asOwner(ground, 'PATCH', '', { archived: true })
    // Gitea still lets a pull request of an archived repository be edited; so it is looked at before anything is written.
    for (const work of [
      () => ground.openForge().readProposals('main', [wanted.ref], signal),
      () => ground.openForge().ensureComment(number, 'outcome', 'text', signal),
    ]) {
      await assert.rejects(
        work(),
        (thrown: unknown) => thrown instanceof Failure && thrown.code === 'BP5008',
      )
    }
    await asOwner(ground, 'PATCH', '', { archived: false })
    assert.equal(
      (await ground.openForge().ensureProposal(wanted, undefined, signal)).number,
      number,
      'all is well again',
    )

    await asOwner(ground, 'PATCH', '', { private: true })
    await asOwner(ground, 'DELETE', `/collaborators/${ground.bot.name}`)
    await refuses(ground, wanted, ['BP5003'])
    await asOwner(ground, 'PUT', `/collaborators/${ground.bot.name}`, { permission: 'admin' })
    const carl = await gitea.createUser(gitea.uniqueName('carl'))
    const given = await gitea.request(gitea.admin.token, 'POST', `${ground.path}/transfer`, {
      new_owner: carl.name,
    })
    assert.ok(given.status < 300, JSON.stringify(given.body))
    await refuses(ground, wanted, ['BP5008', 'BP5003'])
    assert.equal(
      (await gitea.request(carl.token, 'DELETE', `/repos/${carl.name}/deploy`)).status,
      204,
    )
    await refuses(ground, wanted, ['BP5003'])
  })

  test('reports disabled issues and pull requests with the setting to change', async (t) => {
    const { fixture: ground, wanted } = await opened(t)
    for (const [setting, named] of [
      ['has_pull_requests', 'pull requests'],
      ['has_issues', 'issues'],
    ] as const) {
      await asOwner(ground, 'PATCH', '', { [setting]: false })
      const forge = ground.openForge()
      const work = async (): Promise<unknown> => {
        await forge.readProposals('main', [wanted.ref], signal)
        return forge.ensureIssue({ topic: 'dashboard', title: 'x', body: 'x', labels: [] }, signal)
      }
      await assert.rejects(work(), (thrown: unknown) => {
        assert.ok(thrown instanceof Failure)
        assert.equal(thrown.code, 'BP5003')
        assert.match(thrown.why, new RegExp(`^${named} are turned off in the settings of `))
        assert.equal(thrown.remedy, `turn ${named} on in the settings of the repository`)
        return true
      })
      await asOwner(ground, 'PATCH', '', { [setting]: true })
    }
  })

  test('the first request reports disabled issues and pull requests', async (t) => {
    const { fixture: ground, wanted } = await opened(t)
    const isNamed = (thrown: unknown): boolean =>
      thrown instanceof Failure && /^(issues|pull requests) are turned off/.test(thrown.why)
    await asOwner(ground, 'PATCH', '', { has_issues: false })
    await assert.rejects(
      ground
        .openForge()
        .ensureIssue({ topic: 'dashboard', title: 'x', body: 'x', labels: [] }, signal),
      isNamed,
    )
    await asOwner(ground, 'PATCH', '', { has_issues: true, has_pull_requests: false })
    await assert.rejects(ground.openForge().ensureProposal(wanted, undefined, signal), isNamed)
  })

  test('a protected base branch fails the merge with the rule, and moves no tag, branch or ledger', async (t) => {
    const { fixture: ground, wanted } = await opened(t)
    await asOwner(ground, 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_push: true,
      required_approvals: 1,
    })
    const before = (await ground.repository.listRefs(signal)).refs
    const base = parseObjectId(before.get('refs/heads/main') ?? '')
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [],
      message: 'merge',
      at: 1_760_000_000,
    }
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag: 'refs/tags/apps/web/v1',
      along: [],
    }
    await assert.rejects(ground.openForge().merge(decision, signal), (thrown: unknown) => {
      assert.ok(thrown instanceof Failure)
      assert.equal(thrown.code, 'BP4002')
      assert.match(thrown.why, /405/)
      return true
    })
    assert.deepEqual([...(await ground.repository.listRefs(signal)).refs], [...before])
  })

  test('merges with our message in an allowed style when merge commits are disabled', async (t) => {
    const { fixture: ground, wanted } = await opened(t)
    const styles = {
      allow_merge_commits: false,
      allow_rebase: false,
      allow_rebase_explicit: false,
      allow_fast_forward_only_merge: false,
    }
    await asOwner(ground, 'PATCH', '', {
      ...styles,
      allow_squash_merge: true,
      default_merge_style: 'squash',
    })
    const base = parseObjectId(
      (await ground.repository.listRefs(signal)).refs.get('refs/heads/main') ?? '',
    )
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [],
      message: 'Approve\n\nkpt:{"package":"apps/web"}',
      at: 1_760_000_000,
    }
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag: 'refs/tags/apps/web/v1',
      along: [],
    }
    const commit = parseObjectId(await ground.openForge().merge(decision, signal))
    const view = await ground.repository.commit(commit, signal)
    assert.deepEqual(view.parents, [base])
    assert.match(view.message, /^Approve\n\nkpt:\{"package":"apps\/web"\}/)
    assert.equal(
      (await ground.repository.listRefs(signal)).refs.get('refs/tags/apps/web/v1'),
      commit,
    )
  })

  test('finds and completes a merge whose answer was lost', async (t) => {
    const { fixture: ground, wanted } = await opened(t)
    const base = parseObjectId(
      (await ground.repository.listRefs(signal)).refs.get('refs/heads/main') ?? '',
    )
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [],
      message: 'Approve',
      at: 1_760_000_000,
    }
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag: 'refs/tags/apps/web/v1',
      along: [],
    }
    ground.proxy.fault = ({ path }) => (path.endsWith('/merge') ? { kind: 'lost' } : undefined)
    const commit = parseObjectId(await ground.openForge().merge(decision, signal))
    const { refs } = await ground.repository.listRefs(signal)
    assert.deepEqual(
      [refs.get('refs/heads/main'), refs.get('refs/tags/apps/web/v1'), refs.get(wanted.ref)],
      [commit, commit, undefined],
    )
  })

  test('of two pull requests that Gitea accepts at once, the first stays and the other decides nothing', async (t) => {
    const ground = await createGiteaFixture(gitea)
    t.after(() => ground.close())
    const wanted = await pushBranch(ground.repository, signal)
    // Both have looked before one of them opens.
    let requested = 0
    const gate = Promise.withResolvers<void>()
    ground.proxy.fault = async (request) => {
      if (!isApiWrite(request) || !request.path.endsWith('/pulls')) return undefined
      requested += 1
      if (requested === 2) gate.resolve()
      await gate.promise
      return undefined
    }
    const both = await Promise.all(
      [0, 1].map(() => ground.openForge().ensureProposal(wanted, undefined, signal)),
    )
    assert.equal(both[0]?.number, both[1]?.number)
    const [known, ...more] = await ground.openForge().readProposals('main', [wanted.ref], signal)
    assert.deepEqual([known?.number, more], [both[0]?.number, []])
    await ground.openForge().ensureProposal(wanted, known, signal)
    const { body } = await gitea.request<{ state: string }[]>(
      ground.owner.token,
      'GET',
      `${ground.path}/pulls?state=open`,
    )
    assert.equal(body.length, 1)
    const second = (known?.number ?? 0) + 1
    const told = await gitea.request<{ body: string }[]>(
      ground.owner.token,
      'GET',
      `${ground.path}/issues/${second}/comments`,
    )
    assert.match(
      told.body.map((comment) => comment.body).join('\n---\n'),
      new RegExp(`\n\\[#${known?.number}\\]\\(http[^)]+\\) is the pull request of this branch`),
    )
    // Closed later than the person closed the other: that says nothing.
    await ground.human.close(known?.number ?? 0)
    const spare = await gitea.request<{ number: number }[]>(
      ground.owner.token,
      'GET',
      `${ground.path}/pulls?state=closed&sort=newest`,
    )
    const last = spare.body.find(({ number }) => number !== known?.number)?.number ?? 0
    await ground.human.reopen(last)
    await nextSecond()
    await gitea.request(ground.bot.token, 'PATCH', `${ground.path}/issues/${last}`, {
      state: 'closed',
    })
    const [closed] = await ground.openForge().readProposals('main', [wanted.ref], signal)
    assert.deepEqual([closed?.number, closed?.decidedBy], [known?.number, ground.writer.name])
    await ground.human.reopen(known?.number ?? 0)
    await ground.human.merge(known?.number ?? 0, 'merge')
    const [merged] = await ground.openForge().readProposals('main', [wanted.ref], signal)
    assert.deepEqual([merged?.number, merged?.state], [known?.number, 'merged'])
  })

  test("a pull request from a fork's branch of the same name is not ours", async (t) => {
    const { fixture: ground, wanted, number } = await opened(t)
    const { writer } = ground
    assert.equal(
      (await gitea.request(writer.token, 'POST', `${ground.path}/forks`, {})).status,
      202,
    )
    const head = `${writer.name}:${wanted.ref.slice('refs/heads/'.length)}`
    const fork = { head, base: 'main', title: 'mine' }
    assert.equal(
      (await gitea.request(writer.token, 'POST', `${ground.path}/pulls`, fork)).status,
      201,
    )
    const read = await ground.openForge().readProposals('main', [wanted.ref], signal)
    assert.deepEqual(
      read.map((one) => one.number),
      [number],
    )
    await ground.human.close(number)
    const [closed] = await ground.openForge().readProposals('main', [wanted.ref], signal)
    assert.deepEqual(
      [closed?.number, closed?.state, closed?.decidedBy],
      [number, 'closed', writer.name],
    )
  })

  test('recreates a label that somebody deleted while its number is cached', async (t) => {
    const { fixture: ground, wanted, number } = await opened(t)
    const forge = ground.openForge()
    await forge.ensureProposal(
      { ...wanted, labels: ['drift', 'drift-plan/adopt'] },
      undefined,
      signal,
    )
    type Label = { id: number; name: string }
    const { body } = await gitea.request<Label[]>(
      ground.owner.token,
      'GET',
      `${ground.path}/labels`,
    )
    for (const { id, name } of body)
      if (name.startsWith('drift-')) await asOwner(ground, 'DELETE', `/labels/${id}`)
    await forge.ensureProposal(wanted, undefined, signal)
    const now = await gitea.request<Label[]>(
      ground.owner.token,
      'GET',
      `${ground.path}/issues/${number}/labels`,
    )
    assert.deepEqual(now.body.map(({ name }) => name).sort(), [...wanted.labels].sort())
  })

  test('two processes that create the same label, comment or issue at once leave one of each', async (t) => {
    const { fixture: ground, number, wanted } = await opened(t)
    type Named = {
      readonly id: number
      readonly name: string
      readonly state: string
      readonly title: string
    }
    const listed = async (below: string): Promise<readonly Named[]> =>
      (await gitea.request<Named[]>(ground.owner.token, 'GET', `${ground.path}/${below}`)).body
    for (const { id } of await listed('labels')) await asOwner(ground, 'DELETE', `/labels/${id}`)
    // Both ask what there is before one of them writes.
    let waiting: (() => void)[] = []
    ground.proxy.fault = async ({ method, path }) => {
      if (
        method !== 'POST' ||
        !/\/(?:labels|issues|comments)$/.test(path) ||
        /\/issues\/\d+\/labels/.test(path)
      )
        return undefined
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length < 2) return
        for (const go of waiting) go()
        waiting = []
      })
      return undefined
    }
    const two = [ground.openForge(), ground.openForge()]
    await Promise.all(
      two.map((forge) => forge.ensureProposal({ ...wanted, labels: ['drift'] }, undefined, signal)),
    )
    assert.deepEqual(
      (await listed('labels')).map(({ name }) => name),
      ['drift'],
    )
    assert.deepEqual(
      (await listed(`issues/${number}/labels`)).map(({ name }) => name),
      ['drift'],
    )
    await Promise.all(
      two.map((forge) => forge.ensureComment(number, 'outcome', 'It is closed.', signal)),
    )
    assert.equal((await listed(`issues/${number}/comments`)).length, 1)
    const issue = { topic: 'dashboard', title: 'Drift dashboard', body: 'one', labels: ['drift'] }
    const opens = await Promise.all(two.map((forge) => forge.ensureIssue(issue, signal)))
    assert.equal(new Set(opens.map((one) => one.number)).size, 1)
    const issues = await listed('issues?type=issues&state=open')
    assert.deepEqual(
      issues.map(({ title }) => title),
      ['Drift dashboard'],
    )
  })

  test('a 500 for an issue that another process closed at the same time is no failure', async (t) => {
    const { fixture: ground } = await opened(t)
    const forge = ground.openForge()
    const issue = { topic: 'dashboard', title: 'Drift dashboard', body: 'one', labels: [] }
    const { number } = await forge.ensureIssue(issue, signal)
    let closes = 0
    ground.proxy.fault = async ({ method, path }) => {
      if (method !== 'PATCH' || !path.endsWith(`/issues/${number}`)) return undefined
      closes += 1
      await asOwner(ground, 'PATCH', `/issues/${number}`, { state: 'closed' })
      return { kind: 'answer', status: 500 }
    }
    await forge.closeIssue('dashboard', signal)
    assert.equal(closes, 1)
    const { body } = await gitea.request<{ state: string }>(
      ground.owner.token,
      'GET',
      `${ground.path}/issues/${number}`,
    )
    assert.equal(body.state, 'closed')
  })

  test('an account without admin rights is told what it needs to read permissions of others', async (t) => {
    const { fixture: ground } = await opened(t)
    await assert.rejects(
      ground.openForge(ground.writer.token).permissionOf(ground.reader.name, signal),
      (thrown: unknown) => {
        assert.ok(thrown instanceof Failure)
        assert.equal(thrown.code, 'BP5003')
        assert.match(thrown.remedy, /administrator of the repository/)
        return true
      },
    )
  })
})
