import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { FleetWorld } from '../../../test/fakes/fleet-world.ts'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { DEPLOYMENT, WEB } from '../../../test/fakes/turn-world.ts'

const open = (world: FleetWorld) => world.forge.proposals.filter(({ state }) => state === 'open')
const proposed = (world: FleetWorld) =>
  world.repository.names().filter((name) => name.startsWith('proposed/'))
const records = (world: FleetWorld, branch: string) =>
  world.repository
    .paths(branch)
    .flatMap((path) => /^\.drift\/records\/([^/]+)\//.exec(path)?.[1] ?? [])

test('the same rollback in many clusters is one pull request with the commits of each', async () => {
  const world = new FleetWorld(4)
  const first = world.repository.head('main')
  const older = world.clusters.map((cluster) => cluster.objects.get(WEB))
  await world.scan()
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4'),
  })
  const second = world.repository.head('main')
  world.pass()
  world.sync()
  await world.scan()
  assert.deepEqual(proposed(world), [])
  for (const index of [0, 1, 2]) {
    world.pass(7)
    const { metadata, ...object } = structuredClone(older[index]) as JsonObject & {
      metadata: JsonObject
    }
    const { managedFields: _owners, ...named } = metadata
    world
      .cluster(index)
      .put(
        appliedBy('kustomize-controller', { ...object, metadata: named }, world.cluster(index).now),
      )
  }
  await world.scan()
  const [branch = '', ...more] = proposed(world)
  assert.deepEqual(more, [])
  assert.deepEqual(records(world, branch), ['edge-01', 'edge-02', 'edge-03'])
  const [proposal] = open(world)
  assert.match(proposal?.title ?? '', /restore Deployment\/web in 3 clusters/)
  assert.match(
    proposal?.body ?? '',
    new RegExp(
      `\\*\\*Rolled back to \`${first.slice(0, 7)}\`\\*\\*: the cluster ran newer content of the package before\\.`,
    ),
  )
  for (const path of world.repository
    .paths(branch)
    .filter((one) => one.startsWith('.drift/records/'))) {
    const text = world.repository.text(branch, path) ?? ''
    assert.match(
      text,
      new RegExp(`rolledBack:\\n\\s+commit: "?${first}"?\\n\\s+seen:\\n\\s+commit: "?${second}"?`),
      path,
    )
  }
  const [sent, head] = [world.forge.writes.length, world.repository.head(branch)]
  for (let turn = 0; turn < 3; turn += 1) await world.scan()
  assert.deepEqual([world.forge.writes.length, world.repository.head(branch)], [sent, head])
  // Another cluster follows, and joins; a merge is one decision for all of them.
  world.pass()
  const { metadata, ...object } = structuredClone(older[3]) as JsonObject & { metadata: JsonObject }
  const { managedFields: _owners, ...named } = metadata
  world
    .cluster(3)
    .put(appliedBy('kustomize-controller', { ...object, metadata: named }, world.cluster(3).now))
  await world.scan()
  assert.deepEqual(records(world, branch), ['edge-01', 'edge-02', 'edge-03', 'edge-04'])
  world.merge(branch)
  world.sync()
  await world.scan()
  assert.deepEqual(
    (await world.closed())
      .map(({ spec, status }) => [
        spec.unit.cluster,
        status.outcome,
        spec.changes[0]?.rolledBack?.commit,
      ])
      .sort(),
    ['edge-01', 'edge-02', 'edge-03', 'edge-04'].map((cluster) => [cluster, 'Merged', first]),
  )
})
