/** What the controller says while an API server does not answer, and after it is back (promises P8, P10 and P13 of docs/reliability.md). */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'yaml'
import { controlPlaneStartSuite } from '../controlplane/control-plane-suite.ts'
import { handsOf } from '../controlplane/server-hands.ts'
import {
  configPackage,
  dryRuns,
  ledgerOf,
  openWatched,
  ownPlane,
  PROPOSE,
  paint,
  startWatching,
  statesOf,
  type Watched,
  type WatchingController,
} from './watched-world.ts'
import { assertExit, openWorld, refsOfPeople } from './world.ts'

/** Looks of the controller, every 2 seconds, while a server is away. Without a proof for a minute a cluster is stale. */
const OUTAGE = Number(process.env['BACKPORCH_TEST_OUTAGE_SECONDS'] ?? 75) / 2
/** Looks after the last proof in which the staleness has to be told: those of a minute, and what a ping and a turn take. */
const TOLD_WITHIN = 45
/** Looks after the return: those of the longest wait between two attempts, and what a turn takes. */
const BACK_WITHIN = 30
/** Looks within which a change is proposed. */
const SOON = 10
const STATES = { 'apps/shop': 'Drifted', 'apps/web': 'InSync' }

await controlPlaneStartSuite('outages of an API server', () => {
  /** `web` is in sync; the drift of `shop` is proposed. */
  async function oneOfEach(
    t: TestContext,
  ): Promise<Watched & { readonly controller: WatchingController }> {
    const watched = await openWatched(t)
    const controller = await startWatching(t, watched.world)
    await paint(watched.world, watched.namespace, 'b1', 'blue')
    await controller.until('proposed', () => controller.did('proposed').length === 1)
    return { ...watched, controller }
  }

  interface Outage {
    readonly begin: () => Promise<void>
    /** Resolves when the server answers. */
    readonly end: () => Promise<void>
    readonly code: RegExp
  }

  async function holds(
    t: TestContext,
    { world, controller, plane, namespace }: Awaited<ReturnType<typeof oneOfEach>>,
    outage: Outage,
  ) {
    const refs = await refsOfPeople(world)
    assert.deepEqual(await statesOf(world), STATES)
    const runs = await dryRuns(plane)
    await controller.looks(3)
    assert.equal(await dryRuns(plane), runs, 'no dry run while nothing changes')
    const before = controller.transitions().length
    /** By the controller's own clock, in seconds. */
    const lastObserved = () =>
      controller.metric('backporch_cluster_last_observed_timestamp_seconds', 'cluster="test"')
    await outage.begin()
    const proven = await lastObserved()

    const told = await controller.looksUntil(
      'the ledger says so',
      async () => !(await ledgerOf(world)).reachable,
    )
    assert.ok(told <= TOLD_WITHIN, `told after ${told} looks`)
    const { failure, observedAt = '' } = await ledgerOf(world)
    assert.match(failure?.code ?? '', outage.code)
    const observed = await lastObserved()
    // The last proof that came before it was gone may have been read after that.
    assert.ok(
      observed - proven < 30 && Date.parse(observedAt) <= observed * 1_000,
      `${proven}, ${observed}, ${observedAt}`,
    )
    const shown = assertExit(await world.backporch('status'), 3)
    assert.match(shown.stdout, /apps\/web .*\? Unknown/)
    assert.match(shown.stdout, /apps\/shop .*\? Unknown/)
    assert.match(
      shown.stderr,
      /test: cannot be observed since 20\S+Z \(\d+s\), last observed 20\S+Z \((?:\d+m ?)?\d*s?\)/,
    )
    const probe = await controller.get('/readyz')
    assert.equal(probe.status, 503)
    assert.match(probe.body, /cluster test: stale for 1m\d+s/)
    assert.ok((await controller.metric('backporch_watch_stale', 'cluster="test"')) > 0)
    await controller.looks(Math.max(3, OUTAGE - told))
    assert.equal((await ledgerOf(world)).observedAt, observedAt, 'nothing was observed since')
    assert.equal(await lastObserved(), observed)
    assert.deepEqual(await refsOfPeople(world), refs, 'no proposal is made, changed or ended')
    const during = controller.transitions().slice(before)
    assert.ok(
      during.every((one) => /^status \S+ Unknown$/.test(one)),
      during.join(', '),
    )

    await outage.end()
    const back = await controller.looksUntil(
      'the ledger says it is back',
      async () => (await ledgerOf(world)).reachable,
    )
    const asBefore = async (): Promise<boolean> =>
      isDeepStrictEqual(await statesOf(world), STATES) &&
      (await controller.get('/readyz')).status === 200
    const whole =
      back + (await controller.looksUntil('it is ready, and all is as before', asBefore))
    assert.ok(whole <= BACK_WITHIN, `back after ${back} looks, as before after ${whole}`)
    await controller.looks(3)
    assert.deepEqual(await refsOfPeople(world), refs, 'the proposal is as it was')
    const after = controller.transitions().slice(before)
    assert.ok(
      after.every((one) =>
        /^status (?:\S+ Unknown|apps\/web InSync|apps\/shop Drifted)$/.test(one),
      ),
      after.join(', '),
    )
    const again = await dryRuns(plane)
    await paint(world, namespace, 'a2', 'green')
    const seen = await controller.looksUntil(
      'an edit is proposed',
      () => controller.did('proposed').length === 2,
    )
    t.diagnostic(
      `looks: told after ${told}, back after ${back}, as before after ${whole}, the next edit after ${seen}`,
    )
    return { again, runs }
  }

  test('outages', { concurrency: 4 }, async (t) => {
    await Promise.all([
      t.test(
        'a stopped server is Unknown with its age and no drift, and recovers without dry runs',
        async (s) => {
          const one = await oneOfEach(s)
          const server = handsOf(s, one.plane, 'kube-apiserver')
          const { again } = await holds(s, one, {
            begin: () => server.kill(),
            end: () => server.start(),
            code: /^BP3001$/,
          })
          assert.equal(again, 0, 'dry runs for objects that did not change')
          await one.controller.stop()
        },
      ),
      t.test('the same for a frozen server with open connections', async (s) => {
        const one = await oneOfEach(s)
        const server = handsOf(s, one.plane, 'kube-apiserver')
        s.after(() => server.resume())
        const end = async (): Promise<void> => {
          server.resume()
          await server.ready()
        }
        const { again, runs } = await holds(s, one, {
          begin: async () => server.pause(),
          end,
          code: /^BP300[168]$/,
        })
        assert.equal(again - runs, 0, 'dry runs for objects that did not change')
        await one.controller.stop()
      }),
      t.test('an outage of one cluster does not delay proposals of the other', twoClusters),
      t.test('stops in time while a turn waits for a frozen server', async (s) => {
        const { plane, world } = await openWatched(s)
        const controller = await startWatching(s, world)
        await controller.until('a first turn', () => controller.events('turn').length > 0)
        const server = handsOf(s, plane, 'kube-apiserver')
        s.after(() => server.resume())
        server.pause()
        const steps = controller.events('step').length
        const text = world.read('apps/web/config.yaml')
        await world.commit(
          { 'apps/web/config.yaml': text.replace('color: red', 'color: pink') },
          'feat(web): pink',
        )
        await controller.until(
          'a turn waits for it',
          () => controller.events('step').length > steps,
        )
        controller.send('SIGTERM')
        const { code } = await controller.exited
        assert.ok(code === 0 || code === 130, `exit code ${code}`)
        await world.remote('fsck', '--strict')
        server.resume()
      }),
    ])
  })

  async function twoClusters(t: TestContext): Promise<void> {
    const [near, far] = [await ownPlane(t), await ownPlane(t)]
    const namespace = 'both'
    for (const plane of [near, far]) await plane.kubectl(['create', 'namespace', namespace])
    const world = await openWorld(t, near, {
      ...configPackage('web', namespace, ['a1', 'a2']),
      ...PROPOSE,
    })
    await world.sync('apps/web')
    const flags = ['apply', '--server-side', '--field-manager=ci', '--filename=-']
    await far.kubectl(flags, { stdin: world.read('apps/web/config.yaml') })
    const kubeconfig = join(world.folder, 'both.kubeconfig')
    writeFileSync(kubeconfig, stringify(joined({ near: near.kubeconfig, far: far.kubeconfig })))
    const args = ['--contexts', 'near,far', '--kubeconfig', kubeconfig]
    const controller = await startWatching(t, world, args)
    await controller.until(
      'both are watched',
      () => controller.sights().filter(({ why }) => why === undefined).length === 2,
    )

    const edit = async (color: string, outcome: string): Promise<number> => {
      const before = controller.did(outcome).length
      await paint(world, namespace, 'a1', color)
      return controller.looksUntil(outcome, () => controller.did(outcome).length > before)
    }
    const server = handsOf(t, far, 'kube-apiserver')
    await server.kill()
    const atOnce = await edit('blue', 'proposed')
    const takenBack = await edit('red', 'withdrawn')
    await controller.until(
      'the ledger says so',
      async () => !(await ledgerOf(world, 'far')).reachable,
    )
    assert.equal((await ledgerOf(world, 'near')).reachable, true)
    await controller.until('it is told', async () =>
      /cluster far: stale for/.test((await controller.get('/readyz')).body),
    )
    assert.equal((await controller.get('/readyz')).status, 200, 'ready while one cluster is')
    const later = await edit('green', 'proposed')
    t.diagnostic(
      `looks: proposed after ${atOnce}, withdrawn after ${takenBack}, when it was known ${later}`,
    )
    for (const looks of [atOnce, takenBack, later]) assert.ok(looks <= SOON, `${looks} looks`)
    assert.ok(
      controller
        .events('transition')
        .every(
          (one) =>
            one['cluster'] === 'near' || one['state'] === 'Unknown' || one['state'] === 'InSync',
        ),
    )
    await server.start()
    await controller.until(
      'the ledger says it is back',
      async () => (await ledgerOf(world, 'far')).reachable,
    )
    await controller.stop()
  }
})

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: object }[]
  readonly users: readonly { readonly user: object }[]
}

/** One kubeconfig with a context of each, by its name. */
function joined(files: Readonly<Record<string, string>>): object {
  const parts = Object.entries(files).map(([name, path]) => ({
    name,
    config: parse(readFileSync(path, 'utf8')) as Kubeconfig,
  }))
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: parts.map(({ name, config }) => ({ name, cluster: config.clusters[0]?.cluster })),
    users: parts.map(({ name, config }) => ({ name, user: config.users[0]?.user })),
    contexts: parts.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  }
}
