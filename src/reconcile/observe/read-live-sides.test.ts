import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InventoryQuestion } from '@backporch/cluster/cluster'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import type { InventoryRef } from '@backporch/kyaml/resource'
import { MemoryCluster } from '../../../test/fakes/memory-cluster.ts'
import { readLiveSides } from './read-live-sides.ts'

const signal = new AbortController().signal

/** Answers with a Deployment whose apiVersion is the wanted one, and keeps what was asked. */
class RequestedCluster extends MemoryCluster {
  readonly requested: string[][] = []
  readonly kinds: string[] = []
  readonly inventories: (readonly InventoryQuestion[])[] = []

  override findServedKind(apiVersion: string, kind: string) {
    this.kinds.push(`${apiVersion} ${kind}`)
    return super.findServedKind(apiVersion, kind)
  }

  override async readLive(wanted: Parameters<MemoryCluster['readLive']>[0]) {
    this.requested.push(wanted.map(({ id, apiVersion }) => `${apiVersion} ${id.name}`))
    for (const { id, apiVersion } of wanted)
      this.put({
        apiVersion,
        kind: id.kind,
        metadata: { name: id.name, namespace: id.namespace },
        spec: {},
      })
    return super.readLive(wanted)
  }

  override async readInventories(
    refs: readonly InventoryQuestion[],
  ): Promise<readonly (Failure | undefined)[]> {
    this.inventories.push(refs)
    throw new Failure({ code: 'BP3005', what: 'cannot list', why: 'it broke', remedy: 'wait' })
  }
}

/** @param objects apiVersion, name, and a namespace that is not `shop`: `-` for none */
function packageOf(
  objects: readonly string[],
  inventory?: InventoryRef,
): { readonly desired: DesiredSet } {
  const resources = objects.map((each, document) => {
    const [apiVersion = '', name = '', place = 'shop'] = each.split(' ')
    const namespace = place === '-' ? '' : place
    const id = { group: 'apps', kind: 'Deployment', namespace, name }
    const object = {
      apiVersion,
      kind: 'Deployment',
      metadata: { name, ...(namespace === '' ? {} : { namespace }) },
    }
    return {
      id,
      apiVersion,
      object,
      location: { path: 'a.yaml', document, item: undefined, line: 1 },
    }
  })
  return { desired: { resources, inventory, pipeline: 'none', notes: [] } }
}

test('objects of several packages are read in one batch, and each package gets its own', async () => {
  const cluster = new RequestedCluster()
  const sides = await readLiveSides(
    cluster,
    'default',
    [packageOf(['apps/v1 a', 'apps/v1 b']), packageOf(['apps/v1 c'])],
    signal,
  )
  assert.deepEqual(cluster.requested, [['apps/v1 a', 'apps/v1 b', 'apps/v1 c']])
  assert.deepEqual(cluster.kinds, ['apps/v1 Deployment'])
  assert.deepEqual(
    sides.map(({ side }) => [...side.live.keys()]),
    [['apps/Deployment/shop/a', 'apps/Deployment/shop/b'], ['apps/Deployment/shop/c']],
  )
})

test('an object that two packages use in two versions is read in both', async () => {
  const cluster = new RequestedCluster()
  const packages = [
    packageOf(['apps/v1 a']),
    packageOf(['apps/v1beta1 a']),
    packageOf(['apps/v1 a', 'apps/v1 b']),
  ]
  const sides = await readLiveSides(cluster, 'default', packages, signal)
  assert.deepEqual(cluster.requested, [['apps/v1 a', 'apps/v1 b'], ['apps/v1beta1 a']])
  assert.deepEqual(
    sides.map(({ side }) => {
      const state = side.live.get('apps/Deployment/shop/a')
      return state?.state === 'present' ? state.object['apiVersion'] : state?.state
    }),
    ['apps/v1', 'apps/v1beta1', 'apps/v1'],
  )
})

test('inventories are read once, and a failure is reported to each package with one', async () => {
  const cluster = new RequestedCluster()
  const ref = (name: string): InventoryRef => ({ namespace: 'shop', name, id: undefined })
  const packages = [
    packageOf(['apps/v1 a'], ref('one')),
    packageOf(['apps/v1 b']),
    packageOf(['apps/v1 c'], ref('two')),
  ]
  const sides = await readLiveSides(cluster, 'default', packages, signal)
  assert.deepEqual(cluster.inventories, [[ref('one'), ref('two')]])
  assert.deepEqual(
    sides.map(({ side }) =>
      side.inventory instanceof Failure ? side.inventory.code : side.inventory,
    ),
    ['BP3005', undefined, 'BP3005'],
  )
})

test('packages without objects cause no cluster request', async () => {
  const cluster = new RequestedCluster()
  const [only] = await readLiveSides(cluster, 'default', [packageOf([])], signal)
  assert.deepEqual([cluster.requested, cluster.inventories, only?.side.live.size], [[], [], 0])
})

test('an object declared with and without the default namespace is reported at both places and not read', async () => {
  const cluster = new RequestedCluster()
  const objects = packageOf(['apps/v1 a -', 'apps/v1 b -', 'apps/v1 a default', 'apps/v1 a'])
  const [only] = await readLiveSides(cluster, 'default', [objects], signal)
  assert.deepEqual(cluster.requested, [['apps/v1 b', 'apps/v1 a']])
  assert.deepEqual(
    only?.side.resources.map((each) =>
      'failure' in each
        ? `${each.failure.code} ${each.failure.where} ${each.failure.why}`
        : 'placed',
    ),
    [
      'BP1113 a.yaml:1 (document 1) Deployment default/a is also declared at a.yaml:1 (document 3)',
      'placed',
      'BP1113 a.yaml:1 (document 3) Deployment default/a is also declared at a.yaml:1 (document 1)',
      'placed',
    ],
  )
})
