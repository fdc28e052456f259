/** Somebody who may push to `proposed/` writes commits in the name of the bot. Author and committer prove nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { BOT_EMAIL, type MemoryRepository } from '../fakes/memory-repository.ts'
import { KPTFILE, refused, TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'

const VOUCHING = ['drift/fresh', 'drift/render', 'drift/policy', 'drift/applier']

interface Stage {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly branch: string
}

/** One open pull request about `spec.replicas` with a critical field beside it. */
async function opened(hosted = true): Promise<Stage> {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/Kptfile': `${KPTFILE}pipeline: {}\n` })
  const forge = new MemoryForge(world.repository)
  if (hosted) world.forge = forge
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [branch = ''] = world.repository.names()
  assert.match(branch, /^proposed\/apps\/web\/drift-/)
  return { world, forge, branch }
}

type Files = { readonly [path: string]: string | null }

/** The commit of the branch, made anew with other files, in the name of the bot. */
async function amend(
  { world: { repository }, branch }: Stage,
  files: Files,
  message?: string,
): Promise<ObjectId> {
  const created = await repository.commit(repository.head(branch))
  return repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents: created.parents,
    at: created.author.at,
    message: message ?? created.message,
  })
}

function recordOf({ world: { repository }, branch }: Stage): {
  readonly path: string
  readonly text: string
} {
  const path = repository.paths(branch).find((one) => one.startsWith('.drift/records/')) ?? ''
  return { path, text: repository.text(branch, path) ?? '' }
}

function textOf({ world: { repository }, branch }: Stage, path: string): string {
  return repository.text(branch, path) ?? ''
}

const WEB_FILE = 'apps/web/deployment.yaml'

const FORGERIES: { readonly [what: string]: (stage: Stage) => Promise<unknown> } = {
  'another image in the package': (stage) =>
    amend(stage, {
      [WEB_FILE]: textOf(stage, WEB_FILE).replace('nginx:1.27', 'evil.example/nginx:1.27'),
    }),
  'an added workflow': (stage) =>
    amend(stage, { '.github/workflows/x.yml': 'on: push\njobs: {}\n' }),
  'the resolution flipped in the record': (stage) => {
    const { path, text } = recordOf(stage)
    return amend(stage, {
      [path]: text
        .replace('resolution: Restore', 'resolution: Adopt')
        .replace('plan: Restore', 'plan: Adopt'),
    })
  },
  'the resolution flipped, with the files that backporch would write for it': async (stage) => {
    const { world, branch } = stage
    const pushed = world.repository.head(branch)
    const ledger = world.repository.head('drift-ledger')
    await world.resolutionRequest('Adopt')
    // The commit is one that backporch made; what it pushed to the ledger with it never came to be.
    assert.notEqual(world.repository.head(branch), pushed)
    world.repository.branches.set('refs/heads/drift-ledger', ledger)
  },
  'a forged message of a person': (stage) => {
    const { path, text } = recordOf(stage)
    return amend(stage, {
      [path]: text.replace(
        /^( {2})plan: Restore$/m,
        '$1plan: Restore\n$1message: approved by security',
      ),
    })
  },
  'an added file outside of the package': (stage) => amend(stage, { 'apps/other.yaml': 'a: 1\n' }),
  'a deleted file outside of the package': (stage) => amend(stage, { '.drift/policy.yaml': null }),
  'another pipeline in the Kptfile': (stage) =>
    amend(stage, {
      'apps/web/Kptfile': textOf(stage, 'apps/web/Kptfile').replace(
        'pipeline: {}',
        'pipeline: {mutators: [{image: evil}]}',
      ),
    }),
  'another copy, source or time in the record': (stage) => {
    const { path, text } = recordOf(stage)
    return amend(stage, { [path]: text.replace(/source: .*/, 'source: elsewhere.yaml:1') })
  },
  'a second commit': async ({ world: { repository }, branch }) => {
    repository.commitByHand(branch, { 'apps/other.yaml': 'a: 1\n' }, { author: BOT_EMAIL })
  },
  'other trailers in the message': async (stage) => {
    const { message } = await stage.world.repository.commit(
      stage.world.repository.head(stage.branch),
    )
    await amend(
      stage,
      {},
      message.replace(/^Drift-Risk: .*$/m, 'Drift-Risk: low\nReviewed-by: Grace'),
    )
  },
  'an older commit of the bot': async ({ world, branch }) => {
    const older = world.repository.head(branch)
    world.edit(WEB, 'spec.replicas', 6)
    await world.plan()
    assert.notEqual(world.repository.head(branch), older)
    world.repository.branches.set(`refs/heads/${branch}`, older)
  },
  "another episode's commit": async ({ world, branch }) => {
    const own = world.repository.head(branch)
    world.repository.commitByHand('main', {
      'apps/zoo/Kptfile': KPTFILE.replace('web', 'zoo'),
      'apps/zoo/config.yaml': ZOO,
    })
    world.sync()
    world.edit(WEB, 'spec.replicas', 5)
    world.edit('/ConfigMap/shop/zoo', 'data.size', '7')
    await world.scan()
    const other =
      world.repository.names().find((name) => name.startsWith('proposed/apps/zoo/')) ?? ''
    const commit = world.repository.head(other)
    assert.notEqual(commit, own)
    world.repository.branches.set(`refs/heads/${branch}`, commit)
  },
}
const ZOO =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: zoo, namespace: shop}\ndata: {size: "5"}\n'

