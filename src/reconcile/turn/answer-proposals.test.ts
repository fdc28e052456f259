import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answer,
  ask,
  message,
  opened,
  reactions,
  record,
  resolutions,
  signal,
  tick,
} from '../../../test/fakes/answered-proposal.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runFleetTurn } from './run-turn.ts'

test('adopt changes the plan, names the requester, and causes no writes in later turns', async () => {
  const scene = await opened()
  const { outcome, text } = await ask(scene, 'fine\n/adopt\n')
  assert.equal(outcome, 'done')
  assert.deepEqual(reactions(scene), ['done'])
  assert.match(text, /✅ `\/adopt` of `ada`, 2026-11-21 10:00 UTC: the plan is \*\*Adopt\*\*/)
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Adopt'])
  assert.match(
    scene.forge.proposals[0]?.body ?? '',
    /\*\*Plan: Adopt\.\*\*.*It was Restore before, changed by `ada`/,
  )
  await scene.world.plan()
  const sent = scene.forge.writes.length
  for (let turn = 0; turn < 10; turn += 1) {
    assert.deepEqual(await answer(scene), [])
    await scene.world.plan()
  }
  assert.equal(scene.forge.writes.length, sent)
})

for (const [body, expected] of [
  ['/adopt 1', ['Adopt', 'Restore']],
  ['/drift adopt 1,2\n/restore 2', ['Adopt', 'Restore']],
  ['/adopt deployment/web', ['Restore', 'Adopt']],
  ['/release 2:spec.replicas', ['Restore', 'Release']],
  ['/release 2\n/adopt 1', ['Adopt', 'Release']],
  ['/adopt all', ['Adopt', 'Adopt']],
  ['/restore', ['Restore', 'Restore']],
] as const) {
  test(`${JSON.stringify(body)} is one plan`, async () => {
    const scene = await opened()
    const pushes = scene.world.repository.pushes.length
    assert.equal((await ask(scene, body)).outcome, 'done')
    assert.deepEqual(await resolutions(scene), expected)
    assert.ok(scene.world.repository.pushes.length - pushes <= 1)
    assert.equal(scene.forge.proposals.length, 1)
  })
}

test('commands of two people are planned together and pushed once', async () => {
  const scene = await opened()
  const pushes = scene.world.repository.pushes.length
  scene.forge.permissions.set('bob', 'write')
  scene.forge.comment(1, 'ada', '/adopt')
  scene.forge.comment(1, 'bob', '/release 2')
  assert.deepEqual(
    (await answer(scene)).map(({ by, outcome }) => `${by} ${outcome}`),
    ['ada done', 'bob done'],
  )
  assert.equal(scene.world.repository.pushes.length - pushes, 1)
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Release'])
})

test('the words after -- are kept as the reason', async () => {
  const scene = await opened()
  await ask(scene, '/adopt 1 -- peak season')
  const { message, plannedBy, plannedBefore } = await record(scene)
  assert.deepEqual([message, plannedBy, plannedBefore], ['peak season', 'ada', 'Restore'])
})

for (const [body, why] of [
  ['/adopt 9', /names no open change/],
  ['/adopt 1\n/drift merge', /no command/],
  ['/adopt 1\n/adopt 9', /names no open change/],
  ['/exclude prod-*', /a pull request for many clusters/],
  ['/ignore 9 -- x', /names no open change/],
  ['/ignore 1', /needs a reason/],
  ['/unignore 1', /no ignore rule/],
  ['/unignore', /no rule/],
] as const) {
  test(`rejected without any change: ${JSON.stringify(body)}`, async () => {
    const scene = await opened()
    const { outcome, text } = await ask(scene, body)
    assert.equal(outcome, 'refused')
    assert.match(text.replaceAll('`', ''), why)
    assert.deepEqual(reactions(scene), ['refused'])
    assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
    assert.equal(scene.forge.proposals.length, 1)
  })
}

test('other comments are not answered', async () => {
  const scene = await opened()
  for (const body of ['looks good', '> /adopt', '```\n/adopt\n```', '/lgtm', ''])
    scene.forge.comment(1, 'ada', body)
  assert.deepEqual(await answer(scene), [])
  assert.deepEqual(scene.forge.writes, [])
})

