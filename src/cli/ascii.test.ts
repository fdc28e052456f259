import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CliOptions, runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

const SECRET =
  'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {password: Zmlyc3Q=}\n'

/** A changed value, a hidden one and one that git does not have; then a decision about one of them. */
async function decided(): Promise<TurnWorld> {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': SECRET })
  world.edit('/Secret/shop/db', 'data.password', 'c2Vjb25k')
  world.edit(WEB, 'metadata.labels.extra', 'yes')
  await world.scan()
  return world
}

for (const argv of [
  ['diff'],
  ['status'],
  ['get', 'drifts'],
  ['get', 'packages'],
  ['history'],
  ['scan', '--dry-run'],
]) {
  test(`${argv.join(' ')} --ascii prints only ASCII`, async () => {
    const world = await decided()
    if (argv[0] === 'history') {
      await world.reject()
      world.edit(WEB, 'metadata.labels.extra', 'no')
    }
    const signs = await runInWorld(world, argv)
    const { stdout } = await runInWorld(world, [...argv, '--ascii'])
    assert.notEqual(stdout, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
    assert.doesNotMatch(stdout, /[^\x00-\x7f]/)
    if (argv[0] !== 'get' || argv[1] !== 'packages')
      assert.notEqual(stdout, signs.stdout, 'nothing to replace: the test shows nothing')
  })
}

test('hidden values, absent values and arrows have ASCII forms', async () => {
  const world = await decided()
  const drifts = (await runInWorld(world, ['get', 'drifts', '--ascii'])).stdout
  assert.match(drifts, /data\.password +\*\*\*\* +\*\*\*\*/)
  assert.match(drifts, /metadata\.labels\.extra +\(none\) +"yes"/)
  await world.reject()
  assert.match((await runInWorld(world, ['history', '--ascii'])).stdout, /-> /)
})

test('a dry run suggests no next command, since nothing can be decided yet', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const dry = await runInWorld(world, ['scan', '--dry-run'])
  assert.match(dry.stdout, /would be proposed/)
  assert.doesNotMatch(dry.stdout, /next:/)
  assert.match(
    (await runInWorld(world, ['scan'])).stdout,
    /next: backporch approve apps\/web \(or reject\)/,
  )
  // The proposal is there now, and a dry run that changes nothing may say so.
  assert.match(
    (await runInWorld(world, ['scan', '--dry-run'])).stdout,
    /next: backporch approve apps\/web \(or reject\)/,
  )
})

test('with several clusters, proposals and suggested commands name the cluster', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const openCluster: CliOptions['openCluster'] = async ({ context }) => {
    return {
      reader: Object.assign(Object.create(world.cluster), { name: context }),
      close: () => undefined,
    }
  }
  const scan = () => runInWorld(world, ['scan', '--contexts', 'prod,edge'], { openCluster })
  const { stdout, stderr } = await scan()
  for (const cluster of ['prod', 'edge']) {
    assert.match(
      stdout,
      new RegExp(`proposed: proposed/apps/web/drift-\\S+ \\(apps/web in ${cluster}\\)$`, 'm'),
      stderr,
    )
    assert.match(
      stdout,
      new RegExp(`next: backporch approve apps/web --context ${cluster} \\(or reject\\)`),
    )
  }
  world.sync()
  assert.match(
    (await scan()).stdout,
    /apps\/web in edge: proposed\/apps\/web\/drift-\S+ is withdrawn/,
  )
})
