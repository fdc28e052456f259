/** Issue 14.6 and 14.7 on the real API server: rollbacks through the manager of the syncer, wiped packages, and commits with other people's dates. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from '../e2e/packages.ts'
import { assertExit, assertNoDrift, openWorld, type World } from '../e2e/world.ts'
import { nextSecond } from '../waiting/next-second.ts'

const FILES = ['apps/web/deployment.yaml', 'apps/web/config.yaml']
const SERVER_SIDE = ['--server-side', '--force-conflicts', '--field-manager=ci']
const CLIENT_SIDE: readonly string[] = []

await controlPlaneSuite('rollbacks and dates', {}, (plane) => {
  for (const [way, flags, manager] of [
    ['server-side', SERVER_SIDE, 'ci'],
    ['client-side', CLIENT_SIDE, 'kubectl-client-side-apply'],
  ] as const) {
    test(`reports a reapplied older commit (${way}) in every output, also without earlier state`, async (t) => {
      const { world, first, second } = await atTwo(t, plane, flags)
      await nextSecond()
      await applyAt(world, first, flags)
      const lines = [
        `modified Deployment spec.replicas ${manager} ${first.slice(0, 7)}`,
        `removed ConfigMap data.color - ${first.slice(0, 7)}`,
        `modified ConfigMap data.timeout ${manager} ${first.slice(0, 7)}`,
      ]
      assert.deepEqual((await changes(world)).sort(), lines.toSorted())
      const reported = new RegExp(
        `rolled back to ${first.slice(0, 7)}, ${second.slice(0, 7)} was live until 20`,
      )
      assert.match(assertExit(await world.backporch('diff', 'apps/web'), 1).stdout, reported)
      for (const output of ['sarif', 'github', 'markdown']) {
        assert.match(
          assertExit(await world.backporch('diff', 'apps/web', '-o', output), 1).stdout,
          reported,
        )
      }
      assert.match(
        assertExit(await world.backporch('explain', 'apps/web'), 0).stdout,
        /\(modified, rolled back\)[\s\S]*note +rolled back: live is what/,
      )
      assertExit(await world.backporch('scan', 'apps/web'), 1)
      assert.match(assertExit(await world.backporch('status'), 1).stdout, /Drifted/)
      const [branch] = await world.proposals()
      assert.match(
        await world.remote('grep', '-h', 'rolled back: live', branch ?? ''),
        new RegExp(`what ${first.slice(0, 7)} rendered`),
      )

      rmSync(join(world.folder, 'home', 'cache'), { recursive: true, force: true })
      assert.deepEqual((await changes(world)).sort(), lines.toSorted())
      await world.commit({ 'apps/web/README.md': 'more\n' }, 'docs: more')
      assert.deepEqual((await changes(world)).sort(), lines.toSorted())

      assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
      await applyAt(world, second, flags)
      assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    })
  }

  test('Adopt of a kept older commit reverts git, and live is in sync', async (t) => {
    const { world, first } = await atTwo(t, plane, SERVER_SIDE)
    await nextSecond()
    await applyAt(world, first, SERVER_SIDE)
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    assertExit(await world.backporch('adopt', 'apps/web'), 0)
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    assert.match(
      await world.show('main', 'apps/web/deployment.yaml'),
      /replicas: 3 {3}# two zones and a spare/,
    )
    assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
  })

  test('reports one rolled-back object', async (t) => {
    const { world, first } = await atTwo(t, plane, SERVER_SIDE)
    await nextSecond()
    await world.pipe(
      await world.show(first, 'apps/web/deployment.yaml'),
      'apply',
      ...SERVER_SIDE,
      '--filename=-',
    )
    assert.deepEqual(await changes(world), [
      `modified Deployment spec.replicas ci ${first.slice(0, 7)}`,
    ])
  })

  test('reports a package that is wiped right after its commit as missing, not new', async (t) => {
    const { world, namespace } = await atTwo(t, plane, SERVER_SIDE)
    await world.kubectl('delete', 'deployment/web', 'configmap/web', '-n', namespace)
    assert.deepEqual(await changes(world), ['missing ConfigMap  - -', 'missing Deployment  - -'])
  })

  for (const date of ['2037-01-01T00:00:00+0000', '1970-01-02T00:00:00+0000']) {
    test(`a commit dated ${date.slice(0, 4)}: a package that never came is not new, and one in sync is behind`, async (t) => {
      const namespace = await plane.namespace('dated')
      const world = await openWorld(t, plane, policy('mode: Propose'))
      await commitAt(world, webPackage(namespace), date)
      assert.deepEqual(await changes(world), ['missing ConfigMap  - -', 'missing Deployment  - -'])
      await applyAt(world, 'main', SERVER_SIDE)
      assertExit(await world.backporch('scan', 'apps/web'), 0)
      await nextSecond()
      await commitAt(world, movedOn(world), date)
      assert.match(
        assertExit(await world.backporch('diff', 'apps/web'), 0).stdout,
        /^Behind: live is what .*\(3 differences, no drift\)$/m,
      )
      assertExit(await world.backporch('scan', 'apps/web'), 0)
      assert.match(assertNoDrift(await world.backporch('status')).stdout, /✓ Behind/)
      await applyAt(world, 'main', SERVER_SIDE)
      assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    })
  }

  test('reports a syncer that does not apply in time as stuck with exit 1 in every output', async (t) => {
    const namespace = await plane.namespace('stuck')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...policy('mode: Propose\ndetect: {stuckAfter: 1s}'),
    })
    await applyAt(world, 'main', SERVER_SIDE)
    assertExit(await world.backporch('scan', 'apps/web'), 0)
    // A commit of the second in which the cluster was looked at may be older than the look.
    await nextSecond()
    await world.commit(movedOn(world), 'feat: more')
    await nextSecond()
    await nextSecond()
    const notified = /the syncer did not apply `?[0-9a-f]{7}`? within `?1s/
    const diff = assertExit(await world.backporch('diff', 'apps/web'), 1)
    assert.match(
      diff.stdout,
      /^Behind \(stuck since 20.*\): live is what .*within 1s \(3 differences\)$/m,
    )
    for (const output of ['sarif', 'github', 'markdown', 'json']) {
      assert.match(
        assertExit(await world.backporch('diff', 'apps/web', '-o', output), 1).stdout,
        notified,
      )
    }
    assert.equal(
      assertExit(await world.backporch('diff', 'apps/web', '--exit-code=false'), 0).code,
      0,
    )
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    const status = assertExit(await world.backporch('status'), 1)
    assert.match(status.stdout, /! Behind \(stuck since 20/)
    assert.match(status.stderr, /1 stuck/)
    assert.match(await world.remote('grep', '-h', 'reason: Stuck', 'drift-ledger'), /reason: Stuck/)
    await applyAt(world, 'main', SERVER_SIDE)
    assertExit(await world.backporch('scan', 'apps/web'), 0)
    assertNoDrift(await world.backporch('status'))
  })
})

/** Two commits, each applied and seen. */
async function atTwo(
  t: TestContext,
  plane: ControlPlane,
  flags: readonly string[],
): Promise<{ world: World; namespace: string; first: string; second: string }> {
  const namespace = await plane.namespace('rollback')
  const world = await openWorld(t, plane, { ...webPackage(namespace), ...policy('mode: Propose') })
  const first = await world.git('rev-parse', 'HEAD')
  await applyAt(world, first, flags)
  assertExit(await world.backporch('scan', 'apps/web'), 0)
  await nextSecond()
  await world.commit(movedOn(world), 'feat: more')
  const second = await world.git('rev-parse', 'HEAD')
  assert.match(
    assertExit(await world.backporch('diff', 'apps/web'), 0).stdout,
    /^Behind: live is what /m,
  )
  await applyAt(world, second, flags)
  assertExit(await world.backporch('scan', 'apps/web'), 0)
  return { world, namespace, first, second }
}

