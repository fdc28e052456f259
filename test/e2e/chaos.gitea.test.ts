/**
 * API server, etcd, Gitea and the controller are killed at random, while a person edits the cluster, decides proposals and commits, and a syncer
 * applies main. When that stops, the world comes to the state that an undisturbed scan would have made of it (promises P4, P5, P7, P12, P13).
 * The seed chooses what is done and killed, and the pauses between; which of them meet is chance.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { handsOf, ServerHands } from '../controlplane/server-hands.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { isPush } from '../gitea/faulty-proxy.ts'
import { giteaStartSuite } from '../gitea/gitea-suite.ts'
import { startGitea } from '../gitea/start-gitea.ts'
import { Chance } from '../seeds/chance.ts'
import { EFFORT, testEachSeed } from '../seeds/seeds.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import {
  colorIn,
  comeToRest,
  History,
  painted,
  pollsOf,
  refMovesOf,
  scanOfMain,
} from './chaos-world.ts'
import { type ObservedPull, openReviewWorld, type ReviewWorld } from './review-world.ts'
import { configPackage, PROPOSE, paint, reportsOf, WatchingController } from './watched-world.ts'
import type { Files } from './world.ts'

/** Each of them is killed as often, in any order. */
const VICTIMS = ['kube-apiserver', 'etcd', 'gitea', 'controller', 'controller'] as const
const ROUNDS = 2 * EFFORT
const ACTS = 50 * EFFORT
const PACKAGES = ['p0', 'p1', 'p2', 'p3'] as const
/** The others keep what became of them in the chaos. */
const EDITED_LAST = ['p0', 'p2'] as const
/** Polls of the controller, 3 seconds apart, in which nothing may move any more: status alone is pushed once a minute. */
const REST = { rest: 25, most: 400 }
const LEDGER = 'refs/heads/drift-ledger'
const OWN = /^refs\/(?:heads\/(?:drift-ledger$|drafts\/|proposed\/)|tags\/apps\/p\d\/)/

class Chaos {
  readonly history = new History()
  /** Heads of main that people saw. */
  readonly mains = new Set<string>()
  readonly controllers: WatchingController[] = []
  private readonly t: TestContext
  private readonly review: ReviewWorld
  private readonly chance: Chance
  private readonly namespace: string
  private applied = ''
  private count = 0

  constructor(t: TestContext, review: ReviewWorld, namespace: string, chance: Chance) {
    this.t = t
    this.review = review
    this.namespace = namespace
    this.chance = chance
  }

  get controller(): WatchingController {
    const last = this.controllers.at(-1)
    assert.ok(last !== undefined)
    return last
  }

  startController(): void {
    const { fixture, world } = this.review
    const args = [
      '--interval',
      '3s',
      '--log-level',
      'debug',
      '--http-address',
      '127.0.0.1:0',
      '--repo',
      fixture.remote,
    ]
    const controller = new WatchingController(this.t, world, args, {
      GITEA_TOKEN: fixture.bot.token,
    })
    this.controllers.push(controller)
    controller.onEnd(({ code, signal }) => {
      if (signal !== 'SIGKILL')
        this.history.say(`the controller ended by itself with ${code ?? signal}`)
    })
  }

  /** What a person or the syncer does next. */
  async act(): Promise<void> {
    const { chance, history, review, namespace } = this
    const packageName = chance.one(PACKAGES)
    const object = `${packageName}-${chance.one(['a', 'b'])}`
    const open = async () => (await review.pulls()).filter(({ state }) => state === 'open')
    const deed = chance.between(0, 11)
    if (deed <= 3) {
      const color = chance.one(['blue', 'green', 'black'])
      await history.attempt(`paints ${object} ${color}`, () =>
        paint(review.world, namespace, object, color),
      )
    } else if (deed <= 5) {
      await history.attempt(`takes ${object} back`, async () => {
        await review.observe()
        await paint(
          review.world,
          namespace,
          object,
          colorIn(await review.world.show('main', `apps/${packageName}/config.yaml`), object),
        )
      })
    } else if (deed === 6) {
      await history.attempt(`deletes ${object}`, () =>
        review.world.kubectl('delete', `configmap/${object}`, '-n', namespace),
      )
    } else if (deed <= 8) {
      await history.attempt('merges', async () => {
        const [pull] = await open()
        if (pull !== undefined) await review.mergeByHand(pull.number, 'merge')
        history.say(`  #${pull?.number} ${pull?.head.label}`)
      })
    } else if (deed === 9) {
      await history.attempt('closes', async () => {
        const { gitea, path, writer } = review.fixture
        const [pull] = await open()
        if (pull !== undefined)
          await gitea.request(writer.token, 'PATCH', `${path}/pulls/${pull.number}`, {
            state: 'closed',
          })
        history.say(`  #${pull?.number} ${pull?.head.label}`)
      })
    } else {
      this.count += 1
      const color = `shade${this.count}`
      await history.attempt(`commits ${object} ${color}`, async () => {
        await review.observe()
        const path = `apps/${packageName}/config.yaml`
        const text = await review.world.show('main', path)
        await review.commit(
          { [path]: painted(text, object, color) },
          `feat(${packageName}): ${color}`,
        )
      })
    }
  }

