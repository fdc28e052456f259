/** `approve` ends at any of its writes, or loses the answer of one: who decided is known, and saying it again is enough. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { endOf, runToQuiet } from '../crash/forge-killer.ts'
import { opened, type World } from '../crash/forge-scenes.ts'
import { closedOf } from './race-sweep.ts'

class Killed extends Error {}

const FATES = ['dies before', 'dies after', 'loses the answer of'] as const

/** What people do then. */
const AFTERWARDS = ['scan', 'approve', 'scan, approve', 'approve, approve'] as const

/** The writes of an `approve` that nobody disturbs. */
async function writesOf(scene: World): Promise<string[]> {
  const writes: string[] = []
  watch(scene, (what) => void writes.push(what))
  await scene.world.approve()
  unwatch(scene)
  return writes
}

function watch(
  { forge, repository }: World,
  before: (what: string) => void,
  after: (what: string) => void = () => undefined,
): void {
  forge.beforeWrite = before
  forge.afterWrite = after
  repository.beforePush = () => before('push')
  repository.afterPush = () => after('push')
}

function unwatch(scene: World): void {
  watch(scene, () => undefined)
}

describe('approve is killed', async () => {
  const wanted = await ended(async (scene) => void (await scene.world.approve()))
  const writes = await writesOf(await opened())
  for (const [index, write] of writes.entries()) {
    for (const fate of FATES) {
      for (const afterwards of AFTERWARDS) {
        test(`it ${fate} write ${index + 1} of ${writes.length}, ${write}; then ${afterwards}`, async () => {
          const end = await ended(async (scene) => {
            await killed(scene, index + 1, fate)
            for (const command of afterwards.split(', ')) {
              if (command === 'scan') await scene.turn()
              else if (afterwards !== 'scan, approve' || index > 0 || fate !== 'dies before')
                assert.equal((await scene.world.approve()).revision, 'v1')
              else await scene.world.approve()
            }
            if (afterwards === 'scan' && index === 0 && fate === 'dies before')
              await scene.world.approve()
          })
          assert.deepEqual(end, wanted)
        })
      }
    }
  }

  test('reports a merge by somebody else, and does not approve it a second time', async () => {
    const scene = await opened()
    await killed(scene, 1, 'dies after')
    const commit = scene.repository.head('main')
    assert.match((await scene.repository.commit(commit)).message, /^Drift-Decided-By: Ada$/m)
    const { message } = await scene.repository.commit(commit)
    // As if Grace had approved it.
    const files = Object.fromEntries(
      scene.repository
        .paths('main')
        .map((path) => [path, scene.repository.text('main', path) ?? null] as const),
    )
    const [parent] = (await scene.repository.commit(commit)).parents
    assert.ok(parent !== undefined)
    scene.repository.branches.set('refs/heads/main', parent)
    scene.repository.commitByHand('main', files, {
      message: message.replace('Decided-By: Ada', 'Decided-By: Grace'),
    })
    await assert.rejects(
      scene.world.approve(),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP2005',
    )
    assert.deepEqual(
      closedOf(scene.repository).map(({ status }) => status.decidedBy),
      ['Grace'],
    )
  })
})

async function killed(scene: World, at: number, fate: (typeof FATES)[number]): Promise<void> {
  let count = 0
  watch(
    scene,
    () => {
      count += 1
      if (count === at && fate === 'dies before') throw new Killed()
    },
    (what) => {
      if (count !== at) return
      if (fate === 'dies after') throw new Killed()
      if (fate === 'loses the answer of')
        throw new Failure({
          code: 'BP5001',
          what,
          why: 'no answer',
          remedy: 'again',
          retry: 'backoff',
        })
    },
  )
  await assert.rejects(
    scene.world.approve(),
    (thrown) => thrown instanceof Killed || thrown instanceof Failure,
  )
  unwatch(scene)
}

/** What everybody sees in the end, but for times. */
async function ended(work: (scene: World) => Promise<void>): Promise<unknown> {
  const scene = await opened()
  await work(scene)
  await runToQuiet(scene)
  const { proposals, refs } = (await endOf(scene)) as {
    proposals: readonly { state: string }[]
    refs: Record<string, { message?: string }>
  }
  const closed = closedOf(scene.repository)
  return {
    proposals: proposals.map(({ state }) => state),
    refs: Object.keys(refs),
    closed: closed.map(({ spec, status }) => [
      spec.fingerprint,
      status.outcome,
      status.decidedBy,
      status.revision,
    ]),
  }
}
