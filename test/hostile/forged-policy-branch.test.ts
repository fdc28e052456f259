/** Somebody who may push to `drift/` writes commits in the name of the bot: the proposals that enrol, and that change the policy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  type Onboarded,
  type OnboardRequest,
  runOnboarding,
} from '../../src/reconcile/onboard/onboard.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runTurn } from '../../src/reconcile/turn/run-turn.ts'
import { withMetadata } from '../fakes/live-object.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { BOT_EMAIL, type MemoryRepository } from '../fakes/memory-repository.ts'
import { TurnWorld, WEB } from '../fakes/turn-world.ts'

const signal = new AbortController().signal
const CONFIGURE = 'drift/configure'

type Files = { readonly [path: string]: string | null }

/** The commit of the branch, made anew with other files, in the name of the bot. */
async function amend(
  repository: MemoryRepository,
  branch: string,
  files: Files,
): Promise<ObjectId> {
  const { parents, author, message } = await repository.commit(repository.head(branch))
  return repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents,
    at: author.at,
    message,
  })
}

async function init(world: TurnWorld, more: Partial<OnboardRequest> = {}): Promise<Onboarded> {
  world.pass(1)
  return runOnboarding(
    world.ports,
    { turn: world.request(), again: false, remove: false, confirm: async () => true, ...more },
    signal,
  )
}

/** An open proposal to enrol the repository. */
async function configured(): Promise<{ readonly world: TurnWorld; readonly forge: MemoryForge }> {
  const world = new TurnWorld()
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await init(world)
  return { world, forge }
}

const CONFIGURE_FORGERIES: { readonly [what: string]: (repository: MemoryRepository) => Files } = {
  'an added workflow': () => ({ '.github/workflows/x.yml': 'on: push\njobs: {}\n' }),
  'another mode in the policy': (repository) => ({
    '.drift/policy.yaml': (repository.text(CONFIGURE, '.drift/policy.yaml') ?? '').replace(
      'mode: Warn',
      'mode: Off',
    ),
  }),
  'a package changed': () => ({ 'apps/web/config.yaml': 'a: 1\n' }),
}

/** What the cluster says by now has nothing to do with whose the branch is. */
const MOVES: { readonly [what: string]: (world: TurnWorld) => void } = {
  'while nothing moves': () => undefined,
  'while the wanted policy changes': (world) =>
    world.cluster.change(WEB, (live) =>
      withMetadata(live, { annotations: { 'projectsveltos.io/driftDetectionIgnore': 'ok' } }),
    ),
}

