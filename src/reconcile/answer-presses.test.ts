import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opened, record, resolutions, type Scene, said, signal } from '../../test/fakes/answered-proposal.ts'
import { WEB } from '../../test/fakes/turn-world.ts'
import { PressQueue } from '../controller/press-queue.ts'
import type { ButtonPress } from '../ports/check-run.ts'
import { checkKey } from '../proposal/text/check-run-text.ts'
import type { Answer } from './commands/apply-answers.ts'
import { runFleetTurn } from './run-turn.ts'

function pressOf({ world, ref }: Scene, more: Partial<ButtonPress> = {}): ButtonPress {
  const commit = world.repository.branches.get(ref) ?? ''
  return { id: 'press-1', key: checkKey(ref), commit, button: 'adopt', login: 'ada', bot: false, at: '2026-11-21T10:00:30Z', ...more }
}

async function answerAll({ world, forge }: Scene, queue: PressQueue): Promise<readonly Answer[]> {
  world.pass(1)
  const { repository, cluster } = world.ports
  return (await runFleetTurn({ repository, forge, clusters: [cluster] }, world.request({ presses: queue }), signal)).answers
}

function queueOf(...presses: readonly ButtonPress[]): PressQueue {
  const queue = new PressQueue()
  for (const press of presses) queue.add(press)
  return queue
}

for (const [login, permission, outcome] of [
  ['ada', 'write', 'refused'],
  ['boss', 'admin', 'refused'],
  ['Grace', 'write', 'done'],
] as const) {
  test(`a grave change is adopted by a button of its code owner only: ${login}, ${permission}`, async () => {
    const scene = await opened({ '.github/CODEOWNERS': '/apps/ @grace\n' })
    scene.world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil/nginx:1')
    await scene.world.plan()
    assert.ok((await record(scene)).changes.some(({ risk }) => risk === 'critical' || risk === 'high'))
    scene.forge.permissions.set(login, permission)
    const queue = queueOf(pressOf(scene, { login }))
    assert.deepEqual(
      (await answerAll(scene, queue)).map((one) => [one.by, one.outcome]),
      [[login, outcome]],
      said(scene),
    )
    if (outcome === 'refused') assert.match(said(scene), /code owners/)
    assert.equal((await resolutions(scene))[2], outcome === 'done' ? 'Adopt' : 'Restore')
    assert.deepEqual(queue.waiting(), [])
  })
}

test('people who press the same button are one plan, and each is answered', async () => {
  const scene = await opened()
  scene.forge.permissions.set('bob', 'write')
  const queue = queueOf(pressOf(scene), pressOf(scene, { id: 'press-2', login: 'bob' }))
  assert.deepEqual(
    (await answerAll(scene, queue)).map(({ by, outcome }) => [by, outcome]),
    [
      ['ada', 'done'],
      ['bob', 'done'],
    ],
  )
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Adopt'])
})

test('what is done is not done again although its answer could not be said; a refusal is', async () => {
  for (const [login, left] of [
    ['ada', 0],
    ['bob', 1],
  ] as const) {
    const scene = await opened()
    const queue = queueOf(pressOf(scene, { login }))
    const { ensureComment } = scene.forge
    scene.forge.ensureComment = () => Promise.reject(new Error('the process ends'))
    await assert.rejects(answerAll(scene, queue), /the process ends/)
    scene.forge.ensureComment = ensureComment
    assert.equal(queue.waiting().length, left)
    await answerAll(scene, queue)
    assert.equal(said(scene).includes('😕'), login === 'bob')
    assert.equal((await resolutions(scene))[0], login === 'ada' ? 'Adopt' : 'Restore')
  }
})

test('a press of nobody’s proposal is forgotten, and asks the forge nothing', async () => {
  const scene = await opened()
  const queue = queueOf(pressOf(scene, { key: checkKey('refs/heads/proposed/apps/other/drift-1') }))
  scene.forge.permissionOf = () => assert.fail('nobody is asked')
  assert.deepEqual(await answerAll(scene, queue), [])
  assert.deepEqual(queue.waiting(), [])
})

test('the words of the person are never markup', async () => {
  const scene = await opened()
  await answerAll(scene, queueOf(pressOf(scene, { login: 'x`@all', commit: `${'`@all'.padEnd(40, '0')}` })))
  assert.doesNotMatch(said(scene).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, ''), /@/)
})
