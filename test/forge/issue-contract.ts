/** The part of the contract that is about our own issues; see `forgeContract`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ForgeGround } from './forge-ground.ts'

/** Inside of a `describe`. @param groundOf known when a test begins */
export function issueContract(groundOf: () => ForgeGround, signal: AbortSignal): void {
  const countingWrites = async (work: () => Promise<unknown>): Promise<number> => {
    const start = groundOf().writes()
    await work()
    return groundOf().writes() - start
  }

  it('keeps one issue per topic: made, rewritten, opened again, closed', async () => {
    const ground = groundOf()
    const ensure = (body: string) =>
      ground.openForge().ensureIssue({ topic: 'dashboard', title: 'Drift dashboard', body, labels: ['drift'] }, signal)
    assert.equal(await ground.openForge().readIssue('dashboard', signal), undefined)
    const made = await ensure('one\n')
    assert.equal(await countingWrites(() => ensure('one\n')), 0)
    assert.deepEqual(await ensure('two'), { ...made, body: 'two' })
    await ground.human.close(made.number)
    assert.equal((await ground.openForge().readIssue('dashboard', signal))?.open, false)
    assert.equal((await ensure('two')).number, made.number)
    const read = await ground.openForge().readIssue('dashboard', signal)
    assert.deepEqual([read?.number, read?.open, read?.body.trimEnd(), read?.url], [made.number, true, 'two', made.url])
    const other = await ground.openForge().ensureIssue({ topic: 'storm/prod', title: 'Storm', body: 'body', labels: ['drift'] }, signal)
    assert.notEqual(other.number, made.number)
    await ground.openForge().closeIssue('storm/prod', signal)
    assert.equal(await countingWrites(() => ground.openForge().closeIssue('storm/prod', signal)), 0)
    assert.equal((await ground.openForge().readIssue('storm/prod', signal))?.open, false)
    assert.equal((await ground.openForge().readIssue('dashboard', signal))?.open, true)
  })

  it('adopts the issue of a request whose answer was lost', async () => {
    const ground = groundOf()
    // The label is there, so that the next request that writes is the issue.
    await ground.openForge().ensureIssue({ topic: 'lost', title: 'Lost', body: 'first', labels: ['drift'] }, signal)
    await ground.openForge().ensureIssue({ topic: 'lost/again', title: 'Lost', body: 'first', labels: ['drift'] }, signal)
    ground.loseNextAnswer()
    const number = (
      await ground
        .openForge()
        .ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal)
        .catch(() => undefined)
    )?.number
    const again = await ground.openForge().ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal)
    assert.ok(number === undefined || number === again.number)
    assert.equal(
      await countingWrites(() =>
        ground.openForge().ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal),
      ),
      0,
    )
  })
}
