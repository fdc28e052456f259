/** Several contexts in one turn, on a real Gitea and a real API server, which here has three names. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { policy, webPackage } from './packages.ts'
import { openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { assertExit } from './world.ts'

interface Named {
  readonly name: string
}
interface Kubeconfig {
  readonly clusters: readonly (Named & { readonly cluster: object })[]
  readonly contexts: readonly (Named & { readonly context: object })[]
  readonly users: readonly Named[]
}

/** The same server under three names, and one that nothing listens at. */
function fourContexts(review: ReviewWorld, kubeconfig: string): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig
  const context = config.contexts[0]?.context
  const path = join(review.world.folder, 'fleet.kubeconfig')
  const named = ['edge-1', 'edge-2', 'edge-3'].map((name) => ({ name, context }))
  const clusters = [
    ...config.clusters,
    { name: 'lost', cluster: { server: 'https://127.0.0.1:1' } },
  ]
  const contexts = [
    ...named,
    { name: 'edge-4', context: { cluster: 'lost', user: config.users[0]?.name } },
  ]
  writeFileSync(path, stringify({ ...config, clusters, contexts }))
  return path
}

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('a fleet on Gitea', { skip: gitea.why }, () => {})
else {
  await controlPlaneSuite('a fleet on Gitea', { controllerManager: true }, (plane) => {
    async function drifted(
      t: TestContext,
    ): Promise<{ review: ReviewWorld; namespace: string; flags: readonly string[] }> {
      const namespace = await plane.namespace('fleet')
      const review = await openReviewWorld(t, plane, gitea as never, {
        ...webPackage(namespace),
        ...policy(PROPOSE),
      })
      await review.sync()
      await review.world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await review.world.settled(namespace, 'web', 5)
      return { review, namespace, flags: ['--kubeconfig', fourContexts(review, plane.kubeconfig)] }
    }

    test('proposes the same drift in three clusters as one pull request, and an unreachable cluster blocks nothing', async (t) => {
      const { review, namespace, flags } = await drifted(t)
      const { world } = review
      const scan = () =>
        review.backporch('scan', ...flags, '--contexts', 'edge-1,edge-2,edge-3,edge-4')
      const first = assertExit(await scan(), 3)
      assert.match(first.stderr, /edge-4: /)
      const pull = await review.onlyOpen()
      assert.equal(pull.title, 'chore(drift): restore Deployment/web in 3 clusters (one cause)')
      for (const name of ['edge-1', 'edge-2', 'edge-3'])
        assert.match(pull.body, new RegExp(`\\[\`${name}\`\\]`))
      const table = (await review.backporch('status')).stdout.split('\n')
      const shown = table.filter((line) => line.includes(` #${pull.number} `))
      assert.equal(shown.length, 3, table.join('\n'))
      const refs = await world.refs()
      assert.deepEqual(await review.writesOf(scan), { api: 0, pushes: 0 })
      assert.deepEqual(await world.refs(), refs)

      await review.mergeByHand(pull.number, 'merge')
      await review.sync()
      await world.settled(namespace, 'web', 3)
      assertExit(await review.backporch('scan', ...flags, '--contexts', 'edge-1,edge-2,edge-3'), 0)
      assert.deepEqual(await world.proposals(), [])
      const closed = (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger'))
        .split('\n')
        .filter((path) => path.startsWith('closed/'))
      const ends = await Promise.all(
        closed.map(async (path) => parse(await world.show('drift-ledger', path))),
      )
      assert.deepEqual(
        ends
          .map(({ spec, status }) => [
            spec.unit.cluster,
            status.outcome,
            status.revision,
            typeof status.verifiedAt,
          ])
          .sort(),
        ['edge-1', 'edge-2', 'edge-3'].map((cluster) => [cluster, 'Merged', 'v1', 'string']),
      )
      assert.match((await review.comments(pull.number)).join('\n'), /^Verified at /m)
    })

    test('a closed pull request silences the drift in all clusters', async (t) => {
      const { review, flags } = await drifted(t)
      const scan = () => review.backporch('scan', ...flags, '--contexts', 'edge-1,edge-2,edge-3')
      await scan()
      const pull = await review.onlyOpen()
      const { gitea: server, path, writer } = review.fixture
      await server.request(writer.token, 'PATCH', `${path}/pulls/${pull.number}`, {
        state: 'closed',
      })
      await scan()
      assert.deepEqual(await review.writesOf(scan), { api: 0, pushes: 0 })
      assert.equal((await review.pulls()).filter(({ state }) => state === 'open').length, 0)
    })
  })
}
