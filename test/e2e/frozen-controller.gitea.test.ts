/**
 * Three controllers of the same repository and cluster, each with a home of its own. One after another is frozen in the middle of a turn, until
 * the others have done theirs, and goes on with what it knew. Nothing elects a leader: a ref moves only from where it was observed, a unit has one
 * branch and a branch one pull request (promises P4, P7, P13, P20).
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { isApiWrite, isPush } from '../gitea/faulty-proxy.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { comeToRest, History, painted, pollsOf, refMovesOf, scanOfMain } from './chaos-world.ts'
import { type ObservedPull, openReviewWorld, type ReviewWorld } from './review-world.ts'
import { configPackage, PROPOSE, paint, reportsOf, WatchingController } from './watched-world.ts'

/** Three for each controller that is frozen, so that no field changes so often that somebody fights over it; people commit to the last. */
const PACKAGES = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9'] as const
/** Polls of three controllers, 2 seconds apart, in which nothing is written any more: status alone is pushed once a minute. */
const REST = { rest: 114, most: 1_200 }
const OWN = /^refs\/(?:heads\/(?:drift-ledger$|drafts\/|proposed\/)|tags\/apps\/p\d\/)/
const FOREIGN = ['refs/heads/feature/drift', 'refs/heads/proposal', 'refs/tags/release-1']
/** The first words of the steps of a turn in which one is frozen. */
const FROZEN_AT = ['observing', 'writing', 'reading'] as const

