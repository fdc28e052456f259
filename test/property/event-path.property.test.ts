/**
 * Turns about what changes name reach what turns about everything reach: two fleets live through the same random days, one reconciled by events,
 * the other by turns about everything. At the end both have the same branches, reports and proposals.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/text/json.ts'
import { EventPath, wholeTurn } from '../fakes/event-path.ts'
import type { FleetWorld } from '../fakes/fleet-world.ts'
import { appliedBy, editedBy } from '../fakes/live-object.ts'
import type { MemoryWatch } from '../fakes/memory-watch.ts'
import { CONFIG, DEPLOYMENT, WEB, WEB_CONFIG, yaml } from '../fakes/turn-world.ts'
import { beginFleet, type Day, days, type Fault, faults, type Size, staleFaults } from './random-events.ts'

/** Units wait by the monotonic clock: it goes as the fleets' time does. */
let elapsed = 0
const real = performance.now.bind(performance)
performance.now = () => real() + elapsed

const RUNS = Number(process.env['BACKPORCH_EVENT_RUNS'] ?? 15)

interface Event extends Day {
  readonly fault: Fault | undefined
}

/** Without times, which depend on when a turn ran, without the ids of commits, which have times in them, and without counts of Pods, whose changes are no change of the health. */
function timeless(text: string): string {
  return text
    .replace(/^ *seenAt: .*\n/gm, '')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/\b20\d{6}-(?=[0-9a-f]{8})/g, 'DAY-')
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'TIME')
    .replace(/"?\b[0-9a-f]{40}\b"?|\b[0-9a-f]{7}\b/g, 'COMMIT')
    .replace(/(?:content:|-) "?[0-9a-f]{16}"?$/gm, 'CONTENT')
    .replace(/Replicas: \d+\/\d+/g, 'Replicas: some')
}

function filesOf({ repository }: FleetWorld, branch: string): unknown {
  return repository.paths(branch).map((path) => [timeless(path), timeless(repository.text(branch, path) ?? '')])
}

/** Reports only: episodes that were opened and closed between two turns are in one of both alone. */
function stateOf(world: FleetWorld): unknown {
  const { repository, forge } = world
  return {
    branches: repository.names().map((name) => [name, filesOf(world, name)]),
    reports: (filesOf(world, 'drift-ledger') as [string, string][]).filter(([path]) => !path.includes('/closed/')),
    proposals: forge.proposals
      .filter(({ state }) => state === 'open')
      .map(({ ref, title, body, labels, draft }) => [ref, timeless(title), timeless(body), labels, draft])
      .sort(),
  }
}

/** Without what depends on when a difference was first seen: the episode, and what was written about it meanwhile. */
function presentOf(world: FleetWorld): unknown {
  const { repository } = world
  const reports = repository.paths('drift-ledger').filter((path) => path.endsWith('/report.yaml'))
  return {
    branches: repository
      .names()
      .filter((name) => name.startsWith('proposed/'))
      .map((name) => [
        name.replace(/[^/]*$/, ''),
        (filesOf(world, name) as [string, string][])
          .filter(([path]) => path.startsWith('apps/'))
          .map(([path, text]) => [path, text.replace(/\bdrift-[0-9a-f]{8}(?:-\d+)?\b/g, 'EPISODE')]),
      ]),
    reports: reports.map((path) => {
      const { spec, status } = JSON.parse(JSON.stringify(yaml(timeless(repository.text('drift-ledger', path) ?? ''))))
      const { fingerprint, changes, observed } = spec
      const { state, lifecycle, plan, health, held, setAside } = status
      return { path, fingerprint, changes, syncer: observed.syncer, state, lifecycle, plan, health, held, setAside }
    }),
  }
}

function metadataOf(world: FleetWorld): JsonObject {
  return world.cluster(0).objects.get(WEB)?.['metadata'] as JsonObject
}

/** Rounds after which nothing is under way. */
const QUIET = 5

/** Both fleets in step, a minute for each turn. */
class Pair {
  readonly world: FleetWorld
  readonly other: FleetWorld
  readonly path: EventPath

  constructor(size: Size) {
    this.world = beginFleet(size)
    this.other = beginFleet(size)
    this.path = new EventPath(this.world)
  }

