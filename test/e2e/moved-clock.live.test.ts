/** The wall clock of the controller is set forward, back, and runs too fast (promises P13, P17, P26): time is a fact about the machine, not about drift. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy } from './packages.ts'
import {
  configPackage,
  ledgerOf,
  paint,
  startWatching,
  statesOf,
  type UnitReport,
} from './watched-world.ts'
import { openWorld, refsOfPeople } from './world.ts'

const HOUR = 3_600_000
const LOOKS = 6
const PRELOADED = `--import=${new URL('../faults/moved-clock.ts', import.meta.url).href}`
const POLICY = policy(
  'mode: Propose\ndetect: {minAge: 10s, settle: 0s}\nlimits: {prHourlyLimit: 0, digest: off}',
)

await controlPlaneSuite('a wrong wall clock', {}, (plane) => {
  test('a clock that jumps one hour or runs twice as fast changes no proposal, adds no write, and keeps the ledger valid', async (t) => {
    const namespace = await plane.namespace('clock')
    const packages = Object.assign(
      {},
      ...['web', 'shop', 'late', 'later'].map((name) =>
        configPackage(name, namespace, [`${name}-1`, `${name}-2`]),
      ),
    )
    const world = await openWorld(t, plane, { ...packages, ...POLICY })
    for (const name of ['web', 'shop', 'late', 'later']) await world.sync(`apps/${name}`)
    const file = join(world.folder, 'clock.json')
    const setClock = (offset: number, rate = 1): void =>
      writeFileSync(file, JSON.stringify({ offset, rate }))
    setClock(0)
    const env = { NODE_OPTIONS: PRELOADED, BACKPORCH_TEST_CLOCK: file }
    const controller = await startWatching(t, world, [], env)
    const proposed = (name: string): boolean =>
      controller.did('proposed').some((one) => one['package'] === `apps/${name}`)
    // Of the ledger: `status` of a machine whose clock is right does not believe a time that is to come.
    const state = async (name: string): Promise<string> => {
      const report = parse(
        await world.show('drift-ledger', `clusters/test/apps--${name}/report.yaml`),
      ) as UnitReport
      return report.status.state
    }
    const logs = (name: string, from: number) => controller.events(name).slice(from)
    const observedAt = async (): Promise<number> =>
      Date.parse((await ledgerOf(world)).observedAt ?? '')
    /** Whole hours by which the ledger is ahead of its first time: the test takes minutes. */
    const ahead = async (): Promise<number> => Math.round(((await observedAt()) - first) / HOUR)
    /** A while in which nobody edits anything. */
    const calm = async (why: string): Promise<void> => {
      const [refs, turns, watches] = [
        await refsOfPeople(world),
        controller.events('turn').length,
        controller.sights().length,
      ]
      await controller.looks(LOOKS)
      assert.deepEqual(await refsOfPeople(world), refs, why)
      const many = logs('turn', turns).length
      assert.ok(many <= 2 * LOOKS, `${many} turns ${why}`)
      assert.deepEqual(logs('watch', watches), [], `the watch is believed ${why}`)
      assert.equal((await controller.get('/readyz')).status, 200, why)
      t.diagnostic(`${why}: ${many} turns, the ledger is ${await ahead()} h ahead`)
    }

    await paint(world, namespace, 'shop-1', 'blue')
    await paint(world, namespace, 'web-1', 'blue')
    await controller.until('both are proposed', () => proposed('shop') && proposed('web'))
    const first = await observedAt()
    const branch =
      (await world.proposals()).find((name) => name.startsWith('proposed/apps/shop/')) ??
      assert.fail()
    await world.remote('branch', '--delete', '--force', branch)
    await controller.until('one is closed', async () => (await state('shop')) === 'Silenced')

    setClock(HOUR)
    await calm('an hour ahead')
    await paint(world, namespace, 'late-1', 'blue')
    await controller.until('what the server dates rightly looks older, and is proposed', () =>
      proposed('late'),
    )
    await controller.until(
      'the ledger has a time that is to come',
      async () => (await ahead()) === 1,
    )
    setClock(0)
    await controller.until('the ledger has the right time', async () => (await ahead()) === 0)
    await calm('right again')
    assert.equal(await state('shop'), 'Silenced')

    setClock(-HOUR)
    await paint(world, namespace, 'later-1', 'blue')
    await controller.until('a new edit is proposed after its age', () => proposed('later'))
    await calm('an hour behind')
    setClock(0)
    await paint(world, namespace, 'web-2', 'green')
    await controller.until('an edit reaches its proposal', () =>
      controller.did('updated').some((one) => one['package'] === 'apps/web'),
    )
    await controller.until('the ledger has the right time', async () => (await ahead()) === 0)

    setClock(0, 2)
    await calm('twice as fast')
    assert.deepEqual(await statesOf(world), {
      'apps/late': 'Drifted',
      'apps/later': 'Drifted',
      'apps/shop': 'Silenced',
      'apps/web': 'Drifted',
    })
    assert.equal((await world.proposals()).length, 3)
    assert.deepEqual(controller.failures(), [])
    await controller.stop()
  })
})
