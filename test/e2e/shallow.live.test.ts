/** A checkout in CI is shallow by default: what it does not have hides nothing that is known without it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

await controlPlaneSuite('a shallow clone', {}, (plane) => {
  test("reports a hand edit although the decision was merged before the clone's history begins", async (t) => {
    const namespace = await plane.namespace('shallow')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...policy('mode: Propose'),
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    assertExit(await world.backporch('adopt', 'apps/web'), 0)
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await world.sync('apps/web')
    await world.git('pull', '-q')
    await world.commit({ 'README.md': 'later' }, 'docs: later')
    await world.kubectl('scale', 'deployment/web', '--replicas=8', '-n', namespace)
    const clone = await shallow(world)
    const diff = assertExit(await world.backporchIn(clone, {}, 'diff', 'apps/web'), 1)
    assert.match(diff.stdout, /spec\.replicas +6 → 8 /)
    assert.doesNotMatch(diff.stderr, /BP4011/)
    const status = assertExit(await world.backporchIn(clone, {}, 'status'), 3)
    assert.match(
      status.stderr,
      /^note: this clone has no drift-ledger; where origin has one: git fetch origin .* drift-ledger:drift-ledger$/m,
    )
    for (const command of [['scan'], ['scan', '--dry-run'], ['restore', '--dry-run']]) {
      const scan = assertExit(await world.backporchIn(clone, {}, ...command, 'apps/web'), 2)
      assert.match(scan.stderr, /BP4011: .*fix: run `git fetch --unshallow`/s, command.join(' '))
    }
  })

  test('names what only an older commit could decide without calling it drift, and reports the hand edit', async (t) => {
    const namespace = await plane.namespace('shallow')
    const world = await openWorld(t, plane, webPackage(namespace))
    await world.sync('apps/web')
    const deployment = world
      .read('apps/web/deployment.yaml')
      .replace(/replicas: 3.*/, 'replicas: 4')
    await world.commit({ 'apps/web/deployment.yaml': deployment }, 'feat: four')
    await world.kubectl(
      'patch',
      'configmap/web',
      '--type=merge',
      '-p',
      '{"data":{"mine":"yes"}}',
      '-n',
      namespace,
    )
    const clone = await shallow(world)
    const diff = assertExit(await world.backporchIn(clone, {}, 'diff', 'apps/web'), 3)
    assert.match(diff.stdout, /data\.mine +∅ → "yes"/)
    assert.doesNotMatch(diff.stdout, /spec\.replicas +4 → 3/)
    assert.match(
      diff.stdout,
      /^\? Deployment .* unverified \(BP4011\): spec\.replicas may be drift, or wait for the syncer: .* the clone is shallow/m,
    )
    await world.git('-C', clone, 'fetch', '-q', '--unshallow')
    const whole = assertExit(await world.backporchIn(clone, {}, 'diff', 'apps/web'), 1)
    assert.match(whole.stdout, /^Behind: .*\(1 difference, no drift\)$/m)
  })
})

async function shallow(world: World): Promise<string> {
  const clone = join(world.folder, 'shallow')
  await world.git('clone', '-q', '--depth=1', `file://${world.repository}`, clone)
  return clone
}
