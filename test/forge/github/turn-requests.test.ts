/** The requests that one turn sends: a golden list, because each of them is counted by the forge. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { NO_REQUESTED_ACTIONS } from '../../../src/reconcile/turn/requests/observe-requests.ts'
import { GitHubWorld } from './github-world.ts'

/** What a turn sends, with how often the refs of the repository are asked. */
async function sentBy(world: GitHubWorld): Promise<readonly string[]> {
  const { repository, emulator } = world
  const { listRefs } = repository
  let requested = 0
  repository.listRefs = async () => {
    requested += 1
    return listRefs.call(repository)
  }
  const from = emulator.requests.length
  world.pass()
  await world.answer(NO_REQUESTED_ACTIONS)
  repository.listRefs = listRefs
  const lines = emulator.requests
    .slice(from)
    .map(
      ({ method, path }) =>
        `${method} ${path.replace(/\?.*/, '').replaceAll(/[0-9a-f]{40}/g, 'COMMIT')}`,
    )
  return [
    `git refs × ${requested}`,
    ...[...Map.groupBy(lines, (line) => line)].map(([line, all]) =>
      all.length === 1 ? line : `${line} × ${all.length}`,
    ),
  ]
}

describe('requests of one turn', () => {
  let world: GitHubWorld
  before(async () => {
    world = new GitHubWorld({ packages: ['web'] })
    await world.start()
    await world.turn()
  })
  after(() => world.stop())

  it('when nothing differs', async () => {
    assert.deepEqual(await sentBy(world), ['git refs × 1'])
  })

  it('when drift is proposed', async () => {
    world.edit(0, 'web', 'color', 'red')
    assert.deepEqual(await sentBy(world), [
      'git refs × 1',
      'GET /repos/acme/deploy',
      'GET /repos/acme/deploy/pulls × 2',
      'POST /repos/acme/deploy/pulls',
      'GET /repos/acme/deploy/labels × 2',
      'POST /repos/acme/deploy/labels × 4',
      'POST /repos/acme/deploy/issues/1/labels',
      'GET /repos/acme/deploy/commits/COMMIT/status',
      'POST /repos/acme/deploy/statuses/COMMIT × 4',
      'GET /repos/acme/deploy/issues × 2',
      'POST /repos/acme/deploy/issues',
    ])
  })

  it('when the proposal is open and nothing is new', async () => {
    assert.deepEqual(await sentBy(world), [
      'git refs × 1',
      'GET /repos/acme/deploy',
      'GET /repos/acme/deploy/pulls',
      // Whether the base branch has a merge queue, and who we are: once for a session.
      'POST /graphql × 2',
      'GET /repos/acme/deploy/issues/1/comments',
      'GET /repos/acme/deploy/commits/COMMIT/status',
      'GET /repos/acme/deploy/issues',
    ])
  })

  it('when somebody writes a command', async () => {
    world.emulator.state.roles.set('ada', 'write')
    world.emulator.state.addComment(1, 'ada', '/adopt')
    assert.deepEqual(await sentBy(world), [
      'git refs × 1',
      'GET /repos/acme/deploy',
      'GET /repos/acme/deploy/pulls',
      'GET /repos/acme/deploy/issues/1/comments × 4',
      'POST /graphql × 2',
      'GET /repos/acme/deploy/collaborators/ada/permission',
      'GET /repos/acme/deploy/issues/comments/9001/reactions × 2',
      'POST /repos/acme/deploy/issues/comments/9001/reactions × 2',
      'GET /repos/acme/deploy/pulls/1',
      'PATCH /repos/acme/deploy/pulls/1',
      'GET /repos/acme/deploy/labels',
      'POST /repos/acme/deploy/labels',
      'POST /repos/acme/deploy/issues/1/labels',
      'DELETE /repos/acme/deploy/issues/1/labels/drift-plan%2Frestore',
      'GET /repos/acme/deploy/commits/COMMIT/status',
      'POST /repos/acme/deploy/statuses/COMMIT × 3',
      'GET /repos/acme/deploy/issues',
      'PATCH /repos/acme/deploy/issues/2',
      'POST /repos/acme/deploy/issues/1/comments',
    ])
  })
})
