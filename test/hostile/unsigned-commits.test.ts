/** With a signing key, the ledger and the name of the bot are not enough: whoever writes both cannot sign. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { runOnboarding } from '../../src/reconcile/onboard/onboard.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runTurn } from '../../src/reconcile/turn/run-turn.ts'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { BOT_EMAIL, type MemoryRepository } from '../fakes/memory-repository.ts'
import { refused, TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'

const signal = new AbortController().signal
const LEDGER = 'refs/heads/drift-ledger'

interface Stage {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly branch: string
}

/** One open pull request, signed. */
async function opened(signs = true): Promise<Stage> {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.repository.signs = signs
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [branch = ''] = world.repository.names()
  return { world, forge, branch }
}

/** The commit of the branch made anew in the name of the bot, and the ledger, which says that it is the one that was pushed. */
async function forge(
  repository: MemoryRepository,
  branch: string,
  files: { readonly [path: string]: string | null },
): Promise<ObjectId> {
  const ours = repository.head(branch)
  const { parents, message, author } = await repository.commit(ours)
  const forged = repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents,
    message,
    at: author.at,
  })
  const path = `pushed/${branch}.yaml`
  const text = (repository.text('drift-ledger', path) ?? '').replaceAll(ours, forged)
  assert.match(text, new RegExp(forged))
  repository.commitByHand('drift-ledger', { [path]: text }, { author: BOT_EMAIL })
  return forged
}

function flipped({ world: { repository }, branch }: Stage): { readonly [path: string]: string } {
  const path = repository.paths(branch).find((one) => one.startsWith('.drift/records/')) ?? ''
  const text = repository.text(branch, path) ?? ''
  assert.match(text, /resolution: Restore/)
  return {
    [path]: text
      .replaceAll('resolution: Restore', 'resolution: Adopt')
      .replace('plan: Restore', 'plan: Adopt'),
  }
}

/** A commit that Backporch itself would write for Adopt, unsigned, with the ledger that says so. */
async function adoptedUnsigned({ world }: Stage): Promise<void> {
  world.repository.signs = false
  await world.resolutionRequest('Adopt', [], 'approved by security')
  world.repository.signs = true
}

const FORGERIES: { readonly [what: string]: (stage: Stage) => Promise<unknown> } = {
  'an added workflow': ({ world, branch }) =>
    forge(world.repository, branch, { '.github/workflows/x.yml': 'on: push\n' }),
  'a flipped resolution': (stage) => forge(stage.world.repository, stage.branch, flipped(stage)),
  'the whole proposal that backporch would write for another resolution': adoptedUnsigned,
}

for (const [what, forgery] of Object.entries(FORGERIES)) {
  test(`${what}, unsigned, with its entry in the ledger: fails the check, and is never overwritten`, async () => {
    const stage = await opened()
    const { world, forge: hosted, branch } = stage
    await forgery(stage)
    const forged = world.repository.head(branch)
    hosted.byHand(1, { commit: forged })
    for (let turn = 0; turn < 3; turn += 1) await world.scan()
    assert.equal(world.repository.head(branch), forged)
    const status = hosted.statuses.get(`${forged} drift/render`)
    assert.equal(status?.state, 'failure')
    assert.match(status?.description ?? '', /no signature of backporch/)
    hosted.permissions.set('ada', 'write')
    hosted.comment(1, 'ada', '/recreate')
    const { outcome } = await world.plan({ requestedActions: NO_REQUESTED_ACTIONS })
    assert.equal(outcome, 'updated')
    const anew = world.repository.head(branch)
    assert.equal((await world.repository.commit(anew)).signed, true)
    assert.equal(hosted.statuses.get(`${anew} drift/render`)?.state, 'success')
    assert.equal(world.repository.text(branch, '.github/workflows/x.yml'), undefined)
  })

  test(`${what}, unsigned, with its entry in the ledger: approve refuses it`, async () => {
    const stage = await opened()
    const { world } = stage
    await forgery(stage)
    world.forge = undefined
    world.packages = ['apps/web']
    const main = world.repository.head('main')
    await refused(world.approve(), 'BP2009')
    assert.equal(world.repository.head('main'), main)
  })
}

test('signs an open proposal that follows from the policy once, in the first turn with a key', async () => {
  const { world, forge: hosted, branch } = await opened(false)
  const before = world.repository.head(branch)
  world.repository.signs = true
  assert.equal((await world.plan()).outcome, 'updated')
  const head = world.repository.head(branch)
  assert.notEqual(head, before)
  assert.equal((await world.repository.commit(head)).signed, true)
  assert.equal((await world.repository.commit(world.repository.head('drift-ledger'))).signed, true)
  assert.equal(hosted.statuses.get(`${head} drift/render`)?.state, 'success')
  const { updates } = await world.plan()
  assert.deepEqual(updates, [])
})