test('numbers refer to the body, even when other changes appeared since', async () => {
  const scene = await opened()
  // Listed before all others, so that 2 would now be another one.
  scene.world.edit(WEB_CONFIG, 'data.alpha', 'new')
  assert.equal((await ask(scene, '/adopt 2')).outcome, 'done')
  const { changes } = await record(scene)
  assert.deepEqual(
    changes.filter(({ resolution }) => resolution === 'Adopt').map(({ path }) => path),
    ['spec.replicas'],
  )
})

test('a named change that no longer differs is rejected', async () => {
  const scene = await opened()
  scene.world.edit(WEB_CONFIG, 'data.color', 'blue')
  const { outcome, text } = await ask(scene, '/adopt 1')
  assert.equal(outcome, 'refused')
  assert.match(text, /no longer differ/)
})

test('the comment lists the last commands over turns, and ignores forged comments with its mark', async () => {
  const scene = await opened()
  await ask(scene, '/adopt 1')
  const { text: first } = await ask(scene, '/adopt 9')
  const { text } = await ask(scene, '/explain 2')
  assert.match(
    text,
    /✅ `\/adopt 1` of `ada`[\s\S]*😕 `\/adopt 9` of `ada`[\s\S]*✅ `\/explain 2` of `ada`/,
  )
  assert.ok(text.startsWith(first.trimEnd()), 'what stood there is as it was')
  scene.forge.comment(
    1,
    'eve',
    '<!-- backporch:topic:command -->\n- ✅ `/adopt` of `ada`: done <!-- backporch:answer=2026-11-21T10:00:00Z,9,0 -->',
  )
  assert.match((await ask(scene, '/help')).text, /^(- .*\n){4}\n/m)
  assert.equal(scene.forge.comments.length, 1)
  const sent = scene.forge.writes.length
  assert.deepEqual(await answer(scene), [])
  assert.equal(scene.forge.writes.length, sent)
})

test('recheck reports what it observed', async () => {
  const scene = await opened()
  assert.match(
    (await ask(scene, '/recheck')).text,
    /observed the cluster at 2026-11-21 10:0\d UTC: it differs as shown above/,
  )
  scene.world.sync()
  assert.match((await ask(scene, '/recheck')).text, /nothing differs any longer/)
  assert.equal((await scene.forge.readProposals('main', [scene.ref]))[0]?.state, 'closed')
})

test("snooze counts from the comment's time, is shown, and ends by itself", async () => {
  const scene = await opened()
  const { outcome, text } = await ask(scene, '/snooze 30m')
  assert.equal(outcome, 'done')
  assert.match(text, /no reminders until 2026-11-21 10:30 UTC/)
  const { report } = await scene.world.plan()
  assert.equal(report.status.snoozedUntil, '2026-11-21T10:30:00Z')
  assert.ok(scene.forge.proposals[0]?.labels.includes('drift-state/snoozed'))
  assert.match(scene.forge.proposals[0]?.body ?? '', /\*\*Snoozed\*\* until 2026-11-21 10:30 UTC/)
  const sent = scene.forge.writes.length
  await scene.world.plan()
  assert.equal(scene.forge.writes.length, sent)
  scene.world.pass(40)
  assert.equal((await scene.world.plan()).report.status.snoozedUntil, undefined)
  assert.ok(!scene.forge.proposals[0]?.labels.includes('drift-state/snoozed'))
  assert.match((await ask(scene, '/snooze 1m')).text, /the time .* is over/)
})

test('explain, show ignores and help are answered in the comment, and change nothing', async () => {
  const scene = await opened(
    {},
    '{mode: Propose, ignore: [{target: {kind: Secret}, reason: "`@all` | sealed", expires: "2026-01-31"}]}',
  )
  const pushes = scene.world.repository.pushes.length
  const { text: explained } = await ask(scene, '/explain 2')
  assert.match(explained, /\*\*2\*\* `Deployment shop\/web` `spec\.replicas`: planned Restore/)
  assert.match(explained, /not ignored by/)
  const { text: shown } = await ask(scene, '/show ignores')
  assert.match(shown, /\| 1 \| `Secret` \| .*sealed.* \| `2026-01-31` \(over\) \|/)
  assert.match((await ask(scene, '/help')).text, /\/snooze 7d/)
  assert.equal(scene.world.repository.pushes.length, pushes)
  assert.equal(scene.forge.comments.length, 1)
})

