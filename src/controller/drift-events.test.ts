import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftEvent } from '@backporch/cluster/drift-events'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import { createDriftEvents } from './drift-events.ts'

const SECRET =
  'apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\ndata: {password: Y2FuYXJ5LWdpdA==}\n'

async function turn(world: TurnWorld): Promise<readonly DriftEvent[]> {
  return createDriftEvents(await world.scan()).get('prod') ?? []
}

test('an object gets one Event when it starts to drift and one when it is in sync again', async () => {
  const world = new TurnWorld()
  assert.deepEqual(await turn(world), [])
  world.edit(WEB, 'spec.replicas', 5)
  const [event, ...more] = await turn(world)
  assert.deepEqual(more, [])
  assert.deepEqual(event, {
    reason: 'DriftDetected',
    regarding: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    apiVersion: 'apps/v1',
    uid: 'uid-web',
    resourceVersion: event?.resourceVersion,
    note: 'spec.replicas 3 → 5 by kubectl-edit',
  })
  assert.notEqual(event?.resourceVersion, undefined)
  assert.deepEqual(await turn(world), [])
  world.edit(WEB, 'spec.replicas', 6)
  assert.deepEqual(await turn(world), [], 'it drifted before')
  world.edit(WEB, 'spec.replicas', 3)
  const [gone, ...others] = await turn(world)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [gone?.reason, gone?.regarding.name, gone?.apiVersion, gone?.uid],
    ['DriftGone', 'web', 'apps/v1', undefined],
  )
  assert.deepEqual(await turn(world), [])
})

test('unreadable clusters and objects get no Event of resolved drift', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  assert.equal((await turn(world)).length, 2)
  world.cluster.unreadable.add(WEB)
  world.edit(WEB_CONFIG, 'data.color', 'blue')
  assert.deepEqual(
    (await turn(world)).map(({ reason, regarding }) => `${reason} ${regarding.kind}`),
    ['DriftGone ConfigMap'],
  )
})

test('an Event note has at most three fields and 1,024 bytes, and no Secret value', async () => {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': SECRET })
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    world.edit(WEB_CONFIG, `data.${name}`, '€'.repeat(600))
  world.edit('/Secret/shop/login', 'data.password', 'Y2FuYXJ5LWxpdmU=')
  const events = await turn(world)
  const config = events.find(({ regarding }) => regarding.kind === 'ConfigMap')
  assert.ok(Buffer.byteLength(config?.note ?? '') <= 1_024)
  assert.equal(config?.note.match(/data\./g)?.length, 3)
  assert.match(config?.note ?? '', /; 2 more changes$/)
  const secret = events.find(({ regarding }) => regarding.kind === 'Secret')
  assert.match(secret?.note ?? '', /^data\.password •••• → •••• by kubectl-edit/)
  assert.doesNotMatch(JSON.stringify(events), /canary|Y2FuYXJ5/)
})

test('a dry run and a turn that pushed nothing create no Events', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal(createDriftEvents(await world.scan({ dryRun: true })).size, 0)
  assert.equal((await turn(world)).length, 1)
})
