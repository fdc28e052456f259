/** Who wrote the text of a comment, as GitHub's GraphQL tells it, and what becomes of commands while it does not answer. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { ForgeComment } from '@backporch/forge/hosted-forge'
import type { EmulatedComment } from './emulated-state.ts'
import { BOT_LOGIN, createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { GitHubWorld } from './github-world.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

describe('edited comments on GitHub', () => {
  let fixture: GitHubFixture

  beforeEach(async () => {
    fixture = await createGitHubFixture()
    await (await fixture.forge()).ensureProposal(await pushProposal(fixture), undefined, SIGNAL)
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  const write = (by: string, body: string): EmulatedComment =>
    fixture.emulator.state.addComment(1, by, body)
  const edit = (comment: EmulatedComment, by: string | null, at?: string): void =>
    fixture.emulator.state.editComment(comment, by, `${comment.body} 1`, at)
  const read = async (): Promise<readonly ForgeComment[]> =>
    (await fixture.forge()).readComments(1, SIGNAL)
  const questions = (): number =>
    fixture.emulator.requests.filter(
      ({ path, body }) => path === '/graphql' && body.includes('nodes('),
    ).length

  it('reports the last editor and edit time of edited comments, and the author of others', async () => {
    const [own, other, plain] = [
      write('wendy', '/adopt'),
      write('wendy', '/adopt'),
      write('wendy', '/adopt'),
    ]
    edit(own, 'wendy')
    edit(other, 'wendy')
    edit(other, 'ada')
    assert.deepEqual(
      (await read()).map(({ author, writer, body, at }) => [author, writer, body, at]),
      [
        ['wendy', 'wendy', '/adopt 1', own.edit?.at],
        ['wendy', 'ada', '/adopt 1 1', other.edit?.at],
        ['wendy', 'wendy', '/adopt', plain.createdAt],
      ],
    )
    assert.equal(questions(), 1)
  })

  it('sees an edit within the same second as the comment', async () => {
    const comment = write('ada', '/adopt')
    edit(comment, 'wendy', comment.createdAt)
    assert.equal(comment.updatedAt, comment.createdAt)
    assert.equal((await read())[0]?.writer, 'wendy')
  })

  it('reports no writer for edits by a bot, a deleted account or itself', async () => {
    fixture.emulator.state.bots.add('renovate[bot]')
    for (const by of ['renovate[bot]', null, BOT_LOGIN]) edit(write('wendy', '/adopt'), by)
    assert.deepEqual(
      (await read()).map(({ writer }) => writer),
      [undefined, undefined, undefined],
    )
  })

  it('queries editors once per hundred commands, and not when all are answered', async () => {
    const commands = Array.from({ length: 101 }, () => write('wendy', '/adopt'))
    write('wendy', 'a word without a command')
    assert.equal((await read()).length, 102)
    assert.equal(questions(), 2)
    for (const { reactions } of commands)
      reactions.push({ id: fixture.emulator.state.next(), user: BOT_LOGIN, content: '+1' })
    await read()
    assert.equal(questions(), 2)
  })

  it('fails when a comment disappears between the list and the query, and succeeds on retry', async () => {
    const [gone] = [write('wendy', '/adopt'), write('wendy', '/adopt')]
    fixture.emulator.faults.push({
      on: 'graphql',
      skip: 1,
      moment: 'before',
      hold: async () => {
        fixture.emulator.state.comments = fixture.emulator.state.comments.filter(
          (one) => one !== gone,
        )
      },
    })
    await assert.rejects(read(), { code: 'BP5006' })
    assert.equal((await read()).length, 1)
  })
})

describe('a command in an edited comment on GitHub', () => {
  let world: GitHubWorld

  beforeEach(async () => {
    world = new GitHubWorld({ packages: ['web'] })
    await world.start()
    for (const login of ['wendy', 'ada']) world.emulator.state.roles.set(login, 'write')
    world.edit(0, 'web', 'size', '7')
    await world.turn()
  })
  afterEach(async () => {
    await world.stop()
    assert.deepEqual(world.emulator.problems, [])
  })

  const answer = async () => {
    world.pass()
    return world.answer({ listWaiting: () => [], removeAnswered: () => undefined })
  }

  it('is executed for the person who edited it', async () => {
    const { state } = world.emulator
    const comment = state.addComment(1, 'wendy', '/adpot')
    state.editComment(comment, 'ada', '/adopt')
    const [done, ...others] = await answer()
    assert.deepEqual([done?.by, done?.outcome, others], ['ada', 'done', []])
    assert.match(state.comments.at(-1)?.body ?? '', /of `ada`, who edited a comment of `wendy`/)
  })

  for (const [what, reply] of [
    ['a limit', { status: 403, body: { message: 'You have exceeded a secondary rate limit' } }],
    [
      'a right that is missing',
      {
        status: 200,
        body: { data: { nodes: [null] }, errors: [{ type: 'FORBIDDEN', message: 'no' }] },
      },
    ],
    ['another answer', { status: 200, body: { data: {} } }],
    ['a fault', { status: 502, text: '<h1>Bad gateway</h1>' }],
  ] as const)
    it(`waits while GitHub does not report who wrote it: ${what}`, async () => {
      const { state, faults } = world.emulator
      const comment = state.addComment(1, 'wendy', '/adopt')
      // Those that ask for the merge queue and who we are are through.
      faults.push({ on: 'graphql', moment: 'before', skip: 2, times: 20, answer: reply })
      const [waiting, ...others] = await answer()
      assert.deepEqual([waiting?.outcome, others, comment.reactions], ['waiting', [], []])
      faults.length = 0
      world.clock.pass(3_600_000)
      const [done] = await answer()
      assert.deepEqual([done?.by, done?.outcome], ['wendy', 'done'])
    })
})
