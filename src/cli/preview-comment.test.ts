/** `preview --comment` over the world in memory: the comment of a pull request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { DEPLOYMENT, TurnWorld } from '../../test/fakes/turn-world.ts'

type Files = { readonly [path: string]: string | null }

/** A world in sync, with the files on the branch `change`. */
function worldWith(change: Files, main: { readonly [path: string]: string } = {}): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', main)
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', change)
  return world
}

const SCALED = { 'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 5') }

function reviewed(
  change: Files = SCALED,
  more: { readonly fork?: boolean } = {},
): { readonly world: TurnWorld; readonly forge: MemoryForge } {
  const world = worldWith(change)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.pullRequests.push({
    ...{
      number: 7,
      label: '#7',
      url: 'https://forge.example/pulls/7',
      baseBranch: 'main',
      branch: 'change',
      open: true,
    },
    ...{ commit: world.repository.head('change'), fork: more.fork === true },
  })
  return { world, forge }
}

const COMMENT = ['preview', '--pull-request', '7', '--comment']

test('posts one comment, updates it in place and skips an unchanged one', async () => {
  const { world, forge } = reviewed()
  assert.equal((await runInWorld(world, COMMENT)).code, 0)
  assert.deepEqual(forge.writes, ['comment #7 preview'])
  assert.match(
    forge.comments[0]?.body ?? '',
    /Merging changes 1 object in 1 cluster\*\*: `apps\/web`/,
  )
  world.pass(-1)
  await runInWorld(world, COMMENT)
  assert.equal(forge.writes.length, 1)
  world.repository.commitByHand('change', { 'apps/web/deployment.yaml': DEPLOYMENT })
  forge.pullRequests[0] = {
    ...(forge.pullRequests[0] as MemoryForge['pullRequests'][number]),
    commit: world.repository.head('change'),
  }
  await runInWorld(world, COMMENT)
  assert.equal(forge.comments.length, 1)
  assert.match(
    forge.comments[0]?.body ?? '',
    /Merging changes nothing in the clusters\*\*: it edits no file\./,
  )
})

test('a pull request that touches no unit gets no comment', async () => {
  const { world, forge } = reviewed({ 'README.md': 'words\n' })
  assert.equal((await runInWorld(world, COMMENT)).code, 0)
  assert.deepEqual(forge.writes, [])
})

test('a head that moved during the preview keeps its newer comment', async () => {
  const { world, forge } = reviewed()
  const [first] = forge.pullRequests
  let asked = 0
  forge.readPullRequest = async () => {
    asked += 1
    return {
      ...(first as MemoryForge['pullRequests'][number]),
      ...(asked === 1 ? {} : { commit: world.repository.head('main') }),
    }
  }
  const { code, stderr } = await runInWorld(world, COMMENT)
  assert.equal(code, 0)
  assert.match(stderr, /the head of #7 has changed/)
  assert.deepEqual(forge.writes, [])
})

test('the forge decides whether a head is from a fork, not the command line', async () => {
  const { world, forge } = reviewed(SCALED, { fork: true })
  const allowed: unknown[] = []
  const openRenderer = (some: unknown): undefined => void allowed.push(some)
  await runInWorld(
    world,
    [...COMMENT, '--allow-render', 'kubectl', '--allow-image', 'reg.example/'],
    {
      openRenderer: openRenderer as never,
    },
  )
  assert.deepEqual(allowed.at(-1), {
    exec: [],
    modules: [],
    images: [],
    render: [],
    engine: undefined,
  })
  assert.match(forge.comments[0]?.body ?? '', /From a fork:/)
  assert.match(forge.comments[0]?.body ?? '', /unknown/)
})
