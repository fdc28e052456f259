/** What people write on pull requests, on a real Gitea and a real API server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from '../e2e/packages.ts'
import { type ObservedPull, openReviewWorld, type ReviewWorld } from '../e2e/review-world.ts'
import { assertExit, type World } from '../e2e/world.ts'
import { nextSecond } from '../waiting/next-second.ts'
import type { Gitea, GiteaUser } from './gitea.ts'
import { sharedGitea } from './shared-gitea.ts'

const NOTHING = { api: 0, pushes: 0 }

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('commands on Gitea', { skip: gitea.why }, () => {})
else await controlPlaneSuite('commands on Gitea', {}, (plane) => commandsOn(plane, gitea))

function commandsOn(plane: Parameters<typeof openReviewWorld>[1], server: Gitea): void {
  /** A drifted package with an open pull request: change 1 is `spec.replicas`. */
  async function proposed(
    t: TestContext,
  ): Promise<{ review: ReviewWorld; world: World; namespace: string; pull: ObservedPull }> {
    const namespace = await plane.namespace('commands')
    const review = await openReviewWorld(t, plane, server, {
      ...webPackage(namespace),
      ...policy('mode: Propose'),
    })
    const { world } = review
    await review.sync()
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await review.backporch('scan'), 1)
    return { review, world, namespace, pull: await review.onlyOpen() }
  }

  async function write(
    { fixture }: ReviewWorld,
    by: GiteaUser,
    number: number,
    body: string,
  ): Promise<string> {
    const created = await fixture.gitea.request<{ id: number }>(
      by.token,
      'POST',
      `${fixture.path}/issues/${number}/comments`,
      { body },
    )
    assert.equal(created.status, 201)
    return String(created.body.id)
  }

  /** Of the bot, sorted. */
  async function reactions({ fixture: setup }: ReviewWorld, comment: string): Promise<string[]> {
    type Reaction = { readonly user: { readonly login: string }; readonly content: string }
    const path = `${setup.path}/issues/comments/${comment}/reactions`
    const { body } = await setup.gitea.request<readonly Reaction[] | null>(
      setup.writer.token,
      'GET',
      path,
    )
    return (body ?? [])
      .flatMap(({ user, content }) => (user.login === setup.bot.name ? [content] : []))
      .sort()
  }

  async function answerOf(review: ReviewWorld, number: number): Promise<string> {
    const answers = (await review.comments(number)).filter((body) =>
      body.includes('Results of the last commands'),
    )
    assert.ok(answers.length <= 1, 'one comment, edited')
    return answers[0] ?? ''
  }

  const branchOf = (pull: ObservedPull): string => pull.head.label
  const author = (review: ReviewWorld): GiteaUser => review.fixture.writer

  test('obeys adopt of a person with write access, but not of a reader, in an edited comment or in a quote', async (t) => {
    const { review, world, pull } = await proposed(t)
    const { reader, human } = review.fixture
    const readers = await write(review, reader, pull.number, '/adopt 1')
    const edited = await write(review, author(review), pull.number, 'nice')
    // An edit within the second of the comment cannot be told from it.
    await nextSecond()
    await human.editComment(edited, '/adopt 1')
    const quoted = await write(review, author(review), pull.number, '> /adopt 1')
    const before = await world.remote('rev-parse', branchOf(pull))
    const run = await review.backporch('scan')
    assertExit(run, 1)
    assert.equal(await world.remote('rev-parse', branchOf(pull)), before)
    assert.deepEqual(await reactions(review, readers), ['confused'])
    assert.deepEqual((await reactions(review, edited)).includes('confused'), true)
    assert.deepEqual(await reactions(review, quoted), [])
    assert.match(
      await answerOf(review, pull.number),
      /needs write access[\s\S]*edited|edited[\s\S]*needs write access/,
    )

    const adopted = await write(
      review,
      author(review),
      pull.number,
      'the season began\n\n/adopt 1 -- peak season',
    )
    const again = await review.backporch('scan')
    assertExit(again, 1)
    assert.match(again.stderr, /\/adopt 1 .*: done/)
    assert.deepEqual(await reactions(review, adopted), ['+1', 'eyes'])
    assert.match(
      await answerOf(review, pull.number),
      /needs write access[\s\S]*the plan is \*\*Adopt\*\*/,
      'answers of both turns, newest last',
    )
    const now = await review.onlyOpen()
    assert.equal(now.number, pull.number)
    assert.match(now.title, /^fix\(drift\): adopt /)
    assert.match(
      now.body,
      new RegExp(`It was Restore before, changed by \`${author(review).name}\``),
    )
    assert.match(
      await world.remote('diff', 'main', branchOf(pull), '--', 'apps/web'),
      /^\+ +replicas: 5/m,
    )
    assert.deepEqual(
      await review.writesOf(() => review.backporch('scan')),
      NOTHING,
      'nothing is said or pushed twice',
    )
  })

  test('obeys a ticked box and a snooze, and restores a branch that somebody pushed to', async (t) => {
    const { review, world, pull } = await proposed(t)
    const { human } = review.fixture
    await human.editBody(
      pull.number,
      pull.body.replace(/- \[ \] (<!-- backporch:adopt=)/, '- [x] $1'),
    )
    await review.backporch('scan')
    const ticked = await review.onlyOpen()
    assert.match(ticked.title, /adopt/)
    assert.doesNotMatch(ticked.body, /- \[x\]/)
    assert.equal(await answerOf(review, pull.number), '')

    await write(review, author(review), pull.number, '/snooze 7d')
    await review.backporch('scan')
    const snoozed = await review.onlyOpen()
    assert.ok(snoozed.labels.some(({ name }) => name === 'drift-state/snoozed'))
    assert.match(snoozed.body, /\*\*Snoozed\*\* until/)

    await world.git('fetch', '--quiet', 'origin')
    await world.git('checkout', '--quiet', '-B', 'theirs', `origin/${branchOf(pull)}`)
    await world.commit({ 'apps/web/NOTES.md': 'mine\n' }, 'notes')
    await review.git(
      'push',
      '--quiet',
      review.address,
      `${await world.git('rev-parse', 'theirs')}:refs/heads/${branchOf(pull)}`,
    )
    const theirs = await world.git('rev-parse', 'theirs')
    await review.backporch('scan')
    assert.equal(await world.remote('rev-parse', branchOf(pull)), theirs, 'never pushed over')
    const recreate = await write(review, author(review), pull.number, '/recreate')
    await review.backporch('scan')
    assert.deepEqual(
      await reactions(review, recreate),
      ['+1', 'eyes'],
      await answerOf(review, pull.number),
    )
    assert.doesNotMatch(await world.remote('ls-tree', '-r', '--name-only', branchOf(pull)), /NOTES/)
    assert.equal((await review.onlyOpen()).number, pull.number)
  })

  test('ignore opens a policy pull request; once merged, the drift is hidden and no branch remains', async (t) => {
    const { review, world, pull } = await proposed(t)
    const { human } = review.fixture
    await write(review, author(review), pull.number, '/ignore 1 --for 30d -- KEDA trial')
    await review.backporch('scan')
    const [, requested] = await review.pulls()
    assert.match(requested?.head.label ?? '', /^drift\/ignore-[0-9a-f]{8}$/)
    assert.match(requested?.body ?? '', /KEDA trial/)
    assert.deepEqual(await review.writesOf(() => review.backporch('scan')), NOTHING)
    await human.merge(requested?.number ?? 0, 'squash')
    assertExit(await review.backporch('scan'), 0)
    await review.backporch('scan')
    assert.doesNotMatch(
      await world.remote('branch', '--list', '--format=%(refname:short)'),
      /drift\/ignore/,
    )
    assert.equal((await review.closed(pull.number)).merged, false)
  })
}
