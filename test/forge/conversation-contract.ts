/** What every hosted forge must do with comments, reactions, rights of people and statuses of commits. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nextSecond } from '../waiting/next-second.ts'
import type { ContractHands, ForgeFixture } from './forge-fixture.ts'

export function conversationContract(
  fixture: () => ForgeFixture,
  hands: ContractHands,
  signal: AbortSignal,
): void {
  const { pushBranch, open, countingWrites } = hands

  it('sends only statuses that differ', async () => {
    const { commit } = await pushBranch()
    const status = (
      context: string,
      state: 'pending' | 'success' | 'failure',
      description: string,
    ) => ({
      context,
      state,
      description,
      url: undefined,
    })
    const first = [
      status('drift/fresh', 'success', 'live = reviewed'),
      status('drift/render', 'pending', 'ä'.repeat(140)),
    ]
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, first, signal)),
      2,
    )
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, first, signal)),
      0,
    )
    const next = [status('drift/fresh', 'failure', 'live changed'), ...first.slice(1)]
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, next, signal)),
      1,
    )
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, next, signal)),
      0,
    )
  })

  it('finds statuses across several pages', async () => {
    const { commit } = await pushBranch()
    const others = Array.from(
      { length: 51 },
      (_, index) =>
        ({ context: `ci/${index}`, state: 'success', description: '', url: undefined }) as const,
    )
    const own = {
      context: 'drift/fresh',
      state: 'success',
      description: 'live = reviewed',
      url: undefined,
    } as const
    const all = [own, ...others]
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, all, signal)),
      52,
    )
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, all, signal)),
      0,
    )
  })

  it('takes the last of several statuses of one context that have the same second', async () => {
    const { commit } = await pushBranch()
    const say = (description: string) =>
      [{ context: 'drift/fresh', state: 'success', description, url: undefined }] as const
    for (const description of ['a', 'b', 'a', 'b']) {
      assert.equal(
        await countingWrites(() =>
          fixture().openForge().ensureStatuses(commit, say(description), signal),
        ),
        1,
        description,
      )
    }
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureStatuses(commit, say('b'), signal)),
      0,
    )
  })

  it('reads more comments than fit on one page, in order', async () => {
    const number = await open(await pushBranch())
    const texts = Array.from({ length: 105 }, (_, index) => `comment ${index}`)
    for (const text of texts) await fixture().human.comment(number, text)
    assert.deepEqual(
      (await fixture().openForge().readComments(number, signal)).map(({ body }) => body),
      texts,
    )
  })

  it('keeps one comment per topic, edits it in place, and does not return its own comments', async () => {
    const number = await open(await pushBranch())
    const forge = fixture().openForge()
    await forge.ensureComment(number, 'status', 'first\n', signal)
    assert.equal(
      await countingWrites(() =>
        fixture().openForge().ensureComment(number, 'status', 'first\n', signal),
      ),
      0,
    )
    assert.equal(
      await countingWrites(() =>
        fixture().openForge().ensureComment(number, 'status', 'second', signal),
      ),
      1,
    )
    await forge.ensureComment(number, 'other', 'third', signal)
    assert.deepEqual(await forge.readComments(number, signal), [])
    const own = (topic: string) => fixture().openForge().readOwnComment(number, topic, signal)
    assert.deepEqual(
      [(await own('status'))?.trimEnd(), await own('other'), await own('none')],
      ['second', 'third', undefined],
    )
  })

  it('adopts the comment of a request whose answer was lost', async () => {
    const number = await open(await pushBranch())
    fixture().loseNextAnswer()
    await fixture().openForge().ensureComment(number, 'status', 'text', signal)
    assert.equal(
      await countingWrites(() =>
        fixture().openForge().ensureComment(number, 'status', 'text', signal),
      ),
      0,
    )
  })

  it('reads the comments of people, oldest first, and knows which it has answered', async () => {
    const number = await open(await pushBranch())
    const id = await fixture().human.comment(number, '/adopt 1\r\nplease')
    // Our marker in somebody's comment makes it no comment of ours.
    const fake = await fixture().human.comment(number, '<!-- backporch:topic:status -->\n/restore')
    assert.equal(await fixture().openForge().readOwnComment(number, 'status', signal), undefined)
    await fixture().openForge().ensureComment(number, 'status', 'real', signal)
    assert.equal(await fixture().openForge().readOwnComment(number, 'status', signal), 'real')
    const [first, second, ...rest] = await fixture().openForge().readComments(number, signal)
    assert.ok(first !== undefined && second !== undefined)
    assert.deepEqual(rest, [])
    assert.deepEqual([first.id, second.id], [id, fake])
    assert.deepEqual(
      [first.author, first.bot, first.body, first.writer, first.answered],
      [fixture().people.writer, false, '/adopt 1\nplease', fixture().people.writer, false],
    )
    assert.match(first.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(second.body, '<!-- backporch:topic:status -->\n/restore')
    await fixture().openForge().react(first, 'seen', signal)
    assert.equal(await countingWrites(() => fixture().openForge().react(first, 'seen', signal)), 0)
    assert.equal(
      (await fixture().openForge().readComments(number, signal))[0]?.answered,
      false,
      'seen is no answer',
    )
    await fixture().openForge().react(first, 'done', signal)
    await fixture().openForge().react(second, 'refused', signal)
    assert.deepEqual(
      (await fixture().openForge().readComments(number, signal)).map(({ answered }) => answered),
      [true, true],
    )
  })

  it('reports who wrote the text of an edited comment, or that the writer is unknown', async () => {
    const number = await open(await pushBranch())
    const id = await fixture().human.comment(number, '/restore')
    await nextSecond()
    await fixture().human.editComment(id, '/adopt')
    const [comment] = await fixture().openForge().readComments(number, signal)
    assert.deepEqual(
      [comment?.body, comment?.writer],
      ['/adopt', fixture().tellsEditors ? fixture().people.writer : undefined],
    )
  })

  it('reports the permission of a person', async () => {
    const { writer, reader } = fixture().people
    const forge = fixture().openForge()
    assert.equal(await forge.permissionOf(writer, signal), 'write')
    assert.equal(await forge.permissionOf(reader, signal), 'read')
    assert.equal(await forge.permissionOf('nobody-of-that-name', signal), 'none')
  })
}
