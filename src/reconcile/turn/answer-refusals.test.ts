import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  answer,
  ask,
  message,
  opened,
  reactions,
  record,
  resolutions,
  type Scene,
  tick,
} from '../../../test/fakes/answered-proposal.ts'
import { mergeByHand, WEB } from '../../../test/fakes/turn-world.ts'
import { getDriftKey } from '../../proposal/text/ticks.ts'

for (const permission of ['none', 'read'] as const) {
  test(`a person with only ${permission} rights changes nothing, and is answered without a mention`, async () => {
    const scene = await opened({ CODEOWNERS: '* @acme/platform\n' })
    scene.forge.permissions.set('bob', permission)
    scene.forge.comment(1, 'bob', '/adopt')
    await answer(scene)
    assert.deepEqual(reactions(scene), ['refused'])
    assert.match(
      message(scene),
      /😕 `\/adopt` of `bob`, 2026-11-21 10:00 UTC: `"bob"` needs write access/,
    )
    assert.match(message(scene), /`@acme\/platform`/)
    assert.doesNotMatch(message(scene).replaceAll(/`[^`]*`/g, ''), /@/)
    assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  })
}

test('bots get no answer, so that two bots never talk to each other', async () => {
  const scene = await opened()
  scene.forge.permissions.set('robot', 'admin')
  scene.forge.comment(1, 'robot', '/adopt', { bot: true })
  assert.deepEqual(await answer(scene), [])
  assert.deepEqual(scene.forge.writes, [])
})

for (const writer of [undefined, 'ada'])
  test(`a comment edited (${writer === undefined ? 'and the forge says so' : 'within the second'}) or deleted before it is carried out is ignored`, async () => {
    const scene = await opened()
    const { forge } = scene
    forge.comment(1, 'ada', '/adopt 1')
    forge.comment(1, 'ada', '/adopt 2')
    forge.beforeWrite = (write) => {
      const [first] = forge.conversation
      if (write !== 'react 2 seen' || first === undefined) return
      forge.conversation[0] = { ...first, comment: { ...first.comment, body: '/adopt', writer } }
      forge.conversation.splice(1, 1)
    }
    await answer(scene)
    assert.deepEqual(reactions(scene), ['refused'])
    assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  })

test('a pull request whose branch is not in the repository is ignored', async () => {
  const scene = await opened()
  scene.forge.proposals.push({
    ...scene.forge.proposals[0],
    number: 7,
    ref: 'refs/heads/proposed/apps/web/drift-ffffffff',
  } as never)
  scene.forge.readProposals = async () => scene.forge.proposals
  scene.forge.comment(7, 'ada', '/adopt')
  assert.deepEqual(await answer(scene), [])
})

test('only the code owner may adopt or ignore a critical or high change', async () => {
  const files = { '.github/CODEOWNERS': '/apps/ @grace\n' }
  for (const [login, permission, outcome] of [
    ['ada', 'write', 'refused'],
    ['boss', 'admin', 'refused'],
    ['Grace', 'write', 'done'],
  ] as const) {
    for (const body of ['/adopt 3', '/release 3', '/ignore 3 -- why']) {
      const scene = await opened(files)
      scene.world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil/nginx:1')
      await scene.world.plan()
      assert.ok(
        (await record(scene)).changes.some(({ risk }) => risk === 'critical' || risk === 'high'),
      )
      scene.forge.permissions.set(login, permission)
      scene.forge.comment(1, login, body)
      assert.deepEqual(
        (await answer(scene)).map((one) => one.outcome),
        [outcome],
        `${login} ${body} ${message(scene)}`,
      )
    }
    const scene = await opened(files)
    scene.forge.permissions.set(login, permission)
    scene.forge.comment(1, login, '/adopt 2')
    assert.equal(
      (await answer(scene))[0]?.outcome,
      'done',
      'what is not dangerous needs write access only',
    )
  }
})

test('with a team as owner, an administrator may adopt and others are rejected', async () => {
  for (const [permission, outcome] of [
    ['write', 'refused'],
    ['admin', 'done'],
  ] as const) {
    const scene = await opened({ CODEOWNERS: '* @acme/platform\n' })
    scene.world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil/nginx:1')
    await scene.world.plan()
    scene.forge.permissions.set('ada', permission)
    const { outcome: found, text } = await ask(scene, '/adopt')
    assert.equal(found, outcome)
    if (outcome === 'refused') assert.match(text.replaceAll('`', ''), /is not shown by the forge/)
  }
})

test('a box for another drift is ignored', async () => {
  const scene = await opened()
  await tick(scene, /backporch:adopt=.*Deployment/)
  const drift = getDriftKey((await record(scene)).fingerprint)
  scene.forge.byHand(1, {
    body: (scene.forge.proposals[0]?.body ?? '').replaceAll(drift, '0badcafe'),
  })
  assert.deepEqual(await answer(scene), [])
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
})

test('a thousand comments of others delay no one, and only a few are answered per turn', async () => {
  const scene = await opened()
  const { forge } = scene
  for (let index = 0; index < 1_000; index += 1)
    forge.comment(1, 'mallory', index % 2 === 0 ? '/adopt' : '/drift x')
  forge.comment(1, 'ada', '/adopt 1')
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Restore'])
  assert.equal(reactions(scene).at(-1), 'done')
  assert.ok(forge.writes.length < 40, String(forge.writes.length))
  const answered = reactions(scene).filter((reaction) => reaction !== undefined).length
  await answer(scene)
  assert.ok(
    reactions(scene).filter((reaction) => reaction !== undefined).length > answered,
    'and the next call goes on',
  )
})

for (const hostile of [
  '/adopt 1 -- @all closes #1 <img src=x> --> `x` \u202e [a](javascript:x)',
  '/drift @all',
  '/adopt `@all`',
  `/adopt ${'9'.repeat(5_000)}`,
  `/ignore 1 -- ${'`'.repeat(200)}`,
  '/explain 1:__proto__',
  '/unignore ../../x',
]) {
  test(`hostile text stays text: ${hostile.slice(0, 40)}`, async () => {
    const scene = await opened()
    await ask(scene, hostile)
    for (const { body } of [...scene.forge.comments, ...scene.forge.proposals]) {
      const bare = body.replaceAll(/(`+)[^`](?:.|\n)*?[^`]\1(?!`)/g, '')
      assert.doesNotMatch(bare, /@all|<img|javascript:|\u202e|closes #1/)
      assert.doesNotMatch(body, /^\s*\/(?!\/)/m)
    }
  })
}

test('a command that fails temporarily waits, and the next call carries it out', async () => {
  const scene = await opened()
  const { forge, world } = scene
  const read = world.cluster.identify.bind(world.cluster)
  world.cluster.identify = async () => {
    throw new Failure({
      code: 'BP3006',
      what: 'no answer',
      why: 'timeout',
      remedy: 'wait',
      retry: 'backoff',
    })
  }
  forge.comment(1, 'ada', '/adopt 1')
  const [waiting] = await answer(scene)
  assert.deepEqual([waiting?.outcome, waiting?.failure?.code], ['waiting', 'BP3006'])
  assert.deepEqual(reactions(scene), ['seen'])
  world.cluster.identify = read
  await answer(scene)
  assert.deepEqual(reactions(scene), ['done'])
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Restore'])
})

/** `/adopt 1` of the only unit, in a turn whose push is refused. */
async function askRefused(code: 'BP4002' | 'BP4004'): Promise<Scene> {
  const scene = await opened()
  const { forge, world } = scene
  world.repository.beforePush = (updates) => {
    if (updates.some(({ ref }) => ref.startsWith('refs/heads/proposed/')))
      throw new Failure({
        code,
        what: 'the push is refused',
        why: 'a rule',
        remedy: 'change it',
        retry: 'on-change',
      })
  }
  forge.comment(1, 'ada', '/adopt 1')
  const [answered] = await answer(scene)
  assert.equal(answered?.outcome, code === 'BP4002' ? 'waiting' : 'refused')
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  const report =
    world.repository.paths('drift-ledger').find((path) => path.endsWith('/report.yaml')) ?? ''
  assert.doesNotMatch(
    world.repository.text('drift-ledger', report) ?? '',
    /Adopt/,
    'the ledger names no choice that is not on the branch',
  )
  world.repository.beforePush = () => undefined
  return scene
}

test('a command whose push a repository rule rejects waits until the push is allowed', async () => {
  const scene = await askRefused('BP4002')
  assert.deepEqual(reactions(scene), ['seen'])
  await answer(scene)
  assert.deepEqual(reactions(scene), ['done'])
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Restore'])
})

test('a command whose push violates the naming rules of backporch is rejected with the reason', async () => {
  const scene = await askRefused('BP4004')
  assert.deepEqual(reactions(scene), ['refused'])
  assert.match(message(scene), /the push is refused.*a rule/)
  assert.deepEqual(await answer(scene), [])
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
})

test('a rejected policy branch delays only its own command', async () => {
  const scene = await opened()
  const { forge, world } = scene
  world.repository.beforePush = (updates) => {
    if (updates.some(({ ref }) => ref.startsWith('refs/heads/drift/')))
      throw new Failure({
        code: 'BP4002',
        what: 'the push is refused',
        why: 'a rule',
        remedy: 'change it',
        retry: 'on-change',
      })
  }
  forge.comment(1, 'ada', '/ignore 2 -- noise')
  world.edit(WEB, 'spec.replicas', 7)
  const [waiting] = await answer(scene)
  assert.deepEqual(
    [waiting?.outcome, waiting?.failure?.code],
    ['waiting', 'BP4002'],
    message(scene),
  )
  assert.match(forge.proposals[0]?.body ?? '', /7/, 'the drift that changed is proposed')
  world.repository.beforePush = () => undefined
  await answer(scene)
  assert.deepEqual(reactions(scene), ['done'])
})

test('a comment that cannot get a reaction waits and blocks nothing else', async () => {
  const scene = await opened()
  const { forge, world } = scene
  const react = forge.react.bind(forge)
  forge.react = async () => {
    throw new Failure({
      code: 'BP5006',
      what: 'cannot react',
      why: '403',
      remedy: 'grant it',
      retry: 'on-change',
    })
  }
  forge.comment(1, 'ada', '/adopt 1')
  world.edit(WEB, 'spec.replicas', 7)
  const [waiting] = await answer(scene)
  assert.deepEqual([waiting?.outcome, waiting?.failure?.code], ['waiting', 'BP5006'])
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  assert.match(forge.proposals[0]?.body ?? '', /7/, 'the drift that changed is proposed')
  forge.react = react
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Restore'])
})

test('a dry run reads and answers no comments', async () => {
  const scene = await opened()
  scene.forge.comment(1, 'ada', '/adopt')
  assert.deepEqual(await answer(scene, { dryRun: true }), [])
  assert.deepEqual(scene.forge.writes, [])
})

test('comments on a merged proposal get no answer', async () => {
  const scene = await opened()
  await mergeByHand(scene.world, scene.ref.replace('refs/heads/', ''))
  scene.forge.byHand(1, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:01:30Z' })
  scene.forge.comment(1, 'ada', '/adopt')
  assert.deepEqual(await answer(scene), [])
})
