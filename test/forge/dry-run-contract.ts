/** What every hosted forge must do in a dry run: read as always, and send no request that writes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { HeldBackWrite } from '@backporch/forge/hosted-forge'
import type { ContractHands, ForgeFixture } from './forge-fixture.ts'

export function dryRunContract(
  fixture: () => ForgeFixture,
  { pushBranch, readOne, open, countingWrites }: ContractHands,
  signal: AbortSignal,
): void {
  it('holds back the first request for everything that does not exist yet', async () => {
    const wanted = await pushBranch()
    const other = await pushBranch()
    const number = await open(other)
    const comment = await fixture().human.comment(number, '/adopt')
    const known = await readOne(other.ref)
    const status = {
      context: 'drift/fresh',
      state: 'success',
      description: 'live = reviewed',
      url: undefined,
    } as const
    const forge = fixture().openDryRunForge()
    const [requested] = (await forge.readComments(number, signal)).filter(
      ({ id }) => id === comment,
    )
    assert.ok(requested)
    const works: readonly (() => Promise<unknown>)[] = [
      () => forge.ensureProposal(wanted, undefined, signal),
      () => forge.ensureProposal({ ...other, title: 'another' }, known, signal),
      () => forge.ensureProposal({ ...other, labels: ['drift'] }, known, signal),
      () => forge.ensureStatuses(other.commit, [status], signal),
      () => forge.ensureComment(number, 'outcome', 'text\n', signal),
      () => forge.react(requested, 'seen', signal),
      () => forge.closeProposal(known, signal),
      () =>
        forge.ensureIssue(
          { topic: 'dry-run', title: 'Title', body: 'body', labels: ['drift'] },
          signal,
        ),
    ]
    const before = forge.writeCount.count
    const sent = await countingWrites(async () => {
      for (const [index, work] of works.entries()) {
        await assert.rejects(work(), (thrown) => thrown instanceof HeldBackWrite, String(index))
        assert.equal(forge.writeCount.count, before + index + 1)
      }
    })
    assert.equal(sent, 0)
  })

  it('counts no write for what already exists', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const known = await readOne(wanted.ref)
    await fixture().openForge().ensureComment(number, 'outcome', 'text\n', signal)
    await fixture()
      .openForge()
      .ensureIssue({ topic: 'there', title: 'Title', body: 'body', labels: ['drift'] }, signal)
    const forge = fixture().openDryRunForge()
    const before = forge.writeCount.count
    await forge.ensureProposal(wanted, known, signal)
    await forge.ensureComment(number, 'outcome', 'text\n', signal)
    await forge.ensureIssue(
      { topic: 'there', title: 'Title', body: 'body', labels: ['drift'] },
      signal,
    )
    await forge.closeIssue('not there', signal)
    assert.equal(forge.writeCount.count, before)
  })
}
