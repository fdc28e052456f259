import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { InventoryWorld, KUSTOMIZE_MARKS } from '../../../test/fakes/inventory-world.ts'
import { KPTFILE } from '../../../test/fakes/turn-world.ts'
import { listNotLookedInto } from './read-unmanaged.ts'

const other = (namespace: string) => ({
  'apps/api/Kptfile': KPTFILE,
  'apps/api/a.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: api, namespace: ${namespace}}\n`,
})

async function unmanagedIn(world: InventoryWorld) {
  const { unmanaged, units } = await world.scan({ dryRun: true, unmanaged: true })
  const states = units.map((unit) => unit.state === 'planned' && unit.plan.report.status.state)
  const [found] = unmanaged
  return {
    objects: found?.objects.map(({ id }) => getResourceKey(id)),
    namespaces: found?.namespaces,
    unread: found === undefined ? undefined : listNotLookedInto(found),
    states,
  }
}

test('unmanaged objects are listed separately with their creator, and are no drift', async () => {
  const world = new InventoryWorld(other('shop'))
  world.packages = ['apps/web']
  world
    .leave('by-hand', {}, 'kubectl-create')
    .leave('synced', KUSTOMIZE_MARKS)
    .leave('made', {}, 'kube-controller-manager')
  assert.deepEqual(await unmanagedIn(world), {
    objects: ['/ConfigMap/shop/by-hand'],
    namespaces: ['shop'],
    unread: [],
    states: ['InSync'],
  })
  const { unmanaged } = await world.scan({ dryRun: true, unmanaged: true })
  assert.deepEqual(unmanaged[0]?.objects[0]?.creator.manager, 'kubectl-create')
})

test('without a request nothing is listed, and other namespaces are never listed', async () => {
  const world = new InventoryWorld().leave('by-hand', {}, 'kubectl-create')
  assert.deepEqual((await world.scan({ dryRun: true })).unmanaged, [])
  assert.deepEqual(world.questions, [])
  world.cluster.put({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', namespace: 'elsewhere' },
  })
  assert.deepEqual((await unmanagedIn(world)).objects, ['/ConfigMap/shop/by-hand'])
})

test('reports kinds that cannot be listed and packages that cannot be read', async () => {
  const world = new InventoryWorld({ 'apps/bad/Kptfile': KPTFILE, 'apps/bad/a.yaml': 'a: [1' })
  world.packages = ['apps/web']
  const refused = new Failure({
    code: 'BP3003',
    what: 'cannot list secrets',
    why: 'forbidden',
    remedy: 'allow it',
  })
  const { readInventories } = world.cluster
  world.cluster.readInventories = async (questions) =>
    (await readInventories(questions)).map((answer) =>
      answer === undefined || answer instanceof Failure ? answer : { ...answer, unread: [refused] },
    )
  const { objects, unread, states } = await unmanagedIn(world)
  assert.deepEqual([objects, states], [[], ['InSync']])
  assert.deepEqual(unread, [
    'the package apps/bad cannot be read, so the list may contain objects that it declares',
    'cannot list secrets: forbidden',
  ])
  world.cluster.readInventories = () => Promise.reject(refused)
  assert.deepEqual((await unmanagedIn(world)).unread, ['cannot list secrets: forbidden'])
})
