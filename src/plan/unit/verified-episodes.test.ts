import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { removedFrom } from '../../../test/fakes/live-object.ts'
import {
  CONFIG,
  proposed,
  stateOf,
  TurnWorld,
  WEB,
  WEB_CONFIG,
} from '../../../test/fakes/turn-world.ts'

test('a merged, unapplied restore waits and is not proposed again', async () => {
  const world = await proposed()
  await world.approve()
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
  for (const _turn of [1, 2]) assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1'])
})

test('a merged and applied restore is verified with its time', async () => {
  const world = await proposed()
  await world.approve()
  world.sync()
  assert.deepEqual(await stateOf(world), ['InSync', 'none'])
  assert.match(world.repository.everything(), /verifiedAt: ['"]?2026-11-21T10:0/)
})

test('a merged Restore is verified despite other drift, and its own drift is new when it returns', async () => {
  const world = await proposed()
  await world.approve()
  world.sync()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.equal(report.status.state, 'Drifted')
  assert.equal(report.spec.changes.length, 2)
  assert.equal(world.repository.names().filter((name) => name.startsWith('proposed/')).length, 1)
})

test('the same drift after a verified restore is a new episode, with the next revision', async () => {
  const world = await proposed()
  const [first = ''] = world.repository.names()
  await world.approve()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
  assert.deepEqual(world.repository.names(), ['apps/web/v1', `${first}-2`])
  const { revision } = await world.approve()
  assert.equal(revision, 'v2')
})

test('another live change while a restore waits is drift of its own', async () => {
  const world = await proposed()
  await world.approve()
  world.edit(WEB, 'spec.replicas', 9)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

test('a restore is verified by its own objects, whatever other objects are unreadable', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/web/secret.yaml': CONFIG.replace('name: web', 'name: unread'),
  })
  world.cluster.unreadable.add('/ConfigMap/shop/unread')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.approve()
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

test('a restore is not verified while its own object cannot be read', async () => {
  const world = await proposed()
  await world.approve()
  world.cluster.unreadable.add(WEB)
  await world.plan()
  world.cluster.unreadable.clear()
  assert.deepEqual(await stateOf(world), ['Applying', 'applying'])
})

test('a restore of an unread Secret is verified by its field owners', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {user: YQ==}\n'
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': secret })
  world.cluster.metadataOnly = true
  world.edit(WEB, 'spec.replicas', 5)
  world.edit('/Secret/shop/db', 'data.user', 'Yg==')
  await world.plan()
  await world.approve()
  assert.equal((await stateOf(world))[0], 'Applying')
  world.sync()
  await world.plan()
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await stateOf(world), ['Drifted', 'created'])
})

test('a decision about a path with a credential stays unverified while it is there, under any key', async () => {
  const world = new TurnWorld()
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  world.edit(WEB_CONFIG, `metadata.finalizers[="${token}"]`, token)
  await world.plan()
  await world.approve()
  await world.plan()
  assert.doesNotMatch(world.repository.everything(), /verifiedAt/)
  world.key = createRedactionKey(new Uint8Array(32).fill(9))
  await world.plan()
  assert.doesNotMatch(world.repository.everything(), /verifiedAt/)
  world.cluster.change(WEB_CONFIG, (live) => removedFrom(live, `metadata.finalizers[="${token}"]`))
  await world.plan()
  assert.match(world.repository.everything(), /verifiedAt/)
})
