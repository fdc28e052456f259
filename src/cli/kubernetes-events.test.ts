import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenedDriftEvents } from '@backporch/cluster/drift-events'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

const NOTHING = (): void => undefined

/** Three turns, of which the second finds drift. @returns what was opened and written, and the log */
async function run(flags: readonly string[], events: OpenedDriftEvents['events']) {
  const world = new TurnWorld()
  const done: string[] = []
  const openDriftEvents = async (): Promise<OpenedDriftEvents> => {
    done.push('opened')
    return { events, close: () => void done.push('closed') }
  }
  const waits = [() => world.edit(WEB, 'spec.replicas', 5), NOTHING]
  const { code, stderr } = await runInWorld(world, ['controller', ...flags], {
    waits,
    openDriftEvents,
  })
  assert.equal(code, 0)
  return { done, stderr }
}

test('Events are written only with the flag, over a connection opened for the first one', async () => {
  const reasons: string[] = []
  const events: OpenedDriftEvents['events'] = {
    write: async (written) => {
      reasons.push(...written.map(({ reason }) => reason))
      return []
    },
  }
  assert.deepEqual((await run(['--kubernetes-events'], events)).done, ['opened', 'closed'])
  assert.deepEqual(reasons, ['DriftDetected'])
  assert.deepEqual((await run([], events)).done, [])
  assert.deepEqual((await run(['--kubernetes-events', '--dry-run'], events)).done, [])
  assert.deepEqual(reasons, ['DriftDetected'])
})

test('a failure to write Events is one note, and the turn succeeds', async () => {
  const failure = new Failure({
    code: 'BP3001',
    what: 'cannot reach prod',
    why: 'no connection',
    remedy: 'try again',
  })
  const { stderr } = await run(['--kubernetes-events'], { write: () => Promise.reject(failure) })
  const [note, ...more] = logEvents(stderr, 'note')
  assert.deepEqual([note?.['cause'], more], ['events-not-written', []])
  assert.ok(logEvents(stderr, 'turn').every(({ outcome }) => outcome === 'succeeded'))
})
