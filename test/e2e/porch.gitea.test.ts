/** What people decide through Porch while a pull request is open on a real Gitea, with a real API server. Porch's part is done with plain git. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { PorchActor } from '../porch/act-as-porch.ts'
import { policy, webPackage } from './packages.ts'
import { openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { assertExit } from './world.ts'

const NOTHING = { api: 0, pushes: 0 }

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('Porch next to Gitea', { skip: gitea.why }, () => {})
else {
  await controlPlaneSuite('Porch next to Gitea', { controllerManager: true }, (plane) => {
    interface Drifted {
      readonly review: ReviewWorld
      readonly namespace: string
      readonly porch: PorchActor
      /** Everything that Porch moved goes to Gitea in one push. */
      readonly publish: () => Promise<void>
    }

    async function drifted(t: TestContext, rules = PROPOSE): Promise<Drifted> {
      const namespace = await plane.namespace('porch')
      const review = await openReviewWorld(t, plane, gitea as never, {
        ...webPackage(namespace),
        ...policy(rules),
      })
      await review.sync()
      await review.world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await review.world.settled(namespace, 'web', 5)
      const publish = () =>
        review.git(
          'push',
          '--quiet',
          '--prune',
          '--force',
          review.address,
          '+refs/heads/*:refs/heads/*',
          '+refs/tags/*:refs/tags/*',
        )
      return { review, namespace, porch: new PorchActor(review.world.repository), publish }
    }

    async function closedEpisode({
      world,
    }: ReviewWorld): Promise<{ readonly status: { readonly [key: string]: unknown } }> {
      const paths = (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger')).split('\n')
      const [path, ...more] = paths.filter((each) => each.startsWith('closed/'))
      assert.deepEqual(more, [])
      return parse(await world.show('drift-ledger', path ?? ''))
    }

    async function assertQuiet(review: ReviewWorld): Promise<void> {
      const refs = await review.world.refs()
      assert.deepEqual(
        await review.writesOf(() => review.backporch('scan')),
        NOTHING,
        'the next scan writes',
      )
      assert.deepEqual(await review.world.refs(), refs)
    }

    test('an approval ends the pull request as merged, and the syncer settles it', async (t) => {
      const { review, namespace, porch, publish } = await drifted(t)
      const { world } = review
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      const workspace = pull.head.label.split('/').at(-1) ?? ''
      const commit = porch.approve('apps/web', workspace, { revision: 1 })
      await publish()
      assertExit(await review.backporch('scan'), 1)
      const { status } = await closedEpisode(review)
      assert.deepEqual(
        [
          status['outcome'],
          status['decidedBy'],
          status['commit'],
          status['revision'],
          status['publishedBy'],
        ],
        ['Merged', 'admin <admin>', commit, 'v1', 'porch'],
      )
      const comments = (await review.comments(pull.number)).join('\n')
      assert.match(
        comments,
        /\*\*Approved through Porch\*\* by `admin` as `v1`: .*Backporch treats it as merged/,
      )
      assert.doesNotMatch(comments, /nothing changes in the cluster/)
      await review.closed(pull.number)
      assert.match(
        await world.remote('ls-tree', '-r', '--name-only', 'main', '.drift/records'),
        /apps--web\/\d{8}-[0-9a-f]{8}\.record$/,
      )
      assert.equal((await review.statuses(commit)).get('drift/restored'), 'pending')
      await assertQuiet(review)

      await review.sync()
      await world.settled(namespace, 'web', 3)
      assertExit(await review.backporch('scan'), 0)
      assert.match(
        (await review.comments(pull.number)).join('\n'),
        /^Verified at .*the cluster matches git again/m,
      )
      assert.equal((await review.statuses(commit)).get('drift/restored'), 'success')
      const { stdout } = await review.backporch('history')
      assert.match(stdout, new RegExp(`restore +admin .*${commit.slice(0, 7)}`))
      await assertQuiet(review)
    })

    test('an approval through separate commits ends the pull request, and deletes its leftover branch', async (t) => {
      const { review, porch, publish } = await drifted(t)
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      const workspace = pull.head.label.split('/').at(-1) ?? ''
      porch.approve('apps/web', workspace, { revision: 1, copies: true })
      await publish()
      assert.ok((await review.world.refs()).has(`refs/heads/${pull.head.label}`))
      assertExit(await review.backporch('scan'), 1)
      assert.deepEqual(await review.world.proposals(), [])
      await review.closed(pull.number)
      assert.match(
        (await review.comments(pull.number)).join('\n'),
        /\*\*Approved through Porch\*\* by `admin` as `v1`/,
      )
      assert.equal((await closedEpisode(review)).status['altered'], undefined)
      await assertQuiet(review)
    })

    test('an approval with settle: backporch writes to the cluster, which no syncer does here', async (t) => {
      const { review, namespace, porch, publish } = await drifted(
        t,
        `${PROPOSE}\nsettle: backporch`,
      )
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      porch.approve('apps/web', pull.head.label.split('/').at(-1) ?? '', { revision: 1 })
      await publish()
      await review.backporch('scan')
      await review.backporch('scan')
      await review.world.settled(namespace, 'web', 3)
      assertExit(await review.backporch('scan'), 0)
      assert.match((await review.comments(pull.number)).join('\n'), /^Verified at /m)
    })

    test('a rejection declines the drift, and the pull request reports it', async (t) => {
      const { review, porch, publish } = await drifted(t)
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      porch.reject('apps/web', pull.head.label.split('/').at(-1) ?? '')
      await publish()
      await review.backporch('scan')
      const { status } = await closedEpisode(review)
      assert.deepEqual(
        [status['outcome'], status['reason']],
        ['Declined', 'the proposal was rejected through Porch'],
      )
      await review.closed(pull.number)
      assert.match(
        (await review.comments(pull.number)).join('\n'),
        /^Rejected through Porch: nothing changes in the cluster\. This drift is silenced/m,
      )
      assert.deepEqual(await review.world.proposals(), [])
      await assertQuiet(review)
    })

    test('opens a pull request for a draft that somebody proposes', async (t) => {
      const { review, porch, publish } = await drifted(
        t,
        PROPOSE.replace('mode: Propose', 'mode: Warn'),
      )
      assertExit(await review.backporch('scan'), 1)
      assert.deepEqual(await review.pulls(), [])
      const [draft = ''] = await review.world.proposals()
      porch.propose('apps/web', draft.split('/').at(-1) ?? '', true)
      await publish()
      const { stdout } = await review.backporch('scan')
      assert.match(stdout, /was proposed through Porch by admin/)
      const pull = await review.onlyOpen()
      assert.equal(pull.head.label, draft.replace('drafts/', 'proposed/'))
      assert.match(
        await review.world.remote('show', `${pull.head.label}:apps/web/Kptfile`),
        /DriftDetected|RestoreApproved/,
      )
      await assertQuiet(review)
      await review.mergeByHand(pull.number, 'merge')
      await review.sync()
      assertExit(await review.backporch('scan'), 0)
    })
  })
}
