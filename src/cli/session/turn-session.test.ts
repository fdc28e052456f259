import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { opened } from '../../../test/fakes/answered-proposal.ts'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'

/** How often a command asks the remote for its refs. */
async function refsRequests(world: TurnWorld, ...argv: readonly string[]): Promise<number> {
  const { repository } = world
  const { listRefs } = repository
  let requested = 0
  repository.listRefs = () => {
    requested += 1
    return listRefs.call(repository)
  }
  await runInWorld(world, argv)
  repository.listRefs = listRefs
  return requested
}

test('a turn reuses the refs read to find the base branch', async () => {
  const world = new TurnWorld()
  assert.equal(await refsRequests(world, 'scan'), 1)
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal(await refsRequests(world, 'diff'), 1)
  assert.equal(await refsRequests(world, 'scan', '--branch', 'main'), 1)
  assert.equal(await refsRequests(world, 'approve', '--yes'), 1)
})

test('a ref that moves after the session was opened makes the turn read again', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  let raced = false
  world.repository.beforePush = () => {
    if (!raced) world.repository.commitByHand('drift-ledger', { 'clusters/other.yaml': 'x' })
    raced = true
  }
  assert.equal(await refsRequests(world, 'scan'), 2)
  assert.equal(world.repository.names().length, 1)
  assert.ok(world.repository.paths('drift-ledger').includes('clusters/other.yaml'))
})

test('a comment that waits for the only cluster is printed before the scan fails', async () => {
  const { world, forge } = await opened()
  world.cluster.identify = async () => {
    throw new Failure({
      code: 'BP3006',
      what: 'no answer',
      why: 'timeout',
      remedy: 'wait',
      retry: 'backoff',
    })
  }
  forge.comment(1, 'ada', '/adopt 1')
  const { stderr } = await runInWorld(world, ['scan'])
  assert.match(stderr, /^#1 \/adopt 1 of ada: waiting: .*\n(?:.*\n)*error BP3006: /m)
})

test('the cluster connection is closed once, even when the session cannot open', async () => {
  const closed = async (loadKey?: () => Promise<never>): Promise<number> => {
    let count = 0
    const onClose = (): void => {
      count += 1
    }
    await runInWorld(new TurnWorld(), ['diff'], {
      onClose,
      ...(loadKey === undefined ? {} : { loadKey }),
    })
    return count
  }
  const noKey = (): Promise<never> => {
    throw new Failure({
      code: 'BP1009',
      what: 'no key',
      why: 'it cannot be read',
      remedy: 'set BACKPORCH_KEY',
    })
  }
  assert.deepEqual([await closed(), await closed(noKey)], [1, 1])
})
