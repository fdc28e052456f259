/** Merges of people, on a real Gitea and a real API server, looked at on both and with git alone. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { policy, webPackage } from './packages.ts'
import { type MergeStyle, openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { assertExit } from './world.ts'

const STYLES: readonly MergeStyle[] = [
  'merge',
  'rebase',
  'rebase-merge',
  'squash',
  'fast-forward-only',
]
const NOTHING = { api: 0, pushes: 0 }

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('merged on Gitea', { skip: gitea.why }, () => {})
else {
  await controlPlaneSuite('merged on Gitea', { controllerManager: true }, (plane) => {
    async function drifted(t: TestContext): Promise<{ review: ReviewWorld; namespace: string }> {
      const namespace = await plane.namespace('review')
      const review = await openReviewWorld(t, plane, gitea as never, {
        ...webPackage(namespace),
        ...policy(PROPOSE),
      })
      await review.sync()
      await review.world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await review.world.settled(namespace, 'web', 5)
      return { review, namespace }
    }

    for (const style of STYLES) {
      test(`a hand edit is proposed, merged (${style}), applied, and verified as restored`, async (t) => {
        const { review, namespace } = await drifted(t)
        const { world } = review
        // Given once; found out by asking in the others.
        if (style === 'merge') review.forge = ['--forge', 'gitea']
        assertExit(await review.backporch('scan'), 1)
        const pull = await review.onlyOpen()
        assert.match(pull.head.label, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
        assert.equal(
          pull.title,
          'chore(drift): restore Deployment/web replicas to 3 in test (live 5)',
        )
        const names = pull.labels.map(({ name }) => name).sort()
        assert.ok(names.includes('drift') && names.includes('drift-plan/restore'), names.join())
        const top = pull.body.split('\n').slice(0, 25).join('\n')
        for (const part of ['spec.replicas', '3', '5', '**merge**', '**close**', 'kubectl'])
          assert.ok(top.includes(part), `${part} in\n${top}`)
        const statuses = await review.statuses(pull.head.sha)
        assert.deepEqual([...statuses.keys()].sort(), [
          'drift/applier',
          'drift/fresh',
          'drift/policy',
          'drift/render',
        ])
        assert.equal(statuses.get('drift/fresh'), 'success')
        const id = pull.head.label.slice(-8)

        const refs = await world.refs()
        assert.deepEqual(
          await review.writesOf(async () => assertExit(await review.backporch('scan'), 1)),
          NOTHING,
          'said once',
        )
        assert.deepEqual(await world.refs(), refs)

        await review.mergeByHand(pull.number, style)
        await review.sync()
        assert.equal(
          await world.kubectl(
            'get',
            'deployment/web',
            '-n',
            namespace,
            '-o',
            'jsonpath={.spec.replicas}',
          ),
          '3',
        )
        await world.settled(namespace, 'web', 3)
        assertExit(await review.backporch('scan'), 0)

        // Git alone.
        assert.deepEqual(await world.proposals(), [])
        const tagged = await world.remote('rev-parse', 'apps/web/v1^{commit}')
        // Gitea's own squash keeps the title alone: the tag is then on the commit of the branch, which says the same of the package.
        if (style !== 'squash') await world.remote('merge-base', '--is-ancestor', tagged, 'main')
        assert.equal(
          await world.remote('rev-parse', `${tagged}:apps/web`),
          await world.remote('rev-parse', 'main:apps/web'),
        )
        const message = await world.remote('show', '--no-patch', '--format=%B', tagged)
        assert.match(message, /^kpt:\{"package":"apps\/web"/m)
        assert.match(message, new RegExp(`^Drift-Id: test/apps--web/${id}$`, 'm'))
        assert.match(message, /^Drift-Resolution: Restore$/m)
        const record = await world.remote(
          'ls-tree',
          '-r',
          '--name-only',
          'apps/web/v1',
          '.drift/records',
        )
        assert.match(record, new RegExp(`^\\.drift/records/test/apps--web/\\d{8}-${id}\\.record$`))
        const closed = (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger'))
          .split('\n')
          .filter((path) => path.startsWith('closed/'))
        assert.equal(closed.length, 1)
        const { status } = parse(await world.show('drift-ledger', closed[0] ?? ''))
        assert.deepEqual(
          [status.outcome, status.decidedBy, status.revision],
          ['Merged', review.fixture.writer.name, 'v1'],
        )
        assert.ok(typeof status.verifiedAt === 'string', JSON.stringify(status))
        // And on Gitea.
        assert.equal((await review.closed(pull.number)).merged, true)
        assert.equal((await review.pulls()).length, 1)
        assert.match((await review.comments(pull.number)).join('\n'), /^Verified at /m)
        const landed = await world.remote(
          'log',
          '-1',
          '--format=%H',
          '--first-parent',
          'main',
          '--',
          '.drift/records',
        )
        assert.equal((await review.statuses(landed)).get('drift/restored'), 'success')
        const end = await world.refs()
        assert.deepEqual(
          await review.writesOf(async () => assertExit(await review.backporch('scan'), 0)),
          NOTHING,
        )
        assert.deepEqual(await world.refs(), end)
      })
    }

    test('after a merged Adopt git equals live, and nothing was written to the cluster', async (t) => {
      const { review, namespace } = await drifted(t)
      const { world } = review
      assertExit(await review.backporch('scan'), 1)
      const before = await review.onlyOpen()
      assertExit(await review.backporch('adopt', 'apps/web', '-m', 'more shoppers'), 0)
      const pull = await review.onlyOpen()
      assert.equal(pull.number, before.number, 'the same pull request')
      assert.match(pull.title, /^fix\(drift\): adopt Deployment\/web replicas 5 in test/)
      assert.ok(
        pull.labels.some(({ name }) => name === 'drift-plan/adopt') &&
          !pull.labels.some(({ name }) => name === 'drift-plan/restore'),
      )
      assert.match(
        await world.show(pull.head.label, 'apps/web/deployment.yaml'),
        /^ {2}replicas: 5 {3}# two zones and a spare$/m,
      )
      await review.mergeByHand(pull.number, 'squash')
      assertExit(await review.backporch('scan'), 0)
      assert.match(
        await world.show('main', 'apps/web/deployment.yaml'),
        /^ {2}replicas: 5 {3}# two zones and a spare$/m,
      )
      await review.sync()
      assert.equal(
        await world.kubectl(
          'get',
          'deployment/web',
          '-n',
          namespace,
          '-o',
          'jsonpath={.spec.replicas}',
        ),
        '5',
      )
      assertExit(await review.backporch('scan'), 0)
      assert.deepEqual(await world.proposals(), [])
      assert.match(
        await world.remote('log', '-1', '--format=%B', 'apps/web/v1'),
        /^Drift-Resolution: Adopt$/m,
      )
      assert.match(
        await world.remote('log', '--format=%s', 'main', '--', '.drift/records'),
        /^fix\(drift\): adopt Deployment\/web replicas 5/,
      )
      assert.equal(
        await world.remote('rev-parse', 'apps/web/v1:apps/web'),
        await world.remote('rev-parse', 'main:apps/web'),
      )
      assert.match((await review.backporch('history')).stdout, / adopt +/)
    })

    test('approve merges the pull request on Gitea itself, with our message, tag and ledger', async (t) => {
      const { review } = await drifted(t)
      const { world } = review
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      assertExit(await review.backporch('approve', 'apps/web', '--yes'), 0)
      assert.equal((await review.closed(pull.number)).merged, true)
      assert.deepEqual(await world.proposals(), [])
      assert.equal(
        await world.remote('rev-parse', 'main'),
        await world.remote('rev-parse', 'apps/web/v1^{commit}'),
      )
      assert.match(
        await world.remote('show', '--no-patch', '--format=%B', 'main'),
        /^kpt:\{"package":"apps\/web"/m,
      )
      await review.sync()
      assertExit(await review.backporch('scan'), 0)
    })

    test('treats an auto-merge after green checks like any other merge', async (t) => {
      const { review } = await drifted(t)
      const { gitea: server, owner, writer, path, name } = review.fixture
      const rule = {
        rule_name: 'main',
        enable_push: true,
        enable_status_check: true,
        status_check_contexts: ['drift/fresh', 'team/review'],
      }
      assert.equal(
        (await server.request(owner.token, 'POST', `${path}/branch_protections`, rule)).status,
        201,
      )
      assertExit(await review.backporch('scan'), 1)
      const pull = await review.onlyOpen()
      const order = { Do: 'squash', merge_when_checks_succeed: true }
      assert.equal(
        (await server.mergePull(writer, owner.name, name, pull.number, order)).status,
        201,
      )
      const green = { state: 'success', context: 'team/review' }
      assert.equal(
        (await server.request(writer.token, 'POST', `${path}/statuses/${pull.head.sha}`, green))
          .status,
        201,
      )
      assert.equal((await review.closed(pull.number)).merged, true)
      await review.sync()
      assertExit(await review.backporch('scan'), 0)
      assert.match(
        await review.world.remote('show', '--no-patch', '--format=%B', 'apps/web/v1'),
        /^kpt:\{/m,
      )
    })
  })
}
