/** The daemon as a process, against a real API server and a real git repository. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { logEvents } from '../fakes/log-events.ts'
import { Controller, deliver } from './controller-process.ts'
import { policy, webPackage } from './packages.ts'
import { startWatching } from './watched-world.ts'
import { openWorld, type World } from './world.ts'

const SECRET = 'a secret of the test'

await controlPlaneSuite('controller', { controllerManager: true }, (plane) => {
  async function inSync(
    t: TestContext,
  ): Promise<{ readonly world: World; readonly namespace: string }> {
    const namespace = await plane.namespace('controller')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...policy('mode: Propose\ndetect: {minAge: 0s, settle: 0s}'),
    })
    await world.sync('apps/web')
    await world.settled(namespace, 'web', 3)
    return { world, namespace }
  }

  test('with polling alone, proposes a hand edit, withdraws a reverted one, and exits with 0 on SIGTERM', async (t) => {
    const { world, namespace } = await inSync(t)
    const controller = new Controller(t, world, ['--interval', '1s'])
    await controller.until('a first turn', () => controller.did('status').length > 0)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await controller.until('proposed', () => controller.did('proposed').length > 0)
    assert.equal((await world.proposals()).length, 1)
    await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
    await controller.until('withdrawn', () => controller.did('withdrawn').length > 0)
    await controller.until('no branch', async () => (await world.proposals()).length === 0)
    controller.send('SIGTERM')
    assert.deepEqual(await controller.exited, { code: 0, signal: null })
    assert.equal(controller.stdout, '')
    const events = logEvents(controller.stderr)
    assert.deepEqual(
      events.filter(({ level }) => level === 'error' || level === 'warn'),
      [],
    )
    assert.ok(
      events
        .filter(({ event }) => event === 'turn')
        .every(({ outcome, units }) => outcome === 'succeeded' && units === 1),
    )
    assert.ok(
      events.some(({ event, requests }) => event === 'turn' && Number(requests) > 3),
      'requests are counted',
    )
    const unit = { cluster: controller.did('status')[0]?.['cluster'], package: 'apps/web' }
    assert.deepEqual(
      ['status', 'proposed', 'withdrawn'].map((outcome) =>
        controller
          .did(outcome)
          .map((one) => ({ cluster: one['cluster'], package: one['package'] })),
      ),
      [[unit], [unit], [unit]],
    )
    assert.match(
      String(controller.did('proposed')[0]?.['branch']),
      /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/,
    )
  })

  test('proposes a hand edit through the watch while git and the forge are polled once a day', async (t) => {
    const { world, namespace } = await inSync(t)
    const controller = new Controller(t, world, ['--interval', '24h', '--log-level', 'debug'])
    await controller.until('watched', () =>
      logEvents(controller.stderr, 'watch').some(({ why }) => why === undefined),
    )
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await controller.until('proposed', () => controller.did('proposed').length > 0)
    assert.ok(logEvents(controller.stderr, 'judged').some(({ verdict }) => verdict === 'drifted'))
    await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
    await controller.until('withdrawn', () => controller.did('withdrawn').length > 0)
    controller.send('SIGTERM')
    assert.equal((await controller.exited).code, 0)
  })

  test('a signed webhook starts a turn at once, a forged one does not, and the secret is never printed', async (t) => {
    const { world } = await inSync(t)
    const controller = new Controller(
      t,
      world,
      ['--interval', '24h', '--webhook-address', '127.0.0.1:0'],
      {
        BACKPORCH_WEBHOOK_SECRET: `the secret before it,${SECRET}`,
      },
    )
    const url = await controller.url()
    await controller.until('watched', () =>
      logEvents(controller.stderr, 'watch').some(({ why }) => why === undefined),
    )
    const turns = (): number => logEvents(controller.stderr, 'turn').length
    // The watch is told before the turn that starts it is.
    await controller.until('a first turn', () => turns() > 0)
    const quiet = turns()
    const deployment = world.read('apps/web/deployment.yaml')
    await world.commit(
      { 'apps/web/deployment.yaml': deployment.replace('replicas: 3', 'replicas: 4') },
      'feat(web): four replicas',
    )
    assert.equal(await deliver(url, 'a guess'), 401)
    await controller.until(
      'it is refused',
      () => logEvents(controller.stderr, 'refused').length === 1,
    )
    assert.equal(turns(), quiet)
    assert.equal(await deliver(url, SECRET), 202)
    await controller.until('the commit is seen', () => turns() > quiet)
    controller.send('SIGTERM')
    assert.equal((await controller.exited).code, 0)
    assert.equal(logEvents(controller.stderr, 'refused').length, 1)
    assert.ok(!(controller.stdout + controller.stderr).includes(SECRET))
    await assert.rejects(fetch(url), 'the address is free again')
  })

  test('leaves nothing incomplete when stopped or killed during a turn, and the next one ends the same', async (t) => {
    const { world, namespace } = await inSync(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const flags = ['--interval', '1s', '--log-level', 'debug']
    for (const [signal, step] of [
      ['SIGTERM', /"event":"started"/],
      ['SIGKILL', /"step":"observing/],
      ['SIGTERM', /"step":"observing/],
      ['SIGKILL', /"step":"writing/],
      ['SIGTERM', /"step":"writing/],
    ] as const) {
      const controller = new Controller(t, world, flags)
      await controller.until(`${step}`, () => step.test(controller.stderr))
      controller.send(signal)
      const { code } = await controller.exited
      if (signal === 'SIGTERM')
        assert.ok(code === 0 || code === 130, `exit code ${code}\n${controller.stderr}`)
    }
    const last = await startWatching(t, world)
    await last.until('proposed', async () => (await world.proposals()).length > 0)
    await last.looks(2)
    assert.equal((await world.proposals()).length, 1)
    assert.deepEqual(logEvents(last.stderr, 'failure'), [])
    await world.remote('fsck', '--strict')
    last.send('SIGINT')
    assert.equal((await last.exited).code, 0)
  })
})
