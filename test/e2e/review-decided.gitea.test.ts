/** Decisions of people other than a merge, on a real Gitea and a real API server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { policy, webPackage } from './packages.ts'
import { type ObservedPull, openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { assertExit, type World } from './world.ts'

const NOTHING = { api: 0, pushes: 0 }

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('decided on Gitea', { skip: gitea.why }, () => {})
else
  await controlPlaneSuite('decided on Gitea', { controllerManager: true }, (plane) =>
    decidedOn(plane, gitea),
  )

function decidedOn(plane: Parameters<typeof openReviewWorld>[1], server: Gitea): void {
  /** A drifted package with an open pull request. */
  async function proposed(
    t: TestContext,
  ): Promise<{ review: ReviewWorld; world: World; namespace: string; pull: ObservedPull }> {
    const namespace = await plane.namespace('review')
    const review = await openReviewWorld(t, plane, server, {
      ...webPackage(namespace),
      ...policy(PROPOSE),
    })
    const { world } = review
    await review.sync()
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await world.settled(namespace, 'web', 5)
    assertExit(await review.backporch('scan'), 1)
    return { review, world, namespace, pull: await review.onlyOpen() }
  }

  const replicas = (world: World, namespace: string): Promise<string> =>
    world.kubectl('get', 'deployment/web', '-n', namespace, '-o', 'jsonpath={.spec.replicas}')

  /** The only closed episode of the ledger. */
  async function closedEpisode(world: World) {
    const paths = (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger'))
      .split('\n')
      .filter((path) => path.startsWith('closed/'))
    assert.equal(paths.length, 1, paths.join())
    return parse(await world.show('drift-ledger', paths[0] ?? ''))
  }

  test('closed: ten scans write nothing, and another edit is raised again', async (t) => {
    const { review, world, namespace, pull } = await proposed(t)
    const main = await world.remote('rev-parse', 'main')
    await review.fixture.human.close(pull.number)
    await review.backporch('scan')
    assert.deepEqual(await world.proposals(), [])
    assert.equal(await world.remote('rev-parse', 'main'), main)
    const { status } = await closedEpisode(world)
    assert.deepEqual([status.outcome, status.decidedBy], ['Declined', review.fixture.writer.name])
    assert.match(
      await world.remote('log', '--format=%B', 'drift-ledger'),
      /declined [0-9a-f]{8} \(Restore\)/,
    )
    const silent = await world.refs()
    for (let scan = 1; scan <= 10; scan += 1) {
      assert.deepEqual(
        await review.writesOf(() => review.backporch('scan')),
        NOTHING,
        `scan ${scan}`,
      )
      assert.deepEqual(await world.refs(), silent, `scan ${scan}`)
    }
    assert.equal(await replicas(world, namespace), '5', 'the cluster is left as it is')
    assert.equal((await review.pulls()).length, 1)

    await world.kubectl('scale', 'deployment/web', '--replicas=7', '-n', namespace)
    assertExit(await review.backporch('scan'), 1)
    const next = await review.onlyOpen()
    assert.notEqual(next.number, pull.number)
    assert.notEqual(next.head.label, pull.head.label)
    assert.match(next.title, /live 7/)
  })

  test('closed and reopened before the next scan: it is open, and nothing is sent', async (t) => {
    const { review, world, pull } = await proposed(t)
    const refs = await world.refs()
    await review.fixture.human.close(pull.number)
    await review.fixture.human.reopen(pull.number)
    assert.deepEqual(
      await review.writesOf(async () => assertExit(await review.backporch('scan'), 1)),
      NOTHING,
    )
    assert.deepEqual(await world.refs(), refs)
    assert.equal((await review.onlyOpen()).number, pull.number)
  })

  test('never touches a branch with a commit of a person', async (t) => {
    const { review, world, namespace, pull } = await proposed(t)
    const { label } = pull.head
    await world.git('fetch', '--quiet', 'origin')
    await world.git('checkout', '--quiet', '-b', 'mine', `origin/${label}`)
    world.write('apps/web/note.txt', 'hello\n')
    await world.git('add', '--all')
    await world.git('commit', '--quiet', '--message', 'a note')
    await world.git('push', '--quiet', 'origin', `HEAD:refs/heads/${label}`)
    await world.git('checkout', '--quiet', 'main')
    await review.git('push', '--quiet', review.address, label)
    const theirs = await world.remote('rev-parse', label)
    for (const count of [6, 9]) {
      await world.kubectl('scale', 'deployment/web', `--replicas=${count}`, '-n', namespace)
      assert.match(
        assertExit(await review.backporch('scan'), 1).stdout,
        /has a commit that backporch did not make/,
      )
      assert.equal(await world.remote('rev-parse', label), theirs)
      const now = await review.onlyOpen()
      assert.deepEqual(
        [now.number, now.title, now.body, now.head.sha],
        [pull.number, pull.title, pull.body, theirs],
      )
    }
    for (const verb of ['approve', 'reject', 'adopt']) {
      const refused = await review.backporch(
        verb,
        'apps/web',
        ...(verb === 'adopt' ? [] : ['--yes']),
      )
      assert.match(assertExit(refused, 2).stderr, /^error BP2009: /, verb)
    }
    assert.equal(await world.remote('rev-parse', label), theirs)
    assert.match(
      await world.remote('log', '--format=%s', `main..${label}`),
      /^a note\nchore\(drift\): /,
    )
  })

  test('treats a deleted branch as a close, which Gitea has done already', async (t) => {
    const { review, world, pull } = await proposed(t)
    await review.git('push', '--quiet', review.address, `:refs/heads/${pull.head.label}`)
    await review.closed(pull.number)
    await review.backporch('scan')
    const { status } = await closedEpisode(world)
    assert.deepEqual([status.outcome, status.decidedBy], ['Declined', review.fixture.writer.name])
    assert.deepEqual(await review.writesOf(() => review.backporch('scan')), NOTHING)
    assert.equal((await review.pulls()).length, 1)
  })

  test('withdraws branch and pull request when the drift heals, and says why', async (t) => {
    const { review, world, namespace, pull } = await proposed(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
    await review.sync()
    assertExit(await review.backporch('scan'), 0)
    assert.deepEqual(await world.proposals(), [])
    assert.equal((await review.closed(pull.number)).merged, false)
    assert.equal((await closedEpisode(world)).status.outcome, 'Healed')
    assert.equal((await review.comments(pull.number)).length, 1)
    assert.deepEqual(
      await review.writesOf(async () => assertExit(await review.backporch('scan'), 0)),
      NOTHING,
    )
  })

  test('withdraws the pull request when git takes the value over', async (t) => {
    const { review, world, pull } = await proposed(t)
    await review.commit(
      {
        'apps/web/deployment.yaml': world
          .read('apps/web/deployment.yaml')
          .replace('replicas: 3', 'replicas: 5'),
      },
      'five',
    )
    assertExit(await review.backporch('scan'), 0)
    assert.equal((await review.closed(pull.number)).merged, false)
    assert.equal((await closedEpisode(world)).status.outcome, 'ResolvedByGit')
    assert.deepEqual(await world.proposals(), [])
  })

  test('a moved base changes nothing outside the package, and inside rebuilds the branch of the same pull request', async (t) => {
    const { review, world, namespace, pull } = await proposed(t)
    await review.commit({ 'README.md': 'elsewhere\n' }, 'elsewhere')
    const elsewhere = await review.writesOf(async () =>
      assertExit(await review.backporch('scan'), 1),
    )
    assert.equal(elsewhere.pushes, 0)
    assert.equal(await world.remote('rev-parse', pull.head.label), pull.head.sha)

    await review.commit(
      { 'apps/web/config.yaml': `${world.read('apps/web/config.yaml')}# more\n` },
      'a comment',
    )
    assertExit(await review.backporch('scan'), 1)
    const rebuilt = await review.onlyOpen()
    assert.deepEqual([rebuilt.number, rebuilt.head.label], [pull.number, pull.head.label])
    assert.notEqual(rebuilt.head.sha, pull.head.sha)
    assert.equal(
      await world.remote('rev-parse', `${pull.head.label}^`),
      await world.remote('rev-parse', 'main'),
    )
    assert.equal((await review.statuses(rebuilt.head.sha)).get('drift/fresh'), 'success')
    assert.deepEqual(
      await review.writesOf(async () => assertExit(await review.backporch('scan'), 1)),
      NOTHING,
    )

    // Live moved too: the same pull request says so.
    await world.kubectl('scale', 'deployment/web', '--replicas=8', '-n', namespace)
    assertExit(await review.backporch('scan'), 1)
    const moved = await review.onlyOpen()
    assert.equal(moved.number, pull.number)
    assert.match(moved.title, /live 8/)
  })

  test('reject closes the pull request, deletes its branch, and is silent afterwards', async (t) => {
    const { review, world, pull } = await proposed(t)
    assertExit(await review.backporch('reject', 'apps/web', '--yes', '-m', 'on purpose'), 0)
    assert.deepEqual(
      [(await review.closed(pull.number)).merged, await world.proposals()],
      [false, []],
    )
    await review.backporch('scan')
    assert.deepEqual(await review.writesOf(() => review.backporch('scan')), NOTHING)
    assert.equal((await review.pulls()).length, 1)
  })
}
