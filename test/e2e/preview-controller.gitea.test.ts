/** The controller, as a process on a real cluster and a real Gitea, writes what merging a pull request of a person changes: one comment, kept up to date. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { openReviewWorld, type ReviewWorld } from './review-world.ts'
import { configPackage, PROPOSE, paint, WatchingController } from './watched-world.ts'

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('previews of the controller', { skip: gitea.why }, () => {})
else
  await controlPlaneSuite('previews of the controller', {}, (plane) => {
    test('previews a pull request, again after a push, and separates live drift from the merge', async (t) => {
      const namespace = await plane.namespace('previewed')
      const files = {
        ...PROPOSE,
        ...configPackage('web', namespace, ['a']),
        ...configPackage('shop', namespace, ['b']),
      }
      const review = await openReviewWorld(t, plane, gitea, files)
      for (const path of ['apps/web', 'apps/shop']) await review.world.sync(path)
      const change = async (color: string): Promise<void> => {
        const edited = files['apps/web/config.yaml']?.replace('red', color) ?? ''
        const { world } = review
        await world.git('checkout', '--quiet', '-B', 'change', 'main')
        world.write('apps/web/config.yaml', edited)
        await world.git('commit', '--quiet', '--all', '--message', `paint it ${color}`)
        await world.git('push', '--quiet', '--force', 'origin', 'change')
        await review.git('push', '--quiet', '--force', review.address, 'change')
      }
      await change('blue')
      const number = await open(review, 'change')
      const controller = watching(t, review)
      const comment = async (): Promise<string> => {
        const [only, ...more] = await review.comments(number)
        assert.deepEqual(more, [])
        return only ?? ''
      }
      await controller.until('it is previewed', async () => (await comment()) !== '')
      assert.match(await comment(), /Merging changes 1 object in 1 cluster\*\*: `apps\/web`/)
      assert.match(await comment(), /\| `"red"` \| `"blue"` \|/)
      await change('green')
      await controller.until('the new head is previewed', async () =>
        /`"green"`/.test(await comment()),
      )
      // What the next head wants is already.
      await paint(review.world, namespace, 'a', 'white')
      await change('white')
      await controller.until('the next one is', async () => /`"white"`/.test(await comment()))
      assert.match(await comment(), /already/)
      const outcomes = (): readonly unknown[] =>
        controller.events('previewed').map(({ outcome }) => outcome)
      await controller.until('each is told', () => outcomes().length === 3)
      assert.deepEqual(outcomes(), ['written', 'written', 'written'])
      await controller.stop()
    })
  })

async function open(
  { fixture: { gitea: own, path, writer } }: ReviewWorld,
  head: string,
): Promise<number> {
  const answer = await own.request<{ readonly number: number }>(
    writer.token,
    'POST',
    `${path}/pulls`,
    { base: 'main', head, title: head },
  )
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.number
}

function watching(t: TestContext, { world, fixture }: ReviewWorld): WatchingController {
  const args = [
    '--interval',
    '2s',
    '--log-level',
    'debug',
    '--http-address',
    '127.0.0.1:0',
    '--preview',
    '--repo',
    fixture.remote,
  ]
  return new WatchingController(t, world, args, { GITEA_TOKEN: fixture.bot.token })
}
