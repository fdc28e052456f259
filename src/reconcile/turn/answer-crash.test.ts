import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runTurn } from './run-turn.ts'

const signal = new AbortController().signal

async function opened() {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  return { world, forge }
}

/** What people see in the end: the forge and the branches, without times. */
async function end({ world, forge }: Awaited<ReturnType<typeof opened>>): Promise<string> {
  await runTurn(world.ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
  await world.plan()
  const contents = world.repository
    .names()
    .map((name) => [
      name,
      world.repository.paths(name).map((path) => world.repository.text(name, path)),
    ])
  const shown = forge.proposals.map(({ number, title, body, labels, state, ref }) => ({
    number,
    title,
    body,
    labels,
    state,
    ref,
  }))
  const text = JSON.stringify(
    [shown, forge.comments, forge.conversation.map(({ reaction }) => reaction), contents],
    null,
    1,
  )
  return text
    .replaceAll(/2026-11-21[T ]\d\d:\d\d(:\d\dZ)?/g, 'TIME')
    .replaceAll(/forge\.example\/[0-9a-f]{40}/g, 'FILE')
}

for (const body of [
  '/adopt',
  '/snooze 7d',
  '/ignore 1 --for 30d -- KEDA',
  '/recreate',
  '/adopt 9',
  '/help',
  '/recheck',
]) {
  test(`a crash before or after any write of ${body} leads to the same final state`, async () => {
    const begin = async () => {
      const scene = await opened()
      if (body === '/recreate')
        scene.world.repository.commitByHand(
          scene.forge.proposals[0]?.ref.replace('refs/heads/', '') ?? '',
          { x: 'y' },
        )
      scene.forge.comment(1, 'ada', body)
      return scene
    }
    const whole = await begin()
    let writes = 0
    whole.forge.beforeWrite = () => {
      writes += 1
    }
    whole.world.repository.beforePush = () => {
      writes += 1
    }
    const wanted = await end(whole)
    assert.ok(writes >= 3, 'seen, said, answered')
    for (let die = 1; die <= writes; die += 1) {
      const scene = await begin()
      let count = 0
      const killed = (): void => {
        count += 1
        if (count === die) throw new Error('killed')
      }
      scene.forge.beforeWrite = killed
      scene.world.repository.beforePush = killed
      await assert.rejects(end(scene), Error, `write ${die} of ${writes}`)
      scene.forge.beforeWrite = () => undefined
      scene.world.repository.beforePush = () => undefined
      assert.equal(await end(scene), wanted, `ended before write ${die} of ${writes}`)
    }
  })
}
