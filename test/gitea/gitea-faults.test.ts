/** Bad answers and lost ones, by a proxy in front of the real Gitea: one clear failure, nothing twice, and all well when it is over. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { HostedForge, WantedProposal } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import { waitUntil } from '../waiting/wait-until.ts'
import { type Fault, isApiWrite, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts'
import { createGiteaFixture, type GiteaFixture } from './gitea-fixture.ts'
import { giteaSuite } from './gitea-suite.ts'
import { pushBranch } from './pushed-branch.ts'

const { signal } = new AbortController()

await giteaSuite('GiteaForge where answers are bad or lost', {}, (gitea) => {
  let fixture: GiteaFixture
  before(async () => {
    fixture = await createGiteaFixture(gitea)
  })
  after(async () => fixture?.close())

  const only = (
    fits: (request: ProxiedRequest) => boolean,
    fault: Fault,
    times = Number.POSITIVE_INFINITY,
  ): void => {
    let left = times
    fixture.proxy.fault = (request) => {
      if (left === 0 || !fits(request) || !request.path.startsWith('/api/')) return undefined
      left -= 1
      return fault
    }
  }
  const heal = (): void => {
    fixture.proxy.fault = () => undefined
  }
  const failure = async (work: Promise<unknown>): Promise<Failure> => {
    const thrown = await work.then(
      () => assert.fail('a failure was expected'),
      (error: unknown) => error,
    )
    if (!(thrown instanceof Failure)) throw thrown
    assert.doesNotMatch(JSON.stringify(thrown), new RegExp(fixture.bot.token), 'no token in it')
    return thrown
  }
  const count = async (work: () => Promise<unknown>): Promise<number> => {
    const from = fixture.proxy.requests.length
    await work()
    return fixture.proxy.requests.slice(from).filter(({ path }) => path.startsWith('/api/')).length
  }
  const isList = ({ method, path }: ProxiedRequest): boolean =>
    method === 'GET' && /\/pulls\?/.test(path)

  test('retries a read after a transient fault, and never a write', async () => {
    const wanted = await pushBranch(fixture.repository, signal)
    for (const fault of [
      { kind: 'answer', status: 502 },
      { kind: 'cut' },
      { kind: 'half' },
    ] as const) {
      only(isList, fault, 2)
      assert.deepEqual(await fixture.openForge().readProposals('main', [], signal), [])
      only(isList, fault)
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [], signal))).code,
        fault.kind === 'answer' ? 'BP5005' : 'BP5001',
      )
    }
    let sent = 0
    fixture.proxy.fault = (request) => {
      if (!isApiWrite(request)) return undefined
      sent += 1
      return { kind: 'answer', status: 503 }
    }
    assert.equal(
      (await failure(fixture.openForge().ensureProposal(wanted, undefined, signal))).code,
      'BP5005',
    )
    assert.equal(sent, 1)
    heal()
  })

  test('gives up in time as unreachable when no answer comes', async () => {
    only(isList, { kind: 'silent' })
    const reported = await failure(
      fixture.openForge(undefined, 200).readProposals('main', [], signal),
    )
    assert.deepEqual([reported.code, reported.retry], ['BP5001', 'backoff'])
    only(() => true, { kind: 'silent' })
    const stop = new AbortController()
    const asked = fixture.proxy.requests.length
    const stopped = assert.rejects(
      fixture.openForge().readProposals('main', [], stop.signal),
      /^Error: enough$/,
    )
    await waitUntil('it is asked', () => fixture.proxy.requests.length > asked)
    stop.abort(new Error('enough'))
    await stopped
    heal()
  })

  test('after a 429 sends nothing before the time that it names', async (t) => {
    t.after(() => {
      fixture.clock.stopped = undefined
    })
    for (const [named, until] of [
      ['30', '2026-11-21T10:00:30'],
      ['Sat, 21 Nov 2026 10:00:40 GMT', '2026-11-21T10:00:40'],
      ['soon', '2026-11-21T10:01:00'],
    ] as const) {
      fixture.clock.stopped = new Date('2026-11-21T10:00:00Z')
      const forge = fixture.openForge()
      only(isList, { kind: 'answer', status: 429, headers: { 'retry-after': named } })
      const notified = await failure(forge.readProposals('main', [], signal))
      assert.deepEqual([notified.code, notified.retry], ['BP5004', 'backoff'])
      assert.ok(
        notified.why.includes(`nothing is sent before ${until}`),
        `${named}: ${notified.why}`,
      )
      heal()
      assert.equal(
        await count(async () =>
          assert.equal((await failure(forge.readProposals('main', [], signal))).code, 'BP5004'),
        ),
        0,
      )
    }
  })

  test('never takes a malformed answer for an empty one', async () => {
    const wanted = await pushBranch(fixture.repository, signal)
    await fixture.openForge().ensureProposal(wanted, undefined, signal)
    const bad: readonly [string, (request: ProxiedRequest) => boolean, unknown][] = [
      ['an object for a list', isList, { message: 'x' }],
      ['null in a list', isList, [null]],
      ['a text for a number', isList, [{ number: 'x' }]],
      ['a number for a list', isList, 7],
      ['a null for the repository', ({ path }) => /\/deploy$/.test(path), null],
      ['a list for the repository', ({ path }) => /\/deploy$/.test(path), []],
    ]
    for (const [what, fits, answer] of bad) {
      only(fits, { kind: 'changed', change: () => answer })
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [wanted.ref], signal))).code,
        'BP5007',
        what,
      )
    }
    const spoil = (change: (pull: Record<string, unknown>) => unknown): Fault => ({
      kind: 'changed',
      change: (body) => (body as Record<string, unknown>[]).map(change),
    })
    for (const fault of [
      spoil((pull) => ({ ...pull, head: { label: 'x', sha: 'not a commit', repo_id: 1 } })),
      spoil((pull) => ({ ...pull, merged: true, merged_at: 'not a time' })),
      spoil((pull) => ({ ...pull, labels: [{ id: 'x' }] })),
      {
        kind: 'answer',
        status: 200,
        body: '<html>Please log in</html>',
        headers: { 'content-type': 'text/html' },
      },
      { kind: 'answer', status: 200, body: '{"half":' },
      { kind: 'answer', status: 200, body: Buffer.alloc(33 * 1024 * 1024, ' ') },
    ] satisfies Fault[]) {
      only(isList, fault)
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [], signal))).code,
        'BP5007',
      )
    }
    heal()
  })

  test('does not follow a redirect to another host, which would get the token', async () => {
    const other = await startFaultyProxy(gitea.url)
    try {
      only(isList, { kind: 'answer', status: 302, headers: { location: `${other.url}/login` } })
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [], signal))).code,
        'BP5008',
      )
      assert.equal(other.requests.length, 0)
      only(
        isList,
        { kind: 'answer', status: 302, headers: { location: '/api/v1/version/../version' } },
        1,
      )
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [], signal))).code,
        'BP5007',
        'a page in its place',
      )
      only(() => true, { kind: 'answer', status: 302, headers: { location: '/api/v1/circle' } })
      assert.equal(
        (await failure(fixture.openForge().readProposals('main', [], signal))).code,
        'BP5007',
        'a circle',
      )
    } finally {
      heal()
      await other.stop()
    }
  })

  test('reads an instance with one entry per page to its end', async () => {
    const wanted = [
      await pushBranch(fixture.repository, signal),
      await pushBranch(fixture.repository, signal),
    ]
    for (const each of wanted) await fixture.openForge().ensureProposal(each, undefined, signal)
    fixture.proxy.fault = ({ path }) =>
      path.includes('limit=50')
        ? { kind: 'elsewhere', path: path.replace('limit=50', 'limit=1') }
        : undefined
    const refs = (await fixture.openForge().readProposals('main', [], signal)).map(({ ref }) => ref)
    for (const { ref } of wanted) assert.ok(refs.includes(ref))
    heal()
  })

  for (const how of ['merged', 'closed'] as const) {
    test(`keeps the reviewed text of a pull request that is ${how} during an edit`, async () => {
      const wanted = await pushBranch(fixture.repository, signal)
      const { number = 0 } = await fixture.openForge().ensureProposal(wanted, undefined, signal)
      const known = (await fixture.openForge().readProposals('main', [wanted.ref], signal)).find(
        ({ ref }) => ref === wanted.ref,
      )
      let isDone = false
      fixture.proxy.fault = async ({ method, path }) => {
        if (isDone || method !== 'PATCH' || !path.endsWith(`/pulls/${number}`)) return undefined
        isDone = true
        await (how === 'merged'
          ? fixture.human.merge(number, 'squash')
          : fixture.human.close(number))
        return undefined
      }
      const claims = { ...wanted, title: 'chore(drift): restore everything', body: 'everything' }
      assert.equal(
        (await failure(fixture.openForge().ensureProposal(claims, known, signal))).code,
        'BP4003',
      )
      heal()
      assert.ok(isDone)
      type Text = {
        readonly title: string
        readonly body: string
        readonly state: string
        readonly merged: boolean
      }
      const { body: now } = await gitea.request<Text>(
        fixture.owner.token,
        'GET',
        `${fixture.path}/pulls/${number}`,
      )
      assert.deepEqual(
        [now.title, now.body, now.state, now.merged],
        [wanted.title, wanted.body, 'closed', how === 'merged'],
      )
    })
  }

  test('after any write is lost, before or after it was done, two more turns leave everything once', async () => {
    const faults: readonly Fault[] = [{ kind: 'lost' }, { kind: 'cut' }]
    const say = async (forge: HostedForge, wanted: WantedProposal): Promise<void> => {
      const known = (await forge.readProposals('main', [wanted.ref], signal)).find(
        ({ ref }) => ref === wanted.ref,
      )
      const { number = 0 } = await forge.ensureProposal(wanted, known, signal)
      await forge.ensureStatuses(
        wanted.commit,
        [{ context: 'drift/fresh', state: 'success', description: 'fresh', url: undefined }],
        signal,
      )
      await forge.ensureComment(number, 'outcome', 'said', signal)
    }
    for (const fault of faults) {
      for (let index = 0; ; index += 1) {
        const first = await pushBranch(fixture.repository, signal)
        const wanted = { ...first, reviewers: [fixture.writer.name] }
        let observed = 0
        fixture.proxy.fault = (request) => {
          if (!isApiWrite(request)) return undefined
          observed += 1
          return observed === index + 1 ? fault : undefined
        }
        const turns = [
          wanted,
          wanted,
          { ...wanted, title: 'other', labels: ['drift', 'drift-plan/adopt'] },
        ]
        for (const turn of turns)
          await say(fixture.openForge(), turn).catch((thrown) =>
            assert.match(thrown.code, /^BP500[15]$/),
          )
        heal()
        const [, , last = wanted] = turns
        await say(fixture.openForge(), last)
        const what = `${fault.kind} at write ${index + 1}`
        const open = await pullsOf(wanted.ref)
        assert.deepEqual(
          open.map(({ title, labels }) => [title, labels]),
          [['other', ['drift', 'drift-plan/adopt']]],
          what,
        )
        const { body } = await gitea.request<{ body: string }[]>(
          fixture.owner.token,
          'GET',
          `${fixture.path}/issues/${open[0]?.number}/comments`,
        )
        assert.equal(body.length, 1, what)
        const from = fixture.proxy.requests.length
        await say(fixture.openForge(), last)
        assert.equal(fixture.proxy.requests.slice(from).filter(isApiWrite).length, 0, what)
        if (observed <= index) break
      }
    }
    const labels = await gitea.request<{ name: string }[]>(
      fixture.owner.token,
      'GET',
      `${fixture.path}/labels?limit=50`,
    )
    const names = labels.body.map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)], 'no label twice')
  })

  async function pullsOf(
    ref: string,
  ): Promise<{ number: number; title: string; labels: string[] }[]> {
    type Pull = {
      number: number
      title: string
      head: { label: string }
      labels: { name: string }[]
    }
    const { body } = await gitea.request<Pull[]>(
      fixture.owner.token,
      'GET',
      `${fixture.path}/pulls?state=open&sort=recentupdate&limit=50`,
    )
    return body
      .filter(({ head }) => `refs/heads/${head.label}` === ref)
      .map(({ number, title, labels }) => ({
        number,
        title,
        labels: labels.map(({ name }) => name).sort(),
      }))
  }
})
