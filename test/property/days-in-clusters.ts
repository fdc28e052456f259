/** Random days in the clusters: what people, syncers and controllers do there, and what cannot be read for a while. */
import { Failure } from '@backporch/kyaml/failure'
import { getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import fc from 'fast-check'
import { editedBy, withMetadata } from '../fakes/live-object.ts'
import { WEB, WEB_CONFIG, yaml } from '../fakes/turn-world.ts'
import { at, configOf, type Day, day, packagesOf, type Size } from './event-day.ts'
import { ownKey, type SyncedFleet } from './synced-fleet.ts'

const HEALTH: readonly JsonObject[] = [
  { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
  { observedGeneration: 1, replicas: 1, conditions: [] },
  {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
  },
]

export function edits(size: Size): fc.Arbitrary<Day> {
  const cluster = fc.nat({ max: size.clusters - 1 })
  const config = fc.constantFrom(...packagesOf(size).map((name) => `/ConfigMap/shop/${name}`))
  const object = fc.oneof(config, fc.constant(WEB))
  return fc.oneof(
    fc.tuple(cluster, config, fc.constantFrom('red', 'green', 'blue')).map(([index, key, color]) =>
      // A server does not even change the time of a manager that writes what is there.
      day(`${key} of ${index} is ${color} by hand`, (world) =>
        at(world, index, key, (live) =>
          getTextAt(live, 'data', 'color') === color
            ? live
            : editedBy('kubectl-edit', live, 'data.color', color, world.cluster(index).now),
        ),
      ),
    ),
    fc
      .tuple(cluster, fc.constantFrom(3, 4, 5, 9))
      .map(([index, replicas]) =>
        day(`${index} is scaled to ${replicas}`, (world) =>
          at(world, index, WEB, (live) =>
            editedBy('kubectl-scale', live, 'spec.replicas', replicas),
          ),
        ),
      ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) =>
        day(`${key} of ${index} has a label of a helper`, (world) =>
          at(world, index, key, (live) => editedBy('helper', live, 'metadata.labels.team', 'shop')),
        ),
      ),
    // Of one object only: its unit has the same syncer still.
    cluster.map((index) =>
      day(`nobody is known to own the ConfigMap of ${index}`, (world) => {
        if (world.cluster(index).objects.has(WEB))
          at(world, index, WEB_CONFIG, (live) => withMetadata(live, { managedFields: [] }))
      }),
    ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) =>
        day(`${key} of ${index} is written as it is`, (world) =>
          at(world, index, key, (live) => ({ ...live })),
        ),
      ),
    fc
      .tuple(cluster, fc.constantFrom(...HEALTH))
      .map(([index, status]) =>
        day(`the status of ${index} is ${JSON.stringify(status).slice(0, 60)}`, (world) =>
          at(world, index, WEB, (live) => ({ ...live, status })),
        ),
      ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) =>
        day(
          `${key} of ${index} is deleted`,
          (world) => void world.cluster(index).objects.delete(key),
        ),
      ),
  )
}

export const SCALER = 'autoscaling/HorizontalPodAutoscaler/shop/web'

/** With times that every one of its rounds changes. */
export function scaler(
  target: string,
  [minReplicas, maxReplicas]: readonly [number, number],
  lastScaleTime: string,
): JsonObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-of-scaler', resourceVersion: '1' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      minReplicas,
      maxReplicas,
    },
    status: { currentReplicas: minReplicas, lastScaleTime },
  }
}

export function autoscalers({ clusters }: Size): fc.Arbitrary<Day> {
  const cluster = fc.nat({ max: clusters - 1 })
  const bounds = fc.constantFrom<readonly [number, number]>([1, 4], [4, 9], [1, 10])
  return fc.oneof(
    fc
      .tuple(cluster, bounds, fc.constantFrom('web', 'web', 'web', 'other'))
      .map(([index, minMax, target]) =>
        day(`an autoscaler of ${index} scales ${target} between ${minMax.join(' and ')}`, (world) =>
          world.cluster(index).put(scaler(target, minMax, world.cluster(index).now)),
        ),
      ),
    cluster.map((index) =>
      day(
        `the autoscaler of ${index} is deleted`,
        (world) => void world.cluster(index).objects.delete(SCALER),
      ),
    ),
    cluster.map((index) =>
      day(`the autoscaler of ${index} looks`, (world) =>
        at(world, index, SCALER, (live) => ({
          ...live,
          status: { lastScaleTime: world.cluster(index).now },
        })),
      ),
    ),
  )
}

export function syncs({ clusters }: Size): fc.Arbitrary<Day> {
  return fc
    .nat({ max: clusters - 1 })
    .map((index) =>
      day(`the syncer of ${index} applies`, (world) => world.sync([world.cluster(index)])),
    )
}

