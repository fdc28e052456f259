import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestedAction } from '@backporch/forge/check-run'
import {
  message,
  opened,
  record,
  resolutions,
  type Scene,
  signal,
} from '../../../test/fakes/answered-proposal.ts'
import { WEB } from '../../../test/fakes/turn-world.ts'
import { RequestedActionQueue } from '../../controller/requested-action-queue.ts'
import { checkKey } from '../../proposal/text/check-run-text.ts'
import type { Answer } from './apply/apply-answers.ts'
import { runFleetTurn } from './run-turn.ts'

function requestedActionOf(
  { world, ref }: Scene,
  more: Partial<RequestedAction> = {},
): RequestedAction {
  const commit = world.repository.branches.get(ref) ?? ''
  return {
    id: 'press-1',
    key: checkKey(ref),
    commit,
    button: 'adopt',
    login: 'ada',
    bot: false,
    at: '2026-11-21T10:00:30Z',
    ...more,
  }
}

async function answerAll(
  { world, forge }: Scene,
  queue: RequestedActionQueue,
): Promise<readonly Answer[]> {
  world.pass(1)
  const { repository, cluster } = world.ports
  return (
    await runFleetTurn(
      { repository, forge, clusters: [cluster] },
      world.request({ requestedActions: queue }),
      signal,
    )
  ).answers
}

function queueOf(...requestedActions: readonly RequestedAction[]): RequestedActionQueue {
  const queue = new RequestedActionQueue()
  for (const requestedAction of requestedActions) queue.add(requestedAction)
  return queue
}

for (const [login, permission, outcome] of [
  ['ada', 'write', 'refused'],
  ['boss', 'admin', 'refused'],
  ['Grace', 'write', 'done'],
] as const) {
  test(`only a code owner may adopt a high-risk change by button: ${login}, ${permission}`, async () => {
    const scene = await opened({ '.github/CODEOWNERS': '/apps/ @grace\n' })
    scene.world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil/nginx:1')
    await scene.world.plan()
    assert.ok(
      (await record(scene)).changes.some(({ risk }) => risk === 'critical' || risk === 'high'),
    )
    scene.forge.permissions.set(login, permission)
    const queue = queueOf(requestedActionOf(scene, { login }))
    assert.deepEqual(
      (await answerAll(scene, queue)).map((one) => [one.by, one.outcome]),
      [[login, outcome]],
      message(scene),
    )
    if (outcome === 'refused') assert.match(message(scene), /code owners/)
    assert.equal((await resolutions(scene))[2], outcome === 'done' ? 'Adopt' : 'Restore')
    assert.deepEqual(queue.listWaiting(), [])
  })
}

test('several people pressing one button cause one plan, and each gets an answer', async () => {
  const scene = await opened()
  scene.forge.permissions.set('bob', 'write')
  const queue = queueOf(
    requestedActionOf(scene),
    requestedActionOf(scene, { id: 'press-2', login: 'bob' }),
  )
  assert.deepEqual(
    (await answerAll(scene, queue)).map(({ by, outcome }) => [by, outcome]),
    [
      ['ada', 'done'],
      ['bob', 'done'],
    ],
  )
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Adopt'])
})

test('a failed answer does not repeat a completed action, but repeats a rejection', async () => {
  for (const [login, left] of [
    ['ada', 0],
    ['bob', 1],
  ] as const) {
    const scene = await opened()
    const queue = queueOf(requestedActionOf(scene, { login }))
    const { ensureComment } = scene.forge
    scene.forge.ensureComment = () => Promise.reject(new Error('the process ends'))
    await assert.rejects(answerAll(scene, queue), /the process ends/)
    scene.forge.ensureComment = ensureComment
    assert.equal(queue.listWaiting().length, left)
    await answerAll(scene, queue)
    assert.equal(message(scene).includes('😕'), login === 'bob')
    assert.equal((await resolutions(scene))[0], login === 'ada' ? 'Adopt' : 'Restore')
  }
})

test('a press for an unknown proposal is dropped without a forge request', async () => {
  const scene = await opened()
  const queue = queueOf(
    requestedActionOf(scene, { key: checkKey('refs/heads/proposed/apps/other/drift-1') }),
  )
  scene.forge.permissionOf = () => assert.fail('nobody is asked')
  assert.deepEqual(await answerAll(scene, queue), [])
  assert.deepEqual(queue.listWaiting(), [])
})

test("the person's text is never rendered as markup", async () => {
  const scene = await opened()
  await answerAll(
    scene,
    queueOf(requestedActionOf(scene, { login: 'x`@all', commit: `${'`@all'.padEnd(40, '0')}` })),
  )
  assert.doesNotMatch(message(scene).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, ''), /@/)
})