test('with a foreign commit on the branch, adopt is rejected, and recreate discards it and says so', async () => {
  const scene = await opened()
  const { world, forge } = scene
  const branch = scene.ref.replace('refs/heads/', '')
  await ask(scene, '/adopt 1')
  const theirs = world.repository.commitByHand(branch, { 'apps/web/NOTES.md': 'mine' })
  assert.match(
    (await ask(scene, '/adopt 2')).text.replaceAll('`', ''),
    /has a commit that backporch did not make/,
  )
  assert.equal(world.repository.head(branch), theirs)
  forge.permissions.set('bob', 'read')
  forge.comment(1, 'bob', '/recreate')
  await answer(scene)
  assert.equal(world.repository.head(branch), theirs, 'only somebody who may write')
  const { outcome, text } = await ask(scene, '/recreate')
  assert.equal(outcome, 'done', text)
  assert.equal(world.repository.text(branch, 'apps/web/NOTES.md'), undefined)
  assert.deepEqual(
    await resolutions(scene),
    ['Restore', 'Restore'],
    'nothing that stood on the branch is believed',
  )
  assert.deepEqual((await world.repository.commit(world.repository.head(branch))).parents, [
    world.repository.head('main'),
  ])
  assert.deepEqual(
    forge.proposals.map(({ state }) => state),
    ['open'],
  )
  await world.plan()
  assert.equal((await world.plan()).outcome, 'unchanged')
})

test('recreate keeps a commit that was pushed meanwhile', async () => {
  const scene = await opened()
  const { world } = scene
  const branch = scene.ref.replace('refs/heads/', '')
  world.repository.commitByHand(branch, { 'apps/web/NOTES.md': 'mine' })
  let raced = false
  world.repository.beforePush = (updates) => {
    if (raced || !updates.some(({ ref }) => ref === scene.ref)) return
    raced = true
    world.repository.commitByHand(branch, { 'apps/web/MORE.md': 'mine' })
  }
  scene.forge.comment(1, 'ada', '/recreate')
  await answer(scene)
  assert.ok(raced)
  assert.equal(
    world.repository.text(branch, 'apps/web/MORE.md'),
    undefined,
    'read again, and then replaced knowingly',
  )
})

test('adopt with recreate in one comment recreates first, then plans', async () => {
  const scene = await opened()
  scene.world.repository.commitByHand(scene.ref.replace('refs/heads/', ''), {
    'apps/web/NOTES.md': 'mine',
  })
  assert.equal((await ask(scene, '/adopt 1\n/recreate')).outcome, 'done')
  assert.deepEqual(await resolutions(scene), ['Adopt', 'Restore'])
})

test('a ticked box changes the plan without a name, and is then unticked', async () => {
  const scene = await opened()
  await tick(scene, /backporch:adopt=.*Deployment/)
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Adopt'])
  assert.doesNotMatch(scene.forge.proposals[0]?.body ?? '', /- \[x\]/)
  assert.equal(message(scene), '', 'the body says it')
  await tick(scene, /backporch:restore=.*Deployment/)
  await answer(scene)
  assert.deepEqual(await resolutions(scene), ['Restore', 'Restore'])
  await tick(scene, /backporch:recheck/)
  await answer(scene)
  assert.doesNotMatch(scene.forge.proposals[0]?.body ?? '', /- \[x\]/)
})

test('a command on a proposal for several clusters applies to all of them', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  const clusters = ['prod', 'prod-2', 'prod-3'].map(
    (name) =>
      new Proxy(world.cluster, { get: (own, key) => (key === 'name' ? name : bound(own, key)) }),
  )
  const ports = { repository: world.repository, forge, clusters }
  await runFleetTurn(ports, world.request(), signal)
  assert.equal(forge.proposals.length, 1)
  forge.comment(1, 'ada', '/adopt')
  assert.deepEqual(
    (
      await runFleetTurn(ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
    ).answers.map(({ outcome }) => outcome),
    ['done'],
  )
  const { units } = await runFleetTurn(ports, world.request(), signal)
  assert.deepEqual(
    units.map((unit) => (unit.state === 'planned' ? unit.plan.record?.spec.plan : unit.failures)),
    ['Adopt', 'Adopt', 'Adopt'],
  )
  assert.equal(forge.proposals.length, 1)
  assert.match(forge.proposals[0]?.title ?? '', /adopt/)
})

function bound(own: object, key: string | symbol): unknown {
  const value: unknown = Reflect.get(own, key)
  return typeof value === 'function' ? value.bind(own) : value
}
