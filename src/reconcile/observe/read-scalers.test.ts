import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterIdentity, ObjectList } from '@backporch/cluster/cluster'
import { MemoryCluster } from '../../../test/fakes/memory-cluster.ts'
import { driftBy, type Edit } from '../../../test/fakes/noise-samples.ts'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import type { Scalers } from '../../drift/noise/scaler.ts'
import { readScalers } from './read-scalers.ts'

const REPLICAS: Edit = {
  of: 'apps/v1 Deployment shop/web',
  at: 'spec.replicas',
  git: 3,
  live: 5,
  by: 'x',
}
const LABEL: Edit = {
  of: 'apps/v1 Deployment shop/web',
  at: 'metadata.labels.a',
  live: '1',
  by: 'x',
}
const { signal } = new AbortController()

class CountingCluster extends MemoryCluster {
  readonly lists: string[] = []

  override async list(group: string, kind: string): Promise<ObjectList> {
    this.lists.push(`${group}/${kind}`)
    return super.list(group, kind)
  }
}

function cluster(): CountingCluster {
  const created = new CountingCluster()
  const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  created.put({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: reference, maxReplicas: 9 },
  })
  return created
}

async function read(
  from: MemoryCluster,
  edits: readonly Edit[],
  identity?: ClusterIdentity,
): Promise<Scalers> {
  const verdict = { items: edits.map(driftBy) } as unknown as ObjectVerdict
  return readScalers(from, identity ?? (await from.identify()), [verdict], signal)
}

test('autoscalers are read only if a difference may come from one, and only of the matching kinds', async () => {
  const from = cluster()
  assert.deepEqual(await read(from, [LABEL]), { all: [], unread: new Map() })
  assert.deepEqual(from.lists, [])
  const { all, unread } = await read(from, [REPLICAS])
  assert.deepEqual(from.lists, ['autoscaling/HorizontalPodAutoscaler', 'keda.sh/ScaledObject'])
  assert.deepEqual([all.length, unread.size], [1, 0])
})

test('all packages of one cluster observation share the autoscaler lists', async () => {
  const from = cluster()
  const identity = await from.identify()
  await Promise.all([read(from, [REPLICAS], identity), read(from, [REPLICAS], identity)])
  assert.deepEqual(from.lists, ['autoscaling/HorizontalPodAutoscaler', 'keda.sh/ScaledObject'])
  await read(from, [REPLICAS])
  assert.equal(from.lists.length, 4)
})

test('an unserved kind has no autoscalers; a forbidden or partly recorded kind is unknown', async () => {
  const from = cluster()
  from.unreadable.add('autoscaling/HorizontalPodAutoscaler')
  const { all, unread } = await read(from, [REPLICAS])
  assert.deepEqual([all, [...unread]], [[], [['hpa', 'it is forbidden']]])
  const part = cluster()
  const { list } = part
  part.list = async (group, kind) => ({ ...(await list.call(part, group, kind)), complete: false })
  const some = await read(part, [REPLICAS])
  assert.equal(some.all.length, 1)
  assert.match(some.unread.get('hpa') ?? '', /does not say that it has all/)
})