const pathOf = (pull: ObservedPull): string =>
  pull.head.label.replace(/^proposed\//, '').replace(/\/drift-[^/]*$/, '')

/** Looks at the open pull requests all the time. */
class Lookout {
  /** Units with open pull requests of different branches at one moment, as text. */
  readonly doubled = new Set<string>()
  /** Branches with two open pull requests at one moment: Gitea reads and then inserts. Whoever opened the second closes it. */
  readonly twice = new Set<string>()
  looks = 0
  private readonly review: ReviewWorld
  private done = false
  private readonly looking: Promise<void>

  constructor(review: ReviewWorld) {
    this.review = review
    this.looking = this.look()
  }

  async end(): Promise<void> {
    this.done = true
    await this.looking
  }

  private async look(): Promise<void> {
    while (!this.done) {
      const open = (await this.review.pulls()).filter(({ state }) => state === 'open')
      this.looks += 1
      for (const [path, own] of Map.groupBy(open, pathOf)) {
        const branches = new Set(own.map(({ head }) => head.label))
        const text = own.map(({ number, head }) => `#${number} ${head.label}`).join(', ')
        if (branches.size > 1) this.doubled.add(`${path}: ${text}`)
        else if (own.length > 1) this.twice.add(text)
      }
      await sleep(100)
    }
  }
}

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('a frozen controller', { skip: gitea.why }, () => {})
else
  await controlPlaneSuite('a frozen controller', {}, (plane) => {
    test('one of three controllers freezes during a turn and resumes: nothing is duplicated, then nothing is written', async (t) => {
      const namespace = await plane.namespace('frozen')
      const files = Object.assign(
        {},
        PROPOSE,
        ...PACKAGES.map((name) => configPackage(name, namespace, [`${name}-a`, `${name}-b`])),
      )
      const review = await openReviewWorld(t, plane, gitea as never, files)
      const { world, fixture } = review
      for (const ref of FOREIGN) await review.git('push', '--quiet', review.address, `main:${ref}`)
      for (const name of PACKAGES) await world.sync(`apps/${name}`)
      const foreign = await refsOf(review, FOREIGN)
      const controllers = ['one', 'two', 'three'].map((name) => start(t, review, name))
      const history = new History()
      try {
        for (const each of controllers)
          await each.until('it is watched', () =>
            each.sights().some(({ why }) => why === undefined),
          )
        const lookout = new Lookout(review)
        const mains = new Set<string>()
        for (const [at, frozen] of controllers.entries()) {
          const step = FROZEN_AT[at] ?? 'observing'
          // Turns go on while one waits to be caught in the step.
          const began = frozen.stderr.length
          const [first, second, third] = [`p${3 * at}`, `p${3 * at + 1}`, `p${3 * at + 2}`]
          await paint(world, namespace, `${first}-a`, 'blue')
          await paint(world, namespace, `${second}-a`, 'blue')
          const isThere = (): boolean =>
            new RegExp(`"step":"${step}`).test(frozen.stderr.slice(began))
          await waitUntil(`controller ${at + 1} is ${step}`, () => isSoon(isThere))
          frozen.send('SIGSTOP')
          const others = controllers
            .filter((each) => each !== frozen)
            .map((each) => ({ each, turns: each.events('turn').length }))
          history.say(`controller ${at + 1} is frozen while ${step}`)
          await paint(world, namespace, `${third}-b`, 'green')
          await recorded(review, third, 'green')
          const merged = await decide(review, history)
          await review.observe()
          const path = 'apps/p9/config.yaml'
          await review.commit(
            { [path]: painted(await world.show('main', path), 'p9-a', `shade${at}`) },
            `feat(p9): shade ${at}`,
          )
          mains.add(await world.remote('rev-parse', 'main'))
          for (const name of [...merged, 'apps/p9']) await world.sync(name)
          await paint(world, namespace, `${second}-b`, 'black')
          await recorded(review, second, 'black')
          for (const { each, turns } of others)
            await each.until('it makes a turn meanwhile', () => each.events('turn').length > turns)
          const turns = frozen.events('turn').length
          frozen.send('SIGCONT')
          history.say(`controller ${at + 1} goes on`)
          await frozen.until(
            'it ends the turn in which it was frozen',
            () => frozen.events('turn').length > turns,
          )
        }
        // Pushes and requests to the API that write.
        await comeToRest(
          () => pollsOf(controllers, fixture.proxy),
          REST,
          async () => fixture.proxy.requests.filter((one) => isApiWrite(one) || isPush(one)).length,
        )
        await review.observe()
        await lookout.end()
        for (const each of controllers) await each.stop()
        assert.ok(
          controllers.every(({ stderr }) => !/BP9001|Unhandled/.test(stderr)),
          'no fault of our own',
        )

        assert.deepEqual([...lookout.doubled], [], 'one open pull request of each unit')
        const pulls = await review.pulls()
        const open = pulls.filter(({ state }) => state === 'open')
        assert.equal(
          new Set(open.map(pathOf)).size,
          open.length,
          open.map(({ head }) => head.label).join(' '),
        )
        for (const { number } of pulls) {
          const comments = await review.comments(number)
          assert.equal(
            new Set(comments).size,
            comments.length,
            `#${number} has a comment twice:\n${comments.join('\n---\n')}`,
          )
        }
        const labels = (
          await fixture.gitea.request<{ name: string }[]>(
            fixture.writer.token,
            'GET',
            `${fixture.path}/labels?limit=50`,
          )
        ).body
        assert.equal(
          new Set(labels.map(({ name }) => name)).size,
          labels.length,
          labels.map(({ name }) => name).join(' '),
        )

        const issues = (
          await fixture.gitea.request<{ title: string }[]>(
            fixture.writer.token,
            'GET',
            `${fixture.path}/issues?type=issues&state=open`,
          )
        ).body
        assert.equal(
          new Set(issues.map(({ title }) => title)).size,
          issues.length,
          issues.map(({ title }) => title).join(', '),
        )

        const moves = fixture.proxy.requests.filter(isPush).flatMap(refMovesOf)
        assert.deepEqual(
          moves.filter(({ ref }) => !OWN.test(ref)),
          [],
          'refs that are not ours',
        )
        assert.deepEqual(await refsOf(review, FOREIGN), foreign)
        const main = await world.remote('rev-parse', 'main')
        for (const commit of mains) await world.remote('merge-base', '--is-ancestor', commit, main)
        await world.remote('fsck', '--strict')

        const [reports, undisturbed] = [await reportsOf(world), await scanOfMain(world)]
        const closed = new Set(
          pulls.filter(({ state, merged }) => state === 'closed' && !merged).map(pathOf),
        )
        for (const path of PACKAGES.map((name) => `apps/${name}`)) {
          const [own, other] = [reports.get(path), undisturbed.get(path)]
          assert.deepEqual([path, own?.spec.fingerprint], [path, other?.spec.fingerprint])
          if (!closed.has(path))
            assert.deepEqual([path, own?.status.state], [path, other?.status.state])
          if (own?.status.state === 'Drifted')
            assert.ok(
              open.some((pull) => pathOf(pull) === path),
              `${path} is proposed`,
            )
        }
        t.diagnostic(
          `${lookout.looks} looks, ${pulls.length} pull requests, ${moves.length} moves of refs, ${lookout.twice.size} branches with two of them for a moment`,
        )
      } catch (thrown) {
        console.error(history.lines.join('\n'))
        for (const [at, { stderr }] of controllers.entries())
          console.error(`--- controller ${at + 1}\n${importantOf(stderr)}`)
        throw thrown
      }
    })
  })

function start(t: TestContext, { fixture, world }: ReviewWorld, name: string): WatchingController {
  const home = join(world.folder, name)
  mkdirSync(home)
  const args = [
    '--interval',
    '2s',
    '--log-level',
    'debug',
    '--http-address',
    '127.0.0.1:0',
    '--repo',
    fixture.remote,
  ]
  const own = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
  }
  return new WatchingController(t, world, args, { ...own, GITEA_TOKEN: fixture.bot.token })
}

