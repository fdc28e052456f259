/**
 * `settle: backporch` killed with SIGKILL before and after each write to a real API server, and before and after the push that
 * merges: the next scans leave the same objects and the same refs as when nobody disturbed it (promise P5), every write
 * names a merged commit, and nothing but the approved changes is written.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { createResourceGroupKind } from '../e2e/shop-package.ts'
import { quarterOf } from '../seeds/crash-points.ts'
import type { LiveWrite } from './killing-proxy.ts'
import { assertEnded, describe, type KillPoint, SettleWorld } from './settle-world.ts'

await controlPlaneSuite('settle: backporch, killed at each write', {}, (plane) => {
  let folder = ''
  let wanted: {
    readonly live: ReadonlyMap<string, string>
    readonly refs: string
    readonly writes: number
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'backporch-settle-'))
    await createResourceGroupKind(plane)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function inWorld(name: string, work: (world: SettleWorld) => Promise<void>): Promise<void> {
    const own = join(folder, name)
    mkdirSync(own)
    const world = await SettleWorld.open(plane, own)
    try {
      await work(world)
    } finally {
      await world.close()
    }
  }

  /** What holds at the end, whatever happened on the way. */
  async function assertSettled(world: SettleWorld, where: string): Promise<void> {
    assert.deepEqual(world.unauthorised, [], `${where}: every write names a merged commit`)
    const failed = world.proxy.writes.filter(({ status }) => status >= 300)
    assert.deepEqual(failed, [], `${where}: no write is refused`)
    assert.equal(world.proxy.writes.length, wanted.writes, `${where}: nothing is written twice`)
    const live = await world.live()
    assert.deepEqual([...live.keys()], [...wanted.live.keys()], `${where}: the objects`)
    for (const [name, text] of live)
      assertSameText(text, wanted.live.get(name) ?? '', `${where}: ${name}`)
    assertSameText(world.refs(), wanted.refs, `${where}: the refs`)
    world.git('fsck', '--strict', '--no-dangling')
  }

  test('without a kill, writes exactly what was approved', async (t) => {
    await inWorld('undisturbed', async (world) => {
      const others = (): Promise<string[]> =>
        Promise.all(
          ['bystander', 'adopted', 'released'].map((name) =>
            world.resourceVersion('ConfigMap', name),
          ),
        )
      const before = await others()
      assertEnded(await world.approve(undefined), [0])
      await world.finish()
      const live = await world.live()
      const read = (name: string): { data?: unknown; spec: { ports: { port: number }[] } } =>
        JSON.parse(live.get(name) ?? '{}')
      assert.deepEqual(read('ConfigMap/settings').data, { timeout: '30', theme: 'light' })
      assert.deepEqual(read('ConfigMap/doomed').data, { answer: '42' })
      assert.deepEqual(read('Secret/login').data, { password: 'c3dvcmRmaXNo' })
      assert.deepEqual(
        read('Service/web')
          .spec.ports.map(({ port }) => port)
          .sort((left, right) => left - right),
        [80, 9090],
      )
      assert.equal(live.has('ConfigMap/leftover'), false)
      // What was adopted, released or never in the package is as somebody left it: not even a version moved.
      assert.deepEqual(await others(), before)
      assert.deepEqual(read('ConfigMap/adopted').data, { color: 'red' })
      assert.deepEqual(read('ConfigMap/released').data, { size: 'small', extra: 'yes' })
      const kinds = new Set(world.proxy.writes.map(kindOf))
      assert.deepEqual([...kinds].sort(), ['apply', 'delete', 'json patch'])
      wanted = { live, refs: world.refs(), writes: world.proxy.writes.length }
      t.diagnostic(`${wanted.writes} writes`)
      await assertSettled(world, 'undisturbed')
    })
  })

  /** One kill and a quiet end, at some places: `killedAlways` is at every one of them. */
  function killPoints(): KillPoint[] {
    const some = [1, wanted.writes].map((write): KillPoint => ({ write, when: 'after' }))
    return [{ merge: 'before' }, { merge: 'after' }, ...some]
  }

  async function killedOnce(at: KillPoint): Promise<void> {
    const where = JSON.stringify(at)
    await inWorld(where.replace(/\W+/g, '-'), async (world) => {
      const killed = await world.approve(at)
      assert.equal(killed.signal, 'SIGKILL', `${where}: ${describe(killed)}`)
      const merged = !('merge' in at && at.merge === 'before')
      assert.equal(world.hasProposal(), !merged, where)
      const sent = 'write' in at && at.when === 'after' ? at.write : 0
      assert.equal(world.proxy.writes.length, sent, `${where}: what was sent before the kill`)
      if (!merged) {
        assertEnded(await world.backporch('scan', 'apps/web', '--quiet'), [1])
        assert.equal(world.proxy.writes.length, 0, 'a scan writes nothing that was not merged')
        assertEnded(await world.approve(undefined), [0])
      }
      assert.ok(
        (await world.finish()) <= 2,
        `${where}: one scan writes, the next one sees that live agrees`,
      )
      await assertSettled(world, where)
    })
  }

  /** Every write is killed twice: before it reaches the server, and before its answer reaches backporch. */
  async function killedAlways(): Promise<void> {
    await inWorld('always', async (world) => {
      assert.equal((await world.approve({ write: 1, when: 'before' })).signal, 'SIGKILL')
      for (let write = 1; write <= wanted.writes; write += 1) {
        for (const when of ['before', 'after'] as const) {
          const scan = await world.scanKilled(when)
          assert.equal(scan.signal, 'SIGKILL', `always, ${when} ${write}: ${describe(scan)}`)
        }
      }
      await world.finish()
      await assertSettled(world, 'always')
    })
  }

  test('killed before or after any write or the merge, the next scan completes it with the same result', async (t) => {
    const jobs = [killedAlways, ...quarterOf(t, killPoints()).map((at) => () => killedOnce(at))]
    const worker = async (): Promise<void> => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job()
    }
    await Promise.all([worker(), worker()])
  })
})

function kindOf({ method, body }: LiveWrite): string {
  if (method === 'DELETE') return 'delete'
  return body.trimStart().startsWith('[') ? 'json patch' : 'apply'
}

/** The texts are long: only where they begin to differ is shown. */
function assertSameText(actual: string, expected: string, what: string): void {
  if (actual === expected) return
  const [is, was] = [actual.split('\n'), expected.split('\n')]
  const at = is.findIndex((line, index) => line !== was[index])
  const around = (lines: readonly string[]): string =>
    lines.slice(Math.max(0, at - 5), at + 6).join('\n')
  throw new assert.AssertionError({
    message: `${what} differ from line ${at + 1}:\n${around(is)}\n--- wanted\n${around(was)}`,
  })
}