/** What a syncer says in its own resource. */
export function reports(size: Size): fc.Arbitrary<Day> {
  const { syncer } = size
  if (syncer === undefined) return syncs(size)
  const cluster = fc.nat({ max: size.clusters - 1 })
  const own = fc
    .constantFrom(...(syncer === 'kpt' ? ['web'] : packagesOf(size)))
    .map((name) => ownKey(syncer, name))
  const says = fc.constantFrom<readonly [what: string, change: (live: JsonObject) => JsonObject]>(
    [
      'works',
      (live) =>
        withStatus(live, {
          conditions: conditions('Reconciling', 'True'),
          operationState: { phase: 'Running' },
        }),
    ],
    [
      'failed',
      (live) =>
        withStatus(live, {
          conditions: conditions('Ready', 'False'),
          operationState: { phase: 'Failed' },
        }),
    ],
    [
      'is done',
      (live) =>
        withStatus(live, {
          conditions: conditions('Ready', 'True'),
          operationState: { phase: 'Succeeded' },
        }),
    ],
    ['is suspended', (live) => suspended(live, true)],
    ['goes on', (live) => suspended(live, false)],
    ['is as it was', (live) => ({ ...live })],
  )
  const package_ = fc.constantFrom(...(syncer === 'kpt' ? ['web'] : packagesOf(size)))
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(cluster, own, says)
        .map(([index, key, [what, change]]) =>
          day(`${key} of ${index} ${what}`, (world) => at(world, index, key, change)),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(cluster, own)
        .map(([index, key]) =>
          day(
            `${key} of ${index} is deleted`,
            (world) => void world.cluster(index).objects.delete(key),
          ),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(cluster, package_)
        .map(([index, name]) =>
          day(`the syncer of ${index} left an object of ${name}`, (world) =>
            world.leave(world.cluster(index), name, leftOf(name)),
          ),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(cluster, package_)
        .map(([index, name]) =>
          day(
            `what the syncer of ${index} left of ${name} is gone`,
            (world) => void world.cluster(index).objects.delete(leftKey(name)),
          ),
        ),
    },
  )
}

export function leftOf(name: string): JsonObject {
  return yaml(configOf(`${name}-left`))
}

function leftKey(name: string): string {
  return `/ConfigMap/shop/${name}-left`
}

function conditions(type: string, status: string): JsonObject[] {
  return [{ type, status, reason: type }]
}

function withStatus(live: JsonObject, more: JsonObject): JsonObject {
  const { status } = live
  return { ...live, status: { ...(isJsonObject(status) ? status : {}), ...more } }
}

/** As Flux has it, and as Argo CD has it. */
export function suspended(live: JsonObject, suspend: boolean): JsonObject {
  const { spec } = live
  const annotations = { 'argocd.argoproj.io/skip-reconcile': String(suspend) }
  return withMetadata(
    { ...live, spec: { ...(isJsonObject(spec) ? spec : {}), suspend } },
    { annotations },
  )
}

const AWAY = new Failure({
  code: 'BP3001',
  what: 'cannot reach the API server',
  why: 'the connection is refused',
  remedy: 'check the network',
  retry: 'backoff',
})

/** A cluster is away, and there again; a kind may not be read, and may again. */
export function outages({ clusters, syncer }: Size): fc.Arbitrary<Day> {
  const cluster = fc.nat({ max: clusters - 1 })
  const own =
    syncer === undefined || syncer === 'kpt'
      ? []
      : [ownKey(syncer, '').split('/').slice(0, 2).join('/')]
  const kind = fc.constantFrom(
    'apps/Deployment',
    '/ConfigMap',
    'autoscaling/HorizontalPodAutoscaler',
    ...own,
  )
  return fc.oneof(
    fc
      .tuple(cluster, fc.boolean())
      .map(([index, isAway]) =>
        day(`${index} is ${isAway ? 'away' : 'there'}`, (world) => reach(world, index, isAway)),
      ),
    fc.tuple(cluster, kind, fc.constantFrom(true, true, false)).map(([index, name, isForbidden]) =>
      day(`${name} of ${index} ${isForbidden ? 'may not' : 'may'} be read`, (world) => {
        const { unreadable } = world.cluster(index)
        if (isForbidden) unreadable.add(name)
        else unreadable.delete(name)
      }),
    ),
    fc.constant(
      day('everything can be read', (world) => {
        for (const [index, { unreadable }] of world.clusters.entries()) {
          reach(world, index, false)
          unreadable.clear()
        }
      }),
    ),
  )
}

function reach(world: SyncedFleet, index: number, isAway: boolean): void {
  world.cluster(index).unreachable = isAway ? AWAY : undefined
}
