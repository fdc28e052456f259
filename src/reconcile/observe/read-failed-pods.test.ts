/** The health of a unit whose pods fail, over turns of a repository and a cluster in memory. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { forbidden } from '../../../test/fakes/memory-cluster.ts'
import { KPTFILE, TurnWorld, yaml } from '../../../test/fakes/turn-world.ts'

const FILE = 'apps/db/db.yaml'

function manifest(kind: string, apiVersion = 'apps/v1'): string {
  return `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: db, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: app, image: "db:1"}]}
`
}

function worldWith(text: string, status: JsonObject = { replicas: 1 }): TurnWorld {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/db/Kptfile': KPTFILE.replace('web', 'db'),
    [FILE]: text,
  })
  const live = appliedBy(world.syncer, yaml(text))
  world.cluster.put({ ...live, status })
  return world
}

function podOf(kind: string, uid: string, status: JsonObject, name = 'db-0'): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      labels: { app: 'db' },
      creationTimestamp: '2026-11-21T09:00:00Z',
      ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'db', uid, controller: true }],
    },
    status,
  }
}

const LOOPING = {
  phase: 'Running',
  containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
}

function uidOf({ cluster }: TurnWorld, key: string): string {
  return String((cluster.objects.get(key)?.['metadata'] as JsonObject | undefined)?.['uid'] ?? '')
}

async function healthOf(
  world: TurnWorld,
): Promise<{ readonly words: readonly string[]; readonly notes: readonly string[] }> {
  const { units } = await world.scan()
  const unit = units.find((each) => each.state === 'planned' && each.unit.packagePath === 'apps/db')
  assert.ok(unit?.state === 'planned')
  return {
    words: unit.observation.health.map(({ status, health }) => `${status}: ${health}`),
    notes: unit.notes.filter(({ cause }) => cause === 'not-observed').map(({ text }) => text),
  }
}

const FAILED = 'Failed: 1 pods have failed (db-0: Containers in CrashLoop state: app)'

describe('a workload in progress', () => {
  for (const kind of ['StatefulSet', 'ReplicaSet'])
    it(`of kind ${kind} is failed while one of its pods crash-loops`, async () => {
      const world = worldWith(manifest(kind))
      const uid = uidOf(world, `apps/${kind}/shop/db`)
      assert.match((await healthOf(world)).words.join(), /^InProgress: /)
      world.cluster.put(podOf(kind, uid, LOOPING))
      assert.deepEqual((await healthOf(world)).words, [FAILED])
      world.cluster.put(
        podOf(kind, uid, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      )
      assert.match((await healthOf(world)).words.join(), /^InProgress: /)
    })

  it('of another kind is evaluated by its own status, as by kpt', async () => {
    for (const [kind, apiVersion] of [
      ['Deployment', 'apps/v1'],
      ['DaemonSet', 'apps/v1'],
    ] as const) {
      const world = worldWith(manifest(kind, apiVersion))
      world.cluster.put(podOf(kind, uidOf(world, `apps/${kind}/shop/db`), LOOPING))
      assert.match((await healthOf(world)).words.join(), /^InProgress: /, kind)
    }
    const job = worldWith(manifest('Job', 'batch/v1'), {
      startTime: '2026-11-21T09:00:00Z',
      failed: 1,
      active: 1,
    })
    job.cluster.put(podOf('Job', uidOf(job, 'batch/Job/shop/db'), LOOPING))
    assert.match((await healthOf(job)).words.join(), /^Current: Job in progress/)
  })

  it('does not fail because of a foreign, evicted or terminating pod', async () => {
    const world = worldWith(manifest('StatefulSet'))
    const uid = uidOf(world, 'apps/StatefulSet/shop/db')
    world.cluster.put(podOf('ReplicaSet', 'other', LOOPING, 'stranger'))
    world.cluster.put(podOf('StatefulSet', uid, { phase: 'Failed', reason: 'Evicted' }, 'db-1'))
    const ending = podOf('StatefulSet', uid, LOOPING, 'db-2')
    const metadata = {
      ...(ending['metadata'] as JsonObject),
      deletionTimestamp: '2026-11-21T09:00:00Z',
    }
    world.cluster.put({ ...ending, metadata })
    assert.match((await healthOf(world)).words.join(), /^InProgress: /)
  })

  it('stays in progress with a note when its pods cannot be read', async () => {
    const world = worldWith(manifest('StatefulSet'))
    const read = world.cluster.readInventories.bind(world.cluster)

    world.cluster.readInventories = async (refs) =>
      'listing' in (refs[0] ?? {}) ? refs.map(() => forbidden('Pod')) : read(refs)
    const { words, notes } = await healthOf(world)
    assert.match(words.join(), /^InProgress: /)
    assert.deepEqual(notes, [
      'its pods cannot be read, so failed pods are not detected: it is forbidden',
    ])
  })
})

describe('a ready workload', () => {
  it('causes no request for its pods', async () => {
    const status = {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      fullyLabeledReplicas: 1,
    }
    const world = worldWith(manifest('ReplicaSet'), status)
    const asked: string[] = []
    const read = world.cluster.readInventories.bind(world.cluster)
    world.cluster.readInventories = async (refs) => {
      asked.push(
        ...refs.flatMap((ref) => ('listing' in ref ? ref.listing.map(({ kind }) => kind) : [])),
      )
      return read(refs)
    }
    assert.match((await healthOf(world)).words.join(), /^Current: /)
    assert.ok(!asked.includes('Pod'))
  })
})