/** Two values changed and a field added. */
function movedOn(world: World): Record<string, string> {
  return {
    'apps/web/deployment.yaml': world
      .read('apps/web/deployment.yaml')
      .replace('replicas: 3   #', 'replicas: 4   #'),
    'apps/web/config.yaml': world
      .read('apps/web/config.yaml')
      .replace('timeout: "30"', 'color: blue\n  timeout: "60"'),
  }
}

async function applyAt(world: World, revision: string, flags: readonly string[]): Promise<void> {
  const texts = await Promise.all(FILES.map((path) => world.show(revision, path)))
  await world.pipe(texts.join('\n---\n'), 'apply', ...flags, '--filename=-')
}

/** git takes the date of a committer from the environment alone, but for a rebase. */
async function commitAt(
  world: World,
  files: Readonly<Record<string, string>>,
  date: string,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) world.write(path, text)
  await world.git('add', '--all')
  await world.git('commit', '--quiet', '--message', 'feat: dated', `--date=${date}`)
  await world.git(
    'rebase',
    '--quiet',
    '--force-rebase',
    '--committer-date-is-author-date',
    'HEAD~1',
  )
  assert.match(await world.git('log', '-1', '--format=%cI'), new RegExp(`^${date.slice(0, 10)}`))
  await world.git('push', '--quiet', 'origin', 'HEAD:main')
}

async function changes(world: World): Promise<string[]> {
  const { stdout } = assertExit(await world.backporch('diff', 'apps/web', '-o', 'json'), 1)
  const { items } = JSON.parse(stdout) as DriftReportList
  return items.flatMap(({ spec }) =>
    spec.changes.map(({ ref, change, path, actor, rolledBack }) => {
      const who = actor.confidence === 'none' ? '-' : actor.manager
      return `${change} ${ref.kind} ${path ?? ''} ${who} ${rolledBack?.commit.slice(0, 7) ?? '-'}`
    }),
  )
}