test('approve signs a proposal from before the key', async () => {
  const { world, branch } = await opened(false)
  world.repository.signs = true
  world.forge = undefined
  world.packages = ['apps/web']
  const { commit } = await world.approve()
  assert.ok(commit)
  const { signed, parents } = await world.repository.commit(commit)
  assert.equal(signed, true)
  const [, merged] = parents
  assert.ok(merged)
  assert.equal((await world.repository.commit(merged)).signed, true)
  assert.equal(world.repository.names().includes(branch), false)
})

test('signs an open joint proposal in the first turn with a key', async () => {
  const world = new FleetWorld(3)
  world.edit([0, 1, 2])
  await world.scan()
  const [branch = ''] = world.repository.names().filter((name) => name.startsWith('proposed/'))
  world.repository.signs = true
  await world.scan()
  assert.equal((await world.repository.commit(world.repository.head(branch))).signed, true)
  assert.deepEqual((await world.scan()).updates, [])
})

test('does not sign what a person chose before the key, and needs /recreate', async () => {
  const { world, branch } = await opened(false)
  await world.resolutionRequest('Adopt', [], 'more load')
  const head = world.repository.head(branch)
  world.repository.signs = true
  assert.equal((await world.plan()).outcome, 'foreign')
  assert.equal(world.repository.head(branch), head)
})

test('recognises an adopted proposal by its signature when the ledger is lost and live moves', async () => {
  const { world, branch } = await opened()
  await world.resolutionRequest('Adopt', [], 'more load')
  world.repository.branches.delete(LEDGER)
  world.edit(WEB_CONFIG, 'data.size', '9')
  const { outcome, record } = await world.plan()
  assert.equal(outcome, 'updated')
  assert.ok(record?.spec.changes.some(({ resolution }) => resolution === 'Adopt'))
  assert.match(
    world.repository.text('drift-ledger', `pushed/${branch}.yaml`) ?? '',
    new RegExp(world.repository.head(branch)),
  )
})

test('treats an unsigned proposal that nobody chose as foreign when the ledger is lost', async () => {
  const stage = await opened()
  const { world, branch } = stage
  await adoptedUnsigned(stage)
  world.repository.branches.delete(LEDGER)
  const forged = world.repository.head(branch)
  assert.equal((await world.plan()).outcome, 'foreign')
  assert.equal(world.repository.head(branch), forged)
})

test('does not treat a restored older signed commit as ours while the ledger knows a later one', async () => {
  const { world, branch } = await opened()
  const older = world.repository.head(branch)
  world.edit(WEB, 'spec.replicas', 6)
  await world.plan()
  world.repository.branches.set(`refs/heads/${branch}`, older)
  assert.equal((await world.plan()).outcome, 'foreign')
})

test('treats unsigned commits on drift/configure and an ignore branch as foreign despite their ledger entries', async () => {
  const world = new TurnWorld()
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  world.forge = new MemoryForge(world.repository)
  world.repository.signs = true
  const init = () =>
    runOnboarding(
      world.ports,
      { turn: world.request(), again: false, remove: false, confirm: async () => true },
      signal,
    )
  await init()
  assert.equal((await init()).subject?.editedBy, undefined)
  const forged = await forge(world.repository, 'drift/configure', { 'x.yaml': 'a: 1\n' })
  assert.match((await init()).subject?.editedBy ?? '', /^somebody as /)
  assert.equal(world.repository.head('drift/configure'), forged)

  const stage = await opened()
  stage.forge.permissions.set('ada', 'write')
  const ask = async (): Promise<string> => {
    stage.forge.comment(1, 'ada', '/ignore 1 -- KEDA')
    stage.world.pass(1)
    await runTurn(
      stage.world.ports,
      stage.world.request({ requestedActions: NO_REQUESTED_ACTIONS }),
      signal,
    )
    return stage.forge.comments.find(({ topic }) => topic === 'command')?.body ?? ''
  }
  assert.match(await ask(), /#2.* proposes it/)
  const branch =
    stage.world.repository.names().find((name) => name.startsWith('drift/ignore-')) ?? ''
  await forge(stage.world.repository, branch, { 'x.yaml': 'a: 1\n' })
  assert.match(await ask(), /has a commit that backporch did not make/)
})