for (const [what, forgery] of Object.entries(FORGERIES)) {
  test(`${what}, in the name of the bot: fails the checks, is reported once, and is never overwritten`, async () => {
    const stage = await opened()
    const { world, forge, branch } = stage
    await forgery(stage)
    const forged = world.repository.head(branch)
    const number = forge.proposals.find(({ ref }) => ref === `refs/heads/${branch}`)?.number ?? 0
    forge.byHand(number, { commit: forged })
    forge.writes.length = 0
    for (let turn = 0; turn < 3; turn += 1) await world.scan()
    assert.equal(world.repository.head(branch), forged, 'pushed over')
    for (const context of VOUCHING) {
      const status = forge.statuses.get(`${forged} ${context}`)
      assert.equal(status?.state, 'failure', context)
      assert.match(status?.description ?? '', /backporch did not|not what backporch/)
    }
    assert.deepEqual(
      forge.writes.filter((write) => write.startsWith('comment')),
      [`comment #${number} edited`],
    )
    assert.equal(
      world.repository.names().filter((name) => name.startsWith('proposed/apps/web/')).length,
      1,
      'proposed twice',
    )
  })

  test(`${what}, in the name of the bot: approve refuses it and merges nothing`, async () => {
    const stage = await opened(false)
    const { world, branch } = stage
    await forgery(stage)
    world.packages = ['apps/web']
    const main = world.repository.head('main')
    const forged = world.repository.head(branch)
    const failure = await refused(world.approve(), 'BP2009')
    assert.match(failure.remedy, /delete|by hand/)
    assert.equal(world.repository.head('main'), main)
    assert.equal(world.repository.head(branch), forged)
  })
}

test('adopt does not change a forged branch, and /recreate replaces it', async () => {
  const stage = await opened()
  const { world, forge, branch } = stage
  const ours = world.repository.head(branch)
  const forged = await amend(stage, { 'x.yaml': 'a: 1\n' })
  await refused(world.resolutionRequest('Adopt'), 'BP2009')
  assert.equal(world.repository.head(branch), forged)
  forge.permissions.set('ada', 'write')
  forge.comment(1, 'ada', '/recreate')
  const { outcome } = await world.plan({ requestedActions: NO_REQUESTED_ACTIONS })
  assert.equal(outcome, 'updated')
  const anew = world.repository.head(branch)
  assert.notEqual(anew, forged)
  assert.equal(
    (await world.repository.commit(anew)).tree === (await world.repository.commit(ours)).tree,
    false,
    'the times differ',
  )
  assert.equal(forge.statuses.get(`${anew} drift/render`)?.state, 'success')
  assert.equal(world.repository.text(branch, 'x.yaml'), undefined)
})

test('does not withdraw a forged branch when its drift heals, because the commit is foreign', async () => {
  const stage = await opened()
  const { world, branch } = stage
  const forged = await amend(stage, { 'x.yaml': 'a: 1\n' })
  world.sync()
  const { outcome } = await world.plan()
  assert.equal(outcome, 'foreign')
  assert.equal(world.repository.head(branch), forged)
})

