/** Design §5: a difference is drift only if somebody other than the syncer made it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { nextSecond } from '../waiting/next-second.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, assertNoDrift, openWorld, type World } from './world.ts'

const REPLICAS = 'replicas: 3   # two zones and a spare'

await controlPlaneSuite('git ahead of the syncer', {}, (plane) => {
  test('what git changed and nobody applied is Behind with exit 0, and the line names the live commit', async (t) => {
    const { world, namespace } = await synced(t, plane)
    const before = await world.git('rev-parse', '--short=7', 'HEAD')
    await nextSecond()
    await moveOn(world, namespace)
    const diff = assertExit(await world.backporch('diff', 'apps/web'), 0)
    const after = await world.git('rev-parse', '--short=7', 'HEAD')
    assert.match(
      diff.stdout,
      new RegExp(
        `^Behind: live is what ${before} rendered, git has ${after} since .*\\(4 differences, no drift\\)$`,
        'm',
      ),
    )
    assertExit(await world.backporch('scan', 'apps/web'), 0)
    assert.match(assertNoDrift(await world.backporch('status')).stdout, /✓ Behind/)
    await world.sync('apps/web')
    assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    assertExit(await world.backporch('scan', 'apps/web'), 0)
    assert.match(assertNoDrift(await world.backporch('status')).stdout, /✓ InSync/)
  })

  test("a person's edit next to it is drift, and so is a removal after the syncer applied it", async (t) => {
    const { world, namespace } = await synced(t, plane)
    await nextSecond()
    await moveOn(world, namespace)
    await world.kubectl(
      'set',
      'image',
      'deployment/web',
      'app=example.com/shop/web:hot',
      '-n',
      namespace,
    )
    assert.deepEqual(await changes(world), [
      'modified spec.template.spec.containers[name=app].image kubectl-set',
    ])
    await world.sync('apps/web')
    await world.kubectl(
      'patch',
      'configmap/web',
      '--type=merge',
      '-p',
      '{"data":{"color":null}}',
      '-n',
      namespace,
    )
    await world.kubectl('delete', 'configmap/more', '-n', namespace)
    assert.deepEqual(await changes(world), ['removed data.color unknown', 'missing  unknown'])
  })

  test("a hand apply with the syncer's own manager is drift, because its value was never in git", async (t) => {
    const { world, namespace } = await synced(t, plane)
    const edited = (await world.show('main', 'apps/web/deployment.yaml')).replace(
      'replicas: 3',
      'replicas: 7',
    )
    await world.pipe(edited, 'apply', '--server-side', '--field-manager=ci', '--filename=-')
    assert.deepEqual(await changes(world), ['modified spec.replicas ci'])
    const diff = assertExit(await world.backporch('diff', 'apps/web', '-o', 'wide'), 1)
    assert.match(diff.stdout, /no version of the package in git has the live value/)
    assert.match(
      await world.kubectl(
        'get',
        'deployment/web',
        '-n',
        namespace,
        '-o',
        'jsonpath={.spec.replicas}',
      ),
      /^7$/,
    )
  })

  test('the same with client-side apply, which remembers only an annotation', async (t) => {
    const { world, namespace } = await synced(t, plane, clientSide)
    assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    await nextSecond()
    await moveOn(world, namespace)
    const diff = assertExit(await world.backporch('diff', 'apps/web'), 0)
    assert.match(diff.stdout, /^Behind: live is what .*\(4 differences, no drift\)$/m)
    await clientSide(world)
    assert.equal(assertExit(await world.backporch('diff', 'apps/web'), 0).stdout, '')
    const edited = (await world.show('main', 'apps/web/config.yaml'))
      .replace('timeout: "30"', 'timeout: "99"')
      .replace('\ndata:', '\ndata:\n  mine: "yes"')
    await world.pipe(edited, 'apply', '--filename=-')
    assert.deepEqual(await changes(world), [
      'modified data.timeout kubectl-client-side-apply',
      'added data.mine kubectl-client-side-apply',
    ])
  })

  test('a value of an earlier commit put by hand into the only key of a map is drift, also with client-side apply', async (t) => {
    const { world, namespace } = await synced(t, plane, clientSide)
    const flag = (level: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flag, namespace: ${namespace}}\ndata: {level: "${level}"}\n`
    for (const level of ['1', '2']) {
      await world.commit({ 'apps/web/flag.yaml': flag(level) }, `feat: ${level}`)
      await world.pipe(flag(level), 'apply', '--filename=-')
      await nextSecond()
    }
    await world.kubectl(
      'patch',
      'configmap/flag',
      '--type=merge',
      '-p',
      '{"data":{"level":"1"}}',
      '-n',
      namespace,
    )
    assert.deepEqual(await changes(world), ['modified data.level kubectl-patch'])
  })

  test('refuses a release that the next client-side apply would undo, and keeps it once the field is taken over', async (t) => {
    const { world, namespace } = await synced(t, plane, clientSide)
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    const refused = assertExit(await world.backporch('release', 'apps/web'), 2)
    assert.match(
      refused.stderr,
      /BP2001: cannot release spec\.replicas of Deployment .*\/web\n.*live value is lost/s,
    )
    const applied = (await world.show('main', 'apps/web/deployment.yaml')).replace(
      /\n *replicas: .*/,
      '',
    )
    await world.pipe(applied, 'apply', 'set-last-applied', '--filename=-')
    assertExit(await world.backporch('release', 'apps/web'), 0)
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await clientSide(world)
    assert.match(
      await world.kubectl(
        'get',
        'deployment/web',
        '-n',
        namespace,
        '-o',
        'jsonpath={.spec.replicas}',
      ),
      /^6$/,
    )
    assert.match(
      assertExit(await world.backporch('diff', 'apps/web'), 0).stdout,
      /^1 Released \(no drift\)/,
    )
  })
})

async function clientSide(world: World): Promise<void> {
  for (const file of ['deployment.yaml', 'config.yaml'])
    await world.pipe(await world.show('main', `apps/web/${file}`), 'apply', '--filename=-')
}

async function synced(
  t: TestContext,
  plane: ControlPlane,
  sync = (world: World): Promise<void> => world.sync('apps/web'),
): Promise<{ world: World; namespace: string }> {
  const namespace = await plane.namespace('behind')
  const world = await openWorld(t, plane, { ...webPackage(namespace), ...policy('mode: Propose') })
  await sync(world)
  return { world, namespace }
}

/** One value changed, one field added, one removed, and one new object. */
async function moveOn(world: World, namespace: string): Promise<void> {
  const deployment = world.read('apps/web/deployment.yaml').replace(REPLICAS, 'replicas: 4')
  const more = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: ${namespace}}\ndata: {a: b}\n`
  const config = world.read('apps/web/config.yaml').replace("theme: 'light'\n", 'color: blue\n')
  await world.commit(
    { 'apps/web/deployment.yaml': deployment, 'apps/web/config.yaml': `${config}---\n${more}` },
    'feat: more',
  )
}

async function changes(world: World): Promise<string[]> {
  const { stdout } = assertExit(await world.backporch('diff', 'apps/web', '-o', 'json'), 1)
  const { items } = JSON.parse(stdout) as {
    items: { spec: { changes: { change: string; path?: string; actor: { manager: string } }[] } }[]
  }
  return items.flatMap(({ spec }) =>
    spec.changes.map(({ change, path, actor }) => `${change} ${path ?? ''} ${actor.manager}`),
  )
}
