/** Two fleets that live through the same days: one is reconciled by events, the other by turns about everything. */
import assert from 'node:assert/strict'
import { getTestContext, mock } from 'node:test'
import { EventPath, wholeTurn } from '../fakes/event-path.ts'
import type { FleetWorld } from '../fakes/fleet-world.ts'
import type { MemoryWatch } from '../fakes/memory-watch.ts'
import { yaml } from '../fakes/turn-world.ts'
import { beginFleet, type Day, type Size } from './event-day.ts'
import type { Fault } from './random-events.ts'
import type { SyncedFleet } from './synced-fleet.ts'

/** Milliseconds of the fleets' time. */
let elapsed = 0
let isMoved = false

/** Units wait by the monotonic clock: until the test ends it is the fleets' time, and stands still while they work. */
function useFleetTime(): void {
  const context = getTestContext()
  assert.ok(context !== undefined && 'after' in context)
  if (isMoved) return
  isMoved = true
  const began = performance.now()
  elapsed = 0
  const moved = mock.method(performance, 'now', () => began + elapsed)
  context.after(() => {
    moved.mock.restore()
    isMoved = false
  })
}

export interface Event extends Day {
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
  return repository
    .paths(branch)
    .map((path) => [timeless(path), timeless(repository.text(branch, path) ?? '')])
}

/** Reports only: episodes that were opened and closed between two turns are in one of both alone. */
function stateOf(world: FleetWorld): unknown {
  const { repository, forge } = world
  return {
    branches: repository.names().map((name) => [name, filesOf(world, name)]),
    reports: (filesOf(world, 'drift-ledger') as [string, string][]).filter(
      ([path]) => !path.includes('/closed/'),
    ),
    proposals: forge.proposals
      .filter(({ state }) => state === 'open')
      .map(({ ref, title, body, labels, draft }) => [
        ref,
        timeless(title),
        timeless(body),
        labels,
        draft,
      ])
      .sort(),
    comments: forge.comments
      .map(({ number, topic, body }) => [number, topic, timeless(body)].join(' '))
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
          .map(([path, text]) => [
            path,
            text.replace(/\bdrift-[0-9a-f]{8}(?:-\d+)?\b/g, 'EPISODE'),
          ]),
      ]),
    reports: reports.map((path) => {
      const { spec, status } = JSON.parse(
        JSON.stringify(yaml(timeless(repository.text('drift-ledger', path) ?? ''))),
      )
      const { fingerprint, changes, observed } = spec
      const { state, lifecycle, plan, health, held, setAside } = status
      return {
        path,
        fingerprint,
        changes,
        syncer: observed.syncer,
        state,
        lifecycle,
        plan,
        health,
        held,
        setAside,
      }
    }),
  }
}

/** Rounds after which nothing is under way. */
export const QUIET = 5

/** Both fleets in step, a minute for each turn. */
export class Pair {
  readonly world: SyncedFleet
  readonly other: SyncedFleet
  readonly path: EventPath

  constructor(size: Size) {
    useFleetTime()
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

  /**
   * As the watch does after an error: everything is listed again. Outages end before: drift of which the one fleet never learned stays proposed
   * in the other one for as long as nobody can see that it is gone.
   */
  async repair(): Promise<void> {
    for (const { clusters } of [this.world, this.other])
      for (const cluster of clusters) {
        cluster.unreachable = undefined
        cluster.unreadable.clear()
      }
    for (const watch of this.path.watches.values()) watch.relist()
    await this.rounds(QUIET)
  }

  async live({ step, fault, isInGit, minutes }: Event): Promise<void> {
    if (isInGit && fault !== undefined) await this.repair()
    for (const each of [this.world, this.other]) step(each)
    fault?.fault(this.path)
    if (minutes > 0) this.pass(minutes)
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

  /** Time passes at once. */
  pass(minutes = 1): void {
    elapsed += minutes * 60_000
    for (const each of [this.world, this.other]) each.pass(minutes)
  }
}

export async function compare(size: Size, events: readonly Event[]): Promise<EventPath> {
  const pair = new Pair(size)
  await pair.begin()
  for (const event of events) await pair.live(event)
  await pair.repair()
  if (events.some(({ fault }) => fault !== undefined)) pair.assertPresentSame()
  else pair.assertSame()
  return pair.path
}