/** Looks every millisecond for a while: a step of a turn is short. */
async function isSoon(isSo: () => boolean): Promise<boolean> {
  for (let looks = 0; looks < 100 && !isSo(); looks += 1) await sleep(1)
  return isSo()
}

/** Until the ledger has what somebody did: one of the controllers that are not frozen has made a turn. */
async function recorded(review: ReviewWorld, name: string, color: string): Promise<void> {
  await waitUntil(`the ledger says that ${name} is ${color}`, async () => {
    await review.observe()
    return (
      await review.world.show('drift-ledger', `clusters/test/apps--${name}/report.yaml`)
    ).includes(color)
  })
}

async function refsOf(
  review: ReviewWorld,
  names: readonly string[],
): Promise<readonly (string | undefined)[]> {
  await review.observe()
  const refs = await review.world.refs()
  return names.map((name) => refs.get(name))
}

/** A person merges the oldest open pull request, and closes the next. @returns paths of the packages that were merged */
async function decide(review: ReviewWorld, history: History): Promise<readonly string[]> {
  const { gitea: server, path, writer } = review.fixture
  const [first, second] = (await review.pulls()).filter(({ state }) => state === 'open')
  const merge = async (): Promise<void> => {
    if (first !== undefined) await review.mergeByHand(first.number, 'merge')
  }
  const close = async (): Promise<void> => {
    if (second !== undefined)
      await server.request(writer.token, 'PATCH', `${path}/pulls/${second.number}`, {
        state: 'closed',
      })
  }
  const isMerged = await history.attempt(`merges #${first?.number} ${first?.head.label}`, merge)
  await history.attempt(`closes #${second?.number} ${second?.head.label}`, close)
  return isMerged && first !== undefined ? [pathOf(first)] : []
}

function importantOf(log: string): string {
  const lines = log
    .split('\n')
    .filter((line) => !/"event":"(?:step|judged|request)"|"transitions":0/.test(line))
  return lines
    .map((line) => line.slice(0, 400))
    .slice(-60)
    .join('\n')
}
