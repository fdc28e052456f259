/** How the controller ends: asked to, twice, in the middle of a push, without memory, or by a fault of its own; and that the next one loses and doubles nothing. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import {
  configPackage,
  gatedPushes,
  PROPOSE,
  paint,
  startWatching,
  WatchingController,
} from './watched-world.ts'
import { openWorld, type World } from './world.ts'

/** A promise that nobody waits for is rejected. */
const FAULTY = 'process.on("SIGUSR2",()=>{Promise.reject(new TypeError("nobody waits"))})'

await controlPlaneSuite('the end of a controller', {}, (plane) => {
  async function opened(
    t: TestContext,
  ): Promise<{ readonly world: World; readonly namespace: string }> {
    const namespace = await plane.namespace('ends')
    const world = await openWorld(t, plane, {
      ...configPackage('web', namespace, ['a1', 'a2']),
      ...PROPOSE,
    })
    await world.sync('apps/web')
    return { world, namespace }
  }

  /** A fresh process comes to the one proposal, with the value that the object has, and then writes nothing. */
  async function goesOn(
    t: TestContext,
    { world, namespace }: { readonly world: World; readonly namespace: string },
    color = 'blue',
  ): Promise<void> {
    const next = await startWatching(t, world)
    await next.until('proposed', async () => {
      const [branch] = await world.proposals()
      return (
        branch !== undefined &&
        (await world.remote('log', '-1', '--format=%B', branch)).includes(color)
      )
    })
    const refs = await world.refs()
    await next.looks(3)
    assert.deepEqual([(await world.proposals()).length, await world.refs()], [1, refs])
    await paint(world, namespace, 'a1', 'red')
    await next.until('withdrawn', async () => (await world.proposals()).length === 0)
    assert.deepEqual(next.failures(), [])
    await world.remote('fsck', '--strict')
    await next.stop()
  }

  test('SIGTERM during a push completes the turn and exits with 0', async (t) => {
    const of = await opened(t)
    const { world, namespace } = of
    const pushes = gatedPushes(world)
    const controller = await startWatching(t, world)
    pushes.hold()
    await paint(world, namespace, 'a1', 'blue')
    await controller.until('it is in a push', pushes.isHeld)
    controller.send('SIGTERM')
    await controller.until(
      'it says that it stops',
      () => controller.events('stopping').length === 1,
    )
    await pushes.staysHeld()
    pushes.release()
    assert.deepEqual(await controller.exited, { code: 0, signal: null })
    assert.equal((await world.proposals()).length, 1, 'what it began is there')
    assert.deepEqual(controller.events('turn').at(-1)?.['outcome'], 'succeeded')
    await goesOn(t, of)
  })

  test('SIGHUP reloads configuration and credentials, and turns continue', async (t) => {
    const { world, namespace } = await opened(t)
    const controller = await startWatching(t, world)
    controller.send('SIGHUP')
    await controller.until(
      'it reads everything again',
      () => controller.events('reloading').length === 1,
    )
    await paint(world, namespace, 'a1', 'blue')
    await controller.until('proposed', async () => (await world.proposals()).length === 1)
    await controller.stop()
  })

  test('a second SIGTERM, or SIGKILL, during a push stops it at once', async (t) => {
    const of = await opened(t)
    const { world, namespace } = of
    const pushes = gatedPushes(world)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const controller = await startWatching(t, world)
      pushes.hold()
      await paint(world, namespace, 'a1', signal.toLowerCase())
      await controller.until('it is in a push', pushes.isHeld)
      controller.send('SIGTERM')
      await controller.until(
        'it says that it stops',
        () => controller.events('stopping').length === 1,
      )
      controller.send(signal)
      const end = await controller.exited
      assert.deepEqual(
        end,
        signal === 'SIGTERM' ? { code: 130, signal: null } : { code: null, signal },
      )
      pushes.release()
    }
    await goesOn(t, of, 'sigkill')
  })

  test('aborts a hanging push after the grace period, with exit code 130', async (t) => {
    const of = await opened(t)
    const { world, namespace } = of
    const pushes = gatedPushes(world)
    const controller = await startWatching(t, world)
    pushes.hold()
    await paint(world, namespace, 'a1', 'blue')
    await controller.until('it is in a push', pushes.isHeld)
    controller.send('SIGTERM')
    assert.deepEqual(await controller.exited, { code: 130, signal: null })
    assert.equal(controller.events('turn').at(-1)?.['outcome'], 'aborted')
    pushes.release()
    await goesOn(t, of)
  })

  test('an unhandled rejection ends it with exit code 2 and a reason, without a stack', async (t) => {
    const of = await opened(t)
    const { world, namespace } = of
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(FAULTY)}` }
    const controller = await startWatching(t, world, [], env)
    await paint(world, namespace, 'a1', 'blue')
    await controller.until('proposed', () => controller.did('proposed').length === 1)
    controller.send('SIGUSR2')
    assert.deepEqual(await controller.exited, { code: 2, signal: null })
    assert.match(controller.stderr, /^error BP9001: backporch stopped on a fault of its own$/m)
    assert.match(controller.stderr, /TypeError: nobody waits/)
    assert.doesNotMatch(controller.stderr, /^\s+at /m)
    await goesOn(t, of)
  })

  test('ends with the reason of the engine when out of memory, and resumes with enough memory', async (t) => {
    const of = await opened(t)
    const { world, namespace } = of
    await paint(world, namespace, 'a1', 'blue')
    const args = ['--interval', '2s', '--log-level', 'debug']
    const controller = new WatchingController(t, world, args, {
      NODE_OPTIONS: '--max-old-space-size=16',
    })
    const { code, signal } = await controller.exited
    assert.ok(code !== 0, `${code} ${signal}`)
    assert.match(controller.stderr, /heap (?:limit|out of memory)/i)
    t.diagnostic(`${code ?? signal}`)
    await goesOn(t, of)
  })
})