  /** @returns the watch of the first cluster */
  async begin(): Promise<MemoryWatch> {
    await this.path.open()
    await this.rounds(2)
    const [watch] = this.path.watches.values()
    assert.ok(watch)
    return watch
  }

  /** The syncers of both fleets apply. */
  sync(): void {
    for (const each of [this.world, this.other]) each.sync()
  }

  async rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      this.pass()
      await this.path.round()
      await wholeTurn(this.other)
    }
  }

  /** As the watch does after an error: everything is listed again. */
  async repair(): Promise<void> {
    for (const watch of this.path.watches.values()) watch.relist()
    await this.rounds(QUIET)
  }

  async live({ step, fault, isInGit }: Event): Promise<void> {
    if (isInGit && fault !== undefined) await this.repair()
    for (const each of [this.world, this.other]) step(each)
    fault?.fault(this.path)
    await this.rounds(fault === undefined ? QUIET : 1)
    if (fault === undefined) this.assertSame()
  }

  assertSame(): void {
    assert.deepEqual(this.path.failures, [])
    assert.deepEqual(stateOf(this.world), stateOf(this.other))
  }

  assertPresentSame(): void {
    assert.deepEqual(this.path.failures, [])
    assert.deepEqual(presentOf(this.world), presentOf(this.other))
  }

  private pass(): void {
    elapsed += 60_000
    for (const each of [this.world, this.other]) each.pass()
  }
}

async function compare(size: Size, events: readonly Event[]): Promise<EventPath> {
  const pair = new Pair(size)
  await pair.begin()
  for (const event of events) await pair.live(event)
  await pair.repair()
  if (events.some(({ fault }) => fault !== undefined)) pair.assertPresentSame()
  else pair.assertSame()
  return pair.path
}

function property(size: Size, fault: fc.Arbitrary<Fault | undefined>): () => Promise<void> {
  const event = fc
    .record({ day: days(size), fault })
    .map(({ day, fault: one }) => ({ ...day, fault: one, [fc.toStringMethod]: () => `${day.name}; ${one?.name ?? ''}` }))
  return () =>
    fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 10 }), async (events) => void (await compare(size, events))),
      { numRuns: RUNS },
    )
}

test('an older state that is told late is not the last word on an object', async () => {
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

test('a health that changes with the content of an object in sync is reported', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  const status = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] }
  for (const more of [{ metadata: { ...metadataOf(pair.world), managedFields: [] } }, { status }]) {
    for (const each of [pair.world, pair.other]) each.cluster(0).change(WEB, (live) => ({ ...live, ...more }))
    await pair.rounds(QUIET)
  }
  // Owners and no status.
  pair.sync()
  await pair.rounds(QUIET)
  pair.assertSame()
})

test('a merged decision that the syncer does not follow is reported beside other drift', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  for (const each of [pair.world, pair.other]) each.cluster(0).objects.delete(WEB)
  await pair.rounds(QUIET)
  for (const each of [pair.world, pair.other]) each.merge(each.repository.names()[0] ?? '')
  await pair.rounds(QUIET)
  for (const each of [pair.world, pair.other])
    each.cluster(0).change(WEB_CONFIG, (live) => editedBy('kubectl-edit', live, 'data.color', 'red'))
  await pair.rounds(4 * QUIET)
  pair.assertSame()
})

test('another syncer that applies the same content is reported', async () => {
  const pair = new Pair({ clusters: 1, packages: 1 })
  await pair.begin()
  for (const each of [pair.world, pair.other])
    for (const manifest of [DEPLOYMENT, CONFIG]) each.cluster(0).put(appliedBy('argocd-controller', yaml(manifest)))
  await pair.rounds(QUIET)
  pair.assertSame()
})

test('one package in one cluster, of which every change is told', property({ clusters: 1, packages: 1 }, fc.constant(undefined)))
test('three packages in two clusters, of which every change is told', property({ clusters: 2, packages: 3 }, fc.constant(undefined)))
test('changes are lost, repeated and told in another order, and the watch begins again', property({ clusters: 2, packages: 2 }, faults))
test('older states of objects are told after newer ones', property({ clusters: 1, packages: 2 }, staleFaults))
