/** The controller writes previews of open pull requests where it is told to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ForgePullRequest } from '@backporch/forge/hosted-forge'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { DEPLOYMENT, TurnWorld } from '../../test/fakes/turn-world.ts'

const NOTHING = (): void => undefined

function reviewed(): {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  push(replicas: number): void
} {
  const world = new TurnWorld('{mode: Propose}')
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  const push = (replicas: number): void => {
    const commit = world.repository.commitByHand('change', {
      'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', `replicas: ${replicas}`),
    })
    const pull: ForgePullRequest = {
      number: 7,
      label: '#7',
      url: '',
      baseBranch: 'main',
      branch: 'change',
      fork: false,
      open: true,
      commit,
    }
    forge.pullRequests.splice(0, 1, pull)
  }
  push(5)
  return { world, forge, push }
}

function commentsIn({ writes }: MemoryForge): readonly string[] {
  return writes.filter((write) => write.endsWith(' preview'))
}

test('the controller posts no previews by default', async () => {
  const { world, forge } = reviewed()
  assert.equal((await runInWorld(world, ['controller'], { waits: [NOTHING] })).code, 0)
  assert.deepEqual(commentsIn(forge), [])
})

test('previews each head and each base commit once, in one comment', async () => {
  const { world, forge, push } = reviewed()
  const main = (): unknown => world.repository.commitByHand('main', { 'README.md': 'words\n' })
  const { code, stderr } = await runInWorld(world, ['controller', '--preview'], {
    waits: [NOTHING, () => push(6), NOTHING, main, NOTHING],
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(commentsIn(forge), [
    'comment #7 preview',
    'comment #7 preview',
    'comment #7 preview',
  ])
  assert.equal(forge.comments.filter(({ topic }) => topic === 'preview').length, 1)
  assert.match(
    forge.comments.find(({ topic }) => topic === 'preview')?.body ?? '',
    /\| `3` \| `6` \|/,
  )
  assert.deepEqual(
    logEvents(stderr, 'previewed').map(({ proposal, outcome }) => [proposal, outcome]),
    [1, 2, 3].map(() => ['#7', 'written']),
  )
})

test('a dry run posts no preview', async () => {
  const { world, forge } = reviewed()
  await runInWorld(world, ['controller', '--preview', '--dry-run'], { waits: [NOTHING] })
  assert.deepEqual(commentsIn(forge), [])
})

test('a rejected comment is one note, and the turn continues', async () => {
  const { world, forge } = reviewed()
  forge.ensureComment = () => Promise.reject(new Error('no'))
  const { code, stderr } = await runInWorld(world, ['controller', '--preview'], {
    waits: [NOTHING, NOTHING],
  })
  assert.equal(code, 0)
  assert.deepEqual(
    logEvents(stderr, 'note').map(({ cause }) => cause),
    ['preview-not-written'],
  )
  assert.deepEqual(
    logEvents(stderr, 'turn').map(({ outcome }) => outcome),
    ['succeeded', 'succeeded', 'succeeded'],
  )
})
