/**
 * A running controller loses what it needs, one after the other: a policy that can be used, git twice within a minute, its token, its rights in
 * the cluster. Somebody makes a critical edit each time. Each loss begins once and ends once in the log, and the edit is proposed when the cause
 * is gone. The seed chooses the order.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { Chance } from '../seeds/chance.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import { policy, webPackage } from './packages.ts'
import { openReviewWorld, PROPOSE, type ReviewWorld } from './review-world.ts'
import { WatchingController } from './watched-world.ts'

const READER = 'drift-reader'
const POLICY = '.drift/policy.yaml'

interface Loss {
  readonly name: string
  /** Of the failure that begins. */
  readonly code: RegExp
  begin(): Promise<void>
  end(): Promise<void>
}

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('never blind', { skip: gitea.why }, () => {})
else
  await controlPlaneSuite('never blind', {}, (plane) => {
    testEachSeed(
      import.meta.filename,
      'a controller reports each loss of access once, and misses no drift',
      {},
      async (t, seed) => {
        const namespace = await plane.namespace('blind')
        const review = await openReviewWorld(t, plane, gitea, {
          ...webPackage(namespace),
          ...policy(PROPOSE),
        })
        await review.sync()
        const grant = () =>
          review.world.kubectl(
            'create',
            'clusterrolebinding',
            namespace,
            '--clusterrole=cluster-admin',
            `--user=${READER}`,
          )
        const revoke = () => review.world.kubectl('delete', 'clusterrolebinding', namespace)
        await grant()
        t.after(() =>
          plane.request(
            'DELETE',
            `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${namespace}`,
          ),
        )
        const args = [
          '--interval',
          '2s',
          '--log-level',
          'debug',
          '--http-address',
          '127.0.0.1:0',
          '--repo',
          review.fixture.remote,
        ]
        const kubeconfig = await plane.kubeconfigFor(READER)
        const controller = new WatchingController(t, review.world, args, {
          GITEA_TOKEN: review.fixture.bot.token,
          KUBECONFIG: kubeconfig,
        })
        await controller.until('it is watched', () =>
          controller.sights().some(({ why }) => why === undefined),
        )

        let images = 0
        for (const { name, code, begin, end } of new Chance(seed).shuffled(
          lossesOf(review, { grant, revoke, renew: () => controller.send('SIGHUP') }),
        )) {
          await t.test(name, async () => {
            const from = controller.events().length
            const since = (event: string) =>
              controller
                .events()
                .slice(from)
                .filter((one) => one.event === event)
            const codes = (event: string) =>
              since(event)
                .map((one) => String(one['code']))
                .sort()
            await begin()
            await controller.until('its failure begins', () =>
              codes('failure').some((one) => code.test(one)),
            )
            images += 1
            const image = `evil.example.com/web:${images}`
            await review.world.kubectl(
              'set',
              'image',
              'deployment/web',
              `app=${image}`,
              '-n',
              namespace,
            )
            assert.ok((await controller.metric('backporch_failures')) > 0)
            assert.deepEqual(await openBodies(review), [], 'nothing is opened by what is not known')
            await end()
            await controller.until('the edit is proposed', async () =>
              (await openBodies(review)).some((body) => body.includes(image)),
            )
            await controller.until(
              'each failure is over',
              () => codes('recovered').length === codes('failure').length,
            )
            assert.deepEqual(codes('recovered'), codes('failure'))
            assert.deepEqual(codes('failure'), [...new Set(codes('failure'))], 'each begins once')
            await controller.until(
              'nothing lasts',
              async () => (await controller.metric('backporch_failures')) === 0,
            )
            await review.sync()
            await controller.until(
              'the proposal is withdrawn',
              async () => (await openBodies(review)).length === 0,
            )
          })
        }
        await controller.stop()
      },
    )
  })

function lossesOf(
  review: ReviewWorld,
  hands: { grant(): Promise<unknown>; revoke(): Promise<unknown>; renew(): void },
): readonly Loss[] {
  const { proxy } = review.fixture
  const answer = (status: number) => async () => {
    proxy.fault = () => ({ kind: 'answer', status, body: '{"message":"no"}' })
  }
  const pass = async () => {
    proxy.fault = () => undefined
  }
  const good = policy(PROPOSE)[POLICY] ?? ''
  const commit = (text: string) => review.commit({ [POLICY]: text }, 'chore: the policy')
  return [
    {
      name: 'the policy has a typo',
      code: /^BP1005$/,
      begin: () => commit(good.replace('Propose', 'Propse')),
      end: () => commit(good),
    },
    { name: 'git is away', code: /^BP4/, begin: answer(503), end: pass },
    { name: 'git is away again', code: /^BP4/, begin: answer(503), end: pass },
    {
      name: 'the token is revoked',
      code: /^BP[45]/,
      begin: answer(401),
      // Wrong credentials are tried again after minutes, so that no account is locked: whoever renews them says so.
      end: async () => {
        await pass()
        hands.renew()
      },
    },
    {
      name: 'the account loses its rights',
      code: /^BP3003$/,
      begin: async () => void (await hands.revoke()),
      end: async () => void (await hands.grant()),
    },
  ]
}

async function openBodies(review: ReviewWorld): Promise<readonly string[]> {
  return (await review.pulls()).filter(({ state }) => state === 'open').map(({ body }) => body)
}
