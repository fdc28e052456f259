/** Whoever may write can change anybody's comment: a command is judged by who wrote its text last. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answer,
  message,
  opened,
  reactions,
  resolutions,
  type Scene,
} from '../fakes/answered-proposal.ts'
import { WEB } from '../fakes/turn-world.ts'

const CODE_OWNER = { '.github/CODEOWNERS': '/apps/ @grace\n' }

/** Change 3 is a critical one of a file that `grace` owns; `ada` is a maintainer who does not. */
async function owned(): Promise<Scene> {
  const scene = await opened(CODE_OWNER)
  scene.world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil/nginx:1')
  await scene.world.plan()
  for (const login of ['grace', 'ada']) scene.forge.permissions.set(login, 'write')
  return scene
}

test('obeys a comment that its author edited, with the rights of the author', async () => {
  const scene = await owned()
  scene.forge.comment(1, 'grace', '/adopt 3', { writer: 'grace', at: '2026-11-21T10:00:30Z' })
  await answer(scene)
  assert.deepEqual(reactions(scene), ['done'])
  assert.match(message(scene), /✅ `\/adopt 3` of `grace`, 2026-11-21 10:00 UTC:/)
})

test("judges a code owner's comment by the person who edited it, and says so", async () => {
  const scene = await owned()
  scene.forge.comment(1, 'grace', '/adopt 3', { writer: 'ada' })
  await answer(scene)
  assert.deepEqual(reactions(scene), ['refused'])
  assert.match(
    message(scene),
    /😕 `\/adopt 3` of `ada`, who edited a comment of `grace`, 2026-11-21 10:00 UTC: .*code owners/,
  )
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore', 'Restore'])
})

test('obeys the comment of a person without rights once a code owner wrote its text', async () => {
  const scene = await owned()
  scene.forge.permissions.set('bob', 'read')
  scene.forge.comment(1, 'bob', '/adopt 3', { writer: 'grace' })
  const [done] = await answer(scene)
  assert.deepEqual([done?.by, done?.outcome], ['grace', 'done'])
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore', 'Adopt'])
})

test('ignores the comment of a maintainer edited by a person without write access', async () => {
  const scene = await opened()
  scene.forge.permissions.set('bob', 'read')
  scene.forge.comment(1, 'ada', '/adopt', { writer: 'bob' })
  await answer(scene)
  assert.deepEqual(reactions(scene), ['refused'])
  assert.match(message(scene), /of `bob`, who edited a comment of `ada`, .*needs write access/)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
})

test('refuses an edited comment with a reason if the forge does not report its editor', async () => {
  const scene = await opened()
  scene.forge.comment(1, 'ada', '/adopt', { writer: undefined })
  await answer(scene)
  assert.deepEqual(reactions(scene), ['refused'])
  assert.match(message(scene), /edited.*the forge does not tell which person wrote/)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
})

test('the latest text decides, wherever it is', async () => {
  const scene = await opened()
  scene.forge.comment(1, 'ada', '/adopt', { writer: 'ada', at: '2026-11-21T10:00:40Z' })
  scene.forge.comment(1, 'ada', '/restore', { at: '2026-11-21T10:00:20Z' })
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Adopt'])
})

test('does not obey a writer who changes between the check and the action', async () => {
  const scene = await opened()
  const { forge } = scene
  forge.permissions.set('bob', 'write')
  forge.comment(1, 'ada', '/adopt')
  forge.beforeWrite = (write) => {
    const [first] = forge.conversation
    // The same text, written again by somebody else.
    if (write === 'react 1 seen' && first !== undefined)
      forge.conversation[0] = { ...first, comment: { ...first.comment, writer: 'bob' } }
  }
  await answer(scene)
  assert.deepEqual(reactions(scene), ['refused'])
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
})
