/** What the log of a controller says whose cluster is watched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryWatch } from '../../test/fakes/memory-watch.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import type { ClusterWatch, WatchObserver } from '../ports/cluster-watch.ts'

test('a change that is judged is logged with its cluster and whole milliseconds', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const watches: MemoryWatch[] = []
  const openWatch = async (_: unknown, observer: WatchObserver): Promise<ClusterWatch> => {
    const watch = new MemoryWatch(world.cluster, observer)
    watches.push(watch)
    return watch
  }
  const edit = async (): Promise<void> => {
    world.edit(WEB, 'spec.replicas', 5)
    watches[0]?.deliver()
    // A change is judged in a few steps.
    for (let step = 0; step < 3; step += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  const { stderr } = await runInWorld(world, ['controller', '--log-level', 'debug'], {
    waits: [() => undefined, () => undefined, edit],
    openWatch,
  })
  const [judged, ...more] = logEvents(stderr, 'judged')
  assert.deepEqual([judged?.['cluster'], judged?.['verdict'], more], ['prod', 'drifted', []], stderr)
  assert.ok(Number.isInteger(judged?.['milliseconds']), String(judged?.['milliseconds']))
})
