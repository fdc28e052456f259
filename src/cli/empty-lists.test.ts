/** Lists without a row, and names of what is not there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { policyText, TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'

test('an empty list has no header, and stderr says that it is empty', async () => {
  for (const [command, text] of [
    [['get', 'drifts'], 'no drift recorded\n'],
    [['ignore', '--list'], 'no ignore rules\n'],
  ] as const) {
    assert.deepEqual(await runInWorld(new TurnWorld(), command), {
      code: 0,
      stdout: '',
      stderr: text,
    })
    assert.deepEqual(await runInWorld(new TurnWorld(), [...command, '-q']), {
      code: 0,
      stdout: '',
      stderr: '',
    })
    const { stdout, stderr } = await runInWorld(new TurnWorld(), [...command, '-o', 'json'])
    assert.deepEqual([JSON.parse(stdout).items, stderr], [[], ''])
  }
})

test('a watched list prints its header before the first row', async () => {
  const world = new TurnWorld()
  const drift = async (): Promise<void> => {
    world.edit(WEB, 'spec.replicas', 5)
    await world.scan()
  }
  const { stdout } = await runInWorld(world, ['get', 'drifts', '--watch'], { waits: [drift] })
  assert.match(stdout, /^CLUSTER .*\n.* spec\.replicas /)
})

test('explain names the branch only if it exists', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  assert.doesNotMatch((await runInWorld(world, ['explain', 'apps/web'])).stdout, /^branch /m)
  await world.scan()
  assert.match(
    (await runInWorld(world, ['explain', 'apps/web'])).stdout,
    /^branch proposed\/apps\/web\/drift-[0-9a-f]{8}$/m,
  )
})

test('for an unmatched selector explain lists open changes apart from other differences', async () => {
  const ignore = "[{target: {kind: ConfigMap}, paths: ['data.**'], reason: theirs}]"
  const world = new TurnWorld('{mode: Propose}', {
    '.drift/ignore.yaml': policyText(`{ignore: ${ignore}}`).replace('name: test', 'name: ignore'),
  })
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { stderr } = await runInWorld(world, ['explain', 'apps/web', '9'])
  assert.match(stderr, /"9" names no difference\n/)
  assert.match(
    stderr,
    /open: 1 Deployment shop\/web spec\.replicas; 1 that is not drift: 2 \(diff --show-ignored\)/,
  )
})