for (const [what, files] of Object.entries(CONFIGURE_FORGERIES)) {
  for (const [when, moves] of Object.entries(MOVES)) {
    test(`${CONFIGURE}: ${what}, in the name of the bot, ${when}: is reported as foreign and never overwritten`, async () => {
      const { world, forge } = await configured()
      const forged = await amend(world.repository, CONFIGURE, files(world.repository))
      moves(world)
      for (let run = 0; run < 2; run += 1) {
        const { updates, subject } = await init(world)
        assert.deepEqual(updates, [])
        assert.match(subject?.editedBy ?? '', /^somebody as /)
      }
      assert.equal(world.repository.head(CONFIGURE), forged)
      assert.match(forge.proposals[0]?.body ?? '', /\*\*Edited by `somebody as /)
    })
  }

  test(`${CONFIGURE}: ${what}, in the name of the bot: stays when the proposal is closed, and --remove deletes it`, async () => {
    const { world, forge } = await configured()
    const forged = await amend(world.repository, CONFIGURE, files(world.repository))
    forge.byHand(1, { state: 'closed', decidedBy: 'ada', commit: forged })
    await init(world)
    assert.equal(world.repository.head(CONFIGURE), forged)
    await init(world, { remove: true })
    assert.deepEqual(world.repository.names(), [])
  })
}

test(`${CONFIGURE}: does not treat a restored older commit as ours`, async () => {
  const { world } = await configured()
  const older = world.repository.head(CONFIGURE)
  MOVES['while the wanted policy changes']?.(world)
  await init(world)
  assert.notEqual(world.repository.head(CONFIGURE), older)
  world.repository.branches.set(`refs/heads/${CONFIGURE}`, older)
  assert.deepEqual((await init(world)).updates, [])
  assert.equal(world.repository.head(CONFIGURE), older)
})

test(`${CONFIGURE}: without a ledger it is ours if its content is as we would write it, and foreign otherwise`, async () => {
  const { world, forge } = await configured()
  world.repository.branches.delete('refs/heads/drift-ledger')
  const { length } = forge.writes
  const same = await init(world)
  assert.deepEqual(
    [same.subject?.editedBy, same.updates, forge.writes.length],
    [undefined, [], length],
  )
  await amend(world.repository, CONFIGURE, { 'x.yaml': 'a: 1\n' })
  assert.match((await init(world)).subject?.editedBy ?? '', /^somebody as /)
})

interface RequestDescription {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  /** Of the proposal that changes the policy. */
  readonly branch: string
  /** Says `/ignore` again, and what is answered to it. */
  readonly ask: () => Promise<string>
}

async function requested(): Promise<RequestDescription> {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const ask = async (): Promise<string> => {
    forge.comment(1, 'ada', '/ignore 1 -- KEDA')
    world.pass(1)
    await runTurn(world.ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
    return forge.comments.find(({ topic }) => topic === 'command')?.body ?? ''
  }
  assert.match(await ask(), /#2.* proposes it/)
  const branch = world.repository.names().find((name) => name.startsWith('drift/ignore-')) ?? ''
  return { world, forge, branch, ask }
}

const POLICY_FORGERIES: { readonly [what: string]: (stage: RequestDescription) => Files } = {
  'an added workflow': () => ({ '.github/workflows/x.yml': 'on: push\njobs: {}\n' }),
  'a wider rule': ({ world: { repository }, branch }) => {
    const text = repository.text(branch, '.drift/policy.yaml') ?? ''
    assert.match(text, /spec\.replicas/)
    return { '.drift/policy.yaml': text.replaceAll('spec.replicas', 'spec') }
  },
}

for (const [what, files] of Object.entries(POLICY_FORGERIES)) {
  test(`an ignore branch: ${what}, in the name of the bot: is neither proposed again nor deleted`, async () => {
    const stage = await requested()
    const { world, forge, branch, ask } = stage
    const forged = await amend(world.repository, branch, files(stage))
    // The proposal that was opened is lost, as where a process ended before it opened one.
    const [, second] = forge.proposals
    forge.proposals.length = 1
    assert.match(await ask(), /has a commit that backporch did not make/)
    assert.equal(forge.proposals.length, 1)
    assert.equal(world.repository.head(branch), forged)
    assert.ok(second)
    forge.proposals.push({ ...second, state: 'closed', decidedBy: 'ada', commit: forged })
    await runTurn(world.ports, world.request({ requestedActions: NO_REQUESTED_ACTIONS }), signal)
    assert.equal(world.repository.head(branch), forged)
  })
}

for (const ledger of ['with', 'without'] as const) {
  test(`opens the proposal of our ignore branch ${ledger} a ledger`, async () => {
    const { world, forge, ask } = await requested()
    forge.proposals.length = 1
    if (ledger === 'without') {
      const paths = world.repository
        .paths('drift-ledger')
        .filter((path) => path.startsWith('pushed/drift/'))
      assert.equal(paths.length, 1)
      world.repository.commitByHand(
        'drift-ledger',
        Object.fromEntries(paths.map((path) => [path, null])),
        { author: BOT_EMAIL },
      )
    }
    assert.match(await ask(), /#2.* proposes it/)
    assert.equal(forge.proposals.length, 2)
  })
}
