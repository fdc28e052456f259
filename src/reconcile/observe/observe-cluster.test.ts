import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { idOf } from '../../../test/fakes/memory-cluster.ts'
import {
  CONFIG,
  KPTFILE,
  TurnWorld,
  WEB,
  WEB_CONFIG,
  yaml,
} from '../../../test/fakes/turn-world.ts'

const INVENTORY = `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata: {name: inv, namespace: shop, labels: {cli-utils.sigs.k8s.io/inventory-id: abc}}
`
const LEFT_OVER = CONFIG.replace('name: web', 'name: left-over')

/** A world whose inventory has the given objects besides those of the package. */
function inventoried(
  keys: readonly string[],
  files: { readonly [path: string]: string } = {},
): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/web/resourcegroup.yaml': INVENTORY,
    ...files,
  })
  world.cluster.inventory = {
    source: 'ResourceGroup shop/inv',
    resources: [WEB, WEB_CONFIG, ...keys].map(idOf),
  }
  return world
}

async function observedIn(
  world: TurnWorld,
): Promise<{ changes: string[]; incomplete: string[]; state: string }> {
  const { report } = await world.plan()
  const { changes } = report.spec
  return {
    changes: changes.map(({ change, ref }) => `${change} ${ref.kind}/${ref.name}`),
    incomplete: (report.status.incomplete ?? []).map(
      ({ code, ref }) => `${code} ${ref?.kind ?? '-'}`,
    ),
    state: report.status.state,
  }
}

test('a live inventory object that git does not declare is unexpected', async () => {
  const world = inventoried(['/ConfigMap/shop/left-over', '/ConfigMap/shop/gone'])
  world.cluster.put(appliedBy(world.syncer, yaml(LEFT_OVER)))
  assert.deepEqual(await observedIn(world), {
    changes: ['unexpected ConfigMap/left-over'],
    incomplete: [],
    state: 'Drifted',
  })
})

test('an unreadable inventory object is reported as unread, not unexpected', async () => {
  const world = inventoried(['/ConfigMap/shop/left-over'])
  world.cluster.unreadable.add('/ConfigMap/shop/left-over')
  assert.deepEqual(await observedIn(world), {
    changes: [],
    incomplete: ['BP3005 ConfigMap'],
    state: 'Unknown',
  })
})

test('an inventory object without an answer from the adapter proves nothing', async () => {
  const world = inventoried(['/ConfigMap/shop/left-over'])
  const { readLive } = world.cluster
  world.cluster.readLive = async (wanted) =>
    new Map(
      [...(await readLive.call(world.cluster, wanted))].filter(
        ([key]) => !key.endsWith('left-over'),
      ),
    )
  assert.deepEqual(await observedIn(world), {
    changes: [],
    incomplete: ['BP9001 ConfigMap'],
    state: 'Unknown',
  })
})

test('a declared object of unknown scope is not unexpected in the default namespace', async () => {
  const world = inventoried(['x/Unserved/default/thing'], {
    'apps/web/thing.yaml': 'apiVersion: x/v1\nkind: Unserved\nmetadata: {name: thing}\n',
  })
  world.cluster.objects.delete('x/Unserved//thing')
  world.cluster.put(
    appliedBy(world.syncer, {
      apiVersion: 'x/v2',
      kind: 'Unserved',
      metadata: { name: 'thing', namespace: 'default' },
    }),
  )
  assert.deepEqual(await observedIn(world), {
    changes: [],
    incomplete: ['BP3009 Unserved'],
    state: 'Unknown',
  })
})

test('an unreadable inventory is reported and leaves other findings unchanged', async () => {
  const world = inventoried([])
  const refused = new Failure({
    code: 'BP3003',
    what: 'cannot get',
    why: 'forbidden',
    remedy: 'grant get',
  })
  world.cluster.readInventories = async (refs) => refs.map(() => refused)
  assert.deepEqual(await observedIn(world), {
    changes: [],
    incomplete: ['BP3003 -'],
    state: 'Unknown',
  })
})

test('an object of an unserved kind is unread, never missing', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/web/thing.yaml':
      'apiVersion: x/v1\nkind: Unserved\nmetadata: {name: thing, namespace: shop}\n',
  })
  world.cluster.objects.delete('x/Unserved/shop/thing')
  assert.deepEqual(await observedIn(world), {
    changes: [],
    incomplete: ['BP3009 Unserved'],
    state: 'Unknown',
  })
})

test('a package that does not render does not stop another one', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/bad/Kptfile': KPTFILE,
    'apps/bad/a.yaml': 'a: [1',
  })
  world.edit(WEB, 'spec.replicas', 5)
  const { units } = await world.scan()
  assert.deepEqual(
    units.map((unit) => unit.state),
    ['failed', 'planned'],
  )
  assert.match(world.repository.names().join(), /proposed\/apps\/web/)
})

test('a cluster that no placement names is a failure, not "no drift"', async () => {
  const placement =
    'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: a}\nspec: {clusters: [staging], packages: ["**"]}\n'
  const world = new TurnWorld('{mode: Propose}', { '.drift/placement.yaml': placement })
  await assert.rejects(
    world.plan(),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP1011',
  )
})
