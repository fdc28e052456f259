/** The repository on Gitea changes under a person's hands: one clear failure of the command, nothing twice, and all well afterwards. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { isApiWrite, isPush } from '../gitea/faulty-proxy.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { policy, webPackage } from './packages.ts'
import { openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { assertExit } from './world.ts'

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('refused by Gitea', { skip: gitea.why }, () => {})
else await controlPlaneSuite('refused by Gitea', {}, (plane) => refusedBy(plane, gitea))

function refusedBy(plane: ControlPlane, server: Gitea): void {
  async function drifted(t: TestContext): Promise<ReviewWorld> {
    const namespace = await plane.namespace('refused')
    const review = await openReviewWorld(t, plane, server, {
      ...webPackage(namespace),
      ...policy(PROPOSE),
    })
    await review.sync()
    await review.world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    return review
  }

  const asOwner = async (
    { fixture }: ReviewWorld,
    method: string,
    below: string,
    body?: unknown,
  ): Promise<void> => {
    const { status } = await server.request(
      fixture.owner.token,
      method,
      `${fixture.path}${below}`,
      body,
    )
    assert.ok(status < 300, `${method} ${below} answers ${status}`)
  }

  /** Exactly one failure is told. @returns what was written on Gitea, and the names of the refs that moved */
  async function refused(
    review: ReviewWorld,
    code: RegExp,
    exit: readonly number[],
  ): Promise<readonly string[]> {
    await review.observe()
    const before = await review.world.refs()
    const from = review.fixture.proxy.requests.length
    const { remote, bot } = review.fixture
    const run = await review.world.backporchIn(
      review.world.checkout,
      { GITEA_TOKEN: bot.token },
      'scan',
      '--repo',
      remote,
    )
    assert.ok(exit.includes(run.code), `${run.code}: ${run.stderr}`)
    const reported = run.stderr.split('\n').filter((line) => line.startsWith('error '))
    assert.equal(reported.length, 1, run.stderr)
    assert.match(reported[0] ?? '', code)
    assert.doesNotMatch(run.stderr + run.stdout, new RegExp(bot.token))
    const writes = review.fixture.proxy.requests.slice(from).filter(isApiWrite)
    await review.observe()
    const moved = [...(await review.world.refs())].filter(([ref, id]) => before.get(ref) !== id)
    return [
      ...writes.map(
        ({ method, path }) => `${method} ${path.replace(/^.*\/repos\/[^/]+\/[^/]+/, '')}`,
      ),
      ...moved.map(([ref]) => ref),
    ]
  }

  test('a renamed, archived, protected or hidden repository fails once, and then has the same pull request', async (t) => {
    const review = await drifted(t)
    await asOwner(review, 'POST', '/branch_protections', {
      rule_name: 'proposed/**',
      enable_push: false,
    })
    const recorded = await refused(review, /^error BP4002: /, [2])
    assert.deepEqual(recorded, [
      'POST /issues',
      'POST /labels',
      'POST /issues/1/labels',
      'refs/heads/drift-ledger',
    ])
    assert.deepEqual(await review.pulls(), [])
    await asOwner(review, 'DELETE', '/branch_protections/proposed%2F%2A%2A')

    assertExit(await review.backporch('scan'), 1)
    const pull = await review.onlyOpen()

    await asOwner(review, 'PATCH', '', { archived: true })
    assert.deepEqual(await refused(review, /^error BP5008: /, [2]), [])
    await asOwner(review, 'PATCH', '', { archived: false })

    await asOwner(review, 'PATCH', '', { name: 'elsewhere' })
    assert.deepEqual(await refused(review, /^error BP(1002|4001|5008): /, [2, 4]), [])
    const { owner } = review.fixture
    assert.equal(
      (
        await server.request(owner.token, 'PATCH', `/repos/${owner.name}/elsewhere`, {
          name: 'deploy',
        })
      ).status,
      200,
    )

    await asOwner(review, 'PATCH', '', { private: true })
    await asOwner(review, 'DELETE', `/collaborators/${review.fixture.bot.name}`)
    assert.deepEqual(await refused(review, /^error BP(1002|4005|5003): /, [2, 4]), [])
    await asOwner(review, 'PUT', `/collaborators/${review.fixture.bot.name}`, {
      permission: 'admin',
    })
    await asOwner(review, 'PUT', `/collaborators/${review.fixture.writer.name}`, {
      permission: 'write',
    })

    assertExit(await review.backporch('scan'), 1)
    assert.deepEqual(
      [(await review.onlyOpen()).number, (await review.pulls()).length],
      [pull.number, 1],
    )
  })

  test('when Gitea breaks between the push and the pull request, the next scan opens it once', async (t) => {
    const review = await drifted(t)
    const { proxy } = review.fixture
    for (const fault of [{ kind: 'answer', status: 502 }, { kind: 'lost' }] as const) {
      const namespace =
        review.world.read('apps/web/config.yaml').match(/namespace: (\S+)/)?.[1] ?? ''
      await review.world.kubectl(
        'scale',
        'deployment/web',
        `--replicas=${fault.kind === 'lost' ? 8 : 6}`,
        '-n',
        namespace,
      )
      let pushed = false
      proxy.fault = (request) => {
        pushed ||= isPush(request)
        return pushed && isApiWrite(request) ? fault : undefined
      }
      const broken = await review.backporch('scan')
      assert.match(assertExit(broken, 2).stderr, /^error BP500[15]: /m)
      proxy.fault = () => undefined
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      assert.match(pull.title, fault.kind === 'lost' ? /live 8/ : /live 6/)
      assert.equal((await review.statuses(pull.head.sha)).size, 4)
    }
    assert.equal((await review.pulls()).length, 1)
  })

  test('writes nothing with a revoked token, and continues with another one', async (t) => {
    const review = await drifted(t)
    const { fixture: setup, world } = review
    assertExit(await review.backporch('scan'), 1)
    const { token, revoke } = await server.createToken(setup.bot, ['all'])
    await revoke()
    const before = await world.refs()
    const run = await world.backporchIn(
      world.checkout,
      { GITEA_TOKEN: token },
      'scan',
      '--repo',
      setup.remote,
    )
    assert.match(assertExit(run, 4).stderr, /^error BP(4005|5002): /)
    assert.doesNotMatch(run.stderr, new RegExp(token))
    await review.observe()
    assert.deepEqual(await world.refs(), before)
    assertExit(await review.backporch('scan'), 1)
    assert.equal((await review.pulls()).length, 1)
  })
}
