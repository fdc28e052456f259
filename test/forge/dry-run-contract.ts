/** What every hosted forge must do in a dry run: read as always, and send no request that writes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { HeldBackWrite } from '../../src/ports/hosted-forge.ts'
import type { ContractHands, ForgeGround } from './forge-ground.ts'

export function dryRunContract(
  ground: () => ForgeGround,
  { pushBranch, readOne, open, countingWrites }: ContractHands,
  signal: AbortSignal,
): void {
  it('holds back the first request of everything that is not there yet', async () => {
    const wanted = await pushBranch()
    const other = await pushBranch()
    const number = await open(other)
    const comment = await ground().human.comment(number, '/adopt')
    const known = await readOne(other.ref)
    const status = { context: 'drift/fresh', state: 'success', description: 'live = reviewed', url: '' } as const
    const forge = ground().openDryRunForge()
    const [asked] = (await forge.readComments(number, signal)).filter(({ id }) => id === comment)
    assert.ok(asked)
    const works: readonly (() => Promise<unknown>)[] = [
      () => forge.ensureProposal(wanted, undefined, signal),
      () => forge.ensureProposal({ ...other, title: 'another' }, known, signal),
      () => forge.ensureProposal({ ...other, labels: ['drift'] }, known, signal),
      () => forge.ensureStatuses(other.commit, [status], signal),
      () => forge.ensureComment(number, 'outcome', 'text\n', signal),
      () => forge.react(asked, 'seen', signal),
      () => forge.ensureIssue({ topic: 'dry-run', title: 'Title', body: 'body', labels: ['drift'] }, signal),
    ]
    const before = forge.writeCount.count
    const sent = await countingWrites(async () => {
      for (const [place, work] of works.entries()) {
        await assert.rejects(work(), (thrown) => thrown instanceof HeldBackWrite, String(place))
        assert.equal(forge.writeCount.count, before + place + 1)
      }
    })
    assert.equal(sent, 0)
  })

  it('says nothing of what is there', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const known = await readOne(wanted.ref)
    await ground().openForge().ensureComment(number, 'outcome', 'text\n', signal)
    await ground()
      .openForge()
      .ensureIssue({ topic: 'there', title: 'Title', body: 'body', labels: ['drift'] }, signal)
    const forge = ground().openDryRunForge()
    const before = forge.writeCount.count
    await forge.ensureProposal(wanted, known, signal)
    await forge.ensureComment(number, 'outcome', 'text\n', signal)
    await forge.ensureIssue({ topic: 'there', title: 'Title', body: 'body', labels: ['drift'] }, signal)
    await forge.closeIssue('not there', signal)
    assert.equal(forge.writeCount.count, before)
  })
}
