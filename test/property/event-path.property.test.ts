/**
 * Turns about what changes name reach what turns about everything reach: two fleets live through the same random days, one reconciled by events,
 * the other by turns about everything. At the end both have the same branches, reports and proposals.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import type { FleetWorld } from '../fakes/fleet-world.ts'
import { appliedBy, editedBy } from '../fakes/live-object.ts'
import { CONFIG, DEPLOYMENT, policyText, WEB, WEB_CONFIG, yaml } from '../fakes/turn-world.ts'
import * as fc from '../seeds/fast-check.ts'
import { leftOf, SCALER, scaler, suspended } from './days-in-clusters.ts'
import { IN_HOURS } from './days-in-git.ts'
import { at, type Day, type Size } from './event-day.ts'
import { compare, Pair, QUIET } from './fleet-pair.ts'
import { days, type Fault, faults, staleFaults } from './random-events.ts'
import { ownKey, type SyncerName } from './synced-fleet.ts'

const RUNS = 15

function metadataOf(world: FleetWorld): JsonObject {
  return world.cluster(0).objects.get(WEB)?.['metadata'] as JsonObject
}

function property(
  counts: Omit<Size, 'syncer'>,
  fault: fc.Arbitrary<Fault | undefined>,
): () => Promise<void> {
  const fleet = fc
    .constantFrom<SyncerName | undefined>(undefined, 'flux', 'argo', 'kpt')
    .chain((syncer) => {
      const size = { ...counts, syncer }
      const event = fc.record({ day: days(size), fault }).map(({ day, fault: one }) => ({
        ...day,
        fault: one,
        [fc.toStringMethod]: () => `${day.name}; ${one?.name ?? ''}`,
      }))
      return fc.record({
        size: fc.constant(size),
        events: fc.array(event, { minLength: 3, maxLength: 10 }),
      })
    })
  return () =>
    fc.assert(
      fc.asyncProperty(fleet, async ({ size, events }) => void (await compare(size, events))),
      { numRuns: RUNS },
    )
}

test('a stale event that arrives late does not override the current state of an object', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  const [cluster, watch] = [pair.world.cluster(0), await pair.begin()]
  pair.sync()
  await pair.rounds(1)
  const old = watch.told.findLast(({ key }) => key === WEB_CONFIG)
  assert.ok(old)
  for (const each of [cluster, pair.other.cluster(0)])
    each.change(WEB_CONFIG, (live) => editedBy('kubectl-edit', live, 'data.color', 'red'))
  await pair.rounds(3)
  watch.waiting.push(old)
  await pair.rounds(2)
  // The object is as the old state was.
  pair.sync()
  await pair.rounds(QUIET)
  pair.assertSame()
})

test('reports a health that changes with the content of an object in sync', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  const status = {
    conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
  }
  for (const more of [{ metadata: { ...metadataOf(pair.world), managedFields: [] } }, { status }]) {
    for (const each of [pair.world, pair.other])
      each.cluster(0).change(WEB, (live) => ({ ...live, ...more }))
    await pair.rounds(QUIET)
  }
  // Owners and no status.
  pair.sync()
  await pair.rounds(QUIET)
  pair.assertSame()
})

test('reports a merged decision that the syncer does not follow next to other drift', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  for (const each of [pair.world, pair.other]) each.cluster(0).objects.delete(WEB)
  await pair.rounds(QUIET)
  for (const each of [pair.world, pair.other]) each.merge(each.repository.names()[0] ?? '')
  await pair.rounds(QUIET)
  for (const each of [pair.world, pair.other])
    each
      .cluster(0)
      .change(WEB_CONFIG, (live) => editedBy('kubectl-edit', live, 'data.color', 'red'))
  await pair.rounds(4 * QUIET)
  pair.assertSame()
})

test('reports another syncer that applies the same content', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  for (const each of [pair.world, pair.other])
    for (const manifest of [DEPLOYMENT, CONFIG])
      each.cluster(0).put(appliedBy('argocd-controller', yaml(manifest)))
  await pair.rounds(QUIET)
  pair.assertSame()
})

const scaled: Day['step'] = (world) =>
  at(world, 0, WEB, (live) => editedBy('kubectl-scale', live, 'spec.replicas', 5))

const inHours: Day['step'] = (world) =>
  void world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(IN_HOURS) })

/** What turns about everything reported, and turns about what changes named did not: steps, each with quiet rounds after it, and minutes that pass at the end. */
const CASES: readonly (readonly [
  name: string,
  syncer: SyncerName | undefined,
  steps: readonly Day['step'][],
  minutes?: number,
])[] = [
  [
    'that the syncer of a package with drift is suspended',
    'argo',
    [scaled, (world) => at(world, 0, ownKey('argo', 'web'), (own) => suspended(own, true))],
  ],
  [
    'that the syncer of a package with drift is readable again',
    'flux',
    [
      scaled,
      ({ clusters: [cluster] }) =>
        cluster?.unreadable.add('kustomize.toolkit.fluxcd.io/Kustomization'),
      ({ clusters: [cluster] }) => cluster?.unreadable.clear(),
    ],
  ],
  [
    'an object newly listed in the kpt inventory',
    'kpt',
    [
      (world) => world.leave(world.cluster(0), 'web', leftOf('web')),
      ({ clusters: [cluster] }) => cluster?.objects.delete(ownKey('kpt', 'web')),
      (world) => world.sync(),
    ],
  ],
  [
    'that an autoscaler no longer sets the replicas',
    undefined,
    [
      (world) => world.cluster(0).put(scaler('web', [1, 9], '')),
      scaled,
      ({ clusters: [cluster] }) => cluster?.objects.delete(SCALER),
    ],
  ],
  [
    'that an autoscaler now scales another object',
    undefined,
    [
      (world) => world.cluster(0).put(scaler('web', [1, 9], '')),
      scaled,
      (world) => world.cluster(0).put(scaler('other', [1, 9], '')),
    ],
  ],
  [
    'drift whose silence ends',
    undefined,
    [inHours, scaled, (world) => world.close(world.repository.names()[0] ?? '')],
    130,
  ],
  ['that a proposal waits for a long time', undefined, [inHours, scaled], 130],
]

for (const [name, syncer, steps, minutes = 0] of CASES) {
  test(`${name} is reported`, async () => {
    const pair = new Pair({ clusters: 1, packages: 1, syncer })
    await pair.begin()
    for (const step of steps) {
      for (const each of [pair.world, pair.other]) step(each)
      await pair.rounds(QUIET)
    }
    pair.pass(minutes)
    await pair.rounds(QUIET)
    pair.assertSame()
  })
}

test(
  'one package in one cluster with every change delivered',
  property({ clusters: 1, packages: 1 }, fc.constant(undefined)),
)
test(
  'three packages in two clusters with every change delivered',
  property({ clusters: 2, packages: 3 }, fc.constant(undefined)),
)
test(
  'changes are lost, repeated and reordered, and the watch restarts',
  property({ clusters: 2, packages: 2 }, faults),
)
test(
  'stale states of objects arrive after newer ones',
  property({ clusters: 1, packages: 2 }, staleFaults),
)
