import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { mergeByHand, policyText, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import type { Answer } from './apply/apply-answers.ts'
import { NO_REQUESTED_ACTIONS } from './requests/observe-requests.ts'
import { runTurn } from './run-turn.ts'

const signal = new AbortController().signal
const POLICY = `# ours
apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy # the one
metadata: {name: test}
spec:
  mode: Propose   # since May

  # what is not ours
  ignore:
  - {target: {kind: Secret}, reason: "sealed"} # ask ann
`

async function opened(files: { readonly [path: string]: string | null } = {}) {
  const world = new TurnWorld('{mode: Propose}')
  if (Object.keys(files).length > 0) world.repository.commitByHand('main', files)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  forge.writes.length = 0
  const answer = async (): Promise<readonly Answer[]> => {
    world.pass(1)
    return (
      await runTurn(world.ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
    ).answers
  }
  const ask = async (body: string): Promise<string> => {
    forge.comment(1, 'ada', body)
    await answer()
    return forge.comments.find(({ topic }) => topic === 'command')?.body ?? ''
  }
  return { world, forge, answer, ask }
}

test('ignore proposes one added rule; after its merge the drift is hidden and the branch deleted', async () => {
  const { world, forge, ask, answer } = await opened({
    '.drift/policy.yaml': POLICY,
    CODEOWNERS: '/.drift/ @grace @acme/sre a@example.com\n',
  })
  assert.match(await ask('/ignore 1 --for 30d -- KEDA trial'), /`#2`.* proposes it/)
  const [, policy] = forge.proposals
  assert.match(policy?.ref ?? '', /^refs\/heads\/drift\/ignore-[0-9a-f]{8}$/)
  assert.equal(policy?.title, 'chore(drift): ignore Deployment/web spec.replicas')
  const branch = policy?.ref.replace('refs/heads/', '') ?? ''
  assert.equal(
    world.repository.text(branch, '.drift/policy.yaml'),
    `${POLICY}  - target:\n      group: apps\n      kind: Deployment\n      namespace: shop\n      name: web\n    paths:\n    - spec.replicas\n    reason: KEDA trial\n    expires: "2026-12-21"\n`,
  )
  const changed = world.repository
    .paths(branch)
    .filter((path) => world.repository.text(branch, path) !== world.repository.text('main', path))
  assert.deepEqual(changed, ['.drift/policy.yaml'])
  assert.equal(
    (await world.plan()).report.status.state,
    'Drifted',
    'nothing is hidden before the merge',
  )
  await mergeByHand(world, branch)
  forge.byHand(2, { state: 'merged', decidedBy: 'grace', decidedAt: '2026-11-21T10:05:00Z' })
  assert.equal((await world.plan()).report.status.state, 'InSync')
  await answer()
  assert.equal(world.repository.branches.has(policy?.ref ?? ''), false)
})

test('repeated by two people or after a crash, the request is one proposal', async () => {
  const { world, forge, ask, answer } = await opened({ '.drift/policy.yaml': POLICY })
  forge.permissions.set('bob', 'write')
  forge.comment(1, 'bob', '/ignore 1 -- KEDA')
  await ask('/ignore 1 -- KEDA')
  assert.equal(forge.proposals.length, 2)
  forge.proposals.length = 1
  for (const each of forge.conversation) each.reaction = undefined
  await answer()
  assert.equal(forge.proposals.length, 2, 'the branch was there, and its proposal not')
  assert.match(await ask('/ignore 1 -- KEDA'), /#2.* proposes it/)
  assert.equal(forge.proposals.length, 2)
  forge.byHand(2, { state: 'closed', decidedBy: 'grace' })
  await ask('/ignore 1 -- KEDA')
  assert.deepEqual(
    forge.proposals.map(({ state }) => state),
    ['open', 'closed', 'open'],
    'another comment may ask again',
  )
  assert.equal(world.repository.names().filter((name) => name.startsWith('drift/')).length, 1)
})

test('the next call completes an interrupted one, and keeps the text of the first requester', async () => {
  const { forge, answer, ask } = await opened({ '.drift/policy.yaml': POLICY })
  await ask('/ignore 1 -- KEDA')
  forge.byHand(2, { labels: [], body: 'edited by ann' })
  for (const each of forge.conversation) each.reaction = undefined
  await answer()
  const [, policy] = forge.proposals
  assert.deepEqual(
    [forge.proposals.length, policy?.labels, policy?.body],
    [2, ['drift'], 'edited by ann'],
  )
})

test('without a policy for the unit, a policy only for this unit is created', async () => {
  const { world, forge, ask } = await opened({
    '.drift/policy.yaml': policyText('{mode: Propose}'),
    '.drift/other.yaml': `${policyText('{match: {clusters: [elsewhere]}}').replace('name: test', 'name: other')}`,
  })
  world.repository.commitByHand('main', { '.drift/policy.yaml': null, '.drift/at-once.yaml': null })
  await ask('/ignore 1 -- KEDA')
  const branch = forge.proposals[1]?.ref.replace('refs/heads/', '') ?? ''
  const text = world.repository.text(branch, '.drift/default.policy') ?? ''
  assert.match(text, /^# vim: ft=yaml\n/)
  assert.match(text, /clusters:\n\s+- prod\n\s+packages:\n\s+- apps\/web\n/)
  await mergeByHand(world, branch)
  assert.deepEqual(
    (await world.plan()).report.status.setAside?.map(({ state }) => state),
    ['Ignored'],
  )
})

test('unignore removes the rule with that number of the list, and no other byte', async () => {
  const { world, forge, ask } = await opened({
    '.drift/policy.yaml': POLICY.replace(
      '  - {target',
      '  - {target: {kind: Pod}, reason: x}\n  - {target',
    ),
  })
  assert.match(await ask('/show ignores'), /\| 2 \| `Secret`/)
  await ask('/unignore 1')
  const branch = forge.proposals[1]?.ref.replace('refs/heads/', '') ?? ''
  assert.match(branch, /^drift\/unignore-/)
  assert.equal(world.repository.text(branch, '.drift/policy.yaml'), POLICY)
})

test('an existing rule needs no proposal', async () => {
  const rule =
    '{target: {group: apps, kind: Deployment, namespace: shop, name: web}, paths: [spec.replicas], reason: KEDA, expires: "2020-01-01"}'
  const { forge, ask } = await opened({
    '.drift/policy.yaml': policyText(`{mode: Propose, ignore: [${rule}]}`),
  })
  forge.comment(1, 'ada', '/ignore 1 --for 1d -- KEDA')
  assert.match(await ask('/ignore 1 --for 2d -- KEDA'), /proposes it/)
  assert.equal(forge.proposals.length, 3, 'rules with other ends are other rules')
})

test('an existing branch with a foreign commit is left alone', async () => {
  const { world, forge, ask } = await opened({ '.drift/policy.yaml': POLICY })
  await ask('/ignore 1 -- KEDA')
  const ref = forge.proposals[1]?.ref ?? ''
  world.repository.commitByHand(ref.replace('refs/heads/', ''), { 'x.yaml': 'a: b' })
  forge.proposals.length = 1
  assert.match(
    (await ask('/ignore 1 -- KEDA')).replaceAll('`', ''),
    /has a commit that backporch did not make/,
  )
  assert.equal(forge.proposals.length, 1)
})

test('the reason stays a YAML value, whatever it contains', async () => {
  for (const reason of [
    'a: b # c',
    '"}]}',
    '\u2028- x',
    "it's {{ x }}",
    '*x',
    '!!binary x',
    '@all #1',
  ]) {
    const { world, forge, ask } = await opened({ '.drift/policy.yaml': POLICY })
    await ask(`/ignore 1 -- ${reason}`)
    const branch = forge.proposals[1]?.ref.replace('refs/heads/', '') ?? ''
    await mergeByHand(world, branch)
    assert.deepEqual((await world.plan()).report.status.setAside?.length, 1, reason)
  }
})