  /** The syncer applies main once for each commit. */
  async sync(): Promise<boolean> {
    const { history, review } = this
    let main = ''
    const seen = await history.attempt('looks', async () => {
      await review.observe()
      main = await review.world.remote('rev-parse', 'main')
      this.mains.add(main)
    })
    history.lines.pop()
    if (!seen || main === this.applied) return seen
    const synced = await history.attempt(`applies ${main.slice(0, 8)}`, async () => {
      for (const name of PACKAGES) await review.world.sync(`apps/${name}`)
    })
    if (synced) this.applied = main
    return synced
  }
}

await giteaStartSuite('chaos', () => {
  testEachSeed(
    import.meta.filename,
    `${ROUNDS * VICTIMS.length} kills and ${ACTS} edits`,
    {},
    async (t, seed) => {
      const [plane, gitea] = [await startControlPlane(), await startGitea()]
      if (plane.state === 'unavailable') return t.skip(plane.why)
      t.after(() => plane.stop())
      if (gitea.state === 'unavailable') return t.skip(gitea.why)
      t.after(() => gitea.stop())
      const namespace = await plane.namespace('chaos')
      const files: Files = Object.assign(
        {},
        PROPOSE,
        ...PACKAGES.map((name) => configPackage(name, namespace, [`${name}-a`, `${name}-b`])),
      )
      const review = await openReviewWorld(t, plane, gitea, files)
      // Refs of people that only look like ours.
      for (const ref of ['refs/heads/feature/drift', 'refs/heads/proposal', 'refs/tags/release-1'])
        await review.git('push', '--quiet', review.address, `main:${ref}`)
      const chaos = new Chaos(t, review, namespace, new Chance(seed))
      const { history } = chaos
      try {
        await chaos.sync()
        chaos.startController()
        await chaos.controller.until('it is watched', () =>
          chaos.controller.sights().some(({ why }) => why === undefined),
        )
        await disturb(handsOfAll(t))
        await settled()
        await judged()
      } catch (thrown) {
        const logs = chaos.controllers.map(
          ({ stderr }, at) => `--- controller ${at + 1}\n${importantOf(stderr)}`,
        )
        console.error(`${history.lines.join('\n')}\n${logs.join('\n')}`)
        throw thrown
      }

      function handsOfAll(context: TestContext): ReadonlyMap<string, ServerHands> {
        if (plane.state === 'unavailable' || gitea.state === 'unavailable')
          throw new Error('no servers')
        const answers = (): Promise<boolean> =>
          fetch(`${gitea.url}/api/v1/version`, { signal: AbortSignal.timeout(2_000) }).then(
            ({ ok }) => ok,
            () => false,
          )
        return new Map([
          ['kube-apiserver', handsOf(context, plane, 'kube-apiserver')],
          ['etcd', handsOf(context, plane, 'etcd')],
          ['gitea', new ServerHands(context, gitea.server.pid, answers)],
        ])
      }

      /** No ref and no pull request moves for a while. */
      async function settled(): Promise<void> {
        await comeToRest(
          () => pollsOf(chaos.controllers, review.fixture.proxy),
          REST,
          async () => {
            await chaos.sync()
            const pulls = await review.pulls()
            return [
              await review.world.refs(),
              pulls.map(({ number, state, title, body }) => [number, state, title, body]),
            ]
          },
        )
        history.say('at rest')
      }

      async function judged(): Promise<void> {
        const { world, fixture } = review
        await chaos.controller.stop()
        assert.ok(
          chaos.controllers.every(({ stderr }) => !/BP9001|Unhandled/.test(stderr)),
          'no fault of our own',
        )
        await review.observe()
        const reports = await reportsOf(world)
        const pulls = await review.pulls()
        const branchesOf = (path: string, chosen: readonly ObservedPull[]) =>
          chosen.filter(({ head }) => head.label.startsWith(`proposed/${path}/`))
        const open = pulls.filter(({ state }) => state === 'open')
        const closed = pulls.filter(({ state, merged }) => state === 'closed' && !merged)
        const declined = new Set<string>()
        for (const path of PACKAGES.map((name) => `apps/${name}`)) {
          const own = branchesOf(path, open)
          assert.ok(
            own.length <= 1,
            `open of ${path}: ${own.map(({ number }) => `#${number}`).join(' ')}`,
          )
          const isDrifted = reports.get(path)?.spec.fingerprint !== ''
          if (!isDrifted) assert.equal(own.length, 0, `${path} is in sync and has an open proposal`)
          else if (own.length === 0) {
            assert.ok(branchesOf(path, closed).length > 0, `${path} drifted and has no proposal`)
            declined.add(path)
          }
        }

        const before = await world.refs()
        const writes = await review.writesOf(() => review.backporch('scan'))
        assert.equal(writes.api, 0, 'a fresh process asks the forge for no change')
        const after = await world.refs()
        const moved = [...new Set([...before.keys(), ...after.keys()])].filter(
          (ref) => before.get(ref) !== after.get(ref),
        )
        assert.ok(
          moved.every((ref) => ref === LEDGER),
          `a fresh process moves ${moved.join(' ')}`,
        )
        if (moved.length > 0) {
          const changed = await world.remote(
            'diff',
            '-U0',
            String(before.get(LEDGER)),
            String(after.get(LEDGER)),
          )
          const lines = changed.split('\n').filter((line) => /^[-+][^-+]/.test(line))
          assert.ok(
            lines.every((line) => /^[-+]\s*(?:observedAt|seenAt|changedAt|at): /.test(line)),
            `a fresh process writes\n${changed}`,
          )
        }

        const undisturbed = await scanOfMain(world)
        for (const name of PACKAGES) {
          const path = `apps/${name}`
          const [own, other] = [reports.get(path), undisturbed.get(path)]
          assert.deepEqual([name, own?.spec.fingerprint], [name, other?.spec.fingerprint])
          if (!declined.has(path))
            assert.deepEqual([name, own?.status.state], [name, other?.status.state])
        }

        const main = await world.remote('rev-parse', 'main')
        for (const commit of chaos.mains)
          await world.remote('merge-base', '--is-ancestor', commit, main)
        const moves = fixture.proxy.requests.filter(isPush).flatMap(refMovesOf)
        const foreign = moves.filter(({ ref }) => !OWN.test(ref))
        assert.deepEqual(foreign, [], 'refs that are not ours')
        for (const ref of [
          'refs/heads/feature/drift',
          'refs/heads/proposal',
          'refs/tags/release-1',
        ])
          assert.ok(after.has(ref), ref)
        await world.remote('fsck', '--strict')
        const kills = history.lines.filter((line) => line.includes('kill -9')).length
        t.diagnostic(
          `${kills} kills, ${chaos.controllers.length} controllers, ${chaos.mains.size} commits of main, ${pulls.length} pull requests, ${declined.size} declined, ${moves.length} moves of refs`,
        )
      }

      async function disturb(hands: ReadonlyMap<string, ServerHands>): Promise<void> {
        const faults = new Chance(seed ^ 0x5bd1e995)
        const killing = async (): Promise<void> => {
          for (const victim of Array.from({ length: ROUNDS }, () =>
            faults.shuffled(VICTIMS),
          ).flat()) {
            await sleep(faults.between(500, 5_000))
            const away = faults.between(0, 4_000)
            history.say(`kill -9 ${victim}, back after ${away} ms`)
            const server = hands.get(victim)
            if (server === undefined) await chaos.controller.kill()
            else await server.kill()
            await sleep(away)
            if (server === undefined) chaos.startController()
            else await server.start()
            history.say(`${victim} is back`)
          }
        }
        const acting = async (): Promise<void> => {
          const deeds = new Chance(seed ^ 0x2545f491)
          for (let act = 0; act < ACTS; act += 1) {
            await chaos.act()
            if (deeds.next() < 0.5) await chaos.sync()
            await sleep(deeds.between(0, 1_200))
          }
        }
        await Promise.all([killing(), acting()])
        await waitUntil('the servers answer and main is applied', () => chaos.sync())
        // Of an object that is not there, a repository without history cannot tell whether it ever was.
        for (const name of PACKAGES) {
          const there = await review.world.kubectl(
            'get',
            'configmaps',
            '-n',
            namespace,
            '--output=name',
          )
          if (['a', 'b'].some((object) => !there.includes(`/${name}-${object}\n`)))
            await review.world.sync(`apps/${name}`)
        }
        // The last edits have no decision before them: each has to be proposed, however soon after a fault it came.
        for (const name of EDITED_LAST)
          await paint(review.world, namespace, `${name}-a`, `last-${name}`)
        history.say('the last edits')
        const seen = new Set<string>()
        await chaos.controller.until('the last edits are recorded', async () => {
          await review.observe()
          for (const name of EDITED_LAST) {
            const text = await review.world.show(
              'drift-ledger',
              `clusters/test/apps--${name}/report.yaml`,
            )
            if (text.includes(`last-${name}`)) seen.add(name)
          }
          return seen.size === EDITED_LAST.length
        })
      }
    },
  )
})

function importantOf(log: string): string {
  return log
    .split('\n')
    .filter((line) => !/"event":"(?:step|judged|request)"|"transitions":0/.test(line))
    .map((line) => line.slice(0, 400))
    .slice(-60)
    .join('\n')
}
