import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editedBy, withMetadata } from '../../../test/fakes/live-object.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { TurnCache } from './turn-cache.ts'

/** Somebody changed replicas, and at each of the first `writes` dry runs a controller writes its annotation just before. */
function busyWorld(writes: number): {
  readonly world: TurnWorld
  readonly requested: () => number
} {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const { cluster } = world
  const predict = cluster.predict.bind(cluster)
  let requested = 0
  cluster.predict = async (resource, manager) => {
    requested += 1
    if (requested <= writes) {
      cluster.change(WEB, (live) => {
        const edited = editedBy(
          'kube-controller-manager',
          live,
          'metadata.annotations["deployment.kubernetes.io/revision"]',
          String(requested),
        )
        return withMetadata(edited, { resourceVersion: String(100 + requested) })
      })
    }
    return predict(resource, manager)
  }
  return { world, requested: () => requested }
}

test("a controller's write between the read and the dry run is no drift", async () => {
  for (const writes of [1, 2]) {
    const { world, requested } = busyWorld(writes)
    const { report } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path }) => path),
      ['spec.replicas'],
    )
    assert.equal(requested(), writes + 1)
  }
})

test('an object that keeps changing gets three dry runs, and its drift is still reported', async () => {
  const { world, requested } = busyWorld(1_000)
  const { report } = await world.plan()
  assert.ok(report.spec.changes.some(({ path }) => path === 'spec.replicas'))
  assert.equal(requested(), 3)
})

test('unchanged drift gets one dry run over all turns, plus one per version that changed meanwhile', async () => {
  for (const [writes, first] of [
    [0, 1],
    [1, 2],
    [3, 4],
  ] as const) {
    const { world, requested } = busyWorld(writes)
    const between = new TurnCache()
    const plans = [
      await world.plan({ between }),
      await world.plan({ between }),
      await world.plan({ between }),
    ]
    assert.equal(requested(), first)
    const last = plans.at(-1)
    assert.deepEqual(
      last?.report.spec.changes.map(({ path }) => path),
      (await world.plan()).report.spec.changes.map(({ path }) => path),
    )
  }
})