test('does not promote a draft with a foreign commit in the name of the bot', async () => {
  const world = new TurnWorld('{mode: Warn}')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  const [branch = ''] = world.repository.names()
  assert.match(branch, /^drafts\//)
  const forged = await amend(
    { world, forge: new MemoryForge(world.repository), branch },
    { 'x.yaml': 'a: 1\n' },
  )
  await refused(world.resolutionRequest('Restore'), 'BP2009')
  assert.equal(world.repository.head(branch), forged)
})

const LEGITIMATE: { readonly [what: string]: (stage: Stage) => Promise<unknown> | unknown } = {
  'no ledger at all': ({ world }) => world.repository.branches.delete('refs/heads/drift-ledger'),
  'a ledger of a version that kept no commits': ({ world: { repository } }) => {
    const pushed = repository.paths('drift-ledger').filter((path) => path.startsWith('pushed/'))
    assert.notEqual(pushed.length, 0)
    repository.commitByHand(
      'drift-ledger',
      Object.fromEntries(pushed.map((path) => [path, null])),
      { author: BOT_EMAIL },
    )
  },
  'a ledger that was not written because the server updates refs one by one': async ({
    world,
    branch,
  }) => {
    const ledger = world.repository.head('drift-ledger')
    world.edit(WEB, 'spec.replicas', 6)
    await world.plan()
    assert.equal(world.repository.names()[0], branch)
    world.repository.branches.set('refs/heads/drift-ledger', ledger)
  },
}

for (const [what, happens] of Object.entries(LEGITIMATE)) {
  test(`${what}: recognises our branch by its content, and records it in the ledger again`, async () => {
    const stage = await opened()
    const { world, forge, branch } = stage
    await happens(stage)
    const head = world.repository.head(branch)
    const { outcome } = await world.plan()
    assert.equal(outcome, 'unchanged')
    assert.equal(world.repository.head(branch), head)
    assert.equal(forge.statuses.get(`${head} drift/render`)?.state, 'success')
    assert.match(
      world.repository.text('drift-ledger', `pushed/${branch}.yaml`) ?? '',
      new RegExp(head),
    )
    const ledger = world.repository.head('drift-ledger')
    await world.plan()
    assert.equal(
      world.repository.head('drift-ledger'),
      ledger,
      'nothing is written when nothing is new',
    )
  })
}

test('recognises an adopted plan by its content without a ledger', async () => {
  const stage = await opened()
  const { world, branch } = stage
  await world.resolutionRequest('Adopt', [], 'more load')
  const head = world.repository.head(branch)
  world.repository.branches.delete('refs/heads/drift-ledger')
  const { outcome } = await world.plan()
  assert.equal(outcome, 'unchanged')
  assert.equal(world.repository.head(branch), head)
})

for (const ledger of ['with', 'without'] as const) {
  test(`rebuilds our branch when the base moves, ${ledger} a ledger`, async () => {
    const stage = await opened()
    const { world, forge, branch } = stage
    const before = world.repository.head(branch)
    if (ledger === 'without') world.repository.branches.delete('refs/heads/drift-ledger')
    world.repository.commitByHand('main', { 'apps/web/notes.md': 'a note\n' })
    const { outcome } = await world.plan()
    assert.equal(outcome, 'updated')
    const head = world.repository.head(branch)
    assert.notEqual(head, before)
    assert.equal(forge.statuses.get(`${head} drift/render`)?.state, 'success')
  })
}

test('rebuilds a Restore branch without a ledger when live moves, because its base proves it', async () => {
  const stage = await opened()
  const { world } = stage
  world.repository.branches.delete('refs/heads/drift-ledger')
  world.edit(WEB_CONFIG, 'data.size', '9')
  const { outcome } = await world.plan()
  assert.equal(outcome, 'updated')
})

test('rebuilds a forged branch whose entry in the ledger is forged, and does not vouch for it', async () => {
  const stage = await opened()
  const { world, forge, branch } = stage
  const ours = world.repository.head(branch)
  const forged = await amend(stage, { '.github/workflows/x.yml': 'on: push\n' })
  const path = `pushed/${branch}.yaml`
  const text = world.repository.text('drift-ledger', path) ?? ''
  world.repository.commitByHand(
    'drift-ledger',
    { [path]: text.replaceAll(ours, forged) },
    { author: BOT_EMAIL },
  )
  const { outcome } = await world.plan()
  assert.equal(outcome, 'updated')
  assert.notEqual(world.repository.head(branch), forged)
  assert.equal(world.repository.text(branch, '.github/workflows/x.yml'), undefined)
  assert.notEqual(forge.statuses.get(`${forged} drift/render`)?.state, 'success')
})

const JOINT_FORGERIES: {
  readonly [what: string]: (repository: MemoryRepository, branch: string) => Files
} = {
  'another image in the package': (repository, branch) => ({
    [WEB_FILE]: (repository.text(branch, WEB_FILE) ?? '').replace(
      'nginx:1.27',
      'evil.example/nginx:1.27',
    ),
  }),
  'an added workflow': () => ({ '.github/workflows/x.yml': 'on: push\njobs: {}\n' }),
  'the resolution flipped in one record': (repository, branch) =>
    Object.fromEntries(flippedRecords(repository, branch).slice(0, 1)),
  'the resolution flipped in every record': (repository, branch) =>
    Object.fromEntries(flippedRecords(repository, branch)),
}

function flippedRecords(repository: MemoryRepository, branch: string): [string, string][] {
  const paths = repository
    .paths(branch)
    .filter((path) => path.startsWith('.drift/records/') && path.endsWith('.record'))
  assert.equal(paths.length, 3)
  return paths.map((path) => {
    const text = repository.text(branch, path) ?? ''
    assert.match(text, /resolution: Restore/)
    return [
      path,
      text
        .replaceAll('resolution: Restore', 'resolution: Adopt')
        .replace('plan: Restore', 'plan: Adopt'),
    ]
  })
}

for (const [what, files] of Object.entries(JOINT_FORGERIES)) {
  for (const ledger of ['with', 'without'] as const) {
    test(`a joint proposal: ${what}, in the name of the bot, ${ledger} its entry in the ledger: fails and is never overwritten`, async () => {
      const world = new FleetWorld(3)
      world.edit([0, 1, 2])
      await world.scan()
      const { repository, forge } = world
      const [branch = '', ...more] = repository
        .names()
        .filter((name) => name.startsWith('proposed/'))
      assert.deepEqual(more, [])
      const { parents, message, author } = await repository.commit(repository.head(branch))
      const forged = repository.commitByHand(branch, files(repository, branch), {
        author: BOT_EMAIL,
        committer: BOT_EMAIL,
        parents,
        message,
        at: author.at,
      })
      if (ledger === 'without')
        repository.commitByHand(
          'drift-ledger',
          { [`pushed/${branch}.yaml`]: null },
          { author: BOT_EMAIL },
        )
      const [proposal] = forge.proposals
      forge.byHand(proposal?.number ?? 0, { commit: forged })
      for (let turn = 0; turn < 3; turn += 1) await world.scan()
      assert.equal(repository.head(branch), forged, 'pushed over')
      for (const context of VOUCHING)
        assert.equal(forge.statuses.get(`${forged} ${context}`)?.state, 'failure', context)
    })
  }
}

for (const ledger of ['knows', 'does not know'] as const)
  test(`approve neither merges nor reads a submodule on a branch whose commit the ledger ${ledger}`, async () => {
    const stage = await opened(false)
    const { world, branch } = stage
    const { repository } = world
    const ours = repository.head(branch)
    const forged = await amend(stage, { vendor: 'stands for a commit of another repository' })
    const path = `pushed/${branch}.yaml`
    const text = repository.text('drift-ledger', path) ?? ''
    if (ledger === 'knows')
      repository.commitByHand(
        'drift-ledger',
        { [path]: text.replaceAll(ours, forged) },
        { author: BOT_EMAIL },
      )
    const [list, read] = [repository.list.bind(repository), repository.read.bind(repository)]
    const links = new Set<string>()
    repository.list = async (commit, folder) =>
      (await list(commit, folder)).map((file) => {
        if (file.path !== 'vendor') return file
        links.add(file.id)
        return { ...file, mode: '160000' as const }
      })
    repository.read = async (blobs) => {
      assert.ok(!blobs.some((id) => links.has(id)), 'the commit is in another repository')
      return read(blobs)
    }
    world.packages = ['apps/web']
    if (ledger === 'knows') await world.approve()
    else await refused(world.approve(), 'BP2009')
    assert.equal(repository.text('main', 'vendor'), undefined)
    assert.notEqual(repository.text('main', 'apps/web/Kptfile'), undefined)
  })
